//===- TinyProgram.cpp - a step table written by hand ---------------------===//

#include "TinyProgram.h"

#include "zero/Runtime/HalfFloat.h"

#include <algorithm>

namespace zrt::test {

namespace {

/// A stored number as f32, and back.
template <ElementType T> struct Stored {
  using Bits = uint16_t;
  static float load(Bits bits) {
    return T == ElementType::bf16 ? bf16ToFloat(bits) : f16ToFloat(bits);
  }
  static Bits round(float value) {
    return T == ElementType::bf16 ? floatToBf16(value) : floatToF16(value);
  }
};
template <> struct Stored<ElementType::f32> {
  using Bits = float;
  static float load(float value) { return value; }
  static float round(float value) { return value; }
};

/// Operands: w, b, x, labels, seed, rows, loss, and with gradients dw, db. The finished gradient is
/// rounded to its type, and what is added to is rounded again.
template <ElementType W, ElementType G, bool kGradients, bool kAdd>
void regression(char **operands, int64_t, int64_t) {
  using Weight = Stored<W>;
  using Gradient = Stored<G>;
  auto floats = [&](int i) { return reinterpret_cast<float *>(operands[i]); };
  auto *w = reinterpret_cast<const typename Weight::Bits *>(operands[0]);
  float b = Weight::load(*reinterpret_cast<const typename Weight::Bits *>(operands[1]));
  const float *x = floats(2);
  auto *labels = reinterpret_cast<const int32_t *>(operands[3]);
  float seed = *floats(4);
  int64_t rows = *reinterpret_cast<const int32_t *>(operands[5]);
  float sum = 0, dwSum[kFeatures] = {}, dbSum = 0;
  for (int64_t row = 0; row < rows; ++row) {
    if (labels[row] == kIgnored)
      continue;
    float difference = b - float(labels[row]);
    for (int64_t i = 0; i < kFeatures; ++i)
      difference += Weight::load(w[i]) * x[row * kFeatures + i];
    sum += 0.5f * difference * difference;
    for (int64_t i = 0; i < kFeatures; ++i)
      dwSum[i] += difference * x[row * kFeatures + i];
    dbSum += difference;
  }
  *floats(6) = seed * sum;
  if constexpr (kGradients) {
    auto put = [&](char *place, int64_t index, float value) {
      auto &stored = reinterpret_cast<typename Gradient::Bits *>(place)[index];
      auto rounded = Gradient::round(value);
      stored = kAdd ? Gradient::round(Gradient::load(stored) + Gradient::load(rounded)) : rounded;
    };
    for (int64_t i = 0; i < kFeatures; ++i)
      put(operands[7], i, seed * dwSum[i]);
    put(operands[8], 0, seed * dbSum);
  }
}

template <ElementType W, ElementType G> std::vector<GeneratedKernel> kernelsOf() {
  return {regression<W, G, true, false>, regression<W, G, true, true>,
          regression<W, G, false, false>};
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
  row.perRunBytes.assign(row.operands.size(), 0);
  row.perRunBytes[6] = 4; // the loss moves by micro-step
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
  bucket.type = o.type;
  int64_t width = elementBytes(o.type), gradWidth = elementBytes(o.gradientType());
  int64_t beginOfB = kAlignmentBytes / width;
  bucket.lengthElements = (beginOfB + n) / n * n;
  bucket.chunkElements = std::max(n, o.chunk / n * n);
  bucket.slots = {{.parameter = "w",
                   .shape = {kFeatures},
                   .beginElement = 0,
                   .elements = kFeatures,
                   .decay = true,
                   .init = InitKind::Normal,
                   .initScale = 0.5},
                  {.parameter = "b",
                   .shape = {1},
                   .beginElement = beginOfB,
                   .elements = 1,
                   .init = InitKind::Constant,
                   .initScale = 0.25}};
  Bump arena;
  auto place = [&](StateKind kind, bool sharded, ElementType type = ElementType::f32) {
    int64_t elements = sharded ? bucket.lengthElements / n : bucket.lengthElements;
    int64_t offset = arena.take(elements * elementBytes(type));
    bucket.state[int(kind)] = {true, sharded, offset, type};
    return offset;
  };
  int64_t param = place(StateKind::Param, o.stage == 3, o.type);
  int64_t grad = place(StateKind::GradAccum, o.stage >= 2, o.gradientType());
  if (o.type != ElementType::f32)
    place(StateKind::Master, o.stage >= 1);
  place(StateKind::Moment1, o.stage >= 1);
  place(StateKind::Moment2, o.stage >= 1);
  bool perMicroStep = o.lossMean != LossMean::Step;
  int64_t counts = perMicroStep ? o.microSteps : 1;
  p.scalars = {{"count", ElementType::i64, counts, arena.take(8 * counts)},
               {"seed", ElementType::f32, counts, arena.take(4 * counts)},
               {"loss", ElementType::f32, o.microSteps, arena.take(4 * o.microSteps)},
               {"norm", ElementType::f64, 1, arena.take(8)}};
  if (o.evaluates)
    for (auto [name, type] : {std::pair("eval_count", ElementType::i64),
                              {"eval_seed", ElementType::f32},
                              {"eval_loss", ElementType::f32}})
      p.scalars.push_back({name, type, 1, arena.take(8)});
  p.persistentBytes = arena.next;
  int64_t seed = p.scalars[1].offset, loss = p.scalars[2].offset;
  int64_t x = arena.take(o.rows * kFeatures * 4), labels = arena.take(o.rows * 4);
  int64_t rowCount = arena.take(4), allLabels = arena.take(o.microSteps * o.rows * 4);
  bool gathers = o.stage == 3, buffers = o.stage >= 2;
  int64_t paramBytes = bucket.lengthElements * width, gradBytes = bucket.lengthElements * gradWidth;
  int64_t fullParam = gathers ? arena.take(paramBytes) : param;
  int64_t fullGrad = buffers ? arena.take(gradBytes) : grad;
  p.arenaBytes = arena.next;
  p.kernels = {
      {"regression", KernelKind::Generated, {0, 1, 1}, {}, {}, {}, {}, 4 * o.rows * kFeatures}};
  if (o.evaluates)
    p.kernels.push_back(
        {"loss", KernelKind::Generated, {2, 1, -1}, {}, {}, {}, {}, 2 * o.rows * kFeatures});

  Row count, setSeed;
  count.opcode = Opcode::Count;
  count.operands = {allLabels, p.scalars[0].offset};
  setSeed.opcode = Opcode::SetSeed;
  setSeed.operands = {o.tokenMean ? p.scalars[0].offset : -1, seed};
  p.segments.push_back({"count",
                        SegmentRole::Step,
                        1,
                        {{"labels", ElementType::i32, {o.microSteps, o.rows}, allLabels, {}, {}}},
                        {count, setSeed}});

  std::vector<Input> batch = {
      {"x", ElementType::f32, {o.rows, kFeatures}, x, {}, {}},
      {"labels", ElementType::i32, {o.rows}, labels, int64_t(1) << 30, kIgnored},
      {"rows", ElementType::i32, {1}, rowCount, 1000, {}}};
  Segment microStep{"micro_step", SegmentRole::Step, o.microSteps, batch, {}};
  if (gathers) {
    microStep.rows.push_back(bucketRow(Opcode::AllGather, {fullParam}, Stream::Gather));
    microStep.rows.back().allocates = {{fullParam, paramBytes}};
  }
  WriteMode first = o.microSteps > 1 ? WriteMode::WriteFirst : WriteMode::Write;
  microStep.rows.push_back(launchRow({fullParam, fullParam + 64, x, labels, seed, rowCount, loss,
                                      fullGrad, fullGrad + beginOfB * gradWidth},
                                     buffers ? WriteMode::Write : first));
  if (perMicroStep)
    microStep.rows.back().perRunBytes[4] = 4;
  if (gathers)
    microStep.rows.back().frees = {{fullParam, paramBytes}};
  if (buffers) {
    microStep.rows.back().allocates = {{fullGrad, gradBytes}};
    microStep.rows.push_back(bucketRow(Opcode::ReduceScatter, {fullGrad, grad}, Stream::Reduce));
    microStep.rows.back().mode = first;
    microStep.rows.back().frees = {{fullGrad, gradBytes}};
  }
  p.segments.push_back(std::move(microStep));

  Segment update{"update", SegmentRole::Step, 1, {}, {}};
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

  if (o.evaluates) {
    int64_t evalCount = p.scalars[4].offset, evalSeed = p.scalars[5].offset;
    Segment eval{"eval", SegmentRole::Evaluation, 1, batch, {count, setSeed}};
    eval.rows[0].operands = {labels, evalCount};
    eval.rows[1].operands = {-1, evalSeed};
    if (gathers)
      eval.rows.push_back(bucketRow(Opcode::AllGather, {fullParam}, Stream::Gather));
    eval.rows.push_back(
        launchRow({fullParam, fullParam + 64, x, labels, evalSeed, rowCount, p.scalars[6].offset},
                  WriteMode::Write));
    eval.rows.back().kernel = 1;
    p.segments.push_back(std::move(eval));
  }
  p.buckets.push_back(std::move(bucket));
  return p;
}

std::vector<GeneratedKernel> tinyKernels(const TinyOptions &options) {
  constexpr auto f32 = ElementType::f32, bf16 = ElementType::bf16, f16 = ElementType::f16;
  bool wideGradients = options.gradientType() == f32;
  if (options.type == bf16)
    return wideGradients ? kernelsOf<bf16, f32>() : kernelsOf<bf16, bf16>();
  if (options.type == f16)
    return wideGradients ? kernelsOf<f16, f32>() : kernelsOf<f16, f16>();
  return kernelsOf<f32, f32>();
}

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

/// The argument `rows` of up to 1024 ranks.
static const int32_t *rowCounts(int64_t rows) {
  static const std::vector<int32_t> counts[3] = {
      std::vector<int32_t>(1024, 1), std::vector<int32_t>(1024, 2), std::vector<int32_t>(1024, 3)};
  return counts[rows - 1].data();
}

StepInput TinyBatch::input(double lr, int64_t stepsTaken) {
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
    input.data[1].push_back(rowCounts(options.rows));
  }
  if (options.evaluates)
    input.data.emplace_back();
  return input;
}

std::vector<std::vector<const void *>> TinyBatch::evaluation() {
  return {{}, {}, {}, {x.data(), labels.data(), rowCounts(options.rows)}};
}

} // namespace zrt::test
