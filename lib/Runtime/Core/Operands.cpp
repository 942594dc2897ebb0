//===- Operands.cpp - what a library kernel's operands cover --------------===//

#include "Operands.h"

#include <algorithm>
#include <initializer_list>
#include <limits>

namespace zrt {

namespace {

constexpr WideInt kMost = std::numeric_limits<int64_t>::max();

/// Products and sums of 63-bit numbers, cut off at 2^63: more than any arena holds.
WideInt saturated(WideInt value) { return std::min(value, kMost); }

WideInt product(std::initializer_list<int64_t> factors) {
  if (std::find(factors.begin(), factors.end(), 0) != factors.end())
    return 0;
  WideInt result = 1;
  for (int64_t factor : factors)
    result = saturated(result * factor);
  return result;
}

struct Dimension {
  int64_t count, stride;
};

/// Bytes from the first to behind the last of the elements that the dimensions span.
WideInt spanBytes(ElementType type, std::initializer_list<Dimension> dimensions) {
  WideInt last = 0;
  for (auto [count, stride] : dimensions) {
    if (count == 0)
      return 0;
    last = saturated(last + product({count - 1, stride}));
  }
  return saturated((last + 1) * elementBytes(type));
}

WideInt denseBytes(ElementType type, std::initializer_list<int64_t> shape) {
  return saturated(product(shape) * elementBytes(type));
}

/// What dropoutWord can number.
constexpr int64_t kMostDropoutElements = int64_t(1) << 34;
constexpr ElementType kF32 = ElementType::f32, kI32 = ElementType::i32;

std::vector<OperandExtent> extents(const GemmDesc &d) {
  std::vector<OperandExtent> list = {
      {"a", spanBytes(d.type, {{d.batch, d.aBatch}, {d.m, d.aRow}, {d.k, d.aCol}}), false},
      {"b", spanBytes(d.type, {{d.batch, d.bBatch}, {d.k, d.bRow}, {d.n, d.bCol}}), false}};
  if (d.hasBias)
    list.push_back({"bias", denseBytes(d.type, {d.n}), false});
  if (d.hasResidual)
    list.push_back({"residual",
                    spanBytes(d.type, {{d.batch, d.residualBatch}, {d.m, d.residualRow}, {d.n, 1}}),
                    false});
  list.push_back(
      {"c", spanBytes(d.resultType, {{d.batch, d.cBatch}, {d.m, d.cRow}, {d.n, 1}}), true});
  return list;
}

std::vector<OperandExtent> extents(const AttentionDesc &d) {
  auto span = [&](const AttentionDesc::Strides &s, int64_t length, int64_t heads) {
    return spanBytes(d.type,
                     {{d.batch, s.batch}, {length, s.time}, {heads, s.head}, {d.headDim, 1}});
  };
  std::vector<OperandExtent> list = {
      {"q", span(d.q, d.queryLen, d.heads), false},
      {"k", span(d.k, d.keyLen, d.kvHeads), false},
      {"v", span(d.v, d.keyLen, d.kvHeads), false},
      {"out", span(d.out, d.queryLen, d.heads), !d.backward},
      {"logSumExp", denseBytes(kF32, {d.batch, d.heads, d.queryLen}), !d.backward}};
  if (d.backward) {
    list.push_back({"dOut", span(d.dOut, d.queryLen, d.heads), false});
    list.push_back({"dQ", span(d.dQ, d.queryLen, d.heads), true});
    list.push_back({"dK", span(d.dK, d.keyLen, d.kvHeads), true});
    list.push_back({"dV", span(d.dV, d.keyLen, d.kvHeads), true});
  }
  if (d.dropoutRate != 0)
    list.push_back({"random", denseBytes(kI32, {4}), false});
  return list;
}

std::vector<OperandExtent> extents(const CrossEntropyDesc &d) {
  std::vector<OperandExtent> list = {{"logits", denseBytes(d.type, {d.rows, d.classes}), false},
                                     {"labels", denseBytes(kI32, {d.rows}), false},
                                     {"seed", 4, false},
                                     {"loss", 4, true}};
  if (d.withGradient)
    list.push_back({"dLogits", denseBytes(d.type, {d.rows, d.classes}), true});
  return list;
}

std::vector<OperandExtent> extents(const ScatterDesc &d) {
  return {{"indices", denseBytes(kI32, {d.rows}), false},
          {"updates", denseBytes(d.type, {d.rows, d.width}), false},
          {"destination", denseBytes(d.resultType, {d.tableRows, d.width}), true}};
}

bool anyNegative(std::initializer_list<int64_t> values) {
  return std::any_of(values.begin(), values.end(), [](int64_t value) { return value < 0; });
}

} // namespace

std::vector<OperandExtent> operandExtents(const Kernel &kernel) {
  switch (kernel.kind) {
  case KernelKind::Generated:
    return {};
  case KernelKind::Gemm:
    return extents(kernel.gemm);
  case KernelKind::Attention:
    return extents(kernel.attention);
  case KernelKind::CrossEntropy:
    return extents(kernel.crossEntropy);
  case KernelKind::Scatter:
    return extents(kernel.scatter);
  }
  return {};
}

static constexpr const char *kWrongType = "expects operands in f32, bf16 or f16";
static constexpr const char *kWrongResult = "expects a result of the operands' type or f32";

static bool isResultType(ElementType result, ElementType operands) {
  return result == operands || result == ElementType::f32;
}

static const char *fault(const GemmDesc &d) {
  if (!isTrainingType(d.type))
    return kWrongType;
  if (!isResultType(d.resultType, d.type))
    return kWrongResult;
  bool negative = anyNegative({d.batch, d.m, d.n, d.k, d.aBatch, d.aRow, d.aCol, d.bBatch, d.bRow,
                               d.bCol, d.cBatch, d.cRow, d.residualBatch, d.residualRow});
  return negative ? "expects sizes and strides not to be negative" : nullptr;
}

static const char *fault(const AttentionDesc &d) {
  if (!isTrainingType(d.type))
    return kWrongType;
  if (anyNegative({d.batch, d.queryLen, d.keyLen, d.heads, d.kvHeads, d.headDim}))
    return "expects sizes not to be negative";
  for (const AttentionDesc::Strides &s : {d.q, d.k, d.v, d.out, d.dOut, d.dQ, d.dK, d.dV})
    if (anyNegative({s.batch, s.time, s.head}))
      return "expects strides not to be negative";
  if (d.kvHeads == 0 || d.heads % d.kvHeads != 0)
    return "expects the key/value heads to divide the query heads";
  if (!(d.dropoutRate >= 0 && d.dropoutRate < 1))
    return "expects a dropout rate in [0, 1)";
  if (d.dropoutSite < 0 || d.dropoutSite > UINT32_MAX)
    return "expects a dropout site of 32 bits";
  if (d.dropoutRate != 0 && product({d.heads, d.queryLen, d.keyLen}) > kMostDropoutElements)
    return "expects at most 2^34 probabilities a sample, to drop some";
  return nullptr;
}

static const char *fault(const CrossEntropyDesc &d) {
  if (!isTrainingType(d.type))
    return kWrongType;
  return anyNegative({d.rows, d.classes}) ? "expects rows and classes not to be negative" : nullptr;
}

static const char *fault(const ScatterDesc &d) {
  if (!isTrainingType(d.type))
    return kWrongType;
  if (!isResultType(d.resultType, d.type))
    return kWrongResult;
  return anyNegative({d.rows, d.width, d.tableRows}) ? "expects sizes not to be negative" : nullptr;
}

const char *descriptorFault(const Kernel &kernel) {
  switch (kernel.kind) {
  case KernelKind::Generated:
    return anyNegative({kernel.generated.index, kernel.generated.units})
               ? "expects index and units not to be negative"
               : nullptr;
  case KernelKind::Gemm:
    return fault(kernel.gemm);
  case KernelKind::Attention:
    return fault(kernel.attention);
  case KernelKind::CrossEntropy:
    return fault(kernel.crossEntropy);
  case KernelKind::Scatter:
    return fault(kernel.scatter);
  }
  return nullptr;
}

} // namespace zrt
