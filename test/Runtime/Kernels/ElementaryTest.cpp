// Elementary functions against libm in f64, over the whole range of their arguments (N3).
#include "TestSupport.h"

#include <functional>

using namespace zrt;
using namespace zrt::test;

namespace {

struct Errors {
  double worst = 0.0, mean = 0.0, worstAt = 0.0;
};

/// Relative errors of `f` at every `stride`-th float of [from, to] (both positive or both
/// negative).
Errors sweep(void (*f)(const float *, float *, int64_t), const std::function<double(double)> &truth,
             float from, float to, uint32_t stride) {
  Errors errors;
  uint32_t first, last;
  std::memcpy(&first, &from, 4);
  std::memcpy(&last, &to, 4);
  if (first > last)
    std::swap(first, last);
  std::vector<float> x, y;
  for (uint64_t bits = first; bits <= last; bits += stride) {
    uint32_t word = uint32_t(bits);
    float value;
    std::memcpy(&value, &word, 4);
    x.push_back(value);
  }
  y.resize(x.size());
  f(x.data(), y.data(), int64_t(x.size()));
  for (size_t i = 0; i < x.size(); ++i) {
    double expected = truth(x[i]), error = (y[i] - expected) / expected;
    errors.mean += error / double(x.size());
    if (!(std::abs(error) <= errors.worst)) {
      errors.worst = std::abs(error);
      errors.worstAt = x[i];
    }
  }
  return errors;
}

void expectAccurate(const char *name, const Errors &errors) {
  EXPECT_LE(errors.worst, 2.7e-7) << name << " at " << errors.worstAt;
  EXPECT_LE(std::abs(errors.mean), 5e-8) << name;
}

using Function = double (*)(double);

TEST(Elementary, N3_ExpStaysWithinBounds) {
  for (InstructionSet set : instructionSets()) {
    auto *f = tableOf(set).exp;
    Function truth = std::exp;
    // From the least argument with a normal result to the greatest with a finite one.
    expectAccurate("exp, negative", sweep(f, truth, -87.3f, -1e-30f, 997));
    expectAccurate("exp, positive", sweep(f, truth, 1e-30f, 88.722f, 997));
    expectAccurate("exp, scores", sweep(f, truth, -20.0f, -0.01f, 101));
  }
}

TEST(Elementary, N3_TanhAndErfStayWithinBounds) {
  for (InstructionSet set : instructionSets()) {
    for (float sign : {1.0f, -1.0f}) {
      Function tanh = std::tanh, erf = std::erf;
      expectAccurate("tanh", sweep(tableOf(set).tanh, tanh, sign * 1e-30f, sign * 100.0f, 997));
      expectAccurate("tanh", sweep(tableOf(set).tanh, tanh, sign * 0.1f, sign * 9.0f, 101));
      expectAccurate("erf", sweep(tableOf(set).erf, erf, sign * 1e-30f, sign * 100.0f, 997));
      expectAccurate("erf", sweep(tableOf(set).erf, erf, sign * 0.1f, sign * 4.5f, 101));
    }
  }
}

TEST(Elementary, N3_LogStaysWithinBounds) {
  for (InstructionSet set : instructionSets()) {
    Function log = std::log;
    expectAccurate("log", sweep(tableOf(set).log, log, 1e-45f, 3.4e38f, 1999));
    expectAccurate("log", sweep(tableOf(set).log, log, 0.5f, 2.0f, 101));
  }
}

TEST(Elementary, LimitsAndNotANumber) {
  const float inf = std::numeric_limits<float>::infinity(), nan = std::nanf("");
  for (InstructionSet set : instructionSets()) {
    const KernelTable &table = tableOf(set);
    // 17 arguments, so that both a whole vector and a tail of one are run.
    auto all = [](auto *f, float x) {
      std::vector<float> in(17, x), out(17);
      f(in.data(), out.data(), 17);
      for (float y : out)
        EXPECT_EQ(std::memcmp(&y, &out[0], 4), 0);
      return out[16];
    };
    EXPECT_EQ(all(table.exp, -inf), 0.0f);
    EXPECT_EQ(all(table.exp, -200.0f), 0.0f);
    EXPECT_EQ(all(table.exp, 0.0f), 1.0f);
    EXPECT_EQ(all(table.exp, 89.0f), inf);
    EXPECT_EQ(all(table.exp, inf), inf);
    EXPECT_TRUE(std::isnan(all(table.exp, nan)));
    // e^-100 = 3.72e-44 lies between denormals 2^-149·26 and ·27.
    EXPECT_NEAR(all(table.exp, -100.0f) / 0x1p-149f, std::exp(-100.0) / 0x1p-149, 0.51);
    EXPECT_EQ(all(table.tanh, inf), 1.0f);
    EXPECT_EQ(all(table.tanh, -inf), -1.0f);
    EXPECT_EQ(all(table.tanh, 0.0f), 0.0f);
    EXPECT_TRUE(std::isnan(all(table.tanh, nan)));
    EXPECT_EQ(all(table.erf, inf), 1.0f);
    EXPECT_EQ(all(table.erf, -inf), -1.0f);
    EXPECT_EQ(all(table.erf, 0.0f), 0.0f);
    EXPECT_TRUE(std::isnan(all(table.erf, nan)));
    EXPECT_EQ(all(table.log, 0.0f), -inf);
    EXPECT_EQ(all(table.log, 1.0f), 0.0f);
    EXPECT_EQ(all(table.log, inf), inf);
    EXPECT_TRUE(std::isnan(all(table.log, -1.0f)));
    EXPECT_TRUE(std::isnan(all(table.log, nan)));
  }
}

TEST(Elementary, PublicFunctionsAreTheVectors) {
  EXPECT_NEAR(expApprox(1.0f), 2.7182817f, 5e-7);
  EXPECT_NEAR(tanhApprox(0.5f), 0.46211717f, 1e-7);
  EXPECT_NEAR(erfApprox(0.5f), 0.52049988f, 1e-7);
  EXPECT_NEAR(logApprox(2.0f), 0.69314718f, 1e-7);
}

} // namespace
