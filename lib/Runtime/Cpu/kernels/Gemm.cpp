//===- Gemm.cpp - packed matrix products with an epilogue -----------------===//
//
// Blocks of C, n outside m; for each, B is packed once per block of k and A row
// group by row group, just before it is used, so that the group stays in the
// first-level cache while all slivers of B stream past it from the second.
// With several blocks of k the running sums of a block of C wait in the
// workspace, since C may hold the residual or older values.
//
// Operands of 16 bits differ in packing and in the epilogue only: what lies
// between is f32, and an element is rounded when it is finished.
//
// A small product does the same with blocks of one tile, on the stack.
//
//===----------------------------------------------------------------------===//
#include "Elementary.h"
#include "Isa.h"
#include "Parts.h"
#include "Plan.h"
#include "Tile.h"

namespace zrt::ZRT_ISA {
namespace {

template <Activation A> Float16 activate(Float16 x) {
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

/// Where the finished elements of one tile go.
template <typename T, typename R> struct Finish {
  const T *bias;     // null: none
  const T *residual; // null: none
  int64_t residualRow;
  R *c;
  int64_t cRow;
  bool accumulate;
};

template <Activation A, typename T, typename R>
void finishTile(const Finish<T, R> &to, const float *sums, int64_t sumsRow, int64_t rows,
                int64_t columns) {
  for (int64_t j = 0; j < columns; j += kLanes) {
    int64_t count = columns - j;
    Float16 bias = to.bias ? loadFirst(to.bias + j, count) : splat(0.0f);
    for (int64_t i = 0; i < rows; ++i) {
      Float16 x = load(sums + i * sumsRow + j);
      if (to.bias)
        x += bias;
      x = activate<A>(x);
      if (to.residual)
        x += loadFirst(to.residual + i * to.residualRow + j, count);
      R *place = to.c + i * to.cRow + j;
      if (to.accumulate)
        x = roundTo<R>(x) + loadFirst(place, count);
      storeFirst(place, x, count);
    }
  }
}

template <typename T, typename R>
void finishTile(Activation activation, const Finish<T, R> &to, const float *sums, int64_t sumsRow,
                int64_t rows, int64_t columns) {
  switch (activation) {
  case Activation::None:
    return finishTile<Activation::None>(to, sums, sumsRow, rows, columns);
  case Activation::GeluTanh:
    return finishTile<Activation::GeluTanh>(to, sums, sumsRow, rows, columns);
  case Activation::GeluErf:
    return finishTile<Activation::GeluErf>(to, sums, sumsRow, rows, columns);
  case Activation::Silu:
    return finishTile<Activation::Silu>(to, sums, sumsRow, rows, columns);
  case Activation::Relu:
    return finishTile<Activation::Relu>(to, sums, sumsRow, rows, columns);
  }
}

template <typename T, typename R> struct Operands {
  const T *a, *b, *bias, *residual;
  R *c;
  bool accumulate;
};

struct Buffers {
  float *left, *right, *partial;
};

/// A piece of a matrix, seen as lines of contiguous elements.
template <typename T> struct Piece {
  const T *p;
  int64_t lines, length, step;
};
template <typename T>
Piece<T> pieceOf(const T *p, int64_t rowStep, int64_t columnStep, int64_t rows, int64_t columns) {
  return columnStep == 1 ? Piece<T>{p, rows, columns, rowStep}
                         : Piece<T>{p, columns, rows, columnStep};
}

template <typename T> constexpr int64_t kCacheLine = 64 / sizeof(T);

/// Fetches into the second-level cache, for later packing: one share of the lines, one share of
/// their length, so that fetches spread over the tiles of a block.
template <typename T> void prefetchShare(const Piece<T> &piece, Range lines, Range length) {
  for (int64_t i = lines.begin; i < lines.end; ++i)
    for (int64_t at = length.begin; at < length.end; at += kCacheLine<T>)
      __builtin_prefetch(piece.p + i * piece.step + at, 0, 2);
}

template <typename T> void prefetchTile(const T *p, int64_t row, int64_t rows, int64_t width) {
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t v = 0; v < width; v += kCacheLine<T>)
      __builtin_prefetch(p + i * row + v, 1, 3);
}

/// One block of C: rows from i0 and columns from j0 on.
struct Block {
  int64_t i0, j0, rows, columns;
};

/// The share of one block of k, with B packed; the last one finishes the elements.
template <typename T, typename R>
void multiplyBlock(const GemmDesc &desc, const GemmPlan &plan, const Operands<T, R> &of,
                   const Block &block, int64_t kIndex, const Buffers &buffers) {
  alignas(64) float tileSums[kTileRows * kSliver];
  const int64_t k0 = kIndex * plan.kBlock, k = smaller(plan.kBlock, desc.k - k0);
  const bool one = plan.kBlocks == 1, last = kIndex + 1 == plan.kBlocks;
  // Whole tiles without an epilogue go straight to C.
  const bool direct = sizeof(R) == sizeof(float) && one && !desc.hasBias && !desc.hasResidual &&
                      desc.activation == Activation::None;
  const auto multiply = desc.aCol == 1 ? runTile<kLeftRow> : runTile<kColumns>;
  const int64_t slivers = divideUp(block.columns, kSliver);
  for (int64_t i = 0; i < block.rows; i += kTileRows) {
    const int64_t rows = smaller(kTileRows, block.rows - i);
    const T *group = of.a + (block.i0 + i) * desc.aRow + k0 * desc.aCol;
    const Piece<T> nextGroup = pieceOf(group + kTileRows * desc.aRow, desc.aRow, desc.aCol,
                                       smaller(kTileRows, block.rows - i - rows), k);
    if (desc.aCol == 1)
      copyRows<kLeftRow>(group, desc.aRow, rows, k, buffers.left);
    else
      packGroup(group, desc.aRow, desc.aCol, rows, k, buffers.left);
    for (int64_t j = 0; j < block.columns; j += kSliver) {
      const int64_t width = sliverWidth(block.columns, j),
                    columns = smaller(width, block.columns - j);
      const float *right = buffers.right + plan.depth * j;
      R *c = of.c + (block.i0 + i) * desc.cRow + block.j0 + j;
      const int64_t sliver = j / kSliver;
      if (desc.aCol == 1)
        prefetchShare(nextGroup, {0, nextGroup.lines}, partOf(k, kCacheLine<T>, sliver, slivers));
      else
        prefetchShare(nextGroup, partOf(nextGroup.lines, 1, sliver, slivers), {0, 1});
      float *sums = one ? tileSums : buffers.partial + i * plan.nBlock + j * kTileRows;
      if (kIndex > 0)
        prefetchTile(sums, width, rows, width);
      if (last)
        prefetchTile(c, desc.cRow, rows, columns);
      if (direct && columns == width) {
        multiply(rows, k, buffers.left, kGroupStep, right, width, reinterpret_cast<float *>(c),
                 desc.cRow, of.accumulate);
        continue;
      }
      multiply(rows, k, buffers.left, kGroupStep, right, width, sums, width, kIndex > 0);
      if (!last)
        continue;
      Finish<T, R> to;
      to.bias = desc.hasBias ? of.bias + block.j0 + j : nullptr;
      to.residual = desc.hasResidual
                        ? of.residual + (block.i0 + i) * desc.residualRow + block.j0 + j
                        : nullptr;
      to.residualRow = desc.residualRow;
      to.c = c;
      to.cRow = desc.cRow;
      to.accumulate = of.accumulate;
      finishTile(desc.activation, to, sums, width, rows, columns);
    }
  }
}

/// Rows `m` and columns `n` of one matrix of the batch.
template <typename T, typename R>
void multiplyRange(const GemmDesc &desc, const GemmPlan &plan, const Operands<T, R> &of, Range m,
                   Range n, const Buffers &buffers) {
  for (int64_t j0 = n.begin; j0 < n.end; j0 += plan.nBlock)
    for (int64_t i0 = m.begin; i0 < m.end; i0 += plan.mBlock) {
      const Block block{i0, j0, smaller(plan.mBlock, m.end - i0), smaller(plan.nBlock, n.end - j0)};
      for (int64_t kIndex = 0; kIndex < plan.kBlocks; ++kIndex) {
        const int64_t k0 = kIndex * plan.kBlock;
        if (plan.kBlocks > 1 || i0 == m.begin)
          packRight(of.b + k0 * desc.bRow + j0 * desc.bCol, desc.bRow, desc.bCol,
                    smaller(plan.kBlock, desc.k - k0), block.columns, buffers.right, plan.depth);
        multiplyBlock(desc, plan, of, block, kIndex, buffers);
      }
    }
}

/// Batch entries [batch.begin, batch.end).
template <typename T, typename R>
void multiplyBatch(const GemmDesc &desc, const GemmPlan &plan, const Operands<T, R> &of,
                   Range batch, Range m, Range n, const Buffers &buffers) {
  for (int64_t b = batch.begin; b < batch.end; ++b) {
    Operands<T, R> at = of;
    at.a += b * desc.aBatch;
    at.b += b * desc.bBatch;
    at.c += b * desc.cBatch;
    if (desc.hasResidual)
      at.residual += b * desc.residualBatch;
    multiplyRange(desc, plan, at, m, n, buffers);
  }
}

/// Work under which waking threads costs more than it saves, in multiply-adds.
constexpr double kWorthThreads = 262144;

template <typename T, typename R>
void multiplyAll(const GemmDesc &desc, const Operands<T, R> &of, char *workspace,
                 ThreadTeam &team) {
  const GemmPlan plan = planGemm(desc);
  double work = double(desc.batch) * double(desc.m) * double(desc.n) * double(desc.k);
  int64_t parts = work < kWorthThreads ? 1 : team.size();
  const bool byBatch = desc.batch >= parts, byRows = desc.m >= desc.n;
  auto part = [&](int64_t p) {
    Range batch = byBatch ? partOf(desc.batch, 1, p, parts) : Range{0, desc.batch};
    Range m = !byBatch && byRows ? partOf(desc.m, kTileRows, p, parts) : Range{0, desc.m};
    Range n = !byBatch && !byRows ? partOf(desc.n, kSliver, p, parts) : Range{0, desc.n};
    if (plan.small) {
      alignas(64) float left[kLeftFloats];
      alignas(64) float right[(kMaxKBlock + 2) * kMaxSliver];
      alignas(64) float partial[kMaxTileRows * kMaxSliver];
      multiplyBatch(desc, plan, of, batch, m, n, {left, right, partial});
    } else {
      float *own = alignWorkspace(workspace) + p * plan.floatsPerThread();
      multiplyBatch(desc, plan, of, batch, m, n,
                    {own, own + plan.leftFloats, own + plan.leftFloats + plan.rightFloats});
    }
  };
  runParts(team, parts, part);
}

} // namespace

void gemm(const GemmDesc &desc, const void *a, const void *b, const void *bias,
          const void *residual, void *c, bool accumulate, char *workspace, ThreadTeam &team) {
  withTypes(desc.type, desc.resultType, [&]<typename T, typename R>(T, R) {
    const Operands<T, R> of{static_cast<const T *>(a),    static_cast<const T *>(b),
                            static_cast<const T *>(bias), static_cast<const T *>(residual),
                            static_cast<R *>(c),          accumulate};
    multiplyAll(desc, of, workspace, team);
  });
}

} // namespace zrt::ZRT_ISA
