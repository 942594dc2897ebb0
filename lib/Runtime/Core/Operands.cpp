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

/// Bytes from the first to behind the last of the 4-byte elements that the dimensions span.
WideInt spanBytes(std::initializer_list<Dimension> dimensions) {
  WideInt last = 0;
  for (auto [count, stride] : dimensions) {
    if (count == 0)
      return 0;
    last = saturated(last + product({count - 1, stride}));
  }
  return saturated((last + 1) * 4);
}

WideInt denseBytes(std::initializer_list<int64_t> shape) { return saturated(product(shape) * 4); }

std::vector<OperandExtent> extents(const GemmDesc &d) {
  std::vector<OperandExtent> list = {
      {"a", spanBytes({{d.batch, d.aBatch}, {d.m, d.aRow}, {d.k, d.aCol}}), false},
      {"b", spanBytes({{d.batch, d.bBatch}, {d.k, d.bRow}, {d.n, d.bCol}}), false}};
  if (d.hasBias)
    list.push_back({"bias", denseBytes({d.n}), false});
  if (d.hasResidual)
    list.push_back({"residual",
                    spanBytes({{d.batch, d.residualBatch}, {d.m, d.residualRow}, {d.n, 1}}),
                    false});
  list.push_back({"c", spanBytes({{d.batch, d.cBatch}, {d.m, d.cRow}, {d.n, 1}}), true});
  return list;
}

std::vector<OperandExtent> extents(const AttentionDesc &d) {
  auto span = [&](const AttentionDesc::Strides &s, int64_t length, int64_t heads) {
    return spanBytes({{d.batch, s.batch}, {length, s.time}, {heads, s.head}, {d.headDim, 1}});
  };
  std::vector<OperandExtent> list = {
      {"q", span(d.q, d.queryLen, d.heads), false},
      {"k", span(d.k, d.keyLen, d.kvHeads), false},
      {"v", span(d.v, d.keyLen, d.kvHeads), false},
      {"out", span(d.out, d.queryLen, d.heads), !d.backward},
      {"logSumExp", denseBytes({d.batch, d.heads, d.queryLen}), !d.backward}};
  if (d.backward) {
    list.push_back({"dOut", span(d.dOut, d.queryLen, d.heads), false});
    list.push_back({"dQ", span(d.dQ, d.queryLen, d.heads), true});
    list.push_back({"dK", span(d.dK, d.keyLen, d.kvHeads), true});
    list.push_back({"dV", span(d.dV, d.keyLen, d.kvHeads), true});
  }
  return list;
}

std::vector<OperandExtent> extents(const CrossEntropyDesc &d) {
  return {{"logits", denseBytes({d.rows, d.classes}), false},
          {"labels", denseBytes({d.rows}), false},
          {"seed", 4, false},
          {"loss", 4, true},
          {"dLogits", denseBytes({d.rows, d.classes}), true}};
}

std::vector<OperandExtent> extents(const ScatterDesc &d) {
  return {{"indices", denseBytes({d.rows}), false},
          {"updates", denseBytes({d.rows, d.width}), false},
          {"destination", denseBytes({d.tableRows, d.width}), true}};
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

const char *descriptorFault(const Kernel &kernel) {
  switch (kernel.kind) {
  case KernelKind::Generated:
    return anyNegative({kernel.generated.index, kernel.generated.units})
               ? "expects index and units not to be negative"
               : nullptr;
  case KernelKind::Gemm: {
    const GemmDesc &d = kernel.gemm;
    bool negative = anyNegative({d.batch, d.m, d.n, d.k, d.aBatch, d.aRow, d.aCol, d.bBatch, d.bRow,
                                 d.bCol, d.cBatch, d.cRow, d.residualBatch, d.residualRow});
    return negative ? "expects sizes and strides not to be negative" : nullptr;
  }
  case KernelKind::Attention: {
    const AttentionDesc &d = kernel.attention;
    if (anyNegative({d.batch, d.queryLen, d.keyLen, d.heads, d.kvHeads, d.headDim}))
      return "expects sizes not to be negative";
    for (const AttentionDesc::Strides &s : {d.q, d.k, d.v, d.out, d.dOut, d.dQ, d.dK, d.dV})
      if (anyNegative({s.batch, s.time, s.head}))
        return "expects strides not to be negative";
    if (d.kvHeads == 0 || d.heads % d.kvHeads != 0)
      return "expects the key/value heads to divide the query heads";
    return nullptr;
  }
  case KernelKind::CrossEntropy:
    return anyNegative({kernel.crossEntropy.rows, kernel.crossEntropy.classes})
               ? "expects rows and classes not to be negative"
               : nullptr;
  case KernelKind::Scatter:
    return anyNegative({kernel.scatter.rows, kernel.scatter.width, kernel.scatter.tableRows})
               ? "expects sizes not to be negative"
               : nullptr;
  }
  return nullptr;
}

} // namespace zrt
