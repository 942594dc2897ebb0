// Attention forward and backward against plain f64 loops that hold everything.
#include "TestSupport.h"

using namespace zrt;
using namespace zrt::test;

namespace {

struct Case {
  AttentionDesc desc;
  std::vector<float> q, k, v, dOut;
};

int64_t extent(const AttentionDesc::Strides &s, int64_t batch, int64_t time, int64_t heads,
               int64_t dim) {
  return (batch - 1) * s.batch + (time - 1) * s.time + (heads - 1) * s.head + dim;
}

/// q, k and v are slices of wider rows when `wide`, as in GPT-2's fused projection.
Case makeCase(int64_t batch, int64_t tq, int64_t tk, int64_t heads, int64_t kvHeads, int64_t dim,
              bool causal, bool wide, std::mt19937 &random) {
  Case made;
  AttentionDesc &d = made.desc;
  d.batch = batch, d.queryLen = tq, d.keyLen = tk, d.heads = heads, d.kvHeads = kvHeads;
  d.headDim = dim, d.causal = causal, d.scale = 1.0f / std::sqrt(float(dim));
  auto strides = [&](int64_t time, int64_t h) {
    int64_t row = h * dim + (wide ? 5 : 0);
    return AttentionDesc::Strides{time * row, row, dim};
  };
  d.q = d.out = d.dOut = d.dQ = strides(tq, heads);
  d.k = d.v = d.dK = d.dV = strides(tk, kvHeads);
  made.q = randomFloats(size_t(extent(d.q, batch, tq, heads, dim)), random, 2.0f);
  made.k = randomFloats(size_t(extent(d.k, batch, tk, kvHeads, dim)), random, 2.0f);
  made.v = randomFloats(size_t(extent(d.v, batch, tk, kvHeads, dim)), random);
  made.dOut = randomFloats(size_t(extent(d.out, batch, tq, heads, dim)), random);
  return made;
}

struct Results {
  std::vector<float> out, logSumExp, dQ, dK, dV;
};

Results run(const Case &of, InstructionSet set, int64_t threads, int64_t offset) {
  AttentionDesc d = of.desc;
  PlainTeam team(threads);
  Placed q(of.q, offset), k(of.k, offset), v(of.v, offset), dOut(of.dOut, offset);
  Placed out(std::vector<float>(of.q.size(), 9.0f), offset),
      lse(std::vector<float>(size_t(d.batch * d.heads * d.queryLen)), offset);
  Placed forward(poisoned(workspaceBytes(d, threads)), offset);
  tableOf(set).attentionForward(d, q.data(), k.data(), v.data(), out.data(), lse.data(),
                                forward.raw(), team);
  EXPECT_TRUE(out.guardsIntact() && lse.guardsIntact() && forward.guardsIntact());
  d.backward = true;
  Placed dQ(std::vector<float>(of.q.size(), 9.0f), offset),
      dK(std::vector<float>(of.k.size(), 9.0f), offset),
      dV(std::vector<float>(of.v.size(), 9.0f), offset);
  Placed backward(poisoned(workspaceBytes(d, threads)), offset);
  tableOf(set).attentionBackward(d, q.data(), k.data(), v.data(), out.data(), lse.data(),
                                 dOut.data(), dQ.data(), dK.data(), dV.data(), backward.raw(),
                                 team);
  EXPECT_TRUE(dQ.guardsIntact() && dK.guardsIntact() && dV.guardsIntact());
  EXPECT_TRUE(backward.guardsIntact());
  return {out.values(), lse.values(), dQ.values(), dK.values(), dV.values()};
}

/// The definition, in f64; places that no element owns keep 9.
struct Truth {
  std::vector<double> out, logSumExp, dQ, dK, dV;
};

Truth truthOf(const Case &of) {
  const AttentionDesc &d = of.desc;
  Truth t;
  t.out.assign(of.q.size(), 9.0);
  t.logSumExp.assign(size_t(d.batch * d.heads * d.queryLen), 0.0);
  t.dQ.assign(of.q.size(), 9.0);
  t.dK.assign(of.k.size(), 9.0);
  t.dV.assign(of.v.size(), 9.0);
  auto at = [](const AttentionDesc::Strides &s, int64_t b, int64_t time, int64_t h) {
    return size_t(b * s.batch + time * s.time + h * s.head);
  };
  size_t dim = size_t(d.headDim);
  for (int64_t b = 0; b < d.batch; ++b) {
    for (int64_t j = 0; j < d.keyLen; ++j)
      for (int64_t h = 0; h < d.kvHeads; ++h)
        for (size_t x = 0; x < dim; ++x)
          t.dK[at(d.k, b, j, h) + x] = t.dV[at(d.v, b, j, h) + x] = 0.0;
    for (int64_t h = 0; h < d.heads; ++h)
      for (int64_t i = 0; i < d.queryLen; ++i) {
        int64_t kv = h / (d.heads / d.kvHeads), keys = d.causal ? i + 1 : d.keyLen;
        size_t qi = at(d.q, b, i, h);
        std::vector<double> p(size_t(keys), 0.0), dp(size_t(keys), 0.0);
        double largest = -1e300, sum = 0, delta = 0;
        for (int64_t j = 0; j < keys; ++j) {
          for (size_t x = 0; x < dim; ++x)
            p[size_t(j)] += double(of.q[qi + x]) * of.k[at(d.k, b, j, kv) + x] * d.scale;
          largest = std::max(largest, p[size_t(j)]);
        }
        for (double &x : p)
          sum += x = std::exp(x - largest);
        for (size_t x = 0; x < dim; ++x)
          t.out[qi + x] = t.dQ[qi + x] = 0.0;
        for (int64_t j = 0; j < keys; ++j) {
          p[size_t(j)] /= sum;
          for (size_t x = 0; x < dim; ++x) {
            t.out[qi + x] += p[size_t(j)] * of.v[at(d.v, b, j, kv) + x];
            t.dV[at(d.v, b, j, kv) + x] += p[size_t(j)] * of.dOut[qi + x];
            dp[size_t(j)] += double(of.dOut[qi + x]) * of.v[at(d.v, b, j, kv) + x];
          }
          delta += p[size_t(j)] * dp[size_t(j)];
        }
        t.logSumExp[size_t((b * d.heads + h) * d.queryLen + i)] = largest + std::log(sum);
        for (int64_t j = 0; j < keys; ++j) {
          double ds = p[size_t(j)] * (dp[size_t(j)] - delta) * d.scale;
          for (size_t x = 0; x < dim; ++x) {
            t.dQ[qi + x] += ds * of.k[at(d.k, b, j, kv) + x];
            t.dK[at(d.k, b, j, kv) + x] += ds * of.q[qi + x];
          }
        }
      }
  }
  return t;
}

void expectNear(const std::vector<float> &got, const std::vector<double> &truth, double bound,
                const char *what) {
  ASSERT_EQ(got.size(), truth.size());
  for (size_t i = 0; i < got.size(); ++i)
    ASSERT_NEAR(got[i], truth[i], bound * (1 + std::abs(truth[i]))) << what << " at " << i;
}

struct Shape {
  int64_t batch, tq, tk, heads, kvHeads, dim;
  bool causal;
};

// Lengths of one, odd, about the blocks of 32 and 64 queries and 64 and 128 keys; head sizes odd,
// about vectors, and the largest.
const Shape kShapes[] = {
    {1, 1, 1, 1, 1, 1, false},     {1, 1, 1, 1, 1, 16, true},     {2, 3, 3, 2, 1, 5, true},
    {1, 7, 11, 2, 2, 8, false},    {1, 33, 33, 3, 3, 16, true},   {2, 64, 64, 2, 2, 32, true},
    {1, 65, 65, 1, 1, 64, true},   {1, 129, 129, 2, 1, 24, true}, {1, 50, 200, 4, 2, 40, false},
    {1, 300, 300, 1, 1, 48, true}, {1, 20, 70, 6, 2, 128, false}, {1, 70, 70, 1, 1, 256, true},
    {1, 17, 140, 1, 1, 200, false}};

TEST(Attention, AgainstPlainLoops) {
  std::mt19937 random(11);
  bool wide = false;
  for (const Shape &s : kShapes) {
    wide = !wide;
    Case made = makeCase(s.batch, s.tq, s.tk, s.heads, s.kvHeads, s.dim, s.causal, wide, random);
    Truth truth = truthOf(made);
    for (InstructionSet set : instructionSets()) {
      Results r = run(made, set, 2, 4);
      expectNear(r.out, truth.out, 2e-6, "out");
      expectNear(r.logSumExp, truth.logSumExp, 1e-6, "lse");
      expectNear(r.dQ, truth.dQ, 6e-6, "dQ");
      expectNear(r.dK, truth.dK, 6e-6, "dK");
      expectNear(r.dV, truth.dV, 6e-6, "dV");
    }
  }
}

TEST(Attention, N0_BytesDependOnNeitherAlignmentNorThreads) {
  std::mt19937 random(12);
  for (const Shape &s : {Shape{3, 70, 70, 4, 2, 24, true}, Shape{2, 31, 90, 2, 1, 17, false}}) {
    Case made = makeCase(s.batch, s.tq, s.tk, s.heads, s.kvHeads, s.dim, s.causal, true, random);
    for (InstructionSet set : instructionSets()) {
      Results first = run(made, set, 1, 0);
      for (int64_t offset : {0, 4, 60})
        for (int64_t threads : {1, 2, 3}) {
          Results r = run(made, set, threads, offset);
          EXPECT_TRUE(sameBytes(first.out, r.out) && sameBytes(first.logSumExp, r.logSumExp));
          EXPECT_TRUE(sameBytes(first.dQ, r.dQ) && sameBytes(first.dK, r.dK) &&
                      sameBytes(first.dV, r.dV));
        }
    }
  }
}

TEST(Attention, LargeScoresDoNotOverflow) {
  // One key a hundred times stronger than the other: weights 1 and 0, out = its value.
  std::mt19937 random(13);
  Case made = makeCase(1, 2, 2, 1, 1, 1, false, false, random);
  made.desc.scale = 1.0f;
  made.q = {100.0f, -100.0f};
  made.k = {100.0f, -100.0f};
  made.v = {2.0f, 3.0f};
  for (InstructionSet set : instructionSets()) {
    Results r = run(made, set, 1, 0);
    EXPECT_EQ(r.out[0], 2.0f);
    EXPECT_EQ(r.out[1], 3.0f);
    EXPECT_EQ(r.logSumExp[0], 10000.0f);
  }
}

TEST(Attention, WorkspaceNeverHoldsTimesSquared) {
  AttentionDesc d;
  d.batch = 1, d.heads = d.kvHeads = 1, d.headDim = 64, d.queryLen = d.keyLen = 1024;
  int64_t before = workspaceBytes(d, 1);
  d.queryLen = d.keyLen = 1 << 20;
  EXPECT_EQ(workspaceBytes(d, 1), before);
  EXPECT_LE(before, 1 << 19);
  // Backward keeps one f32 per query of the group beside its blocks.
  d.backward = true;
  EXPECT_LE(workspaceBytes(d, 1), (1 << 19) + (4 << 20));
}

} // namespace
