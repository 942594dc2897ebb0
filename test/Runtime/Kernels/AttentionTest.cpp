// Attention forward and backward against plain f64 loops that hold everything, dropout included.
#include "TestSupport.h"

using namespace zrt;
using namespace zrt::test;

namespace {

struct Case {
  AttentionDesc desc;
  std::vector<float> q, k, v, dOut;
  RandomState random = {0x9abcdef0, 0x12345678, 41, 5};
};

int64_t extent(const AttentionDesc::Strides &s, int64_t batch, int64_t time, int64_t heads,
               int64_t dim) {
  return (batch - 1) * s.batch + (time - 1) * s.time + (heads - 1) * s.head + dim;
}

/// q, k and v are slices of wider rows when `wide`, as in GPT-2's fused projection.
Case makeCase(int64_t batch, int64_t tq, int64_t tk, int64_t heads, int64_t kvHeads, int64_t dim,
              bool causal, bool wide, std::mt19937 &random, ElementType type = ElementType::f32,
              double dropoutRate = 0.0) {
  Case made;
  AttentionDesc &d = made.desc;
  d.type = type, d.dropoutRate = dropoutRate, d.dropoutSite = 3;
  d.batch = batch, d.queryLen = tq, d.keyLen = tk, d.heads = heads, d.kvHeads = kvHeads;
  d.headDim = dim, d.causal = causal, d.scale = 1.0f / std::sqrt(float(dim));
  auto strides = [&](int64_t time, int64_t h) {
    int64_t row = h * dim + (wide ? 5 : 0);
    return AttentionDesc::Strides{time * row, row, dim};
  };
  d.q = d.out = d.dOut = d.dQ = strides(tq, heads);
  d.k = d.v = d.dK = d.dV = strides(tk, kvHeads);
  made.q = rounded(type, randomFloats(size_t(extent(d.q, batch, tq, heads, dim)), random, 2.0f));
  made.k = rounded(type, randomFloats(size_t(extent(d.k, batch, tk, kvHeads, dim)), random, 2.0f));
  made.v = rounded(type, randomFloats(size_t(extent(d.v, batch, tk, kvHeads, dim)), random));
  made.dOut = rounded(type, randomFloats(size_t(extent(d.out, batch, tq, heads, dim)), random));
  return made;
}

struct Results {
  std::vector<float> out, logSumExp, dQ, dK, dV;
};

Results run(const Case &of, InstructionSet set, int64_t threads, int64_t offset) {
  AttentionDesc d = of.desc;
  PlainTeam team(threads);
  auto place = [&](const std::vector<float> &values) { return Placed(values, offset, d.type); };
  auto nines = [&](size_t count) { return place(std::vector<float>(count, 9.0f)); };
  Placed q = place(of.q), k = place(of.k), v = place(of.v), dOut = place(of.dOut),
         out = nines(of.q.size());
  Placed lse(std::vector<float>(size_t(d.batch * d.heads * d.queryLen)), offset);
  Placed forward(poisoned(workspaceBytes(d, threads)), offset);
  const RandomState *random = d.dropoutRate > 0.0 ? &of.random : nullptr;
  tableOf(set).attentionForward(d, q.data(), k.data(), v.data(), out.data(), lse.floats(), random,
                                forward.raw(), team);
  EXPECT_TRUE(out.guardsIntact() && lse.guardsIntact() && forward.guardsIntact());
  d.backward = true;
  Placed dQ = nines(of.q.size()), dK = nines(of.k.size()), dV = nines(of.v.size());
  Placed backward(poisoned(workspaceBytes(d, threads)), offset);
  tableOf(set).attentionBackward(d, q.data(), k.data(), v.data(), out.data(), lse.floats(),
                                 dOut.data(), dQ.data(), dK.data(), dV.data(), random,
                                 backward.raw(), team);
  EXPECT_TRUE(dQ.guardsIntact() && dK.guardsIntact() && dV.guardsIntact());
  EXPECT_TRUE(backward.guardsIntact());
  return {out.values(), lse.values(), dQ.values(), dK.values(), dV.values()};
}

/// The definition, in f64; places that no element owns keep 9.
struct Truth {
  std::vector<double> out, logSumExp, dQ, dK, dV;
};

/// `out` is the backward's operand: what the forward rounded.
Truth truthOf(const Case &of, const std::vector<float> &out) {
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
  auto factor = [&](int64_t b, int64_t h, int64_t i, int64_t j) {
    int64_t element = (h * d.queryLen + i) * d.keyLen + j;
    uint32_t sample = of.random.firstSample + uint32_t(b);
    bool dropped = dropoutWord(of.random, uint32_t(d.dropoutSite), sample, element) <
                   dropoutThreshold(d.dropoutRate);
    return dropped ? 0.0 : 1.0 / (1.0 - d.dropoutRate);
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
        std::vector<double> p(size_t(keys), 0.0);
        double largest = -1e300, sum = 0, delta = 0;
        for (int64_t j = 0; j < keys; ++j) {
          for (size_t x = 0; x < dim; ++x)
            p[size_t(j)] += double(of.q[qi + x]) * of.k[at(d.k, b, j, kv) + x] * d.scale;
          largest = std::max(largest, p[size_t(j)]);
        }
        for (double &x : p)
          sum += x = std::exp(x - largest);
        t.logSumExp[size_t((b * d.heads + h) * d.queryLen + i)] = largest + std::log(sum);
        for (size_t x = 0; x < dim; ++x) {
          t.out[qi + x] = t.dQ[qi + x] = 0.0;
          delta += double(out[qi + x]) * of.dOut[qi + x];
        }
        for (int64_t j = 0; j < keys; ++j) {
          double m = factor(b, h, i, j), pj = p[size_t(j)] / sum, dP = 0;
          for (size_t x = 0; x < dim; ++x) {
            t.out[qi + x] += m * pj * of.v[at(d.v, b, j, kv) + x];
            t.dV[at(d.v, b, j, kv) + x] += m * pj * of.dOut[qi + x];
            dP += m * double(of.dOut[qi + x]) * of.v[at(d.v, b, j, kv) + x];
          }
          double ds = pj * (dP - delta) * d.scale;
          for (size_t x = 0; x < dim; ++x) {
            t.dQ[qi + x] += ds * of.k[at(d.k, b, j, kv) + x];
            t.dK[at(d.k, b, j, kv) + x] += ds * of.q[qi + x];
          }
        }
      }
  }
  return t;
}

/// Within the bound of f32 and one rounding to the type.
void expectNear(const std::vector<float> &got, const std::vector<double> &truth, ElementType type,
                double bound, const char *what) {
  ASSERT_EQ(got.size(), truth.size());
  for (size_t i = 0; i < got.size(); ++i) {
    double most = bound * (1 + std::abs(truth[i]));
    if (type != ElementType::f32)
      most += halfStep(type, std::abs(truth[i]) + most);
    ASSERT_NEAR(got[i], truth[i], most) << what << " at " << i;
  }
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
  for (double rate : {0.0, 0.3})
    for (ElementType type : kTypes)
      for (const Shape &s : kShapes) {
        wide = !wide;
        Case made = makeCase(s.batch, s.tq, s.tk, s.heads, s.kvHeads, s.dim, s.causal, wide, random,
                             type, rate);
        for (InstructionSet set : instructionSets()) {
          Results r = run(made, set, 2, 4);
          Truth truth = truthOf(made, r.out);
          expectNear(r.out, truth.out, type, 2e-6, "out");
          expectNear(r.logSumExp, truth.logSumExp, ElementType::f32, 1e-6, "lse");
          expectNear(r.dQ, truth.dQ, type, 6e-6, "dQ");
          expectNear(r.dK, truth.dK, type, 6e-6, "dK");
          expectNear(r.dV, truth.dV, type, 6e-6, "dV");
        }
      }
}

TEST(Attention, N0_BytesDependOnNeitherAlignmentNorThreads) {
  std::mt19937 random(12);
  double rate = 0.0;
  for (ElementType type : kTypes)
    for (const Shape &s : {Shape{3, 70, 70, 4, 2, 24, true}, Shape{2, 31, 150, 2, 1, 17, false}}) {
      rate = rate > 0.0 ? 0.0 : 0.2;
      Case made = makeCase(s.batch, s.tq, s.tk, s.heads, s.kvHeads, s.dim, s.causal, true, random,
                           type, rate);
      for (InstructionSet set : instructionSets()) {
        Results first = run(made, set, 1, 0);
        for (int64_t offset : kOffsets)
          for (int64_t threads : {1, 2, 3}) {
            Results r = run(made, set, threads, offset);
            EXPECT_TRUE(sameBytes(first.out, r.out) && sameBytes(first.logSumExp, r.logSumExp));
            EXPECT_TRUE(sameBytes(first.dQ, r.dQ) && sameBytes(first.dK, r.dK) &&
                        sameBytes(first.dV, r.dV));
          }
      }
    }
}

TEST(Attention, SixteenBitsAreRoundedOnceByHand) {
  // Two equal keys: out is the mean of the values. In bf16, with steps of 2^-7 from 1 on: the mean
  // of 1 and 1 + 2^-7 is a tie to 1, that of 1 + 2^-7 and 1 + 2·2^-7 one to 1 + 2·2^-7.
  std::mt19937 random(14);
  Case made = makeCase(1, 1, 2, 1, 1, 2, false, false, random, ElementType::bf16);
  made.k = {0.5f, 0.5f, 0.5f, 0.5f};
  made.v = {1.0f, 1.0f + 0x1p-7f, 1.0f + 0x1p-7f, 1.0f + 0x2p-7f};
  for (InstructionSet set : instructionSets())
    EXPECT_EQ(run(made, set, 1, 2).out, (std::vector<float>{1.0f, 1.0f + 0x2p-7f}));
}

TEST(Attention, DropoutByHand) {
  // Counter 0 under key 0 has the words 6627e8d5 e169c58d bc57ac4c 9b00dbd8 (the known answer of
  // Random123): at rate ½ the first of four equal keys is dropped and the others count twice, 2/4.
  //   out = (2 + 4 + 8)/2 = 7 = D, as dO = 1; dV = 0, ½, ½, ½;
  //   dS = ¼·(M·v − 7) = −7/4, −3/4, 1/4, 9/4; dK = dS·q, dQ = dS·k = 0.
  // The log-sum-exp is that of all four, ln 4.
  std::mt19937 random(15);
  for (ElementType type : kTypes) {
    Case made = makeCase(1, 1, 4, 1, 1, 1, false, false, random, type, 0.5);
    made.desc.dropoutSite = 0;
    made.random = {0, 0, 0, 0};
    made.q = {1};
    made.k = {0, 0, 0, 0};
    made.v = {1, 2, 4, 8};
    made.dOut = {1};
    for (InstructionSet set : instructionSets()) {
      Results r = run(made, set, 1, 2);
      EXPECT_EQ(r.out[0], 7.0f);
      EXPECT_NEAR(r.logSumExp[0], std::log(4.0), 3e-7);
      const double dV[] = {0, 0.5, 0.5, 0.5}, dK[] = {-1.75, -0.75, 0.25, 2.25};
      for (size_t j = 0; j < 4; ++j) {
        EXPECT_NEAR(r.dV[j], dV[j], 2e-7);
        EXPECT_NEAR(r.dK[j], dK[j], 1e-6);
      }
      EXPECT_EQ(r.dQ[0], 0.0f);
    }
  }
}

TEST(Attention, DropoutFollowsSampleAndHead) {
  // Two samples as one batch of rank 0, or as the second sample of the next run: the same masks.
  std::mt19937 random(16);
  Case both = makeCase(2, 19, 19, 2, 2, 8, true, false, random, ElementType::f32, 0.4);
  Case second = both;
  second.desc.batch = 1;
  second.random.firstSample += 1;
  auto half = [](const std::vector<float> &values) {
    return std::vector<float>(values.begin() + values.size() / 2, values.end());
  };
  second.q = half(both.q), second.k = half(both.k), second.v = half(both.v);
  second.dOut = half(both.dOut);
  for (InstructionSet set : instructionSets()) {
    Results all = run(both, set, 1, 0), one = run(second, set, 1, 0);
    EXPECT_TRUE(sameBytes(half(all.out), one.out) && sameBytes(half(all.dQ), one.dQ));
    second.random.firstSample += 1;
    EXPECT_FALSE(sameBytes(half(all.out), run(second, set, 1, 0).out));
    second.random.firstSample -= 1;
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
  int64_t floats = workspaceBytes(d, 1);
  EXPECT_LE(floats, (1 << 19) + (4 << 20));
  // In 16 bits also dQ of the group, f32, unless one block holds all keys.
  d.type = ElementType::bf16;
  EXPECT_EQ(workspaceBytes(d, 1) - floats, int64_t(4) * 64 << 20);
  d.keyLen = 128;
  EXPECT_EQ(workspaceBytes(d, 1), floats);
}

} // namespace
