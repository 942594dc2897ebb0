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
#include "GemmParts.h"
#include "Isa.h"
#include "Plan.h"
#include "Tile.h"

namespace zrt::ZRT_ISA {
namespace {

struct Buffers {
  float *left, *right, *partial;
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
      if (last)
        finishTile(desc, of, block.i0 + i, block.j0 + j, sums, width, rows, columns);
    }
  }
}

/// Rows `m` and columns `n` of one matrix of the batch.
template <typename T, typename R>
void multiplyRange(const GemmDesc &desc, const GemmPlan &plan, const Operands<T, R> &of, Range m,
                   Range n, const Buffers &buffers) {
  auto packPanel = [&](const T *panel, int64_t columns, int64_t depth) {
    packRight(panel, desc.bRow, desc.bCol, depth, columns, buffers.right, plan.depth);
  };
  forEachBlock(desc, plan, of, m, n, packPanel, [&](const Block &block, int64_t kIndex) {
    multiplyBlock(desc, plan, of, block, kIndex, buffers);
  });
}

template <typename T, typename R>
void multiplyAll(const GemmDesc &desc, const Operands<T, R> &of, char *workspace,
                 ThreadTeam &team) {
  const GemmPlan plan = planGemm(desc);
  forEachGemmPart(desc, kTileRows, kSliver, team, [&](const GemmPart &part) {
    auto multiply = [&](const Buffers &buffers) {
      forEachOfBatch(desc, of, part.batch, [&](const Operands<T, R> &at) {
        multiplyRange(desc, plan, at, part.m, part.n, buffers);
      });
    };
    if (plan.small) {
      alignas(64) float left[kLeftFloats];
      alignas(64) float right[(kMaxKBlock + 2) * kMaxSliver];
      alignas(64) float partial[kMaxTileRows * kMaxSliver];
      return multiply({left, right, partial});
    }
    float *own = alignWorkspace(workspace) + part.index * plan.floatsPerThread();
    multiply({own, own + plan.leftFloats, own + plan.leftFloats + plan.rightFloats});
  });
}

} // namespace

void gemm(const GemmDesc &desc, const void *a, const void *b, const void *bias,
          const void *residual, void *c, bool accumulate, char *workspace, ThreadTeam &team) {
  withTypes(desc.type, desc.resultType, [&]<typename T, typename R>(T, R) {
    multiplyAll(desc, Operands<T, R>(a, b, bias, residual, c, accumulate), workspace, team);
  });
}

} // namespace zrt::ZRT_ISA
