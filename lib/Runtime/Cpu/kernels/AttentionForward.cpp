//===- AttentionForward.cpp - blocked attention with online softmax -------===//
//
// After Dao et al., FlashAttention (2022): blocks of keys pass by a block of
// queries, which keeps a running maximum, a running sum and an unnormalised
// result, so that nothing of size T×T exists.
//
// Scores are held turned, S^T[key, query], with queries in the lanes: maximum,
// sum and rescaling are then plain vector operations without reductions across
// lanes, the values can be used as they lie in memory, and only the queries,
// once per block, have to be turned. A sliver of queries is the unit of work.
//
// Dropout falls on what the values are multiplied by; maxima and sums, and so
// the log-sum-exp, are those of all probabilities.
//
//===----------------------------------------------------------------------===//
#include "Attention.h"

namespace zrt::ZRT_ISA {
namespace {

struct ForwardBuffers {
  float *keys, *values;  // key block: copied rows; rows padded to full vectors
  float *queries, *sums; // slivers [headDim, width]
  float *largest, *total;
  float *scores; // [key, width]
};

/// Scales scores, hides keys after the query, and returns the new maxima.
template <int NV>
void scaleAndMask(float *scores, int64_t keys, float scale, int64_t hiddenFrom /* query − key */,
                  bool masked, Float16 (&largest)[NV]) {
  Int16 query = laneNumbers() + (int32_t)hiddenFrom;
  for (int64_t j = 0; j < keys; ++j)
    for (int v = 0; v < NV; ++v) {
      float *place = scores + (j * NV + v) * kLanes;
      Float16 x = load(place) * scale;
      if (masked)
        x = select(query + (int32_t)(v * kLanes) < (int32_t)j, splat(-__builtin_inff()), x);
      store(place, x);
      largest[v] = larger(x, largest[v]);
    }
}

template <int NV>
void dropScores(const HeadDropout &dropout, float *scores, int64_t query0, int64_t key0,
                int64_t keys) {
  for (int v = 0; v < NV; ++v) {
    KeyWords draws(dropout, query0 + v * kLanes, key0);
    for (int64_t j = 0; j < keys; j += 4) {
      UInt16 words[4];
      draws.next(words);
      for (int64_t i = 0; i < smaller(4, keys - j); ++i) {
        float *place = scores + ((j + i) * NV + v) * kLanes;
        store(place,
              select(words[i] < dropout.threshold, splat(0.0f), load(place) * dropout.inverse));
      }
    }
  }
}

/// One key block for one sliver of NV·16 queries; `first` block or a later one.
template <int NV>
void stepSliver(const AttentionDesc &desc, const HeadDropout &dropout, const ForwardBuffers &at,
                int64_t sliver, int64_t query0, int64_t key0, int64_t keys) {
  constexpr int64_t width = NV * kLanes;
  const int64_t dim = desc.headDim, padded = roundUp(dim, kLanes);
  const bool first = key0 == 0, masked = desc.causal && key0 + keys - 1 > query0;
  float *sums = at.sums + sliver * dim;
  multiplyHeadRows(keys, dim, at.keys, at.queries + sliver * dim, width, at.scores, width);
  Float16 before[NV], largest[NV], factor[NV], total[NV];
  for (int v = 0; v < NV; ++v)
    before[v] = largest[v] = load(at.largest + sliver + v * kLanes);
  scaleAndMask<NV>(at.scores, keys, desc.scale, query0 - key0, masked, largest);
  Int16 unchanged = Int16(-1);
  for (int v = 0; v < NV; ++v) {
    factor[v] = vectorSoftmaxExp(before[v] - largest[v]);
    unchanged &= factor[v] == 1.0f;
    total[v] = splat(0.0f);
  }
  for (int64_t j = 0; j < keys; ++j)
    for (int v = 0; v < NV; ++v) {
      float *place = at.scores + (j * NV + v) * kLanes;
      Float16 p = vectorSoftmaxExp(load(place) - largest[v]);
      store(place, p);
      total[v] += p;
    }
  for (int v = 0; v < NV; ++v) {
    float *running = at.total + sliver + v * kLanes;
    store(running, multiplyAdd(load(running), factor[v], total[v]));
    store(at.largest + sliver + v * kLanes, largest[v]);
  }
  if (!first && __builtin_reduce_and(unchanged) == 0)
    for (int64_t d = 0; d < dim; ++d)
      for (int v = 0; v < NV; ++v) {
        float *place = sums + (d * NV + v) * kLanes;
        store(place, load(place) * factor[v]);
      }
  if (dropout.state)
    dropScores<NV>(dropout, at.scores, query0, key0, keys);
  runSliver<kColumns>(dim, keys, at.values, padded, kTileRows, at.scores, width, sums, width,
                      !first);
}

/// Divides by the sums, turns the sliver back and writes up to 16 queries from `lane` on.
template <typename T>
void writeRows(const AttentionDesc &desc, const float *sums, int64_t width, int64_t lane,
               Float16 total, T *out, int64_t rows) {
  Float16 inverse = 1.0f / total;
  for (int64_t d = 0; d < desc.headDim; d += kLanes) {
    int64_t count = smaller(kLanes, desc.headDim - d);
    Float16 r[16];
    for (int64_t i = 0; i < kLanes; ++i)
      r[i] = i < count ? load(sums + (d + i) * width + lane) * inverse : splat(0.0f);
    transpose(r);
    for (int64_t i = 0; i < rows; ++i)
      storeFirst(out + i * desc.out.time + d, r[i], count);
  }
}

template <typename T>
void forwardHead(const AttentionDesc &desc, const AttentionPlan &plan, const HeadDropout &dropout,
                 const T *q, const T *k, const T *v, T *out, float *logSumExp,
                 const ForwardBuffers &at) {
  const int64_t dim = desc.headDim, padded = roundUp(dim, kLanes);
  for (int64_t query0 = 0; query0 < desc.queryLen; query0 += plan.queryBlock) {
    int64_t queries = smaller(plan.queryBlock, desc.queryLen - query0);
    packRight(q + query0 * desc.q.time, 1, desc.q.time, dim, queries, at.queries, dim);
    for (int64_t i = 0; i < plan.queryBlock; i += kLanes) {
      store(at.largest + i, splat(-__builtin_inff()));
      store(at.total + i, splat(0.0f));
    }
    int64_t end = desc.causal ? smaller(desc.keyLen, query0 + queries) : desc.keyLen;
    for (int64_t key0 = 0; key0 < end; key0 += plan.keyBlock) {
      int64_t keys = smaller(plan.keyBlock, desc.keyLen - key0);
      copyHeadRows(k + key0 * desc.k.time, desc.k.time, keys, dim, at.keys);
      for (int64_t j = 0; j < keys; ++j)
        for (int64_t d = 0; d < dim; d += kLanes)
          store(at.values + j * padded + d, loadFirst(v + (key0 + j) * desc.v.time + d, dim - d));
      for (int64_t sliver = 0; sliver < queries; sliver += kSliver) {
        int64_t width = sliverWidth(queries, sliver), from = query0 + sliver;
        // Keys behind the sliver's last query add nothing to any of its chains.
        int64_t seen = desc.causal ? smaller(keys, from + width - key0) : keys;
        if (seen <= 0)
          continue;
        if (width == kSliver)
          stepSliver<kTileVectors>(desc, dropout, at, sliver, from, key0, seen);
        else
          stepSliver<1>(desc, dropout, at, sliver, from, key0, seen);
      }
    }
    for (int64_t i = 0; i < queries; i += kLanes) {
      int64_t sliver = i / kSliver * kSliver, rows = smaller(kLanes, queries - i);
      Float16 total = load(at.total + i);
      writeRows(desc, at.sums + sliver * dim, sliverWidth(queries, sliver), i - sliver, total,
                out + (query0 + i) * desc.out.time, rows);
      storeFirst(logSumExp + query0 + i, load(at.largest + i) + vectorLog(total), rows);
    }
  }
}

template <typename T>
void forward(const AttentionDesc &desc, const T *q, const T *k, const T *v, T *out,
             float *logSumExp, const RandomState *random, char *workspace, ThreadTeam &team) {
  const AttentionPlan plan = planAttention(desc);
  const int64_t group = desc.heads / desc.kvHeads, pairs = desc.batch * desc.kvHeads;
  const int64_t parts = smaller(team.size(), pairs), dim = desc.headDim;
  auto part = [&](int64_t p) {
    Carver carver{alignWorkspace(workspace) + p * plan.floatsPerThread};
    ForwardBuffers at;
    at.queries = carver.take(plan.queryBlock * dim);
    at.sums = carver.take(plan.queryBlock * dim);
    at.largest = carver.take(plan.queryBlock);
    at.total = carver.take(plan.queryBlock);
    at.scores = carver.take(plan.keyBlock * kMaxSliver);
    at.values = carver.take(plan.keyBlock * roundUp(dim, kLanes));
    at.keys = carver.take(plan.keyBlock * headRow(dim));
    Range range = partOf(pairs, 1, p, parts);
    for (int64_t pair = range.begin; pair < range.end; ++pair) {
      int64_t b = pair / desc.kvHeads, kvHead = pair % desc.kvHeads;
      for (int64_t h = kvHead * group; h < (kvHead + 1) * group; ++h)
        forwardHead(desc, plan, HeadDropout(desc, random, b, h), rowsOf(q, desc.q, b, h),
                    rowsOf(k, desc.k, b, kvHead), rowsOf(v, desc.v, b, kvHead),
                    rowsOf(out, desc.out, b, h), logSumExp + (b * desc.heads + h) * desc.queryLen,
                    at);
    }
  };
  runParts(team, parts, part);
}

} // namespace

void attentionForward(const AttentionDesc &desc, const void *q, const void *k, const void *v,
                      void *out, float *logSumExp, const RandomState *random, char *workspace,
                      ThreadTeam &team) {
  withType(desc.type, [&]<typename T>(T) {
    forward(desc, static_cast<const T *>(q), static_cast<const T *>(k), static_cast<const T *>(v),
            static_cast<T *>(out), logSumExp, random, workspace, team);
  });
}

} // namespace zrt::ZRT_ISA
