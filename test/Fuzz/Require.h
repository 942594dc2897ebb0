//===- Require.h - what must hold for every input --------------------------===//
#ifndef ZERO_TEST_FUZZ_REQUIRE_H
#define ZERO_TEST_FUZZ_REQUIRE_H

#include <cstdio>
#include <cstdlib>
#include <string>

namespace zero::fuzz {

/// Ends the program where `holds` is false, so that libFuzzer keeps the input.
inline void require(bool holds, const std::string &message) {
  if (holds)
    return;
  std::fprintf(stderr, "expects %s\n", message.c_str());
  std::abort();
}

} // namespace zero::fuzz

#endif // ZERO_TEST_FUZZ_REQUIRE_H
