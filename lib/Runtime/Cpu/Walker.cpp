//===- Walker.cpp - one rank walks the step table -------------------------===//

#include "Walker.h"

#include "InputCheck.h"
#include "Launch.h"
#include "zero/Runtime/HalfFloat.h"
#include "zero/Runtime/InitialValues.h"

#include <chrono>
#include <cstring>

namespace zrt {

Walker::Walker(const RankContext &context) : context(context) {
  const Program &program = context.program;
  size_t operands = 0, rows = 0;
  int64_t counted = 1;
  for (const Segment &segment : program.segments) {
    rows += segment.rows.size();
    for (const Row &row : segment.rows)
      operands = std::max(operands, row.operands.size());
  }
  for (const Scalar &scalar : program.scalars)
    if (scalar.type == ElementType::i64)
      counted = std::max(counted, scalar.elements);
  pointers.resize(operands);
  counts.resize(size_t(counted));
  partialSums.resize(size_t(context.team.size()));
  static_assert(sizeof(SquareSum) % sizeof(uint64_t) == 0);
  gathered.resize(size_t(program.ranks) *
                  std::max(counts.size(), sizeof(SquareSum) / sizeof(uint64_t)));
  if (context.profiled)
    rowTimes.resize(rows);
}

/// Weights of 16 bits are the rounded masters: both come from the same f32 values.
static void fillState(const Slot &slot, StateKind kind, ElementType type, uint64_t seed,
                      int64_t begin, int64_t count, char *to) {
  if (kind != StateKind::Param && kind != StateKind::Master) {
    std::memset(to, 0, size_t(count * elementBytes(type)));
    return;
  }
  constexpr int64_t kBlock = 1024;
  float block[kBlock];
  for (int64_t done = 0; done < count; done += kBlock) {
    int64_t length = std::min(kBlock, count - done);
    fillInitialValues(slot, seed, begin + done, length, block);
    fromFloats(type, block, length, to + done * elementBytes(type));
  }
}

void Walker::initialize(uint64_t seed) {
  for (const Bucket &bucket : context.program.buckets)
    for (int kind = 0; kind < kStateKindCount; ++kind) {
      const StatePlace &place = bucket.state[kind];
      char *base = state(bucket, StateKind(kind));
      if (!base)
        continue;
      for (const Slot &slot : bucket.slots) {
        auto fill = [&](int64_t begin, int64_t count, int64_t at) {
          fillState(slot, StateKind(kind), place.type, seed, begin, count,
                    base + at * elementBytes(place.type));
        };
        if (!place.sharded)
          fill(0, slot.elements, slot.beginElement);
        else
          BucketLayout(bucket, context.program.ranks)
              .forEachOwned(context.communicator.rank(), slot.beginElement,
                            slot.beginElement + slot.elements, [&](const Piece &owned) {
                              fill(owned.begin - slot.beginElement, owned.count, owned.shardBegin);
                            });
      }
    }
}

void Walker::begin(const BatchPointers &pointers) {
  data = &pointers;
  outcome.loss = outcome.gradNorm = 0.0;
  outcome.labelCount = 0;
  outcome.finite = true;
  outcome.firstNonFinite = {};
  lossSettled = seenNorm = normOverRanks = false;
}

bool Walker::step(const StepInput &stepInput) {
  input = &stepInput;
  begin(stepInput.data);
  context.communicator.resetTraffic();
  if (context.options.poison)
    poisonGradients();
  bool done = walkAll(SegmentRole::Step) && (lossSettled || settleLoss());
  sent = context.communicator.traffic();
  return done;
}

bool Walker::evaluate(const BatchPointers &pointers, EvalResult &result) {
  begin(pointers);
  std::optional<double> sum;
  if (!walkAll(SegmentRole::Evaluation) || !(sum = sumOverRanks("eval_loss")))
    return false;
  int64_t runs = 0;
  for (const Segment &segment : context.program.segments)
    runs += segment.role == SegmentRole::Evaluation ? segment.times : 0;
  bool overLabels = context.program.lossIsTokenMean;
  result = {*sum, overLabels ? outcome.labelCount : runs * context.program.ranks};
  return true;
}

bool Walker::walkAll(SegmentRole role) {
  for (size_t segment = 0; segment < context.program.segments.size(); ++segment)
    if (context.program.segments[segment].role == role && !walk(segment))
      return false;
  return true;
}

bool Walker::walk(size_t segmentIndex) {
  const Segment &segment = context.program.segments[segmentIndex];
  RowTime *times = rowTimes.data();
  for (size_t before = 0; before < segmentIndex && times; ++before)
    times += context.program.segments[before].rows.size();

  for (run = 0; run < segment.times; ++run) {
    copyInputs(segmentIndex);
    for (size_t index = 0; index < segment.rows.size(); ++index) {
      const Row &row = segment.rows[index];
      auto started =
          times ? std::chrono::steady_clock::now() : std::chrono::steady_clock::time_point();
      if (context.options.poison)
        for (auto [offset, bytes] : row.allocates)
          context.arena.poison(offset, bytes);
      if (!execute(segment, row))
        return false;
      if (context.options.poison)
        for (auto [offset, bytes] : row.frees)
          context.arena.poison(offset, bytes);
      if (times) {
        ++times[index].runs;
        times[index].seconds +=
            std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
      }
    }
  }
  return true;
}

void Walker::copyInputs(size_t segmentIndex) {
  const Segment &segment = context.program.segments[segmentIndex];
  for (size_t index = 0; index < segment.inputs.size(); ++index) {
    const Input &argument = segment.inputs[index];
    int64_t bytes = inputBytes(argument);
    auto *batch = static_cast<const char *>(
        (*data)[segmentIndex][size_t(run) * segment.inputs.size() + index]);
    if (bytes > 0)
      std::memcpy(context.arena.data() + argument.offset,
                  batch + context.communicator.rank() * bytes, size_t(bytes));
  }
}

bool Walker::execute(const Segment &segment, const Row &row) {
  switch (row.opcode) {
  case Opcode::Launch:
    launchRow(row);
    return true;
  case Opcode::AllGather:
    return gather(row, context.program.buckets[row.bucket]);
  case Opcode::ReduceScatter:
    return reduceScatter(row, context.program.buckets[row.bucket]);
  case Opcode::AllReduce:
    return allReduce(row, context.program.buckets[row.bucket]);
  case Opcode::Count:
    return count(segment, row);
  case Opcode::SetSeed:
    setSeed(segment, row);
    return true;
  case Opcode::SetRandom:
    setRandom(row);
    return true;
  case Opcode::Norm:
    return norm(row);
  case Opcode::Update:
    return update(context.program.buckets[row.bucket]);
  case Opcode::Wait:
    return true;
  }
  return true;
}

void Walker::launchRow(const Row &row) {
  for (size_t index = 0; index < row.operands.size(); ++index)
    pointers[index] = operand(row, index);
  launch(context.program.kernels[row.kernel], context.generated, pointers.data(),
         int64_t(row.operands.size()), adds(row), context.team);
}

bool Walker::gather(const Row &row, const Bucket &bucket) {
  BucketLayout layout(bucket, context.program.ranks);
  char *param = state(bucket, StateKind::Param);
  if (row.inPlace)
    return context.communicator.allGather(layout, bucket.type, nullptr, param);
  return context.communicator.allGather(layout, bucket.type, param, operand(row, 0));
}

bool Walker::allReduce(const Row &row, const Bucket &bucket) {
  return context.communicator.allReduce(BucketLayout(bucket, context.program.ranks),
                                        gradientState(bucket)->type, operand(row, 0));
}

bool Walker::reduceScatter(const Row &row, const Bucket &bucket) {
  BucketLayout layout(bucket, context.program.ranks);
  ElementType type = gradientState(bucket)->type;
  char *full = operand(row, 0), *shard = operand(row, 1);
  if (!context.communicator.reduceScatter(layout, type, full, shard, adds(row)))
    return false;
  if (context.options.poison && !shard)
    poisonPeersPieces(bucket, full - context.arena.data(), elementBytes(type));
  return true;
}

/// Gradients do not live from step to step: the first write must cover every slot.
void Walker::poisonGradients() {
  for (const Bucket &bucket : context.program.buckets)
    for (StateKind kind : {StateKind::Grad, StateKind::GradAccum})
      if (const StatePlace &place = bucket.state[int(kind)]; place.present)
        context.arena.poison(place.offset, stateElements(bucket, kind, context.program.ranks) *
                                               elementBytes(place.type));
}

/// After a reduction in place, only the rank's own pieces hold sums.
void Walker::poisonPeersPieces(const Bucket &bucket, int64_t offset, int64_t width) {
  BucketLayout layout(bucket, context.program.ranks);
  for (int64_t chunk = 0; chunk < layout.chunks(); ++chunk)
    for (int64_t rank = 0; rank < context.program.ranks; ++rank)
      if (rank != context.communicator.rank()) {
        Piece piece = layout.piece(chunk, rank);
        context.arena.poison(offset + piece.begin * width, piece.count * width);
      }
}

} // namespace zrt
