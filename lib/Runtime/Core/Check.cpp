//===- Check.cpp - is a step table consistent -----------------------------===//
//
// Everything that the walker relies on: places inside the arena, known kernels
// and buckets, as many operands as an entry takes. Schedules (races, lifetimes,
// reductions) are proved by the compiler's verifier, not here. The first fault
// is reported, with the segment and row it stands in.
//
//===----------------------------------------------------------------------===//

#include "Operands.h"
#include "zero/Runtime/Layout.h"

#include <cmath>
#include <set>
#include <sstream>

namespace zrt {

namespace {

constexpr int64_t kMaxRanks = int64_t(1) << 20, kMaxThreads = 1024;

class Checker {
public:
  explicit Checker(const Program &program) : program(program) {}

  std::string run() {
    bool ok = checkHead() && checkBuckets() && checkScalars() && checkKernels() && checkSegments();
    return ok ? std::string() : where + fault;
  }

private:
  template <typename... Parts> bool expect(bool condition, const Parts &...parts) {
    if (condition)
      return true;
    std::ostringstream text;
    text << "expects ";
    (text << ... << parts);
    fault = text.str();
    return false;
  }

  bool expectRange(WideInt offset, WideInt bytes, int64_t end, std::string_view what) {
    return expect(offset >= 0 && bytes >= 0 && offset + bytes <= end, what, " within ", end,
                  " bytes, got ", int64_t(bytes), " at ", int64_t(offset));
  }

  /// The elements of a shape, or -1 where they do not fit 63 bits with their bytes.
  static int64_t elementsOf(const std::vector<int64_t> &shape) {
    WideInt total = 1;
    for (int64_t extent : shape) {
      if (extent < 0)
        return -1;
      total *= extent;
      if (total > INT64_MAX / 8)
        return -1;
    }
    return int64_t(total);
  }

  bool checkHead() {
    const OptimizerDesc &o = program.optimizer;
    bool finite = true;
    for (double value : {o.beta1, o.beta2, o.eps, o.weightDecay, o.momentum, o.clip})
      finite = finite && std::isfinite(value);
    for (const GroupDesc &group : o.groups)
      finite =
          finite && std::isfinite(group.lrScale) && std::isfinite(group.weightDecay.value_or(0.0));
    return expect(program.ranks >= 1 && program.ranks <= kMaxRanks, "1 to ", kMaxRanks,
                  " ranks, got ", program.ranks) &&
           expect(program.stage >= 0 && program.stage <= 3, "stage 0, 1, 2 or 3, got ",
                  program.stage) &&
           expect(program.microSteps >= 1, "at least one micro-step, got ", program.microSteps) &&
           expect(program.threadsPerRank >= 1 && program.threadsPerRank <= kMaxThreads, "1 to ",
                  kMaxThreads, " threads per rank, got ", program.threadsPerRank) &&
           expect(program.arenaBytes >= 0, "an arena of at least 0 bytes, got ",
                  program.arenaBytes) &&
           expect(program.microBatch >= 0, "a micro-batch of at least 0 samples, got ",
                  program.microBatch) &&
           expectRange(0, program.persistentBytes, program.arenaBytes, "persistent state") &&
           expect(finite, "finite optimizer settings");
  }

  bool checkBuckets() {
    std::set<std::string_view> parameters;
    for (const Bucket &bucket : program.buckets) {
      where = "bucket '" + bucket.name + "': ";
      if (!checkBucket(bucket) || !checkSlots(bucket, parameters))
        return false;
    }
    where.clear();
    return true;
  }

  bool checkBucket(const Bucket &bucket) {
    int64_t n = program.ranks, length = bucket.lengthElements, chunk = bucket.chunkElements;
    if (!expect(length > 0 && length % n == 0 && length <= INT64_MAX / 8, "a positive multiple of ",
                n, " as length, got ", length) ||
        !expect(chunk > 0 && chunk % n == 0, "a positive multiple of ", n, " as chunk, got ",
                chunk) ||
        !expect(isTrainingType(bucket.type), "f32, bf16 or f16 as element type, got ",
                name(bucket.type)))
      return false;
    for (int kind = 0; kind < kStateKindCount; ++kind) {
      const StatePlace &place = bucket.state[kind];
      if (!place.present)
        continue;
      if (!checkStateType(bucket, StateKind(kind), place.type))
        return false;
      int64_t width = elementBytes(place.type);
      int64_t bytes = stateElements(bucket, StateKind(kind), n) * width;
      if (!expectRange(place.offset, bytes, program.persistentBytes, name(StateKind(kind))) ||
          !expect(place.offset % width == 0, name(StateKind(kind)), " at a multiple of ", width,
                  ", got ", place.offset) ||
          !expect(!(program.stage == 0 && place.sharded), "full state at stage 0, got sharded ",
                  name(StateKind(kind))) ||
          !expect(bucket.bucketClass == BucketClass::Trainable ||
                      StateKind(kind) == StateKind::Param,
                  "only param in a bucket that is not trained, got ", name(StateKind(kind))))
        return false;
    }
    return true;
  }

  bool checkStateType(const Bucket &bucket, StateKind kind, ElementType type) {
    switch (kind) {
    case StateKind::Param:
      return expect(type == bucket.type, "param in ", name(bucket.type), ", got ", name(type));
    case StateKind::Grad:
    case StateKind::GradAccum:
      return expect(type == bucket.type || type == ElementType::f32, name(kind), " in ",
                    name(bucket.type), " or f32, got ", name(type));
    case StateKind::Master:
      return expect(bucket.type != ElementType::f32, "a master only of 16-bit weights") &&
             expect(type == ElementType::f32, "master in f32, got ", name(type));
    case StateKind::Moment1:
    case StateKind::Moment2:
      return expect(type == ElementType::f32, name(kind), " in f32, got ", name(type));
    }
    return false;
  }

  bool checkSlots(const Bucket &bucket, std::set<std::string_view> &parameters) {
    int64_t end = 0;
    int64_t perAlignment = kAlignmentBytes / elementBytes(bucket.type);
    for (const Slot &slot : bucket.slots) {
      if (!expect(!slot.parameter.empty(), "a slot to name its parameter") ||
          !expect(parameters.insert(slot.parameter).second, "one slot per parameter, got two of '",
                  slot.parameter, "'") ||
          !expect(slot.elements > 0 && slot.elements == elementsOf(slot.shape), "the slot of '",
                  slot.parameter, "' to hold the elements of its shape, got ", slot.elements) ||
          !expect(slot.beginElement >= end && slot.beginElement % perAlignment == 0,
                  "the slot of '", slot.parameter, "' at a multiple of ", perAlignment, " from ",
                  end, " on, got ", slot.beginElement) ||
          !expect(slot.beginElement <= bucket.lengthElements - slot.elements, "the slot of '",
                  slot.parameter, "' to end within ", bucket.lengthElements, " elements, got ",
                  slot.elements, " at ", slot.beginElement) ||
          !expect(std::isfinite(slot.initScale), "a finite initial scale of '", slot.parameter,
                  "'") ||
          !expect(slot.group >= -1 && slot.group < int64_t(program.optimizer.groups.size()),
                  "a group in [-1, ", program.optimizer.groups.size(), ") of '", slot.parameter,
                  "', got ", slot.group))
        return false;
      end = slot.beginElement + slot.elements;
    }
    return true;
  }

  bool checkScalars() {
    std::set<std::string_view> names;
    for (const Scalar &scalar : program.scalars) {
      where = "scalar '" + scalar.name + "': ";
      int64_t width = elementBytes(scalar.type);
      if (!expect(names.insert(scalar.name).second, "one scalar of each name") ||
          !expect(scalar.elements >= 1 && scalar.elements <= INT64_MAX / 8,
                  "at least one element, got ", scalar.elements) ||
          !expectRange(scalar.offset, scalar.elements * width, program.arenaBytes, "the scalar") ||
          !expect(scalar.offset % width == 0, "a multiple of ", width, " as offset, got ",
                  scalar.offset))
        return false;
    }
    where.clear();
    const Scalar *loss = program.findScalar("loss");
    const Scalar *evalLoss = program.findScalar("eval_loss");
    return expect(!loss || loss->type == ElementType::f32, "an f32 scalar 'loss'") &&
           expect(!evalLoss || evalLoss->type == ElementType::f32, "an f32 scalar 'eval_loss'");
  }

  bool checkKernels() {
    for (const Kernel &kernel : program.kernels) {
      where = "kernel '" + kernel.name + "': ";
      if (const char *text = descriptorFault(kernel)) {
        fault = text;
        return false;
      }
      if (!expect(kernel.flops >= 0, "flops not to be negative, got ", kernel.flops))
        return false;
    }
    where.clear();
    return true;
  }

  bool checkSegments() {
    std::set<std::string_view> names;
    for (const Segment &segment : program.segments) {
      std::string prefix = "segment '" + segment.name + "'";
      where = prefix + ": ";
      if (!expect(names.insert(segment.name).second, "one segment of each name") ||
          !expect(segment.times >= 1 && segment.times <= INT32_MAX, "1 to ", INT32_MAX,
                  " runs, got ", segment.times))
        return false;
      for (const Input &input : segment.inputs)
        if (!checkInput(input))
          return false;
      for (size_t index = 0; index < segment.rows.size(); ++index) {
        where = prefix + ", row " + std::to_string(index) + ": ";
        if (!checkRow(segment, segment.rows[index], int64_t(index)))
          return false;
      }
    }
    where.clear();
    return true;
  }

  bool checkInput(const Input &input) {
    int64_t elements = elementsOf(input.shape), width = elementBytes(input.type);
    bool integer = input.type == ElementType::i32 || input.type == ElementType::i64;
    return expect(elements >= 0, "a shape of at most 2^60 elements for argument '", input.name,
                  "'") &&
           expectRange(input.offset, WideInt(elements) * width, program.arenaBytes, input.name) &&
           expect(input.offset % width == 0, "argument '", input.name, "' at a multiple of ", width,
                  ", got ", input.offset) &&
           expect(integer || (!input.bound && !input.ignore),
                  "bounds only for integers, got one for '", input.name, "'");
  }

  /// `bytes` at the operand in every run of the segment.
  bool expectOperand(const Segment &segment, const Row &row, size_t index, WideInt bytes,
                     std::string_view what) {
    int64_t step = row.perRunBytes.empty() ? 0 : row.perRunBytes[index];
    return expect(step >= 0, what, " to move forward each run, got ", step) &&
           expectRange(row.operands[index], bytes, program.arenaBytes, what) &&
           expectRange(row.operands[index] + WideInt(step) * (segment.times - 1), bytes,
                       program.arenaBytes, what);
  }

  bool checkRanges(const std::vector<std::pair<int64_t, int64_t>> &ranges, std::string_view what) {
    for (auto [offset, bytes] : ranges)
      if (!expectRange(offset, bytes, program.arenaBytes, what))
        return false;
    return true;
  }

  /// Nothing that changes state or needs what only a step is told.
  static bool mayEvaluate(const Row &row) {
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

  bool checkRow(const Segment &segment, const Row &row, int64_t index) {
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
                "one move per operand, got ", row.perRunBytes.size(), " for ",
                row.operands.size()) ||
        !expect(row.bucket >= (needsBucket ? 0 : -1) &&
                    row.bucket < int64_t(program.buckets.size()),
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

  bool checkLaunch(const Segment &segment, const Row &row) {
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

  bool checkCollective(const Segment &segment, const Row &row, const Bucket &bucket) {
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

  const Scalar *scalarAt(int64_t offset) const {
    for (const Scalar &scalar : program.scalars)
      if (offset >= scalar.offset &&
          offset - scalar.offset < scalar.elements * elementBytes(scalar.type))
        return &scalar;
    return nullptr;
  }

  /// The operand is the start of a scalar of that type, or one of its elements if it moves.
  bool expectScalar(const Segment &segment, const Row &row, size_t index, ElementType type,
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

  bool checkCount(const Segment &segment, const Row &row) {
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

  bool checkSetSeed(const Segment &segment, const Row &row) {
    if (!expect(row.operands.size() == 2, "2 operands, got ", row.operands.size()) ||
        !expectScalar(segment, row, 1, ElementType::f32, "the seed"))
      return false;
    if (row.operands[0] == -1)
      return expect(!program.lossIsTokenMean || segment.role == SegmentRole::Evaluation,
                    "a count, where the loss is a mean over labels");
    if (!expectScalar(segment, row, 0, ElementType::i64, "the count"))
      return false;
    int64_t counts = scalarAt(row.operands[0])->elements,
            seeds = scalarAt(row.operands[1])->elements;
    return expect(!row.perRunBytes.empty() || counts == 1 || counts == seeds, "one count or ",
                  seeds, ", got ", counts);
  }

  bool checkSetRandom(const Segment &segment, const Row &row) {
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

  bool checkNorm(const Segment &segment, const Row &row) {
    if (!expect(row.operands.size() == 1, "1 operand, got ", row.operands.size()) ||
        !expectScalar(segment, row, 0, ElementType::f64, "the norm"))
      return false;
    for (int32_t index : row.buckets) {
      if (!expect(index >= 0 && size_t(index) < program.buckets.size(), "buckets in [0, ",
                  program.buckets.size(), "), got ", index))
        return false;
      const StatePlace *gradients = gradientState(program.buckets[index]);
      if (!expect(gradients != nullptr, "gradients in bucket '", program.buckets[index].name,
                  "'") ||
          !expect(!gradients->sharded || row.sumOverRanks,
                  "a norm of sharded gradients to be summed over ranks"))
        return false;
    }
    seenNorm = true;
    return true;
  }

  bool checkUpdate(const Bucket &bucket) {
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

  const Program &program;
  std::string where, fault;
  bool seenNorm = false;
};

} // namespace

std::string check(const Program &program) { return Checker(program).run(); }

} // namespace zrt
