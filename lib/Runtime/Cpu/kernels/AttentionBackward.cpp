//===- AttentionBackward.cpp - gradients of blocked attention -------------===//
//
// After Dao et al., FlashAttention (2022), algorithm 4. Probabilities are formed
// again from the kept log-sum-exp; with D_i = Σ dO_i·O_i,
//   P = exp(scale·S − lse), dP = dO·Vᵀ, dS = scale·P∘(dP − D),
//   dV = Pᵀ·dO, dK = dSᵀ·Q, dQ = dS·K.
// Key blocks are outside; dK and dV of a block sum over the group's heads and
// then query blocks, in order; dQ, in its own memory, over key blocks. Blocks
// wholly above the diagonal are skipped. P and dS are held turned, [key, query].
// Where results have 16 bits and there are several key blocks, dQ is summed in
// the workspace and rounded at the end.
//
// With dropout M, 0 or 1 / (1 − rate), the values met P∘M: dV = (P∘M)ᵀ·dO and
// dS = scale·P∘(M∘dP − D); D is what it was, since O holds M.
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
  float *sums; // dQ of the group's heads, [queryLen, headDim] each; null: in its own memory
};

/// D_i = Σ_d dO·O: 16 lanes along d, then the fixed tree.
template <typename T>
void rowProducts(const AttentionDesc &desc, const T *out, const T *dOut, float *delta) {
  for (int64_t i = 0; i < desc.queryLen; ++i) {
    Float16 sum = splat(0.0f);
    for (int64_t d = 0; d < desc.headDim; d += kLanes)
      sum = multiplyAdd(loadFirst(out + i * desc.out.time + d, desc.headDim - d),
                        loadFirst(dOut + i * desc.dOut.time + d, desc.headDim - d), sum);
    delta[i] = sumLanes(sum);
  }
}

/// From scores and dP, in place, to P and dS, or rather to P∘M and dS. `query0` and `key0` are
/// those of the blocks.
template <bool Drops>
void formGradients(const AttentionDesc &desc, const HeadDropout &dropout, const float *logSumExp,
                   const float *delta, int64_t keys, int64_t queries, int64_t query0, int64_t key0,
                   const BackwardBuffers &at) {
  const int64_t shift = query0 - key0;
  const bool masked = desc.causal && shift < keys - 1;
  for (int64_t i = 0; i < queries; i += kLanes) {
    Float16 lse = loadFirst(logSumExp + i, queries - i), d = loadFirst(delta + i, queries - i);
    Int16 query = laneNumbers() + (int32_t)(shift + i);
    const int64_t seen = desc.causal ? larger(0, smaller(keys, shift + i + kLanes)) : keys;
    for (int64_t j = seen; j < keys; ++j) {
      store(at.p + j * kQueryBlock + i, splat(0.0f));
      store(at.ds + j * kQueryBlock + i, splat(0.0f));
    }
    auto form = [&](int64_t j, Int16 dropped) {
      float *p = at.p + j * kQueryBlock + i, *ds = at.ds + j * kQueryBlock + i;
      Float16 x = vectorSoftmaxExp(load(p) * desc.scale - lse), dP = load(ds);
      if constexpr (Drops)
        dP = select(dropped, splat(0.0f), dP * dropout.inverse);
      Float16 y = x * (dP - d) * desc.scale;
      if constexpr (Drops)
        x = select(dropped, splat(0.0f), x * dropout.inverse);
      if (masked) {
        Int16 hidden = query < (int32_t)j;
        x = select(hidden, splat(0.0f), x);
        y = select(hidden, splat(0.0f), y);
      }
      store(p, x);
      store(ds, y);
    };
    if constexpr (Drops) {
      KeyWords draws(dropout, query0 + i, key0);
      for (int64_t j = 0; j < seen; j += 4) {
        UInt16 words[4];
        draws.next(words);
        for (int64_t w = 0; w < smaller(4, seen - j); ++w)
          form(j + w, words[w] < dropout.threshold);
      }
    } else {
      for (int64_t j = 0; j < seen; ++j)
        form(j, Int16(0));
    }
  }
}

/// Writes or adds [rows, headDim], held as slivers of `sliverRows` rows, to strided rows.
template <typename T>
void writeSlivers(const float *slivers, int64_t sliverRows, int64_t rows, int64_t dim, T *to,
                  int64_t step, bool add) {
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t d = 0; d < dim; d += kLanes) {
      int64_t sliver = d / kSliver * kSliver, width = sliverWidth(dim, sliver);
      Float16 x = load(slivers + sliverRows * sliver + i * width + (d - sliver));
      T *place = to + i * step + d;
      storeFirst(place, add ? loadFirst(place, dim - d) + x : x, dim - d);
    }
}

/// One query head against the key block in the buffers.
template <typename T> struct Head {
  HeadDropout dropout;
  const T *q, *dOut;
  const float *logSumExp, *delta;
  T *dQ;
  float *sums; // null where there are none
};

/// One query block of the head.
template <typename T>
void stepQueries(const AttentionDesc &desc, const AttentionPlan &plan, const Head<T> &of,
                 int64_t query0, int64_t key0, int64_t allKeys, const BackwardBuffers &at) {
  const int64_t dim = desc.headDim, queries = smaller(kQueryBlock, desc.queryLen - query0);
  // Keys behind the last query add nothing.
  const int64_t keys = desc.causal ? smaller(allKeys, query0 + queries - key0) : allKeys;
  const T *qRows = of.q + query0 * desc.q.time, *dOutRows = of.dOut + query0 * desc.dOut.time;
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
  const auto form = of.dropout.state ? formGradients<true> : formGradients<false>;
  form(desc, of.dropout, of.logSumExp + query0, of.delta + query0, keys, queries, query0, key0, at);
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
  if (of.sums)
    writeSlivers(at.dQuery, kQueryBlock, queries, dim, of.sums + query0 * dim, dim, key0 > 0);
  else
    writeSlivers(at.dQuery, kQueryBlock, queries, dim, of.dQ + query0 * desc.dQ.time, desc.dQ.time,
                 key0 > 0);
}

/// The finished dQ to its place.
template <typename T> void writeSums(const AttentionDesc &desc, const Head<T> &of) {
  for (int64_t i = 0; i < desc.queryLen; ++i)
    for (int64_t d = 0; d < desc.headDim; d += kLanes) {
      const int64_t count = desc.headDim - d;
      storeFirst(of.dQ + i * desc.dQ.time + d, loadFirst(of.sums + i * desc.headDim + d, count),
                 count);
    }
}

template <typename T>
void backward(const AttentionDesc &desc, const T *q, const T *k, const T *v, const T *out,
              const float *logSumExp, const T *dOut, T *dQ, T *dK, T *dV, const RandomState *random,
              char *workspace, ThreadTeam &team) {
  const AttentionPlan plan = planAttention(desc);
  const int64_t group = desc.heads / desc.kvHeads, pairs = desc.batch * desc.kvHeads;
  const int64_t parts = smaller(team.size(), pairs);
  const int64_t dim = desc.headDim, padded = roundUp(dim, kLanes);
  auto headAt = [&](int64_t b, int64_t head0, int64_t h, const BackwardBuffers &at) {
    return Head<T>{HeadDropout(desc, random, b, head0 + h),
                   rowsOf(q, desc.q, b, head0 + h),
                   rowsOf(dOut, desc.dOut, b, head0 + h),
                   logSumExp + (b * desc.heads + head0 + h) * desc.queryLen,
                   at.delta + h * desc.queryLen,
                   rowsOf(dQ, desc.dQ, b, head0 + h),
                   at.sums ? at.sums + h * desc.queryLen * dim : nullptr};
  };
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
    at.delta = carver.take(roundUp(group * desc.queryLen, kLanes));
    at.sums = plan.sumFloats > 0 ? carver.take(plan.sumFloats) : nullptr;
    Range range = partOf(pairs, 1, p, parts);
    for (int64_t pair = range.begin; pair < range.end; ++pair) {
      int64_t b = pair / desc.kvHeads, kvHead = pair % desc.kvHeads, head0 = kvHead * group;
      for (int64_t h = 0; h < group; ++h)
        rowProducts(desc, rowsOf(out, desc.out, b, head0 + h),
                    rowsOf(dOut, desc.dOut, b, head0 + h), at.delta + h * desc.queryLen);
      for (int64_t key0 = 0; key0 < desc.keyLen; key0 += plan.keyBlock) {
        int64_t keys = smaller(plan.keyBlock, desc.keyLen - key0);
        const T *keyRows = rowsOf(k, desc.k, b, kvHead) + key0 * desc.k.time;
        const T *valueRows = rowsOf(v, desc.v, b, kvHead) + key0 * desc.v.time;
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
            stepQueries(desc, plan, headAt(b, head0, h, at), query0, key0, keys, at);
        writeSlivers(at.dKeys, plan.keyBlock, keys, dim,
                     rowsOf(dK, desc.dK, b, kvHead) + key0 * desc.dK.time, desc.dK.time, false);
        writeSlivers(at.dValues, plan.keyBlock, keys, dim,
                     rowsOf(dV, desc.dV, b, kvHead) + key0 * desc.dV.time, desc.dV.time, false);
      }
      for (int64_t h = 0; at.sums && h < group; ++h)
        writeSums(desc, headAt(b, head0, h, at));
    }
  };
  runParts(team, parts, part);
}

} // namespace

void attentionBackward(const AttentionDesc &desc, const void *q, const void *k, const void *v,
                       const void *out, const float *logSumExp, const void *dOut, void *dQ,
                       void *dK, void *dV, const RandomState *random, char *workspace,
                       ThreadTeam &team) {
  withType(desc.type, [&]<typename T>(T) {
    backward(desc, static_cast<const T *>(q), static_cast<const T *>(k), static_cast<const T *>(v),
             static_cast<const T *>(out), logSumExp, static_cast<const T *>(dOut),
             static_cast<T *>(dQ), static_cast<T *>(dK), static_cast<T *>(dV), random, workspace,
             team);
  });
}

} // namespace zrt::ZRT_ISA
