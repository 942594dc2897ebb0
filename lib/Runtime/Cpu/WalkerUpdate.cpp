//===- WalkerUpdate.cpp - the norm, what is not finite, the update --------===//
//
// All that reads finished gradients. They are f32 or 16 bit, whole or the rank's
// pieces; weights of 16 bits are the rounded masters, which is where the update
// happens.
//
//===----------------------------------------------------------------------===//

#include "Walker.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace zrt {

/// Calls fn(slot, values, count) for the gradients of each slot: the rank's own, or all of a full
/// state. Padding lies in no slot.
template <typename Fn>
void Walker::forEachGradient(const Bucket &bucket, bool ownedOnly, Fn &&fn) const {
  const StatePlace &place = *gradientState(bucket);
  const char *base = context.arena.data() + place.offset;
  int64_t width = elementBytes(place.type);
  BucketLayout layout(bucket, context.program.ranks);
  for (const Slot &slot : bucket.slots) {
    int64_t begin = slot.beginElement, end = begin + slot.elements;
    if (ownedOnly)
      layout.forEachOwned(context.communicator.rank(), begin, end, [&](const Piece &owned) {
        fn(slot, base + (place.sharded ? owned.shardBegin : owned.begin) * width, owned.count);
      });
    else
      fn(slot, base + begin * width, slot.elements);
  }
}

void Walker::addSquares(const char *values, ElementType type, int64_t elements) {
  constexpr int64_t kWorthSplitting = 1 << 16;
  int64_t parts = elements < kWorthSplitting ? 1 : int64_t(partialSums.size());
  struct Context {
    SquareSum *sums;
    const char *values;
    ElementType type;
    int64_t elements, parts;
  } job = {partialSums.data(), values, type, elements, parts};
  auto runPart = [](void *opaque, int64_t part) {
    auto &c = *static_cast<Context *>(opaque);
    int64_t length = c.elements / c.parts, begin = length * part;
    c.sums[part].add(c.values + begin * elementBytes(c.type), c.type,
                     part + 1 == c.parts ? c.elements - begin : length);
  };
  context.team.run(parts, runPart, &job);
}

bool Walker::norm(const Row &row) {
  seenNorm = true;
  normOverRanks = row.sumOverRanks;
  for (SquareSum &sum : partialSums)
    sum.clear();
  for (int32_t index : row.buckets) {
    const Bucket &bucket = context.program.buckets[index];
    ElementType type = gradientState(bucket)->type;
    forEachGradient(bucket, row.sumOverRanks, [&](const Slot &, const char *values, int64_t n) {
      addSquares(values, type, n);
    });
  }
  SquareSum total;
  for (const SquareSum &sum : partialSums)
    total.merge(sum);
  if (row.sumOverRanks) {
    SquareSum mine = total;
    const SquareSum *all = exchanged(&mine, 1);
    if (!all)
      return false;
    total.clear();
    for (int64_t rank = 0; rank < context.program.ranks; ++rank)
      total.merge(all[rank]);
  }
  outcome.gradNorm = std::sqrt(total.sum()) / input->lossScale;
  std::memcpy(operand(row, 0), &outcome.gradNorm, sizeof(double));
  return true;
}

/// Whether each value has an exponent that is not all ones.
static bool allFinite(ElementType type, const char *values, int64_t count) {
  auto none = [&](auto bits, auto exponent) {
    for (int64_t i = 0; i < count; ++i) {
      std::memcpy(&bits, values + i * int64_t(sizeof bits), sizeof bits);
      if ((bits & exponent) == exponent)
        return false;
    }
    return true;
  };
  switch (type) {
  case ElementType::bf16:
    return none(uint16_t(), uint16_t(0x7f80));
  case ElementType::f16:
    return none(uint16_t(), uint16_t(0x7c00));
  default:
    return none(uint32_t(), uint32_t(0x7f800000));
  }
}

/// Parameters in bucket and slot order come first: a loss that is not finite has its cause, or its
/// trace, in some gradient.
bool Walker::nameFirstNonFinite() {
  constexpr int64_t kNone = std::numeric_limits<int64_t>::max();
  const std::vector<Bucket> &buckets = context.program.buckets;
  int64_t mine = kNone, slotsBefore = 0;
  for (const Bucket &bucket : buckets) {
    const StatePlace *gradients = gradientState(bucket);
    if (seenNorm && mine == kNone && gradients)
      forEachGradient(bucket, normOverRanks, [&](const Slot &slot, const char *values, int64_t n) {
        if (mine == kNone && !allFinite(gradients->type, values, n))
          mine = slotsBefore + (&slot - bucket.slots.data());
      });
    slotsBefore += int64_t(bucket.slots.size());
  }
  const int64_t *all = exchanged(&mine, 1);
  if (!all)
    return false;
  int64_t first = *std::min_element(all, all + context.program.ranks);
  outcome.firstNonFinite = "loss";
  for (const Bucket &bucket : buckets) {
    if (first >= 0 && first < int64_t(bucket.slots.size()))
      outcome.firstNonFinite = bucket.slots[first].parameter;
    first -= int64_t(bucket.slots.size());
  }
  return true;
}

/// The rate and the decay of the slot's group, or those of the step.
UpdateScalars Walker::scalarsFor(const Slot &slot) const {
  const OptimizerDesc &optimizer = context.program.optimizer;
  double lr = input->lr, decay = slot.decay ? optimizer.weightDecay : 0.0;
  if (slot.group >= 0) {
    const GroupDesc &group = optimizer.groups[slot.group];
    lr *= group.lrScale;
    decay = group.weightDecay.value_or(decay);
  }
  return makeUpdateScalars(optimizer, lr, input->stepsTaken, outcome.gradNorm, input->lossScale,
                           decay);
}

namespace {

/// What is updated together: pointers are null where the program has no such state.
struct UpdateRange {
  int64_t count;
  float *weights;
  const char *grad;
  ElementType gradType;
  float *moment1, *moment2;
  char *rounded;
  ElementType roundedType;
};

} // namespace

/// updateElements over the rank's threads; elementwise, so the split changes nothing.
static void updateRange(const UpdateScalars &scalars, const UpdateRange &range, ThreadTeam &team) {
  static constexpr int64_t kElementsPerPart = 16384;
  struct Context {
    const UpdateScalars &scalars;
    const UpdateRange &range;
  } job = {scalars, range};
  auto runPart = [](void *opaque, int64_t part) {
    auto &c = *static_cast<Context *>(opaque);
    const UpdateRange &r = c.range;
    int64_t begin = part * kElementsPerPart;
    updateElements(c.scalars, std::min(kElementsPerPart, r.count - begin), r.weights + begin,
                   r.grad + begin * elementBytes(r.gradType), r.gradType,
                   r.moment1 ? r.moment1 + begin : nullptr, r.moment2 ? r.moment2 + begin : nullptr,
                   r.rounded ? r.rounded + begin * elementBytes(r.roundedType) : nullptr,
                   r.roundedType);
  };
  team.run((range.count + kElementsPerPart - 1) / kElementsPerPart, runPart, &job);
}

/// The whole bucket where all states are replicated, else the rank's pieces of whatever is full.
bool Walker::update(const Bucket &bucket) {
  if (!lossSettled && !settleLoss())
    return false;
  if (!outcome.finite)
    return true;
  auto at = [&](const StatePlace &place, const Piece &piece) -> char * {
    int64_t element = place.sharded ? piece.shardBegin : piece.begin;
    return place.present ? context.arena.data() + place.offset + element * elementBytes(place.type)
                         : nullptr;
  };
  auto floatsAt = [&](StateKind kind, const Piece &piece) {
    return reinterpret_cast<float *>(at(bucket.state[int(kind)], piece));
  };
  const StatePlace &gradients = *gradientState(bucket);
  bool hasMaster = bucket.state[int(StateKind::Master)].present;
  for (const Slot &slot : bucket.slots) {
    UpdateScalars scalars = scalarsFor(slot);
    auto updatePiece = [&](const Piece &piece) {
      char *param = at(bucket.state[int(StateKind::Param)], piece);
      updateRange(
          scalars,
          {piece.count,
           hasMaster ? floatsAt(StateKind::Master, piece) : reinterpret_cast<float *>(param),
           at(gradients, piece), gradients.type, floatsAt(StateKind::Moment1, piece),
           floatsAt(StateKind::Moment2, piece), hasMaster ? param : nullptr, bucket.type},
          context.team);
    };
    if (context.program.stage == 0)
      updatePiece({slot.beginElement, slot.elements, slot.beginElement});
    else
      BucketLayout(bucket, context.program.ranks)
          .forEachOwned(context.communicator.rank(), slot.beginElement,
                        slot.beginElement + slot.elements, updatePiece);
  }
  return true;
}

} // namespace zrt
