//===- CheckRows.cpp - is a row of a step table consistent ----------------===//

#include "Expectations.h"
#include "zero/Runtime/Layout.h"

namespace zrt {

/// `bytes` at the operand in every run of the segment.
bool RowCheck::expectOperand(const Segment &segment, const Row &row, size_t index, WideInt bytes,
                             std::string_view what) {
  int64_t step = row.perRunBytes.empty() ? 0 : row.perRunBytes[index];
  return expect(step >= 0, what, " to move forward each run, got ", step) &&
         expectRange(row.operands[index], bytes, program.arenaBytes, what) &&
         expectRange(row.operands[index] + WideInt(step) * (segment.times - 1), bytes,
                     program.arenaBytes, what);
}

bool RowCheck::checkRanges(const std::vector<std::pair<int64_t, int64_t>> &ranges,
                           std::string_view what) {
  for (auto [offset, bytes] : ranges)
    if (!expectRange(offset, bytes, program.arenaBytes, what))
      return false;
  return true;
}

/// Nothing that changes state or needs what only a step is told.
bool RowCheck::mayEvaluate(const Row &row) {
  switch (row.opcode) {
  case Opcode::Launch:
  case Opcode::Count:
  case Opcode::SetSeed:
  case Opcode::Wait:
    return true;
  case Opcode::AllGather:
    return !row.inPlace;
  default:
    return false;
  }
}

bool RowCheck::check(const Segment &segment, const Row &row, int64_t index) {
  for (int32_t waited : row.waits)
    if (!expect(waited >= 0 && waited < index, "to wait for an earlier row, got ", waited))
      return false;
  if (!expect(segment.role == SegmentRole::Step || mayEvaluate(row),
              "an evaluation to launch, gather into buffers and count only"))
    return false;
  bool needsBucket = row.opcode == Opcode::AllGather || row.opcode == Opcode::ReduceScatter ||
                     row.opcode == Opcode::AllReduce || row.opcode == Opcode::Update;
  if (!checkRanges(row.frees, "freed bytes") || !checkRanges(row.allocates, "allocated bytes") ||
      !expect(row.perRunBytes.empty() || row.perRunBytes.size() == row.operands.size(),
              "one move per operand, got ", row.perRunBytes.size(), " for ", row.operands.size()) ||
      !expect(row.bucket >= (needsBucket ? 0 : -1) && row.bucket < int64_t(program.buckets.size()),
              "a bucket in [0, ", program.buckets.size(), "), got ", row.bucket))
    return false;
  switch (row.opcode) {
  case Opcode::Launch:
    return checkLaunch(segment, row);
  case Opcode::AllGather:
  case Opcode::ReduceScatter:
  case Opcode::AllReduce:
    return checkCollective(segment, row, program.buckets[row.bucket]);
  case Opcode::Count:
    return checkCount(segment, row);
  case Opcode::SetSeed:
    return checkSetSeed(segment, row);
  case Opcode::SetRandom:
    return checkSetRandom(segment, row);
  case Opcode::Norm:
    return checkNorm(segment, row);
  case Opcode::Update:
    return checkUpdate(program.buckets[row.bucket]);
  case Opcode::Wait:
    return true;
  }
  return false;
}

bool RowCheck::checkLaunch(const Segment &segment, const Row &row) {
  if (!expect(row.kernel >= 0 && size_t(row.kernel) < program.kernels.size(), "a kernel in [0, ",
              program.kernels.size(), "), got ", row.kernel))
    return false;
  const Kernel &kernel = program.kernels[row.kernel];
  bool adds =
      row.mode == WriteMode::Add || (row.mode == WriteMode::WriteFirst && segment.times > 1);
  bool canAdd = kernel.kind == KernelKind::Gemm || kernel.kind == KernelKind::Scatter ||
                (kernel.kind == KernelKind::Generated && kernel.generated.addIndex >= 0);
  if (!expect(!adds || canAdd, "a kernel that can add, got '", kernel.name, "'"))
    return false;
  std::vector<OperandExtent> extents = operandExtents(kernel);
  size_t given = row.operands.size();
  if (kernel.kind == KernelKind::Generated)
    extents.assign(given, {"an operand", 0, false});
  else if (!expect(given == extents.size() || given == extents.size() + 1, extents.size(),
                   " operands and a workspace for kernel '", kernel.name, "', got ", given))
    return false;
  for (size_t i = 0; i < given; ++i) {
    bool workspace = i == extents.size();
    if (workspace && row.operands[i] == -1)
      continue;
    if (!expectOperand(segment, row, i, workspace ? 0 : extents[i].bytes,
                       workspace ? "workspace" : extents[i].name))
      return false;
  }
  return true;
}

bool RowCheck::checkCollective(const Segment &segment, const Row &row, const Bucket &bucket) {
  const StatePlace &param = bucket.state[int(StateKind::Param)];
  const StatePlace *gradients = gradientState(bucket);
  bool gathers = row.opcode == Opcode::AllGather;
  if (!expect(gathers || gradients, "gradients to reduce in bucket '", bucket.name, "'"))
    return false;
  int64_t width = elementBytes(gathers ? bucket.type : gradients->type);
  WideInt full = WideInt(bucket.lengthElements) * width;
  size_t given = row.operands.size();
  auto expectFull = [&] {
    return expect(row.operands[0] % width == 0, "the full bucket aligned to its elements, got ",
                  row.operands[0]) &&
           expectOperand(segment, row, 0, full, "the full bucket");
  };
  switch (row.opcode) {
  case Opcode::AllGather:
    if (!expect(param.present, "a bucket with param state, got '", bucket.name, "'") ||
        !expect(row.inPlace != param.sharded,
                "a gather to be in place where the state is full, and only there"))
      return false;
    if (!param.sharded)
      return expect(given == 0 || (given == 1 && row.operands[0] == param.offset),
                    "a gather in place to name no other buffer");
    return expect(given == 1, "1 operand, got ", given) && expectFull();
  case Opcode::ReduceScatter: {
    if (!expect(given == 2, "2 operands, got ", given) || !expectFull())
      return false;
    if (row.operands[1] == -1)
      return expect(row.mode == WriteMode::Write ||
                        (row.mode == WriteMode::WriteFirst && segment.times == 1),
                    "a reduction in place to write");
    return expect(row.operands[1] % width == 0, "the shard aligned to its elements, got ",
                  row.operands[1]) &&
           expectOperand(segment, row, 1, full / program.ranks, "the shard");
  }
  default:
    return expect(given == 1, "1 operand, got ", given) && expectFull();
  }
}

const Scalar *RowCheck::scalarAt(int64_t offset) const {
  for (const Scalar &scalar : program.scalars)
    if (offset >= scalar.offset &&
        offset - scalar.offset < scalar.elements * elementBytes(scalar.type))
      return &scalar;
  return nullptr;
}

/// The operand is the start of a scalar of that type, or one of its elements if it moves.
bool RowCheck::expectScalar(const Segment &segment, const Row &row, size_t index, ElementType type,
                            std::string_view what) {
  const Scalar *scalar = scalarAt(row.operands[index]);
  if (!expect(scalar && scalar->type == type, what, " to be a scalar of its type, got offset ",
              row.operands[index]))
    return false;
  if (row.perRunBytes.empty())
    return expect(row.operands[index] == scalar->offset, what, " at the start of '", scalar->name,
                  "', got offset ", row.operands[index]);
  WideInt last = row.operands[index] + WideInt(row.perRunBytes[index]) * (segment.times - 1);
  int64_t width = elementBytes(type);
  return expect((row.operands[index] - scalar->offset) % width == 0 &&
                    row.perRunBytes[index] >= 0 && row.perRunBytes[index] % width == 0 &&
                    last + width <= scalar->offset + scalar->elements * WideInt(width),
                what, " to stay on the elements of '", scalar->name, "'");
}

bool RowCheck::checkCount(const Segment &segment, const Row &row) {
  if (!expect(row.operands.size() == 2, "2 operands, got ", row.operands.size()) ||
      !expectScalar(segment, row, 1, ElementType::i64, "the count"))
    return false;
  const Input *labels = nullptr;
  for (const Input &input : segment.inputs)
    if (input.offset == row.operands[0] &&
        (input.type == ElementType::i32 || input.type == ElementType::i64))
      labels = &input;
  if (!expect(labels != nullptr, "to count an integer argument of the segment, got offset ",
              row.operands[0]) ||
      !expect(row.perRunBytes.empty() || row.perRunBytes[0] == 0, "labels that do not move"))
    return false;
  int64_t counts = row.perRunBytes.empty() ? scalarAt(row.operands[1])->elements : 1;
  bool perMicroStep = counts == program.microSteps || segment.times == program.microSteps ||
                      segment.role == SegmentRole::Evaluation;
  if (!expect(program.lossMean == LossMean::Step || perMicroStep, "a count for each of ",
              program.microSteps, " micro-steps, got ", counts))
    return false;
  return expect(elementsOf(labels->shape) % counts == 0, "labels that fall into ", counts,
                " equal parts, got ", elementsOf(labels->shape));
}

bool RowCheck::checkSetSeed(const Segment &segment, const Row &row) {
  if (!expect(row.operands.size() == 2, "2 operands, got ", row.operands.size()) ||
      !expectScalar(segment, row, 1, ElementType::f32, "the seed"))
    return false;
  if (row.operands[0] == -1)
    return expect(!program.lossIsTokenMean || segment.role == SegmentRole::Evaluation,
                  "a count, where the loss is a mean over labels");
  if (!expectScalar(segment, row, 0, ElementType::i64, "the count"))
    return false;
  int64_t counts = scalarAt(row.operands[0])->elements, seeds = scalarAt(row.operands[1])->elements;
  return expect(!row.perRunBytes.empty() || counts == 1 || counts == seeds, "one count or ", seeds,
                ", got ", counts);
}

bool RowCheck::checkSetRandom(const Segment &segment, const Row &row) {
  if (!expect(row.operands.size() == 1, "1 operand, got ", row.operands.size()) ||
      !expect(row.perRunBytes.empty() || row.perRunBytes[0] == 0,
              "what dropout is keyed by at one place in all runs") ||
      !expectScalar(segment, row, 0, ElementType::i32, "what dropout is keyed by"))
    return false;
  const Scalar *scalar = scalarAt(row.operands[0]);
  WideInt samples = WideInt(program.microBatch) * program.ranks * segment.times;
  return expect(row.operands[0] == scalar->offset && scalar->elements == 4, "4 elements in '",
                scalar->name, "', got ", scalar->elements) &&
         expect(program.microBatch >= 1, "a micro-batch, to number samples by") &&
         expect(samples <= int64_t(1) << 32, "at most 2^32 samples a step");
}

bool RowCheck::checkNorm(const Segment &segment, const Row &row) {
  if (!expect(row.operands.size() == 1, "1 operand, got ", row.operands.size()) ||
      !expectScalar(segment, row, 0, ElementType::f64, "the norm"))
    return false;
  for (int32_t index : row.buckets) {
    if (!expect(index >= 0 && size_t(index) < program.buckets.size(), "buckets in [0, ",
                program.buckets.size(), "), got ", index))
      return false;
    const StatePlace *gradients = gradientState(program.buckets[index]);
    if (!expect(gradients != nullptr, "gradients in bucket '", program.buckets[index].name, "'") ||
        !expect(!gradients->sharded || row.sumOverRanks,
                "a norm of sharded gradients to be summed over ranks"))
      return false;
  }
  seenNorm = true;
  return true;
}

bool RowCheck::checkUpdate(const Bucket &bucket) {
  const OptimizerDesc &o = program.optimizer;
  auto has = [&](StateKind kind) { return bucket.state[int(kind)].present; };
  bool adam = o.kind == OptimizerKind::Adam || o.kind == OptimizerKind::AdamW;
  bool lion = o.kind == OptimizerKind::Lion;
  return expect(has(StateKind::Param) && gradientState(bucket),
                "weights and gradients to update in '", bucket.name, "'") &&
         expect(bucket.type == ElementType::f32 || has(StateKind::Master),
                "a master of the 16-bit weights of bucket '", bucket.name, "'") &&
         expect(!adam || (has(StateKind::Moment1) && has(StateKind::Moment2)),
                "both moments in bucket '", bucket.name, "'") &&
         expect(!lion || has(StateKind::Moment1), "moment1 in bucket '", bucket.name, "'") &&
         expect(o.kind != OptimizerKind::Sgd || o.momentum == 0 || has(StateKind::Moment1),
                "moment1 for the momentum of bucket '", bucket.name, "'") &&
         expect(o.clip == 0 || seenNorm, "a norm before the first update, to clip by");
}

} // namespace zrt
