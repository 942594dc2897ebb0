//===- ShortFloatTest.cpp - kernels of 16-bit floats ----------------------------------===//
//
// A generated kernel loads 16-bit floats as f32, computes in f32 and rounds each
// result once (law N0). So its twin, the same text with f32 in place of the short
// type, on the same numbers, must give the f32 numbers that round to its bits.
//
//===----------------------------------------------------------------------===//

#include "KernelHarness.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace mlir;

namespace zero::testing {
namespace {

struct Case {
  const char *name;
  const char *text; // defines @k; SHORT stands for the type
  int64_t bound = 5;
};

std::string withType(StringRef text, StringRef type) {
  std::string result;
  for (size_t at = 0; at < text.size();) {
    bool found = text.substr(at).starts_with("SHORT");
    result += found ? type.str() : std::string(1, text[at]);
    at += found ? 5 : 1;
  }
  return result;
}

bool isShort(Type type) {
  Type element = cast<RankedTensorType>(type).getElementType();
  return element.isBF16() || element.isF16();
}

template <typename T> std::vector<T> elementsOf(const Bytes &bytes) {
  std::vector<T> elements(bytes.size() / sizeof(T));
  memcpy(elements.data(), bytes.data(), bytes.size());
  return elements;
}

template <typename T> Bytes packed(const std::vector<T> &elements) {
  Bytes bytes(elements.size() * sizeof(T));
  memcpy(bytes.data(), elements.data(), bytes.size());
  return bytes;
}

/// f32 numbers as the type has them; other types as they are.
Bytes rounded(const Bytes &bytes, Type type) {
  if (!isShort(type))
    return bytes;
  std::vector<uint16_t> result;
  for (float value : floatsOf(bytes))
    result.push_back(shortBits(value, cast<RankedTensorType>(type).getElementType()));
  return packed(result);
}
Bytes widened(const Bytes &bytes, Type type) {
  if (!isShort(type))
    return bytes;
  std::vector<float> result;
  for (uint16_t bits : elementsOf<uint16_t>(bytes))
    result.push_back(shortValue(bits, cast<RankedTensorType>(type).getElementType()));
  return bytesOf(result);
}

class ShortFloats : public ::testing::TestWithParam<std::tuple<const char *, Case>> {
protected:
  void SetUp() override {
    auto [type, test] = GetParam();
    kernels = Kernels::compile(withType(test.text, type));
    twin = Kernels::compile(withType(test.text, "f32"));
    ASSERT_TRUE(kernels && twin);
    kernel = kernels->kernel("k");
    std::mt19937 generator(11);
    for (Type argument : kernel.getArgumentTypes()) {
      arguments.push_back(randomTensor(argument, generator, 1.0, test.bound));
      wide.push_back(widened(arguments.back(), argument));
    }
  }

  std::unique_ptr<Kernels> kernels, twin;
  ir::KernelOp kernel;
  std::vector<Bytes> arguments, wide;
};

TEST_P(ShortFloats, N0_computeInF32AndRoundOnce) {
  std::vector<Bytes> got = kernels->call("k", arguments), want = twin->call("k", wide);
  for (auto [i, type] : llvm::enumerate(kernel.getResultTypes()))
    EXPECT_EQ(got[i], rounded(want[i], type)) << "result " << i;
}

TEST_P(ShortFloats, N0_bitsDependOnOperandBitsAlone) {
  std::vector<Bytes> first = kernels->call("k", arguments);
  for (int64_t offset : {2, 60}) {
    CallOptions options;
    // Other operands are aligned to their own width.
    bool alone = llvm::all_of(kernel.getArgumentTypes(), isShort) &&
                 llvm::all_of(kernel.getResultTypes(), isShort);
    options.offsetBytes = alone || offset % 8 == 4 ? offset : 4;
    EXPECT_EQ(kernels->call("k", arguments, options), first) << "at offset " << offset;
  }
  CallOptions inPieces;
  inPieces.pieces = 3;
  EXPECT_EQ(kernels->call("k", arguments, inPieces), first);
  auto reuse = deriveMayReuse(kernel);
  for (size_t result = 0; result < reuse.size(); ++result)
    for (int64_t argument : reuse[result]) {
      CallOptions over;
      over.over.assign(reuse.size(), -1);
      over.over[result] = argument;
      EXPECT_EQ(kernels->call("k", arguments, over), first)
          << "result " << result << " over argument " << argument;
    }
}

const Case kCases[] = {
    {"dropoutAndResidual", R"(
zero.kernel @k(%x: tensor<2x3x24xSHORT>, %h: tensor<2x3x24xSHORT>, %r: tensor<4xi32>, %s: tensor<1xi32>) -> tensor<2x3x24xSHORT> kind generated {
  %0 = nn.dropout %x rate 0.3 keyed by %r, %s samples 2 : tensor<2x3x24xSHORT>
  %1 = nn.add %0, %h : (tensor<2x3x24xSHORT>, tensor<2x3x24xSHORT>) -> tensor<2x3x24xSHORT>
  zero.yield %1 : tensor<2x3x24xSHORT>
})"},
    {"patchesOfImages", R"(
zero.kernel @k(%x: tensor<2x5x6x3xSHORT>) -> tensor<2x3x6x3x9xSHORT> kind generated {
  %0 = nn.patches %x window [3, 3] strides [2, 1] padding [1, 1, 1, 1] : (tensor<2x5x6x3xSHORT>) -> tensor<2x3x6x3x9xSHORT>
  zero.yield %0 : tensor<2x3x6x3x9xSHORT>
})"},
    {"patchesGrad", R"(
zero.kernel @k(%dp: tensor<2x3x6x3x9xSHORT>) -> tensor<2x5x6x3xSHORT> kind generated {
  %0 = nn.patches_grad %dp window [3, 3] strides [2, 1] padding [1, 1, 1, 1] into [5, 6] : (tensor<2x3x6x3x9xSHORT>) -> tensor<2x5x6x3xSHORT>
  zero.yield %0 : tensor<2x5x6x3xSHORT>
})"},
    {"pools", R"(
zero.kernel @k(%x: tensor<2x4x6x17xSHORT>) -> (tensor<2x2x3x17xSHORT>, tensor<2x2x3x17xSHORT>) kind generated {
  %0 = nn.max_pool %x window [2, 2] strides [2, 2] : (tensor<2x4x6x17xSHORT>) -> tensor<2x2x3x17xSHORT>
  %1 = nn.avg_pool %x window [2, 2] strides [2, 2] : (tensor<2x4x6x17xSHORT>) -> tensor<2x2x3x17xSHORT>
  zero.yield %0, %1 : tensor<2x2x3x17xSHORT>, tensor<2x2x3x17xSHORT>
})"},
    {"maxPoolGrad", R"(
zero.kernel @k(%x: tensor<2x5x5x17xSHORT>, %y: tensor<2x2x2x17xSHORT>, %dy: tensor<2x2x2x17xSHORT>) -> tensor<2x5x5x17xSHORT> kind generated {
  %0 = nn.max_pool_grad %x, %y, %dy window [3, 3] strides [2, 2] : (tensor<2x5x5x17xSHORT>, tensor<2x2x2x17xSHORT>, tensor<2x2x2x17xSHORT>) -> tensor<2x5x5x17xSHORT>
  zero.yield %0 : tensor<2x5x5x17xSHORT>
})"},
    {"chain", R"(
zero.kernel @k(%x: tensor<3x7x5xSHORT>, %y: tensor<5xSHORT>) -> tensor<3x7x5xSHORT> kind generated {
  %0 = nn.add %x, %y : (tensor<3x7x5xSHORT>, tensor<5xSHORT>) -> tensor<3x7x5xSHORT>
  %1 = nn.gelu tanh %0 : tensor<3x7x5xSHORT>
  %2 = nn.gelu erf %1 : tensor<3x7x5xSHORT>
  %3 = nn.mul %2, %x : (tensor<3x7x5xSHORT>, tensor<3x7x5xSHORT>) -> tensor<3x7x5xSHORT>
  zero.yield %3 : tensor<3x7x5xSHORT>
})"},
    {"constantsAreRoundedToTheirType", R"(
zero.kernel @k(%x: tensor<2x19xSHORT>) -> (tensor<2x19xSHORT>, tensor<2x19xSHORT>) kind generated {
  %c = nn.constant dense<0.5> : tensor<SHORT>
  %d = nn.constant dense<[[0.5], [-1.5]]> : tensor<2x1xSHORT>
  %0 = nn.mul %x, %c : (tensor<2x19xSHORT>, tensor<SHORT>) -> tensor<2x19xSHORT>
  %1 = nn.add %x, %d : (tensor<2x19xSHORT>, tensor<2x1xSHORT>) -> tensor<2x19xSHORT>
  zero.yield %0, %1 : tensor<2x19xSHORT>, tensor<2x19xSHORT>
})"},
    {"convertedConstantIsNotRounded", R"(
zero.kernel @k(%x: tensor<2x19xSHORT>) -> tensor<2x19xSHORT> kind generated {
  %c = nn.constant dense<0.1> : tensor<f32>
  %s = nn.convert %c to SHORT : tensor<f32>
  %0 = nn.mul %x, %s : (tensor<2x19xSHORT>, tensor<SHORT>) -> tensor<2x19xSHORT>
  zero.yield %0 : tensor<2x19xSHORT>
})"},
    {"compareSelectIota", R"(
zero.kernel @k(%x: tensor<6x20xSHORT>, %y: tensor<6x20xSHORT>) -> (tensor<6x20xSHORT>, tensor<6x20xi1>) kind generated {
  %i = nn.iota along 1 : tensor<6x20xSHORT>
  %0 = nn.compare lt %x, %y : (tensor<6x20xSHORT>, tensor<6x20xSHORT>) -> tensor<6x20xi1>
  %1 = nn.select %0, %x, %i : (tensor<6x20xi1>, tensor<6x20xSHORT>, tensor<6x20xSHORT>) -> tensor<6x20xSHORT>
  zero.yield %1, %0 : tensor<6x20xSHORT>, tensor<6x20xi1>
})"},
    {"layerNormWithF32Weights", R"(
zero.kernel @k(%x: tensor<5x48xSHORT>, %r: tensor<5x48xSHORT>, %w: tensor<48xf32>, %b: tensor<48xf32>) -> (tensor<5x48xSHORT>, tensor<5x48xSHORT>) kind generated {
  %s = nn.add %x, %r : (tensor<5x48xSHORT>, tensor<5x48xSHORT>) -> tensor<5x48xSHORT>
  %y = nn.layer_norm %s, %w, %b eps 1.0e-5 : (tensor<5x48xSHORT>, tensor<48xf32>, tensor<48xf32>) -> tensor<5x48xSHORT>
  zero.yield %s, %y : tensor<5x48xSHORT>, tensor<5x48xSHORT>
})"},
    {"layerNormGradWithF32Weights", R"(
zero.kernel @k(%x: tensor<2x35x19xSHORT>, %w: tensor<19xf32>, %dy: tensor<2x35x19xSHORT>, %dh: tensor<2x35x19xSHORT>) -> (tensor<19xf32>, tensor<19xSHORT>, tensor<2x35x19xSHORT>) kind generated {
  %0 = nn.layer_norm_grad_input %x, %w, %dy eps 1.0e-5 : (tensor<2x35x19xSHORT>, tensor<19xf32>, tensor<2x35x19xSHORT>) -> tensor<2x35x19xSHORT>
  %1 = nn.layer_norm_grad_weight %x, %dy eps 1.0e-5 : (tensor<2x35x19xSHORT>, tensor<2x35x19xSHORT>) -> tensor<19xSHORT>
  %2 = nn.convert %1 to f32 : tensor<19xSHORT>
  %3 = nn.reduce_sum %dy over [0, 1] : (tensor<2x35x19xSHORT>) -> tensor<19xSHORT>
  %4 = nn.add %0, %dh : (tensor<2x35x19xSHORT>, tensor<2x35x19xSHORT>) -> tensor<2x35x19xSHORT>
  zero.yield %2, %3, %4 : tensor<19xf32>, tensor<19xSHORT>, tensor<2x35x19xSHORT>
})"},
    {"rmsNormWithF32Weights", R"(
zero.kernel @k(%x: tensor<5x37xSHORT>, %r: tensor<5x37xSHORT>, %w: tensor<37xf32>) -> (tensor<5x37xSHORT>, tensor<5x37xSHORT>) kind generated {
  %s = nn.add %x, %r : (tensor<5x37xSHORT>, tensor<5x37xSHORT>) -> tensor<5x37xSHORT>
  %y = nn.rms_norm %s, %w eps 1.0e-6 : (tensor<5x37xSHORT>, tensor<37xf32>) -> tensor<5x37xSHORT>
  zero.yield %s, %y : tensor<5x37xSHORT>, tensor<5x37xSHORT>
})"},
    {"rmsNormGradWithF32Weights", R"(
zero.kernel @k(%x: tensor<70x19xSHORT>, %w: tensor<19xf32>, %dy: tensor<70x19xSHORT>) -> (tensor<19xf32>, tensor<70x19xSHORT>) kind generated {
  %0 = nn.rms_norm_grad_input %x, %w, %dy eps 1.0e-6 : (tensor<70x19xSHORT>, tensor<19xf32>, tensor<70x19xSHORT>) -> tensor<70x19xSHORT>
  %1 = nn.rms_norm_grad_weight %x, %dy eps 1.0e-6 : (tensor<70x19xSHORT>, tensor<70x19xSHORT>) -> tensor<19xSHORT>
  %2 = nn.convert %1 to f32 : tensor<19xSHORT>
  zero.yield %2, %0 : tensor<19xf32>, tensor<70x19xSHORT>
})"},
    {"rotary", R"(
zero.kernel @k(%x: tensor<2x5x3x14xSHORT>) -> tensor<2x5x3x14xSHORT> kind generated {
  %y = nn.rotary %x frequencies [1.0, 0.9, 0.7, 0.3, 0.1, 0.05, 0.01] : tensor<2x5x3x14xSHORT>
  zero.yield %y : tensor<2x5x3x14xSHORT>
})"},
    {"windows", R"(
zero.kernel @k(%x: tensor<2x6x6x5xSHORT>) -> (tensor<2x3x3x3x15xSHORT>, tensor<2x3x3x5xSHORT>, tensor<2x3x3x5xSHORT>) kind generated {
  %p = nn.patches %x window [3, 3] strides [2, 2] padding [1, 1, 1, 1] : (tensor<2x6x6x5xSHORT>) -> tensor<2x3x3x3x15xSHORT>
  %m = nn.max_pool %x window [2, 2] strides [2, 2] : (tensor<2x6x6x5xSHORT>) -> tensor<2x3x3x5xSHORT>
  %a = nn.avg_pool %x window [2, 2] strides [2, 2] : (tensor<2x6x6x5xSHORT>) -> tensor<2x3x3x5xSHORT>
  zero.yield %p, %m, %a : tensor<2x3x3x3x15xSHORT>, tensor<2x3x3x5xSHORT>, tensor<2x3x3x5xSHORT>
})"},
    {"gradientsOfWindows", R"(
zero.kernel @k(%dp: tensor<2x3x3x3x15xSHORT>, %dy: tensor<2x3x3x5xSHORT>) -> (tensor<2x6x6x5xSHORT>, tensor<2x6x6x5xSHORT>) kind generated {
  %0 = nn.patches_grad %dp window [3, 3] strides [2, 2] padding [1, 1, 1, 1] into [6, 6] : (tensor<2x3x3x3x15xSHORT>) -> tensor<2x6x6x5xSHORT>
  %1 = nn.avg_pool_grad %dy window [2, 2] strides [2, 2] into [6, 6] : (tensor<2x3x3x5xSHORT>) -> tensor<2x6x6x5xSHORT>
  zero.yield %0, %1 : tensor<2x6x6x5xSHORT>, tensor<2x6x6x5xSHORT>
})"},
    {"softmax", R"(
zero.kernel @k(%x: tensor<7x33xSHORT>, %dy: tensor<7x33xSHORT>) -> (tensor<7x33xSHORT>, tensor<7x33xSHORT>) kind generated {
  %y = nn.softmax %x : tensor<7x33xSHORT>
  %dx = nn.softmax_grad %x, %dy : tensor<7x33xSHORT>
  zero.yield %y, %dx : tensor<7x33xSHORT>, tensor<7x33xSHORT>
})"},
    {"rowReductions", R"(
zero.kernel @k(%x: tensor<4x130xSHORT>) -> (tensor<4xSHORT>, tensor<4xSHORT>, tensor<4xf32>) kind generated {
  %0 = nn.reduce_sum %x over [1] : (tensor<4x130xSHORT>) -> tensor<4xSHORT>
  %1 = nn.reduce_max %x over [1] : (tensor<4x130xSHORT>) -> tensor<4xSHORT>
  %2 = nn.reduce_mean %x over [1] : (tensor<4x130xSHORT>) -> tensor<4xSHORT>
  %3 = nn.convert %2 to f32 : tensor<4xSHORT>
  zero.yield %0, %1, %3 : tensor<4xSHORT>, tensor<4xSHORT>, tensor<4xf32>
})"},
    {"columnSumOfWidened", R"(
zero.kernel @k(%x: tensor<200x35xSHORT>) -> tensor<35xf32> kind generated {
  %0 = nn.convert %x to f32 : tensor<200x35xSHORT>
  %1 = nn.reduce_sum %0 over [0] : (tensor<200x35xf32>) -> tensor<35xf32>
  zero.yield %1 : tensor<35xf32>
})"},
    {"sumOverAll", R"(
zero.kernel @k(%x: tensor<70x35xSHORT>) -> tensor<SHORT> kind generated {
  %0 = nn.reduce_sum %x over [0, 1] : (tensor<70x35xSHORT>) -> tensor<SHORT>
  zero.yield %0 : tensor<SHORT>
})"},
    {"embedding", R"(
zero.kernel @k(%ids: tensor<3x4xi32>, %table: tensor<5x21xSHORT>, %p: tensor<4x21xSHORT>) -> tensor<3x4x21xSHORT> kind generated {
  %0 = nn.embedding %ids, %table : (tensor<3x4xi32>, tensor<5x21xSHORT>) -> tensor<3x4x21xSHORT>
  %1 = nn.add %0, %p : (tensor<3x4x21xSHORT>, tensor<4x21xSHORT>) -> tensor<3x4x21xSHORT>
  zero.yield %1 : tensor<3x4x21xSHORT>
})"},
    {"stridedCopiesAndPieces", R"(
zero.kernel @k(%x: tensor<9x21xSHORT>, %y: tensor<9x3xSHORT>) -> tensor<9x26xSHORT> kind generated strides [[1, 9], []] {
  %0 = nn.concat %x, %y along 1 : (tensor<9x21xSHORT>, tensor<9x3xSHORT>) -> tensor<9x24xSHORT>
  %1 = nn.pad %0 low [0, 1] high [0, 1] : (tensor<9x24xSHORT>) -> tensor<9x26xSHORT>
  zero.yield %1 : tensor<9x26xSHORT>
})"},
    {"convertsOfIntegers", R"(
zero.kernel @k(%i: tensor<3x18xi32>, %x: tensor<3x18xSHORT>) -> (tensor<3x18xSHORT>, tensor<3x18xi32>) kind generated {
  %0 = nn.convert %i to SHORT : tensor<3x18xi32>
  %1 = nn.convert %x to i32 : tensor<3x18xSHORT>
  zero.yield %0, %1 : tensor<3x18xSHORT>, tensor<3x18xi32>
})",
     5000},
};
INSTANTIATE_TEST_SUITE_P(All, ShortFloats,
                         ::testing::Combine(::testing::Values("bf16", "f16"),
                                            ::testing::ValuesIn(kCases)),
                         [](auto &info) {
                           return std::string(std::get<0>(info.param)) + "_" +
                                  std::get<1>(info.param).name;
                         });

/// In the value's type, adds to what the slots hold: result 0 of 16 bits, result 1 of f32.
class Adding : public ::testing::TestWithParam<const char *> {};

// The value is rounded to the slot's type, added in f32, and the sum is rounded.
TEST_P(Adding, addsRoundedValuesToWhatIsThere) {
  std::string type = GetParam();
  auto kernels = Kernels::compile(withType(R"(
nn.param @p : tensor<70x20xSHORT> init zeros
nn.param @q : tensor<20xf32> init zeros
zero.bucket @b0 trainable over 1 ranks length 1400 chunk 1400 {
  zero.slot @p at 0 : tensor<70x20xSHORT> contributions 1
}
zero.bucket @b1 trainable over 1 ranks length 20 chunk 20 {
  zero.slot @q at 0 : tensor<20xf32> contributions 1
}
zero.kernel @k(%x: tensor<70x20xSHORT>, %y: tensor<70x20xSHORT>) -> (tensor<70x20xSHORT>, tensor<20xf32>) kind generated {
  %0 = nn.mul %x, %y : (tensor<70x20xSHORT>, tensor<70x20xSHORT>) -> tensor<70x20xSHORT>
  %1 = nn.reduce_sum %0 over [0] : (tensor<70x20xSHORT>) -> tensor<20xSHORT>
  %2 = nn.convert %1 to f32 : tensor<20xSHORT>
  zero.yield %0, %2 : tensor<70x20xSHORT>, tensor<20xf32>
}
func.func @launches(%x: tensor<70x20xSHORT>, %y: tensor<70x20xSHORT>, %g: !zero.grads<@b0>, %h: !zero.grads<@b1>) {
  %a:2 = zero.launch @k(%x, %y) : (tensor<70x20xSHORT>, tensor<70x20xSHORT>) -> (tensor<70x20xSHORT>, tensor<20xf32>)
  %g1 = zero.accumulate %a#0 into %g [@p] write_first : tensor<70x20xSHORT>, !zero.grads<@b0>
  %h1 = zero.accumulate %a#1 into %h [@q] write_first : tensor<20xf32>, !zero.grads<@b1>
  zero.keep %g1 : !zero.grads<@b0>
  zero.keep %h1 : !zero.grads<@b1>
  return
})",
                                           type));
  ASSERT_TRUE(kernels);
  ir::KernelOp kernel = kernels->kernel("k");
  std::mt19937 generator(13);
  std::vector<Bytes> arguments;
  for (Type argument : kernel.getArgumentTypes())
    arguments.push_back(randomTensor(argument, generator, 1.0, 1));
  CallOptions later;
  later.added = {0, 1};
  for (Type result : kernel.getResultTypes())
    later.before.push_back(randomTensor(result, generator, 1.0, 1));
  std::vector<Bytes> value = kernels->call("k", arguments),
                     got = kernels->call("k", arguments, later);
  for (auto [i, result] : llvm::enumerate(kernel.getResultTypes())) {
    std::vector<float> sum = floatsOf(widened(value[i], result)),
                       before = floatsOf(widened(later.before[i], result));
    for (size_t k = 0; k < sum.size(); ++k)
      sum[k] += before[k];
    EXPECT_EQ(got[i], rounded(bytesOf(sum), result)) << "result " << i;
  }
}
INSTANTIATE_TEST_SUITE_P(All, Adding, ::testing::Values("bf16", "f16"),
                         [](auto &info) { return std::string(info.param); });

// Every 1,009th f32 bit pattern, as it is stored: to nearest even, over to infinity, NaN stays NaN;
// and every 16-bit pattern, as it is read.
class Rounding : public ::testing::TestWithParam<const char *> {};

TEST_P(Rounding, storesToNearestEven) {
  std::vector<float> inputs;
  for (uint64_t bits = 0; bits < (uint64_t(1) << 32); bits += 1009)
    inputs.push_back(llvm::bit_cast<float>(static_cast<uint32_t>(bits)));
  // Halfway between neighbours, either way, of both types.
  for (uint32_t bits : {0x3f808000u, 0x3f818000u, 0x3f801000u, 0x3f803000u, 0x7f7fffffu,
                        0x7f800001u, 0x477ff000u, 0x477fefffu, 0x33000000u, 0x33000001u})
    inputs.push_back(llvm::bit_cast<float>(bits));
  std::string count = std::to_string(inputs.size()), type = GetParam();
  auto kernels =
      Kernels::compile("zero.kernel @k(%x: tensor<" + count + "xf32>) -> tensor<" + count + "x" +
                       type + "> kind generated {\n  %y = nn.convert %x to " + type + " : tensor<" +
                       count + "xf32>\n  zero.yield %y : tensor<" + count + "x" + type + ">\n}");
  ASSERT_TRUE(kernels);
  Type element = cast<RankedTensorType>(kernels->kernel("k").getResultTypes()[0]).getElementType();
  auto got = elementsOf<uint16_t>(kernels->call("k", {bytesOf(inputs)})[0]);
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (std::isnan(inputs[i]))
      ASSERT_TRUE(std::isnan(shortValue(got[i], element))) << i;
    else
      ASSERT_EQ(got[i], shortBits(inputs[i], element)) << "of " << inputs[i];
  }
}

TEST_P(Rounding, loadsExactly) {
  std::string type = GetParam();
  auto kernels =
      Kernels::compile("zero.kernel @k(%x: tensor<65536x" + type +
                       ">) -> tensor<65536xf32> kind generated {\n  %y = nn.convert %x to "
                       "f32 : tensor<65536x" +
                       type + ">\n  zero.yield %y : tensor<65536xf32>\n}");
  ASSERT_TRUE(kernels);
  Type element =
      cast<RankedTensorType>(kernels->kernel("k").getArgumentTypes()[0]).getElementType();
  std::vector<uint16_t> all(65536);
  for (size_t i = 0; i < all.size(); ++i)
    all[i] = static_cast<uint16_t>(i);
  std::vector<float> got = floatsOf(kernels->call("k", {packed(all)})[0]);
  for (size_t i = 0; i < all.size(); ++i) {
    double want = shortValue(all[i], element);
    ASSERT_TRUE(got[i] == want || (std::isnan(got[i]) && std::isnan(want))) << i;
  }
}
INSTANTIATE_TEST_SUITE_P(All, Rounding, ::testing::Values("bf16", "f16"),
                         [](auto &info) { return std::string(info.param); });

// The last vector of a row holds 1 to 15 elements, and what lies behind them stays as it is.
TEST_P(Rounding, tailsOfAllLengths) {
  std::string type = GetParam(), text;
  for (int64_t columns = 17; columns < 32; ++columns) {
    std::string tensor = "tensor<3x" + std::to_string(columns) + "x" + type + ">";
    text += "zero.kernel @k" + std::to_string(columns) + "(%x: " + tensor + ") -> (" + tensor +
            ", tensor<3x" + std::to_string(columns) + "xi1>) kind generated {\n" +
            "  %y = nn.softmax %x : " + tensor + "\n  %m = nn.compare gt %x, %y : (" + tensor +
            ", " + tensor + ") -> tensor<3x" + std::to_string(columns) +
            "xi1>\n  zero.yield %y, %m : " + tensor + ", tensor<3x" + std::to_string(columns) +
            "xi1>\n}\n";
  }
  auto kernels = Kernels::compile(text);
  ASSERT_TRUE(kernels);
  std::mt19937 generator(5);
  for (int64_t columns = 17; columns < 32; ++columns) {
    std::string name = "k" + std::to_string(columns);
    SCOPED_TRACE(name);
    ir::KernelOp kernel = kernels->kernel(name);
    Bytes x = randomTensor(kernel.getArgumentTypes()[0], generator, 1.0, 1);
    kernels->call(name, {x}); // which looks at the guards
  }
}

// A product, attention, a loss and a scatter say their types, and offsets count bytes of them.
TEST(ShortDescriptors, sayTheirTypes) {
  auto kernels = Kernels::compile(R"(
zero.kernel @gemm(%x: tensor<6x4xbf16>, %w: tensor<4x12xbf16>, %b: tensor<12xbf16>) -> tensor<6x6xbf16> kind gemm {
  %right = nn.slice %w from [0, 6] sizes [4, 6] : (tensor<4x12xbf16>) -> tensor<4x6xbf16>
  %bias = nn.slice %b from [6] sizes [6] : (tensor<12xbf16>) -> tensor<6xbf16>
  %y = nn.linear %x, %right, %bias : (tensor<6x4xbf16>, tensor<4x6xbf16>, tensor<6xbf16>) -> tensor<6x6xbf16>
  zero.yield %y : tensor<6x6xbf16>
}
zero.kernel @weight(%x: tensor<2x3x4xf16>, %dy: tensor<2x3x6xf16>) -> tensor<4x6xf32> kind gemm {
  %dw = nn.dot_general %x, %dy contracting [0, 1] x [0, 1] : (tensor<2x3x4xf16>, tensor<2x3x6xf16>) -> tensor<4x6xf16>
  %wide = nn.convert %dw to f32 : tensor<4x6xf16>
  zero.yield %wide : tensor<4x6xf32>
}
zero.kernel @attention(%qkv: tensor<2x5x3x8xbf16>) -> (tensor<2x5x1x8xbf16>, tensor<2x1x5xf32>) kind attention {
  %q, %k, %v = nn.split %qkv along 2 sizes [1, 1, 1] : (tensor<2x5x3x8xbf16>) -> (tensor<2x5x1x8xbf16>, tensor<2x5x1x8xbf16>, tensor<2x5x1x8xbf16>)
  %o, %lse = nn.attention %q, %k, %v scale 0.5 causal : (tensor<2x5x1x8xbf16>, tensor<2x5x1x8xbf16>, tensor<2x5x1x8xbf16>) -> (tensor<2x5x1x8xbf16>, tensor<2x1x5xf32>)
  zero.yield %o, %lse : tensor<2x5x1x8xbf16>, tensor<2x1x5xf32>
}
zero.kernel @loss(%l: tensor<6x5xf16>, %labels: tensor<6xi32>, %seed: tensor<f32>) -> (tensor<f32>, tensor<6x5xf16>) kind cross_entropy {
  %loss, %dl = nn.cross_entropy_with_grad %l, %labels, %seed ignoring -100 : (tensor<6x5xf16>, tensor<6xi32>, tensor<f32>) -> (tensor<f32>, tensor<6x5xf16>)
  zero.yield %loss, %dl : tensor<f32>, tensor<6x5xf16>
}
zero.kernel @scatter(%ids: tensor<6xi32>, %dx: tensor<6x4xbf16>) -> tensor<5x4xf32> kind scatter {
  %t = nn.scatter_add %ids, %dx into 5 rows : (tensor<6xi32>, tensor<6x4xbf16>) -> tensor<5x4xbf16>
  %wide = nn.convert %t to f32 : tensor<5x4xbf16>
  zero.yield %wide : tensor<5x4xf32>
}
)");
  ASSERT_TRUE(kernels);
  using zrt::ElementType;
  KernelCall gemm = kernels->describe("gemm");
  EXPECT_EQ(gemm.kernel.gemm.type, ElementType::bf16);
  EXPECT_EQ(gemm.kernel.gemm.resultType, ElementType::bf16);
  // Six elements of two bytes into the weight and the bias.
  EXPECT_EQ(gemm.operands[1].byteOffset, 12);
  EXPECT_EQ(gemm.operands[2].byteOffset, 12);
  KernelCall weight = kernels->describe("weight");
  EXPECT_EQ(weight.kernel.gemm.type, ElementType::f16);
  EXPECT_EQ(weight.kernel.gemm.resultType, ElementType::f32);
  KernelCall attention = kernels->describe("attention");
  EXPECT_EQ(attention.kernel.attention.type, ElementType::bf16);
  // k lies eight elements behind q, v sixteen.
  EXPECT_EQ(attention.operands[1].byteOffset, 16);
  EXPECT_EQ(attention.operands[2].byteOffset, 32);
  KernelCall loss = kernels->describe("loss");
  EXPECT_EQ(loss.kernel.crossEntropy.type, ElementType::f16);
  EXPECT_EQ(deriveMayReuse(kernels->kernel("loss"))[1], llvm::SmallVector<int64_t>{0});
  KernelCall scatter = kernels->describe("scatter");
  EXPECT_EQ(scatter.kernel.scatter.type, ElementType::bf16);
  EXPECT_EQ(scatter.kernel.scatter.resultType, ElementType::f32);
}

TEST(ShortDescriptors, refuseWhatTheRuntimeDoesNotCompute) {
  auto kernels = Kernels::compile(R"(
zero.kernel @behind(%x: tensor<6x4xbf16>, %w: tensor<4x6xbf16>, %r: tensor<6x6xf32>) -> tensor<6x6xf32> kind gemm {
  %y = nn.linear %x, %w : (tensor<6x4xbf16>, tensor<4x6xbf16>) -> tensor<6x6xbf16>
  %wide = nn.convert %y to f32 : tensor<6x6xbf16>
  %z = nn.add %wide, %r : (tensor<6x6xf32>, tensor<6x6xf32>) -> tensor<6x6xf32>
  zero.yield %z : tensor<6x6xf32>
}
zero.kernel @narrow(%x: tensor<6x4xf32>, %w: tensor<4x6xf32>) -> tensor<6x6xbf16> kind gemm {
  %y = nn.linear %x, %w : (tensor<6x4xf32>, tensor<4x6xf32>) -> tensor<6x6xf32>
  %short = nn.convert %y to bf16 : tensor<6x6xf32>
  zero.yield %short : tensor<6x6xbf16>
}
zero.kernel @double(%ids: tensor<6xi32>, %dx: tensor<6x4xf64>) -> tensor<5x4xf64> kind scatter {
  %t = nn.scatter_add %ids, %dx into 5 rows : (tensor<6xi32>, tensor<6x4xf64>) -> tensor<5x4xf64>
  zero.yield %t : tensor<5x4xf64>
}
)");
  ASSERT_TRUE(kernels);
  auto refusal = [&](StringRef name) {
    std::string why;
    EXPECT_FALSE(describeKernel(kernels->kernel(name), 1, why));
    return why;
  };
  EXPECT_EQ(refusal("behind"),
            "expects a product that ends in its convert to f32, got nn.add behind it");
  EXPECT_EQ(refusal("narrow"),
            "expects bias, activation and residual after a product, got nn.convert");
  EXPECT_EQ(refusal("double"), "expects elements of f32, bf16 or f16, got tensor<6x4xf64>");
}

} // namespace
} // namespace zero::testing
