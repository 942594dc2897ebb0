//===- Gemm.cpp - packed matrix products with an epilogue -----------------===//
//
// Blocks of C, n outside m; for each, B is packed once per block of k and A row
// group by row group, just before it is used, so that the group stays in the
// first-level cache while all slivers of B stream past it from the second.
// With several blocks of k the running sums of a block of C wait in the
// workspace, since C may hold the residual or older values.
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
struct Finish {
  const float *bias;     // null: none
  const float *residual; // null: none
  int64_t residualRow;
  float *c;
  int64_t cRow;
  bool accumulate;
};

template <Activation A>
void finishTile(const Finish &to, const float *sums, int64_t sumsRow, int64_t rows,
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
      float *place = to.c + i * to.cRow + j;
      if (to.accumulate)
        x += loadFirst(place, count);
      storeFirst(place, x, count);
    }
  }
}

void finishTile(Activation activation, const Finish &to, const float *sums, int64_t sumsRow,
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

struct Operands {
  const float *a, *b, *bias, *residual;
  float *c;
  bool accumulate;
};

struct Buffers {
  float *left, *right, *partial;
};

/// Rows `m` and columns `n` of one matrix of the batch.
void multiplyRange(const GemmDesc &desc, const GemmPlan &plan, const Operands &of, Range m, Range n,
                   const Buffers &buffers) {
  alignas(64) float tileSums[kTileRows * kSliver];
  const bool one = plan.kBlocks == 1;
  for (int64_t j0 = n.begin; j0 < n.end; j0 += plan.nBlock) {
    int64_t columns = smaller(plan.nBlock, n.end - j0);
    for (int64_t i0 = m.begin; i0 < m.end; i0 += plan.mBlock) {
      int64_t rows = smaller(plan.mBlock, m.end - i0);
      for (int64_t block = 0; block < plan.kBlocks; ++block) {
        int64_t k0 = block * plan.kBlock, k = smaller(plan.kBlock, desc.k - k0);
        bool last = block + 1 == plan.kBlocks;
        if (!one || i0 == m.begin)
          packRight(of.b + k0 * desc.bRow + j0 * desc.bCol, desc.bRow, desc.bCol, k, columns,
                    buffers.right);
        for (int64_t i = 0; i < rows; i += kTileRows) {
          int64_t tileRows = smaller(kTileRows, rows - i);
          packLeft(of.a + (i0 + i) * desc.aRow + k0 * desc.aCol, desc.aRow, desc.aCol, tileRows, k,
                   buffers.left);
          for (int64_t j = 0; j < columns; j += kSliver) {
            int64_t width = sliverWidth(columns, j);
            float *sums = one ? tileSums : buffers.partial + i * plan.nBlock + j;
            int64_t sumsRow = one ? kSliver : plan.nBlock;
            runTile<Left::Columns>(tileRows, k, buffers.left, kTileRows, buffers.right + k * j,
                                   width, sums, sumsRow, block > 0);
            if (!last)
              continue;
            Finish to;
            to.bias = desc.hasBias ? of.bias + j0 + j : nullptr;
            to.residual = desc.hasResidual
                              ? of.residual + (i0 + i) * desc.residualRow + j0 + j
                              : nullptr;
            to.residualRow = desc.residualRow;
            to.c = of.c + (i0 + i) * desc.cRow + j0 + j;
            to.cRow = desc.cRow;
            to.accumulate = of.accumulate;
            finishTile(desc.activation, to, sums, sumsRow, tileRows,
                       smaller(width, columns - j));
          }
        }
      }
    }
  }
}

/// Batch entries [batch.begin, batch.end).
void multiplyBatch(const GemmDesc &desc, const GemmPlan &plan, const Operands &of, Range batch,
                   Range m, Range n, const Buffers &buffers) {
  for (int64_t b = batch.begin; b < batch.end; ++b) {
    Operands at = of;
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

} // namespace

void gemm(const GemmDesc &desc, const float *a, const float *b, const float *bias,
          const float *residual, float *c, bool accumulate, char *workspace, ThreadTeam &team) {
  const GemmPlan plan = planGemm(desc);
  const Operands of{a, b, bias, residual, c, accumulate};
  double work = double(desc.batch) * double(desc.m) * double(desc.n) * double(desc.k);
  int64_t parts = work < kWorthThreads ? 1 : team.size();
  const bool byBatch = desc.batch >= parts, byRows = desc.m >= desc.n;
  auto part = [&](int64_t p) {
    Range batch = byBatch ? partOf(desc.batch, 1, p, parts) : Range{0, desc.batch};
    Range m = !byBatch && byRows ? partOf(desc.m, kTileRows, p, parts) : Range{0, desc.m};
    Range n = !byBatch && !byRows ? partOf(desc.n, kSliver, p, parts) : Range{0, desc.n};
    if (plan.small) {
      alignas(64) float left[kTileRows * kMaxKBlock + 16];
      alignas(64) float right[kMaxKBlock * kSliver];
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

} // namespace zrt::ZRT_ISA
