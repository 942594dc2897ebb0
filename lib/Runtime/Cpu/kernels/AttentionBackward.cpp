//===- AttentionBackward.cpp - gradients of blocked attention -------------===//
//
// After Dao et al., FlashAttention (2022), algorithm 4. Probabilities are formed
// again from the kept log-sum-exp; with D_i = Σ dO_i·O_i,
//   P = exp(scale·S − lse), dP = dO·Vᵀ, dS = scale·P∘(dP − D),
//   dV = Pᵀ·dO, dK = dSᵀ·Q, dQ = dS·K.
// Key blocks are outside; dK and dV of a block sum over the group's heads and
// then query blocks, in order; dQ, in its own memory, over key blocks. Blocks
// wholly above the diagonal are skipped. P and dS are held turned, [key, query].
//
//===----------------------------------------------------------------------===//
#include "Attention.h"

namespace zrt::ZRT_ISA {
namespace {

constexpr int kQueryBlock = 64; // also the row step of P and dS as left operands of dV and dK

struct BackwardBuffers {
  float *keys, *values, *keyRows;                        // key block: copied rows twice, slivers
  float *dKeys, *dValues;                                // slivers [headDim][key, width]
  float *queries, *dOut, *queryRows, *dOutRows, *dQuery; // query block, turned and as they lie
  float *p, *ds;                                         // [key, kQueryBlock]
  float *delta;                                          // D of every query of the group
};

/// D_i = Σ_d dO·O: 16 lanes along d, then the fixed tree.
void rowProducts(const AttentionDesc &desc, const float *out, const float *dOut, float *delta) {
  for (int64_t i = 0; i < desc.queryLen; ++i) {
    Float16 sum = splat(0.0f);
    for (int64_t d = 0; d < desc.headDim; d += kLanes)
      sum = multiplyAdd(loadFirst(out + i * desc.out.time + d, desc.headDim - d),
                        loadFirst(dOut + i * desc.dOut.time + d, desc.headDim - d), sum);
    delta[i] = sumLanes(sum);
  }
}

/// From scores and dP, in place, to P and dS. `shift` is first query − first key.
void formGradients(const AttentionDesc &desc, const float *logSumExp, const float *delta,
                   int64_t keys, int64_t queries, int64_t shift, const BackwardBuffers &at) {
  const bool masked = desc.causal && shift < keys - 1;
  for (int64_t i = 0; i < queries; i += kLanes) {
    Float16 lse = loadFirst(logSumExp + i, queries - i), d = loadFirst(delta + i, queries - i);
    Int16 query = laneNumbers() + (int32_t)(shift + i);
    const int64_t seen = desc.causal ? larger(0, smaller(keys, shift + i + kLanes)) : keys;
    for (int64_t j = seen; j < keys; ++j) {
      store(at.p + j * kQueryBlock + i, splat(0.0f));
      store(at.ds + j * kQueryBlock + i, splat(0.0f));
    }
    for (int64_t j = 0; j < seen; ++j) {
      float *p = at.p + j * kQueryBlock + i, *ds = at.ds + j * kQueryBlock + i;
      Float16 x = vectorSoftmaxExp(load(p) * desc.scale - lse);
      Float16 y = x * (load(ds) - d) * desc.scale;
      if (masked) {
        Int16 hidden = query < (int32_t)j;
        x = select(hidden, splat(0.0f), x);
        y = select(hidden, splat(0.0f), y);
      }
      store(p, x);
      store(ds, y);
    }
  }
}

/// Writes or adds [rows, headDim], held as slivers of `sliverRows` rows, to strided rows.
void writeSlivers(const float *slivers, int64_t sliverRows, int64_t rows, int64_t dim, float *to,
                  int64_t step, bool add) {
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t d = 0; d < dim; d += kLanes) {
      int64_t sliver = d / kSliver * kSliver, width = sliverWidth(dim, sliver);
      Float16 x = load(slivers + sliverRows * sliver + i * width + (d - sliver));
      float *place = to + i * step + d;
      storeFirst(place, add ? loadFirst(place, dim - d) + x : x, dim - d);
    }
}

/// One query block of one head against the key block in the buffers.
void stepQueries(const AttentionDesc &desc, const AttentionPlan &plan, const float *q,
                 const float *dOut, const float *logSumExp, const float *delta, float *dQ,
                 int64_t query0, int64_t key0, int64_t allKeys, const BackwardBuffers &at) {
  const int64_t dim = desc.headDim, queries = smaller(kQueryBlock, desc.queryLen - query0);
  // Keys behind the last query add nothing.
  const int64_t keys = desc.causal ? smaller(allKeys, query0 + queries - key0) : allKeys;
  const float *qRows = q + query0 * desc.q.time, *dOutRows = dOut + query0 * desc.dOut.time;
  packRight(qRows, 1, desc.q.time, dim, queries, at.queries, dim);
  packRight(dOutRows, 1, desc.dOut.time, dim, queries, at.dOut, dim);
  packRight(qRows, desc.q.time, 1, queries, dim, at.queryRows, queries);
  packRight(dOutRows, desc.dOut.time, 1, queries, dim, at.dOutRows, queries);
  for (int64_t i = 0; i < queries; i += kSliver) {
    int64_t width = sliverWidth(queries, i);
    int64_t seen = desc.causal ? smaller(keys, query0 + i + width - key0) : keys;
    if (seen <= 0)
      continue;
    multiplyHeadRows(seen, dim, at.keys, at.queries + i * dim, width, at.p + i, kQueryBlock);
    multiplyHeadRows(seen, dim, at.values, at.dOut + i * dim, width, at.ds + i, kQueryBlock);
  }
  formGradients(desc, logSumExp + query0, delta + query0, keys, queries, query0 - key0, at);
  for (int64_t d = 0; d < dim; d += kSliver) {
    int64_t width = sliverWidth(dim, d);
    runSliver<kQueryBlock>(keys, queries, at.p, 0, kTileRows * kQueryBlock,
                           at.dOutRows + queries * d, width, at.dValues + plan.keyBlock * d, width,
                           true);
    runSliver<kQueryBlock>(keys, queries, at.ds, 0, kTileRows * kQueryBlock,
                           at.queryRows + queries * d, width, at.dKeys + plan.keyBlock * d, width,
                           true);
    runSliver<kColumns>(queries, keys, at.ds, kQueryBlock, kTileRows, at.keyRows + allKeys * d,
                        width, at.dQuery + kQueryBlock * d, width, false);
  }
  writeSlivers(at.dQuery, kQueryBlock, queries, dim, dQ + query0 * desc.dQ.time, desc.dQ.time,
               key0 > 0);
}

} // namespace

void attentionBackward(const AttentionDesc &desc, const void *qv, const void *kv, const void *vv,
                       const void *outv, const float *logSumExp, const void *dOutv, void *dQv,
                       void *dKv, void *dVv, const RandomState *, char *workspace,
                       ThreadTeam &team) {
  auto *q = (const float *)qv, *k = (const float *)kv, *v = (const float *)vv;
  auto *out = (const float *)outv, *dOut = (const float *)dOutv;
  auto *dQ = (float *)dQv, *dK = (float *)dKv, *dV = (float *)dVv;
  const AttentionPlan plan = planAttention(desc);
  const int64_t group = desc.heads / desc.kvHeads, pairs = desc.batch * desc.kvHeads;
  const int64_t parts = smaller(team.size(), pairs);
  const int64_t dim = desc.headDim, padded = roundUp(dim, kLanes);
  auto part = [&](int64_t p) {
    Carver carver{alignWorkspace(workspace) + p * plan.floatsPerThread};
    BackwardBuffers at;
    int64_t left = plan.keyBlock * headRow(dim);
    at.keys = carver.take(left);
    at.values = carver.take(left);
    at.keyRows = carver.take(plan.keyBlock * padded);
    at.dKeys = carver.take(plan.keyBlock * padded);
    at.dValues = carver.take(plan.keyBlock * padded);
    at.queries = carver.take(kQueryBlock * dim);
    at.dOut = carver.take(kQueryBlock * dim);
    at.queryRows = carver.take(kQueryBlock * padded);
    at.dOutRows = carver.take(kQueryBlock * padded);
    at.dQuery = carver.take(kQueryBlock * padded);
    at.p = carver.take(plan.keyBlock * kQueryBlock);
    at.ds = carver.take(plan.keyBlock * kQueryBlock);
    at.delta = carver.take(0);
    Range range = partOf(pairs, 1, p, parts);
    for (int64_t pair = range.begin; pair < range.end; ++pair) {
      int64_t b = pair / desc.kvHeads, kvHead = pair % desc.kvHeads, head0 = kvHead * group;
      for (int64_t h = 0; h < group; ++h)
        rowProducts(desc, rowsOf(out, desc.out, b, head0 + h),
                    rowsOf(dOut, desc.dOut, b, head0 + h), at.delta + h * desc.queryLen);
      for (int64_t key0 = 0; key0 < desc.keyLen; key0 += plan.keyBlock) {
        int64_t keys = smaller(plan.keyBlock, desc.keyLen - key0);
        const float *keyRows = rowsOf(k, desc.k, b, kvHead) + key0 * desc.k.time;
        const float *valueRows = rowsOf(v, desc.v, b, kvHead) + key0 * desc.v.time;
        copyHeadRows(keyRows, desc.k.time, keys, dim, at.keys);
        copyHeadRows(valueRows, desc.v.time, keys, dim, at.values);
        packRight(keyRows, desc.k.time, 1, keys, dim, at.keyRows, keys);
        for (int64_t i = 0; i < plan.keyBlock * padded; i += kLanes) {
          store(at.dKeys + i, splat(0.0f));
          store(at.dValues + i, splat(0.0f));
        }
        int64_t first = desc.causal ? key0 / kQueryBlock * kQueryBlock : 0;
        for (int64_t h = 0; h < group; ++h)
          for (int64_t query0 = first; query0 < desc.queryLen; query0 += kQueryBlock)
            stepQueries(desc, plan, rowsOf(q, desc.q, b, head0 + h),
                        rowsOf(dOut, desc.dOut, b, head0 + h),
                        logSumExp + (b * desc.heads + head0 + h) * desc.queryLen,
                        at.delta + h * desc.queryLen, rowsOf(dQ, desc.dQ, b, head0 + h), query0,
                        key0, keys, at);
        writeSlivers(at.dKeys, plan.keyBlock, keys, dim,
                     rowsOf(dK, desc.dK, b, kvHead) + key0 * desc.dK.time, desc.dK.time, false);
        writeSlivers(at.dValues, plan.keyBlock, keys, dim,
                     rowsOf(dV, desc.dV, b, kvHead) + key0 * desc.dV.time, desc.dV.time, false);
      }
    }
  };
  runParts(team, parts, part);
}

} // namespace zrt::ZRT_ISA
