//===- Check.cpp - is a step table consistent -----------------------------===//
//
// Everything that the walker relies on: places inside the arena, known kernels
// and buckets, as many operands as an entry takes. Schedules (races, lifetimes,
// reductions) are proved by the compiler's verifier, not here. The first fault
// is reported, with the segment and row it stands in.
//
//===----------------------------------------------------------------------===//

#include "Expectations.h"
#include "zero/Runtime/Layout.h"

#include <cmath>
#include <set>

namespace zrt {

namespace {

constexpr int64_t kMaxRanks = int64_t(1) << 20, kMaxThreads = 1024;

class Checker : public Expectations {
public:
  explicit Checker(const Program &program) : Expectations(program), rows(program) {}

  std::string run() {
    bool ok = checkHead() && checkBuckets() && checkScalars() && checkKernels() && checkSegments();
    return ok ? std::string() : where + (fault.empty() ? rows.message() : fault);
  }

private:
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
          !expect(slot.zeroRow >= -1 && (slot.zeroRow == -1 || !slot.shape.empty()) &&
                      (slot.zeroRow == -1 || slot.zeroRow < slot.shape[0]),
                  "a row of '", slot.parameter, "' that starts at 0, or -1, got ", slot.zeroRow) ||
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
        if (!rows.check(segment, segment.rows[index], int64_t(index)))
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

  RowCheck rows;
  std::string where;
};

} // namespace

std::string check(const Program &program) { return Checker(program).run(); }

} // namespace zrt
