//===- Plan.cpp - block sizes and workspaces, from descriptors alone ------===//
#include "Plan.h"

#include <algorithm>

namespace zrt {

/// `total` cut into equal blocks of at most `most`, each a multiple of `multiple`.
static int64_t evenBlock(int64_t total, int64_t most, int64_t multiple) {
  int64_t blocks = std::max<int64_t>(1, divideUp(total, most));
  return roundUp(divideUp(total, blocks), multiple);
}

static bool productAtMost(int64_t a, int64_t b, int64_t c, int64_t bound) {
  return a == 0 || b == 0 || c == 0 || (a <= bound && b <= bound / a && c <= bound / (a * b));
}

GemmPlan planGemm(const GemmDesc &desc) {
  GemmPlan plan;
  plan.small = productAtMost(desc.m, desc.n, desc.k, kSmallGemm);
  plan.kBlocks = std::max<int64_t>(1, divideUp(desc.k, kMaxKBlock));
  plan.kBlock = evenBlock(desc.k, kMaxKBlock, 4);
  int64_t columns = desc.n <= kMaxSliver ? 16 : kMaxSliver;
  plan.nBlock = plan.small ? kMaxSliver : evenBlock(desc.n, kMaxNBlock, columns);
  int64_t rows = kMaxPartial / plan.nBlock / kMaxTileRows * kMaxTileRows;
  plan.mBlock = plan.small ? kMaxTileRows : evenBlock(desc.m, rows, kMaxTileRows);
  plan.leftFloats = kLeftFloats;
  // Slivers a multiple of 4096 bytes apart would share a few cache sets while B is packed.
  plan.depth = plan.kBlock + 2;
  plan.rightFloats = plan.depth * plan.nBlock;
  plan.partialFloats = plan.kBlocks > 1 ? plan.mBlock * plan.nBlock : 0;
  return plan;
}

GemmPlan planPairGemm(const GemmDesc &desc) {
  GemmPlan plan;
  plan.small = productAtMost(desc.m, desc.n, desc.k, kSmallGemm);
  plan.kBlocks = std::max<int64_t>(1, divideUp(desc.k, kMaxPairKBlock));
  plan.kBlock = evenBlock(desc.k, kMaxPairKBlock, kPairTile);
  plan.nBlock = plan.small ? kPairTile : evenBlock(desc.n, kMaxNBlock, kPairTile);
  int64_t rows = kMaxPartial / plan.nBlock / kPairTile * kPairTile;
  plan.mBlock = plan.small ? kPairTile : evenBlock(desc.m, rows, kPairTile);
  plan.depth = 0;
  plan.leftFloats = kPairTile * plan.kBlock / 2;
  plan.rightFloats = plan.kBlock * plan.nBlock / 2;
  plan.partialFloats = plan.kBlocks > 1 ? plan.mBlock * plan.nBlock : 0;
  return plan;
}

int64_t workspaceBytes(const GemmDesc &desc, int64_t threads) {
  int64_t floats = planGemm(desc).floatsPerThread();
  // The program does not know the processor it will run on.
  if (desc.type == ElementType::bf16)
    floats = std::max(floats, planPairGemm(desc).floatsPerThread());
  return floats == 0 ? 0 : threads * floats * 4 + 64;
}

AttentionPlan planAttention(const AttentionDesc &desc) {
  AttentionPlan plan;
  plan.sumFloats = 0;
  int64_t dim = desc.headDim, padded = roundUp(dim, 16);
  if (!desc.backward) {
    int64_t most = dim <= 64 ? 256 : dim <= 128 ? 128 : 64;
    plan.queryBlock = roundUp(std::min(most, std::max<int64_t>(desc.queryLen, 1)), kMaxSliver);
    plan.keyBlock = std::min<int64_t>(64, std::max<int64_t>(desc.keyLen, 1));
    int64_t keys = plan.keyBlock * headRow(dim);
    int64_t values = plan.keyBlock * padded;
    int64_t scores = plan.keyBlock * kMaxSliver;
    plan.floatsPerThread = keys + values + scores + 2 * plan.queryBlock * (dim + 1);
    return plan;
  }
  plan.queryBlock = 64;
  plan.keyBlock = std::min<int64_t>(dim <= 128 ? 128 : 64, std::max<int64_t>(desc.keyLen, 1));
  int64_t left = plan.keyBlock * headRow(dim);
  int64_t right = plan.keyBlock * padded;
  int64_t scores = plan.keyBlock * plan.queryBlock;
  int64_t group = desc.kvHeads > 0 ? desc.heads / desc.kvHeads : 0;
  int64_t delta = roundUp(group * desc.queryLen, 16);
  if (desc.type != ElementType::f32 && desc.keyLen > plan.keyBlock)
    plan.sumFloats = roundUp(group * desc.queryLen * dim, 16);
  plan.floatsPerThread = 2 * left + 3 * right + 2 * scores + 2 * plan.queryBlock * dim +
                         3 * plan.queryBlock * padded + delta + plan.sumFloats;
  return plan;
}

int64_t workspaceBytes(const AttentionDesc &desc, int64_t threads) {
  return threads * planAttention(desc).floatsPerThread * 4 + 64;
}

int64_t workspaceBytes(const CrossEntropyDesc &, int64_t) { return 0; }

int64_t workspaceBytes(const ScatterDesc &desc, int64_t) {
  return desc.rows <= kScatterPairs ? 0 : (desc.tableRows + desc.rows) * 4;
}

} // namespace zrt
