//===- WalkerControl.cpp - counts, seeds, the norm and the update ---------===//
//
// The control state is a handful of numbers. Every rank gathers those of all
// ranks and reduces them itself, in rank order, so that all ranks decide alike
// without a further agreement.
//
//===----------------------------------------------------------------------===//

#include "Walker.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace zrt {

template <typename T> const T *Walker::exchanged(const T *mine, int64_t elements) {
  auto *all = reinterpret_cast<T *>(gathered.data());
  return context.communicator.exchange(mine, elements * int64_t(sizeof(T)), all) ? all : nullptr;
}

/// Calls fn(slot, values, count) for the gradients of each slot: the rank's own, or all of a full
/// state. Padding lies in no slot.
template <typename Fn>
void Walker::forEachGradient(const Bucket &bucket, bool ownedOnly, Fn &&fn) const {
  const StatePlace &place = *gradientState(bucket);
  auto *base = reinterpret_cast<float *>(context.arena.data() + place.offset);
  BucketLayout layout(bucket, context.program.ranks);
  for (const Slot &slot : bucket.slots) {
    int64_t begin = slot.beginElement, end = begin + slot.elements;
    if (ownedOnly)
      layout.forEachOwned(context.communicator.rank(), begin, end, [&](const Piece &owned) {
        fn(slot, base + (place.sharded ? owned.shardBegin : owned.begin), owned.count);
      });
    else
      fn(slot, base + begin, slot.elements);
  }
}

template <typename Integer>
static int64_t countLabels(const char *labels, int64_t elements, int64_t ignored) {
  int64_t total = 0;
  for (int64_t i = 0; i < elements; ++i)
    total += reinterpret_cast<const Integer *>(labels)[i] != ignored;
  return total;
}

static const Scalar &scalarAt(const Program &program, int64_t offset) {
  size_t index = 0;
  while (program.scalars[index].offset > offset ||
         offset - program.scalars[index].offset >=
             program.scalars[index].elements * elementBytes(program.scalars[index].type))
    ++index;
  return program.scalars[index];
}

/// How many elements of its scalar an operand stands for.
static int64_t operandElements(const Program &program, const Row &row, size_t index) {
  return row.perRunBytes.empty() ? scalarAt(program, row.operands[index]).elements : 1;
}

bool Walker::count(const Segment &segment, const Row &row) {
  const Program &program = context.program;
  const Input *labels = nullptr;
  for (const Input &argument : segment.inputs)
    if (argument.offset == row.operands[0])
      labels = &argument;
  int64_t parts = operandElements(program, row, 1), labelsPerPart = 1;
  for (int64_t extent : labels->shape)
    labelsPerPart *= extent;
  labelsPerPart /= parts;

  bool wide = labels->type == ElementType::i64;
  const char *first = operand(row, 0);
  for (int64_t part = 0; part < parts; ++part) {
    const char *begin = first + part * labelsPerPart * elementBytes(labels->type);
    counts[part] = wide ? countLabels<int64_t>(begin, labelsPerPart, program.lossIgnore)
                        : countLabels<int32_t>(begin, labelsPerPart, program.lossIgnore);
  }
  const int64_t *all = exchanged(counts.data(), parts);
  if (!all)
    return false;

  auto *destination = reinterpret_cast<int64_t *>(operand(row, 1));
  for (int64_t part = 0; part < parts; ++part) {
    int64_t overRanks = 0;
    for (int64_t rank = 0; rank < program.ranks; ++rank)
      overRanks += all[rank * parts + part];
    int64_t value = program.lossMean == LossMean::Rank ? counts[part] : overRanks;
    destination[part] = value + (adds(row) ? destination[part] : 0);
    outcome.labelCount += overRanks;
  }
  return true;
}

/// Loss scale ÷ what the loss is a mean over (N2), in f64 and rounded once.
static float seedFor(const Program &program, double lossScale, int64_t count) {
  double ranks = double(program.ranks), microSteps = double(program.microSteps);
  if (!program.lossIsTokenMean)
    return float(lossScale / (ranks * microSteps));
  if (count == 0)
    return 0.0f;
  switch (program.lossMean) {
  case LossMean::Step:
    return float(lossScale / double(count));
  case LossMean::MicroStep:
    return float(lossScale / (double(count) * microSteps));
  case LossMean::Rank:
    return float(lossScale / (double(count) * microSteps * ranks));
  }
  return 0.0f;
}

void Walker::setSeed(const Row &row) {
  const Program &program = context.program;
  auto *seeds = floats(row, 1);
  auto *labelCounts = reinterpret_cast<const int64_t *>(operand(row, 0));
  int64_t seedElements = operandElements(program, row, 1);
  int64_t countElements = labelCounts ? operandElements(program, row, 0) : 0;
  for (int64_t i = 0; i < seedElements; ++i)
    seeds[i] = seedFor(program, input->lossScale,
                       labelCounts ? labelCounts[countElements == 1 ? 0 : i] : 0);
}

void Walker::addSquares(const float *values, int64_t elements) {
  constexpr int64_t kWorthSplitting = 1 << 16;
  int64_t parts = elements < kWorthSplitting ? 1 : int64_t(partialSums.size());
  struct Context {
    SquareSum *sums;
    const float *values;
    int64_t elements, parts;
  } job = {partialSums.data(), values, elements, parts};
  auto runPart = [](void *opaque, int64_t part) {
    auto &c = *static_cast<Context *>(opaque);
    int64_t length = c.elements / c.parts, begin = length * part;
    c.sums[part].add(c.values + begin, ElementType::f32,
                     part + 1 == c.parts ? c.elements - begin : length);
  };
  context.team.run(parts, runPart, &job);
}

bool Walker::norm(const Row &row) {
  seenNorm = true;
  normOverRanks = row.sumOverRanks;
  for (SquareSum &sum : partialSums)
    sum.clear();
  for (int32_t bucket : row.buckets)
    forEachGradient(context.program.buckets[bucket], row.sumOverRanks,
                    [&](const Slot &, const float *values, int64_t n) { addSquares(values, n); });
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

/// Sums the losses and decides, the same on all ranks, whether the step may change weights (N4).
bool Walker::settleLoss() {
  lossSettled = true;
  double mine = 0.0;
  if (const Scalar *loss = context.program.findScalar("loss")) {
    auto *values = reinterpret_cast<const float *>(context.arena.data() + loss->offset);
    for (int64_t i = 0; i < loss->elements; ++i)
      mine += double(values[i]);
  }
  const double *all = exchanged(&mine, 1);
  if (!all)
    return false;
  double total = 0.0;
  for (int64_t rank = 0; rank < context.program.ranks; ++rank)
    total += all[rank];
  outcome.loss = total / input->lossScale;
  outcome.finite = std::isfinite(outcome.loss) && std::isfinite(outcome.gradNorm);
  return outcome.finite || nameFirstNonFinite();
}

/// Parameters in bucket and slot order come first: a loss that is not finite has its cause, or its
/// trace, in some gradient.
bool Walker::nameFirstNonFinite() {
  constexpr int64_t kNone = std::numeric_limits<int64_t>::max();
  const std::vector<Bucket> &buckets = context.program.buckets;
  int64_t mine = kNone, slotsBefore = 0;
  for (const Bucket &bucket : buckets) {
    if (seenNorm && mine == kNone && gradientState(bucket))
      forEachGradient(bucket, normOverRanks, [&](const Slot &slot, const float *values, int64_t n) {
        for (int64_t i = 0; i < n && mine == kNone; ++i)
          if (!std::isfinite(values[i]))
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

/// updateElements over the rank's threads; elementwise, so the split changes nothing.
static void updateRange(const UpdateScalars &scalars, int64_t count, float *param,
                        const float *grad, float *moment1, float *moment2, ThreadTeam &team) {
  static constexpr int64_t kElementsPerPart = 16384;
  struct Context {
    const UpdateScalars &scalars;
    int64_t count;
    float *param;
    const float *grad;
    float *moment1, *moment2;
  } job = {scalars, count, param, grad, moment1, moment2};
  auto runPart = [](void *opaque, int64_t part) {
    auto &c = *static_cast<Context *>(opaque);
    int64_t begin = part * kElementsPerPart;
    updateElements(c.scalars, std::min(kElementsPerPart, c.count - begin), c.param + begin,
                   c.grad + begin, ElementType::f32, c.moment1 ? c.moment1 + begin : nullptr,
                   c.moment2 ? c.moment2 + begin : nullptr, nullptr, ElementType::f32);
  };
  team.run((count + kElementsPerPart - 1) / kElementsPerPart, runPart, &job);
}

/// The whole bucket where all states are replicated, else the rank's pieces of whatever is full.
bool Walker::update(const Bucket &bucket) {
  if (!lossSettled && !settleLoss())
    return false;
  if (!outcome.finite)
    return true;
  const StatePlace *gradients = gradientState(bucket);
  auto *grad = reinterpret_cast<const float *>(context.arena.data() + gradients->offset);
  auto at = [&](StateKind kind, const Piece &piece) {
    float *base = state(bucket, kind);
    bool sharded = bucket.state[int(kind)].sharded;
    return base ? base + (sharded ? piece.shardBegin : piece.begin) : nullptr;
  };
  for (const Slot &slot : bucket.slots) {
    UpdateScalars scalars =
        makeUpdateScalars(context.program.optimizer, input->lr, input->stepsTaken, outcome.gradNorm,
                          input->lossScale,
                          slot.decay ? context.program.optimizer.weightDecay : 0.0);
    auto updatePiece = [&](const Piece &piece) {
      updateRange(scalars, piece.count, at(StateKind::Param, piece),
                  grad + (gradients->sharded ? piece.shardBegin : piece.begin),
                  at(StateKind::Moment1, piece), at(StateKind::Moment2, piece), context.team);
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
