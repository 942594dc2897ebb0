//===- ElementTest.cpp - accuracy of the elementary functions -------------------------===//
//
// Every 1,009th f32 bit pattern of a function's whole range, as the kernel
// computes it, against the C library in f64 (law N3).
//
//===----------------------------------------------------------------------===//

#include "KernelHarness.h"

#include <gtest/gtest.h>

#include <cmath>

namespace zero::testing {
namespace {

struct Function {
  const char *op;
  double (*exact)(double);
  double low, high; // where it is asked for
  double worst = 2.7e-7, mean = 5e-8;
  /// Results smaller than this are compared absolutely: e^-87 and less is as good as 0.
  double smallest = std::numeric_limits<float>::min();
};

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
double silu(double x) { return x * sigmoid(x); }
double rsqrt(double x) { return 1 / std::sqrt(x); }

class Elementary : public ::testing::TestWithParam<Function> {};

std::vector<float> sampled(double low, double high) {
  std::vector<float> values;
  for (uint64_t bits = 0; bits < (uint64_t(1) << 32); bits += 1009) {
    float value = llvm::bit_cast<float>(static_cast<uint32_t>(bits));
    if (value >= low && value <= high && (value == 0 || std::fpclassify(value) == FP_NORMAL))
      values.push_back(value);
  }
  return values;
}

TEST_P(Elementary, N3_relativeErrorOverTheWholeRange) {
  const Function &function = GetParam();
  std::vector<float> inputs = sampled(function.low, function.high);
  std::string type = "tensor<" + std::to_string(inputs.size()) + "xf32>";
  auto kernels = Kernels::compile("zero.kernel @k(%x: " + type + ") -> " + type +
                                  " kind generated {\n  %y = nn." + function.op + " %x : " + type +
                                  "\n  zero.yield %y : " + type + "\n}");
  ASSERT_TRUE(kernels);
  std::vector<float> got = floatsOf(kernels->call("k", {bytesOf(inputs)})[0]);
  double worst = 0, sum = 0, at = 0;
  int64_t count = 0;
  for (size_t i = 0; i < inputs.size(); ++i) {
    double want = function.exact(inputs[i]);
    if (std::abs(want) < function.smallest) {
      ASSERT_LE(std::abs(got[i] - want), function.smallest) << "at " << inputs[i];
      continue;
    }
    double error = (got[i] - want) / want;
    // The mean leaves out where a function is 0, 1 or x to the last bit: half of all bit patterns.
    if (std::abs(inputs[i]) > 1e-3 && std::abs(inputs[i]) < 16) {
      sum += error;
      ++count;
    }
    if (!(std::abs(error) <= worst)) {
      worst = std::abs(error);
      at = inputs[i];
    }
  }
  printf("%s: worst %.3g at %.9g, mean %.3g\n", function.op, worst, at, sum / count);
  EXPECT_LE(worst, function.worst) << "at " << at;
  EXPECT_LE(std::abs(sum / count), function.mean);
}

const double kMost = std::numeric_limits<float>::max();
const Function kFunctions[] = {
    {"exp", std::exp, -kMost, 88.7},
    {"log", std::log, 1.2e-38, kMost},
    {"tanh", std::tanh, -kMost, kMost},
    {"erf", std::erf, -kMost, kMost},
    {"sigmoid", sigmoid, -kMost, kMost, 2.7e-7, 5e-8, 1e-37},
    {"silu", silu, -kMost, kMost, 2.7e-7, 5e-8, 1e-35},
    {"rsqrt", rsqrt, 1.2e-38, kMost, 1.2e-7},
    {"sqrt", std::sqrt, 0, kMost, 6e-8},
};
INSTANTIATE_TEST_SUITE_P(All, Elementary, ::testing::ValuesIn(kFunctions),
                         [](auto &info) { return info.param.op; });

} // namespace
} // namespace zero::testing
