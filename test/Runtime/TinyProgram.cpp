//===- TinyProgram.cpp - a step table written by hand ---------------------===//

#include "TinyProgram.h"

#include <algorithm>

namespace zrt::test {

namespace {

/// Operands: w, b, x, labels, seed, rows, loss, dw, db.
template <bool kAdd> void regression(char **operands, int64_t, int64_t) {
  auto floats = [&](int i) { return reinterpret_cast<float *>(operands[i]); };
  const float *w = floats(0), *b = floats(1), *x = floats(2);
  auto *labels = reinterpret_cast<const int32_t *>(operands[3]);
  float seed = *floats(4);
  int64_t rows = *reinterpret_cast<const int32_t *>(operands[5]);
  float *loss = floats(6), *dw = floats(7), *db = floats(8);
  float sum = 0, dwSum[kFeatures] = {}, dbSum = 0;
  for (int64_t row = 0; row < rows; ++row) {
    if (labels[row] == kIgnored)
      continue;
    float difference = *b - float(labels[row]);
    for (int64_t i = 0; i < kFeatures; ++i)
      difference += w[i] * x[row * kFeatures + i];
    sum += 0.5f * difference * difference;
    for (int64_t i = 0; i < kFeatures; ++i)
      dwSum[i] += difference * x[row * kFeatures + i];
    dbSum += difference;
  }
  *loss = seed * sum;
  for (int64_t i = 0; i < kFeatures; ++i)
    dw[i] = (kAdd ? dw[i] : 0.0f) + seed * dwSum[i];
  *db = (kAdd ? *db : 0.0f) + seed * dbSum;
}

/// Places one thing after the other at multiples of 64 bytes.
struct Bump {
  int64_t next = 0;
  int64_t take(int64_t bytes) {
    int64_t offset = next;
    next = (next + bytes + kAlignmentBytes - 1) / kAlignmentBytes * kAlignmentBytes;
    return offset;
  }
};

Row launchRow(std::vector<int64_t> operands, WriteMode mode) {
  Row row;
  row.kernel = 0;
  row.mode = mode;
  row.operands = std::move(operands);
  row.perRunBytes = {0, 0, 0, 0, 0, 0, 4, 0, 0}; // the loss moves by micro-step
  return row;
}

Row bucketRow(Opcode opcode, std::vector<int64_t> operands, Stream stream) {
  Row row;
  row.opcode = opcode;
  row.bucket = 0;
  row.operands = std::move(operands);
  row.stream = stream;
  return row;
}

} // namespace

Program tinyProgram(const TinyOptions &o) {
  int64_t n = o.ranks;
  Program p;
  p.ranks = n;
  p.stage = o.stage;
  p.microSteps = o.microSteps;
  p.threadsPerRank = o.threads;
  p.optimizer = o.optimizer;
  p.lossMean = o.lossMean;
  p.lossIsTokenMean = o.tokenMean;
  p.lossIgnore = kIgnored;

  Bucket bucket;
  bucket.name = "b0";
  bucket.lengthElements = (17 + n - 1) / n * n;
  bucket.chunkElements = std::max(n, o.chunk / n * n);
  bucket.slots = {{"w", {kFeatures}, 0, kFeatures, true, InitKind::Normal, 0.5},
                  {"b", {1}, 16, 1, false, InitKind::Constant, 0.25}};
  int64_t fullBytes = bucket.lengthElements * 4, shardBytes = fullBytes / n;
  Bump arena;
  auto place = [&](StateKind kind, bool sharded) {
    int64_t offset = arena.take(sharded ? shardBytes : fullBytes);
    bucket.state[int(kind)] = {true, sharded, offset};
    return offset;
  };
  int64_t param = place(StateKind::Param, o.stage == 3);
  int64_t grad = place(StateKind::GradAccum, o.stage >= 2);
  place(StateKind::Moment1, o.stage >= 1);
  place(StateKind::Moment2, o.stage >= 1);
  bool perMicroStep = o.lossMean != LossMean::Step;
  int64_t counts = perMicroStep ? o.microSteps : 1;
  p.scalars = {{"count", ElementType::i64, counts, arena.take(8 * counts)},
               {"seed", ElementType::f32, counts, arena.take(4 * counts)},
               {"loss", ElementType::f32, o.microSteps, arena.take(4 * o.microSteps)},
               {"norm", ElementType::f64, 1, arena.take(8)}};
  p.persistentBytes = arena.next;
  int64_t seed = p.scalars[1].offset, loss = p.scalars[2].offset;
  int64_t x = arena.take(o.rows * kFeatures * 4), labels = arena.take(o.rows * 4);
  int64_t rowCount = arena.take(4), allLabels = arena.take(o.microSteps * o.rows * 4);
  bool gathers = o.stage == 3, buffers = o.stage >= 2;
  int64_t fullParam = gathers ? arena.take(fullBytes) : param;
  int64_t fullGrad = buffers ? arena.take(fullBytes) : grad;
  p.arenaBytes = arena.next;
  p.kernels = {
      {"regression", KernelKind::Generated, {0, 1, 1}, {}, {}, {}, {}, 4 * o.rows * kFeatures}};

  Row count, setSeed;
  count.opcode = Opcode::Count;
  count.operands = {allLabels, p.scalars[0].offset};
  setSeed.opcode = Opcode::SetSeed;
  setSeed.operands = {o.tokenMean ? p.scalars[0].offset : -1, seed};
  p.segments.push_back({"count",
                        1,
                        {{"labels", ElementType::i32, {o.microSteps, o.rows}, allLabels, {}, {}}},
                        {count, setSeed}});

  Segment microStep{"micro_step",
                    o.microSteps,
                    {{"x", ElementType::f32, {o.rows, kFeatures}, x, {}, {}},
                     {"labels", ElementType::i32, {o.rows}, labels, int64_t(1) << 30, kIgnored},
                     {"rows", ElementType::i32, {1}, rowCount, 1000, {}}},
                    {}};
  if (gathers) {
    microStep.rows.push_back(bucketRow(Opcode::AllGather, {fullParam}, Stream::Gather));
    microStep.rows.back().allocates = {{fullParam, fullBytes}};
  }
  WriteMode first = o.microSteps > 1 ? WriteMode::WriteFirst : WriteMode::Write;
  microStep.rows.push_back(launchRow(
      {fullParam, fullParam + 64, x, labels, seed, rowCount, loss, fullGrad, fullGrad + 64},
      buffers ? WriteMode::Write : first));
  if (perMicroStep)
    microStep.rows.back().perRunBytes[4] = 4;
  if (gathers)
    microStep.rows.back().frees = {{fullParam, fullBytes}};
  if (buffers) {
    microStep.rows.back().allocates = {{fullGrad, fullBytes}};
    microStep.rows.push_back(bucketRow(Opcode::ReduceScatter, {fullGrad, grad}, Stream::Reduce));
    microStep.rows.back().mode = first;
    microStep.rows.back().frees = {{fullGrad, fullBytes}};
  }
  p.segments.push_back(std::move(microStep));

  Segment update{"update", 1, {}, {}};
  if (o.stage == 0)
    update.rows.push_back(bucketRow(Opcode::AllReduce, {grad}, Stream::Reduce));
  if (o.stage == 1)
    update.rows.push_back(bucketRow(Opcode::ReduceScatter, {grad, -1}, Stream::Reduce));
  Row norm;
  norm.opcode = Opcode::Norm;
  norm.sumOverRanks = o.stage > 0;
  norm.operands = {p.scalars[3].offset};
  norm.buckets = {0};
  update.rows.push_back(norm);
  update.rows.push_back(bucketRow(Opcode::Update, {}, Stream::Compute));
  if (o.stage == 1 || o.stage == 2) {
    update.rows.push_back(bucketRow(Opcode::AllGather, {}, Stream::Gather));
    update.rows.back().inPlace = true;
  }
  p.segments.push_back(std::move(update));
  p.buckets.push_back(std::move(bucket));
  return p;
}

std::vector<GeneratedKernel> tinyKernels() { return {regression<false>, regression<true>}; }

void TinyBatch::fill(uint32_t seed) {
  uint32_t state = seed * 2654435761u + 1;
  auto next = [&] { return (state = state * 1664525u + 1013904223u) >> 16; };
  for (float &value : x)
    value = float(int(next() % 2001) - 1000) / 1000.0f;
  for (int32_t &label : labels) {
    uint32_t draw = next() % 8;
    label = draw == 7 ? kIgnored : int32_t(draw);
  }
}

StepInput TinyBatch::input(double lr, int64_t stepsTaken) {
  static const std::vector<int32_t> rowCounts[3] = {
      std::vector<int32_t>(1024, 1), std::vector<int32_t>(1024, 2), std::vector<int32_t>(1024, 3)};
  int64_t perMicroStep = options.ranks * options.rows;
  countLabels.clear();
  for (int64_t rank = 0; rank < options.ranks; ++rank)
    for (int64_t a = 0; a < options.microSteps; ++a)
      for (int64_t row = 0; row < options.rows; ++row)
        countLabels.push_back(labelAt(a, rank * options.rows + row));
  StepInput input;
  input.lr = lr;
  input.stepsTaken = stepsTaken;
  input.data.resize(3);
  input.data[0] = {countLabels.data()};
  for (int64_t a = 0; a < options.microSteps; ++a) {
    input.data[1].push_back(&x[size_t(a * perMicroStep * kFeatures)]);
    input.data[1].push_back(&labels[size_t(a * perMicroStep)]);
    input.data[1].push_back(rowCounts[options.rows - 1].data());
  }
  return input;
}

} // namespace zrt::test
