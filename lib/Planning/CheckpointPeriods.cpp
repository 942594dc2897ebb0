//===- CheckpointPeriods.cpp - equal blocks are solved once ----------------===//
#include "CheckpointPeriods.h"

#include <algorithm>
#include <map>

namespace zero::planning::checkpoint {
namespace {

struct Run {
  int64_t begin = 0, end = 0, period = 0;
  int64_t blocks() const { return period ? (end - begin) / period : 0; }
};

/// The longest stretch around the middle of [low, high) that repeats itself, of at least half of
/// it and four periods.
Run runOf(const std::vector<int64_t> &labels, int64_t low, int64_t high) {
  constexpr int64_t kWindow = 8, kCandidates = 400;
  int64_t middle = low + (high - low) / 2, candidates = 0;
  for (int64_t period = 1; middle + period + kWindow < high && candidates < kCandidates; ++period) {
    if (!std::equal(labels.begin() + middle, labels.begin() + middle + kWindow,
                    labels.begin() + middle + period))
      continue;
    ++candidates;
    int64_t begin = middle, end = middle + period;
    while (begin > low && labels[begin - 1] == labels[begin - 1 + period])
      --begin;
    while (end < high && labels[end] == labels[end - period])
      ++end;
    if (2 * (end - begin) >= high - low && end - begin >= 4 * period)
      return {begin, end, period};
  }
  return {};
}

/// Where a node stands: in a forward block, in a backward block, or outside.
struct Place {
  enum Kind : uint8_t { Outside, Forward, Backward } kind;
  int64_t block, offset; // outside: the offset is the node
};

Place placeOf(const Periods &periods, int64_t node) {
  int64_t forward = node - periods.forwardBegin, backward = node - periods.backwardBegin;
  if (forward >= 0 && forward < periods.blocks * periods.forward)
    return {Place::Forward, forward / periods.forward, forward % periods.forward};
  if (backward >= 0 && backward < periods.blocks * periods.backward)
    return {Place::Backward, periods.blocks - 1 - backward / periods.backward,
            backward % periods.backward};
  return {Place::Outside, 0, node};
}

int64_t nodeAt(const Periods &periods, const Place &place) {
  if (place.kind == Place::Forward)
    return periods.forwardBegin + place.block * periods.forward + place.offset;
  if (place.kind == Place::Backward)
    return periods.backwardBegin + (periods.blocks - 1 - place.block) * periods.backward +
           place.offset;
  return place.offset;
}

/// The periods of what is left.
Periods periodsOfShort(const Periods &periods, int64_t kept) {
  Periods result = periods;
  result.blocks = kept;
  result.backwardBegin -= (periods.blocks - kept) * periods.forward;
  return result;
}

/// A node outside the blocks, as a node of what is left; what is taken out lies before or after it.
int64_t outsideInShort(const Periods &periods, int64_t kept, int64_t node) {
  int64_t removed = periods.blocks - kept;
  if (node >= periods.forwardBegin + periods.blocks * periods.forward)
    node -= removed * periods.forward;
  if (node >= periods.backwardBegin - removed * periods.forward + periods.blocks * periods.backward)
    node -= removed * periods.backward;
  return node;
}

} // namespace

std::optional<Periods> periodsOf(const Problem &problem) {
  int64_t size = int64_t(problem.nodes.size());
  std::vector<int64_t> labels;
  for (const Node &node : problem.nodes)
    labels.push_back(node.cost * 1'000'003 ^ node.bytes * 8'191 ^
                     int64_t(node.inputs.size()) * 131 ^ int64_t(node.backward));
  int64_t turn = 0;
  while (turn < size && !problem.nodes[turn].backward)
    ++turn;
  Run forward = runOf(labels, 0, turn), backward = runOf(labels, turn, size);
  if (!forward.blocks() || !backward.blocks())
    return std::nullopt;
  // Backward block k belongs to forward block c − k, for the c that most inputs agree on.
  std::map<int64_t, int64_t> votes;
  for (int64_t node = backward.begin; node < backward.end; ++node)
    for (int64_t input : problem.nodes[node].inputs)
      if (input >= forward.begin && input < forward.end)
        ++votes[(input - forward.begin) / forward.period +
                (node - backward.begin) / backward.period];
  int64_t sum = 0, most = 0;
  for (auto [candidate, count] : votes)
    if (count > most) {
      most = count;
      sum = candidate;
    }
  int64_t first = std::max<int64_t>(0, sum - backward.blocks() + 1);
  int64_t last = std::min(forward.blocks() - 1, sum);
  if (most == 0 || last - first + 1 < 4)
    return std::nullopt;
  Periods periods;
  periods.blocks = last - first + 1;
  periods.forward = forward.period;
  periods.backward = backward.period;
  periods.forwardBegin = forward.begin + first * forward.period;
  periods.backwardBegin = backward.begin + (sum - last) * backward.period;
  return periods;
}

std::optional<Problem> shortened(const Problem &problem, const Periods &periods, int64_t kept) {
  int64_t removed = periods.blocks - kept, from = kept / 2;
  Periods left = periodsOfShort(periods, kept);
  auto shortOf = [&](int64_t node, int64_t readerBlock) {
    Place place = placeOf(periods, node);
    if (place.kind == Place::Outside)
      return outsideInShort(periods, kept, node);
    // A reader before the gap sees the first block behind it, one behind it the last before it;
    // backward comes to the gap from behind.
    if (place.block >= from + removed)
      place.block -= removed;
    else if (place.block >= from && place.kind == Place::Forward && readerBlock >= from)
      place.block -= removed;
    return nodeAt(left, place);
  };
  Problem result;
  result.budgetBytes = problem.budgetBytes;
  int64_t turn = periods.forwardBegin + periods.blocks * periods.forward;
  int64_t tail = periods.backwardBegin + periods.blocks * periods.backward;
  for (int64_t i = 0; i < int64_t(problem.nodes.size()); ++i) {
    Place place = placeOf(periods, i);
    if (place.kind != Place::Outside && place.block >= from && place.block < from + removed)
      continue;
    int64_t readerBlock = place.kind != Place::Outside ? place.block
                          : i >= turn && i < tail      ? periods.blocks
                                                       : 0;
    Node node = problem.nodes[i];
    for (int64_t &input : node.inputs)
      input = shortOf(input, readerBlock);
    std::sort(node.inputs.begin(), node.inputs.end());
    result.nodes.push_back(std::move(node));
  }
  if (check(result))
    return std::nullopt;
  return result;
}

std::vector<int32_t> stretched(const Problem &problem, const Periods &periods, int64_t kept,
                               const std::vector<int32_t> &computations) {
  Periods left = periodsOfShort(periods, kept);
  int64_t size = int64_t(problem.nodes.size());
  int64_t leftSize = size - (periods.blocks - kept) * (periods.forward + periods.backward);
  // What is computed again before each first computation.
  std::vector<std::vector<int32_t>> again(leftSize);
  int32_t next = 0;
  for (int32_t node : computations)
    if (node == next)
      ++next;
    else if (next < leftSize)
      again[next].push_back(node);

  // From a node of what is left to one of the whole: its place there, with the blocks moved.
  std::vector<int64_t> outside(leftSize, -1);
  for (int64_t node = 0; node < size; ++node)
    if (placeOf(periods, node).kind == Place::Outside)
      outside[outsideInShort(periods, kept, node)] = node;
  auto blockInShort = [&](int64_t block) { return block * kept / periods.blocks; };
  std::vector<int32_t> result;
  for (int64_t node = 0; node < size; ++node) {
    Place place = placeOf(periods, node);
    int64_t block = 0;
    int64_t step = 0;
    if (place.kind == Place::Outside) {
      step = outsideInShort(periods, kept, node);
    } else {
      block = blockInShort(place.block);
      step = nodeAt(left, {place.kind, block, place.offset});
    }
    for (int32_t extra : again[step]) {
      Place of = placeOf(left, extra);
      int64_t whole = -1;
      if (of.kind == Place::Outside) {
        whole = outside[extra];
      } else {
        if (place.kind != Place::Outside)
          of.block += place.block - block;
        else if (of.block >= kept / 2)
          of.block += periods.blocks - kept;
        if (of.block >= 0 && of.block < periods.blocks)
          whole = nodeAt(periods, of);
      }
      if (whole >= 0 && whole < node)
        result.push_back(int32_t(whole));
    }
    result.push_back(int32_t(node));
  }
  return result;
}

} // namespace zero::planning::checkpoint
