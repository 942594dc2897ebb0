//===- Walker.cpp - one rank walks the step table -------------------------===//

#include "Walker.h"

#include "InputCheck.h"
#include "Launch.h"
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
  if (context.options.profile && context.communicator.rank() == 0)
    rowTimes.resize(rows);
}

void Walker::initialize(uint64_t seed) {
  for (const Bucket &bucket : context.program.buckets)
    for (int kind = 0; kind < kStateKindCount; ++kind) {
      const StatePlace &place = bucket.state[kind];
      float *base = state(bucket, StateKind(kind));
      if (!place.present)
        continue;
      for (const Slot &slot : bucket.slots) {
        auto fill = [&](int64_t begin, int64_t count, float *values) {
          if (StateKind(kind) == StateKind::Param)
            fillInitialValues(slot, seed, begin, count, values);
          else
            std::fill_n(values, count, 0.0f);
        };
        if (!place.sharded)
          fill(0, slot.elements, base + slot.beginElement);
        else
          BucketLayout(bucket, context.program.ranks)
              .forEachOwned(context.communicator.rank(), slot.beginElement,
                            slot.beginElement + slot.elements, [&](const Piece &owned) {
                              fill(owned.begin - slot.beginElement, owned.count,
                                   base + owned.shardBegin);
                            });
      }
    }
}

bool Walker::step(const StepInput &stepInput) {
  input = &stepInput;
  outcome.loss = outcome.gradNorm = 0.0;
  outcome.labelCount = 0;
  outcome.finite = true;
  outcome.firstNonFinite.clear();
  lossSettled = seenNorm = normOverRanks = false;
  context.communicator.resetTraffic();
  if (context.options.poison)
    poisonGradients();
  for (size_t segment = 0; segment < context.program.segments.size(); ++segment)
    if (!walk(segment))
      return false;
  return lossSettled || settleLoss();
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
        input->data[segmentIndex][size_t(run) * segment.inputs.size() + index]);
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
    return context.communicator.allReduce(
        BucketLayout(context.program.buckets[row.bucket], context.program.ranks), floats(row, 0));
  case Opcode::Count:
    return count(segment, row);
  case Opcode::SetSeed:
    setSeed(row);
    return true;
  case Opcode::SetRandom:
    return false;
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
  float *param = state(bucket, StateKind::Param);
  if (row.inPlace)
    return context.communicator.allGather(layout, nullptr, param);
  return context.communicator.allGather(layout, param, floats(row, 0));
}

bool Walker::reduceScatter(const Row &row, const Bucket &bucket) {
  BucketLayout layout(bucket, context.program.ranks);
  float *shard = floats(row, 1);
  if (!context.communicator.reduceScatter(layout, floats(row, 0), shard, adds(row)))
    return false;
  if (context.options.poison && !shard)
    poisonPeersPieces(bucket, operand(row, 0) - context.arena.data());
  return true;
}

/// Gradients do not live from step to step: the first write must cover every slot.
void Walker::poisonGradients() {
  for (const Bucket &bucket : context.program.buckets)
    for (StateKind kind : {StateKind::Grad, StateKind::GradAccum})
      if (const StatePlace &place = bucket.state[int(kind)]; place.present)
        context.arena.poison(place.offset, stateElements(bucket, kind, context.program.ranks) *
                                               int64_t(sizeof(float)));
}

/// After a reduction in place, only the rank's own pieces hold sums.
void Walker::poisonPeersPieces(const Bucket &bucket, int64_t offset) {
  BucketLayout layout(bucket, context.program.ranks);
  for (int64_t chunk = 0; chunk < layout.chunks(); ++chunk)
    for (int64_t rank = 0; rank < context.program.ranks; ++rank)
      if (rank != context.communicator.rank()) {
        Piece piece = layout.piece(chunk, rank);
        context.arena.poison(offset + piece.begin * int64_t(sizeof(float)),
                             piece.count * int64_t(sizeof(float)));
      }
}

} // namespace zrt
