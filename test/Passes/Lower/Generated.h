//===- Generated.h - generated kernels against the reference ------------------===//
//
// Each case is one kernel. It runs with its buffers at offsets of 0, 4 and 60
// bytes, in one piece and in several, with each result over each argument that
// deriveMayReuse allows: all byte-equal (law N0). Then the first run is compared with the
// f64 reference within `tolerance`·(1 + |reference|).
//
//===----------------------------------------------------------------------===//
#ifndef ZERO_TEST_PASSES_LOWER_GENERATED_H
#define ZERO_TEST_PASSES_LOWER_GENERATED_H

#include <cstdint>
#include <gtest/gtest.h>
#include <string>

namespace zero::testing {

struct GeneratedCase {
  const char *name;
  const char *text; // defines @k
  double tolerance = 1e-6;
  int64_t bound = 5; // of integer arguments
  double scale = 1.0;
};

/// The cases of all files run as tests of this one.
class Generated : public ::testing::TestWithParam<GeneratedCase> {};

inline std::string nameOf(const ::testing::TestParamInfo<GeneratedCase> &info) {
  return info.param.name;
}

} // namespace zero::testing

#endif // ZERO_TEST_PASSES_LOWER_GENERATED_H
