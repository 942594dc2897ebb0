//===- GemmParts.h - what all matrix products share -----------------------===//
//
// How a product is cut into parts for threads, what is fetched ahead, and what
// happens to sums when they are finished: bias, activation, residual, and one
// rounding to C's type.
//
//===----------------------------------------------------------------------===//
#ifndef ZERO_LIB_RUNTIME_CPU_KERNELS_GEMMPARTS_H
#define ZERO_LIB_RUNTIME_CPU_KERNELS_GEMMPARTS_H

#include "Elementary.h"
#include "Parts.h"
#include "Plan.h"
#include "Types.h"

namespace zrt::ZRT_ISA {

template <typename T, typename R> struct Operands {
  const T *a, *b, *bias, *residual;
  R *c;
  bool accumulate;

  Operands(const void *a, const void *b, const void *bias, const void *residual, void *c,
           bool accumulate)
      : a(static_cast<const T *>(a)), b(static_cast<const T *>(b)),
        bias(static_cast<const T *>(bias)), residual(static_cast<const T *>(residual)),
        c(static_cast<R *>(c)), accumulate(accumulate) {}
};

/// One block of C: rows from i0 and columns from j0 on.
struct Block {
  int64_t i0, j0, rows, columns;
};

/// What one thread does: some matrices of the batch, or some rows or columns of all.
struct GemmPart {
  int64_t index;
  Range batch, m, n;
};

/// Work under which waking threads costs more than it saves, in multiply-adds.
inline constexpr double kWorthThreads = 262144;

/// body(part) on the team's threads; rows and columns are cut between whole tiles.
template <typename Body>
static void forEachGemmPart(const GemmDesc &desc, int64_t tileRows, int64_t tileColumns,
                            ThreadTeam &team, Body &&body) {
  double work = double(desc.batch) * double(desc.m) * double(desc.n) * double(desc.k);
  int64_t parts = work < kWorthThreads ? 1 : team.size();
  const bool byBatch = desc.batch >= parts, byRows = desc.m >= desc.n;
  auto run = [&](int64_t p) {
    GemmPart part{p, {0, desc.batch}, {0, desc.m}, {0, desc.n}};
    if (byBatch)
      part.batch = partOf(desc.batch, 1, p, parts);
    else if (byRows)
      part.m = partOf(desc.m, tileRows, p, parts);
    else
      part.n = partOf(desc.n, tileColumns, p, parts);
    body(part);
  };
  runParts(team, parts, run);
}

/// body(operands) for each matrix of the batch in the range.
template <typename T, typename R, typename Body>
static void forEachOfBatch(const GemmDesc &desc, const Operands<T, R> &of, Range batch,
                           Body &&body) {
  for (int64_t b = batch.begin; b < batch.end; ++b) {
    Operands<T, R> at = of;
    at.a += b * desc.aBatch;
    at.b += b * desc.bBatch;
    at.c += b * desc.cBatch;
    if (desc.hasResidual)
      at.residual += b * desc.residualBatch;
    body(at);
  }
}

/// Blocks of C in rows `m` and columns `n`: packPanel(panel of B, columns, depth) where the packed
/// panel changes, then multiply(block, number of the depth block).
template <typename T, typename R, typename PackPanel, typename Multiply>
static void forEachBlock(const GemmDesc &desc, const GemmPlan &plan, const Operands<T, R> &of,
                         Range m, Range n, PackPanel &&packPanel, Multiply &&multiply) {
  for (int64_t j0 = n.begin; j0 < n.end; j0 += plan.nBlock)
    for (int64_t i0 = m.begin; i0 < m.end; i0 += plan.mBlock) {
      const Block block{i0, j0, smaller(plan.mBlock, m.end - i0), smaller(plan.nBlock, n.end - j0)};
      for (int64_t kIndex = 0; kIndex < plan.kBlocks; ++kIndex) {
        const int64_t k0 = kIndex * plan.kBlock;
        if (plan.kBlocks > 1 || i0 == m.begin)
          packPanel(of.b + k0 * desc.bRow + j0 * desc.bCol, block.columns,
                    smaller(plan.kBlock, desc.k - k0));
        multiply(block, kIndex);
      }
    }
}

/// A piece of a matrix, seen as lines of contiguous elements.
template <typename T> struct Piece {
  const T *p;
  int64_t lines, length, step;
};
template <typename T>
static Piece<T> pieceOf(const T *p, int64_t rowStep, int64_t columnStep, int64_t rows,
                        int64_t columns) {
  return columnStep == 1 ? Piece<T>{p, rows, columns, rowStep}
                         : Piece<T>{p, columns, rows, columnStep};
}

template <typename T> inline constexpr int64_t kCacheLine = 64 / sizeof(T);

/// Fetches into the second-level cache, for later packing: one share of the lines, one share of
/// their length, so that fetches spread over the tiles of a block.
template <typename T> static void prefetchShare(const Piece<T> &piece, Range lines, Range length) {
  for (int64_t i = lines.begin; i < lines.end; ++i)
    for (int64_t at = length.begin; at < length.end; at += kCacheLine<T>)
      __builtin_prefetch(piece.p + i * piece.step + at, 0, 2);
}

template <typename T>
static void prefetchTile(const T *p, int64_t row, int64_t rows, int64_t width) {
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t v = 0; v < width; v += kCacheLine<T>)
      __builtin_prefetch(p + i * row + v, 1, 3);
}

template <Activation A> ZRT_INLINE Float16 activate(Float16 x) {
  if constexpr (A == Activation::GeluTanh) {
    // x/2·(1 + tanh(√(2/π)·(x + 0.044715·x³)))
    Float16 inner = multiplyAdd(x * x * x, splat(0.044715f), x) * 0.797884561f;
    return x * 0.5f * (1.0f + vectorTanh(inner));
  }
  if constexpr (A == Activation::GeluErf)
    return x * 0.5f * (1.0f + vectorErf(x * 0.707106781f));
  if constexpr (A == Activation::Silu)
    return x / (1.0f + vectorExp(-x));
  if constexpr (A == Activation::Relu)
    return select(x < 0.0f, splat(0.0f), x);
  return x;
}

/// Sums of rows from i and columns from j on, to their places.
template <Activation A, typename T, typename R>
static void finishTileWith(const GemmDesc &desc, const Operands<T, R> &of, int64_t i0, int64_t j0,
                           const float *sums, int64_t sumsRow, int64_t rows, int64_t columns) {
  const T *biases = desc.hasBias ? of.bias + j0 : nullptr;
  const T *residuals = desc.hasResidual ? of.residual + i0 * desc.residualRow + j0 : nullptr;
  R *c = of.c + i0 * desc.cRow + j0;
  for (int64_t j = 0; j < columns; j += kLanes) {
    int64_t count = columns - j;
    Float16 bias = biases ? loadFirst(biases + j, count) : splat(0.0f);
    for (int64_t i = 0; i < rows; ++i) {
      Float16 x = load(sums + i * sumsRow + j);
      if (biases)
        x += bias;
      x = activate<A>(x);
      if (residuals)
        x += loadFirst(residuals + i * desc.residualRow + j, count);
      R *place = c + i * desc.cRow + j;
      if (of.accumulate)
        x = roundTo<R>(x) + loadFirst(place, count);
      storeFirst(place, x, count);
    }
  }
}

template <typename T, typename R>
static void finishTile(const GemmDesc &desc, const Operands<T, R> &of, int64_t i0, int64_t j0,
                       const float *sums, int64_t sumsRow, int64_t rows, int64_t columns) {
  const auto finish = [&] {
    switch (desc.activation) {
    case Activation::None:
      break;
    case Activation::GeluTanh:
      return finishTileWith<Activation::GeluTanh, T, R>;
    case Activation::GeluErf:
      return finishTileWith<Activation::GeluErf, T, R>;
    case Activation::Silu:
      return finishTileWith<Activation::Silu, T, R>;
    case Activation::Relu:
      return finishTileWith<Activation::Relu, T, R>;
    }
    return finishTileWith<Activation::None, T, R>;
  }();
  finish(desc, of, i0, j0, sums, sumsRow, rows, columns);
}

} // namespace zrt::ZRT_ISA

#endif // ZERO_LIB_RUNTIME_CPU_KERNELS_GEMMPARTS_H
