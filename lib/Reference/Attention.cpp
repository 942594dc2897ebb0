//===- Attention.cpp - scaled dot-product attention -----------------------===//

#include "Ops.h"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace mlir;

namespace zero::reference {
namespace {

/// Reads [batch, time, head, depth] arrays: element 0 of the row of one token and head.
struct Rows {
  explicit Rows(const Array &x) : time(x.shape[1]), heads(x.shape[2]), depth(x.shape[3]) {}
  int64_t operator()(int64_t batch, int64_t t, int64_t head) const {
    return ((batch * time + t) * heads + head) * depth;
  }
  int64_t time, heads, depth;
};

double dot(const double *a, const double *b, int64_t length) {
  double sum = 0.0;
  for (int64_t k = 0; k < length; ++k)
    sum += a[k] * b[k];
  return sum;
}

/// What is left of the probability of key s under one query and head: 0 where it is dropped, else
/// the factor that scales it up. Without a key, nothing is dropped.
template <typename OpT> struct Drop {
  Drop(OpT op, const Array *random, int64_t queries, int64_t keys)
      : random(random), queries(queries), keys(keys) {
    if (!random)
      return;
    rate = op.getDropout()->convertToDouble();
    site = static_cast<int64_t>(*op.getSite());
  }
  double operator()(int64_t batch, int64_t head, int64_t query, int64_t s) const {
    return random ? dropoutFactor(*random, rate, site, batch, (head * queries + query) * keys + s)
                  : 1.0;
  }
  const Array *random;
  int64_t queries, keys, site = 0;
  double rate = 0.0;
};

/// Keys that a query at time t sees.
int64_t visible(bool causal, int64_t t, int64_t keyTime) { return causal ? t + 1 : keyTime; }

FailureOr<Results> attention(nn::AttentionOp op, Operands x) {
  if (op.getDropout() && !op.getRandom())
    return op.emitOpError("expects dropout with a key: run nn-autodiff first");
  const Array &q = *x[0], &k = *x[1], &v = *x[2];
  double scale = op.getScale().convertToDouble();
  Rows rows(q), keyRows(k);
  int64_t batches = q.shape[0], group = keyRows.heads ? rows.heads / keyRows.heads : 1;
  Drop left(op, x.size() > 3 ? x[3] : nullptr, rows.time, keyRows.time);
  Array out(q.shape, /*isFloat=*/true);
  Array lse({batches, rows.heads, rows.time}, /*isFloat=*/true);

  for (int64_t b = 0; b < batches; ++b)
    for (int64_t h = 0; h < rows.heads; ++h)
      for (int64_t t = 0; t < rows.time; ++t) {
        int64_t query = rows(b, t, h), keys = visible(op.getCausal(), t, keyRows.time);
        std::vector<double> score(keys);
        for (int64_t s = 0; s < keys; ++s)
          score[s] = scale * dot(&q.f[query], &k.f[keyRows(b, s, h / group)], rows.depth);
        double largest = -std::numeric_limits<double>::infinity(), sum = 0.0;
        for (double value : score)
          largest = std::max(largest, value);
        for (double value : score)
          sum += std::exp(value - largest);
        double logSum = largest + std::log(sum);
        lse.f[(b * rows.heads + h) * rows.time + t] = logSum;
        for (int64_t s = 0; s < keys; ++s)
          for (int64_t d = 0; d < rows.depth; ++d)
            out.f[query + d] +=
                left(b, h, t, s) * std::exp(score[s] - logSum) * v.f[keyRows(b, s, h / group) + d];
      }
  Results results;
  results.push_back(std::move(out));
  results.push_back(std::move(lse));
  return results;
}

// With p = exp(scale·q·k - lse), m what dropout leaves of it: dv = Σ m·p·do; dp = m·do·v;
// ds = p·(dp - do·out); dq = scale·Σ ds·k; dk = scale·Σ ds·q (Dao et al., arXiv 2205.14135,
// appendix B.2 and B.4).
Results attentionGrad(nn::AttentionGradOp op, Operands x) {
  const Array &q = *x[0], &k = *x[1], &v = *x[2], &out = *x[3], &lse = *x[4], &dout = *x[5];
  double scale = op.getScale().convertToDouble();
  Rows rows(q), keyRows(k);
  int64_t batches = q.shape[0], depth = rows.depth;
  int64_t group = keyRows.heads ? rows.heads / keyRows.heads : 1;
  Drop left(op, x.size() > 6 ? x[6] : nullptr, rows.time, keyRows.time);
  Array dq(q.shape, true), dk(k.shape, true), dv(v.shape, true);

  for (int64_t b = 0; b < batches; ++b)
    for (int64_t h = 0; h < rows.heads; ++h)
      for (int64_t t = 0; t < rows.time; ++t) {
        int64_t query = rows(b, t, h);
        double logSum = lse.f[(b * rows.heads + h) * rows.time + t];
        double mean = dot(&dout.f[query], &out.f[query], depth);
        for (int64_t s = 0; s < visible(op.getCausal(), t, keyRows.time); ++s) {
          int64_t key = keyRows(b, s, h / group);
          double p = std::exp(scale * dot(&q.f[query], &k.f[key], depth) - logSum);
          double factor = left(b, h, t, s);
          double ds = p * (factor * dot(&dout.f[query], &v.f[key], depth) - mean);
          for (int64_t d = 0; d < depth; ++d) {
            dv.f[key + d] += factor * p * dout.f[query + d];
            dq.f[query + d] += scale * ds * k.f[key + d];
            dk.f[key + d] += scale * ds * q.f[query + d];
          }
        }
      }
  Results results;
  results.push_back(std::move(dq));
  results.push_back(std::move(dk));
  results.push_back(std::move(dv));
  return results;
}

} // namespace

void registerAttention(Registry &registry) {
  registry.add<nn::AttentionOp>(attention);
  registry.add<nn::AttentionGradOp>(attentionGrad);
}

} // namespace zero::reference
