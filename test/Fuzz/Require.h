//===- Require.h - what must hold for every input --------------------------===//
#ifndef ZERO_TEST_FUZZ_REQUIRE_H
#define ZERO_TEST_FUZZ_REQUIRE_H

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

namespace zero::fuzz {

/// Ends the program where `holds` is false, so that libFuzzer keeps the input.
inline void require(bool holds, const std::string &message) {
  if (holds)
    return;
  std::fprintf(stderr, "expects %s\n", message.c_str());
  std::abort();
}

/// That an error of a reader begins with `line:column:` of a place in `text`, or on the line behind
/// it, where a row that is missing is expected.
inline void requirePlace(const std::string &error, std::string_view text) {
  const long long lines = 2 + std::count(text.begin(), text.end(), '\n');
  char *end = nullptr;
  const long long line = std::strtoll(error.c_str(), &end, 10);
  require(*end == ':' && line >= 1 && line <= lines,
          "an error at a line of the text or behind it, got " + error);
  const long long column = std::strtoll(end + 1, &end, 10);
  require(*end == ':' && column >= 1 && column <= static_cast<long long>(text.size()) + 1,
          "an error at a column of the text, got " + error);
}

} // namespace zero::fuzz

#endif // ZERO_TEST_FUZZ_REQUIRE_H
