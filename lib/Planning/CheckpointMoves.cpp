//===- CheckpointMoves.cpp - small changes of a sequence -------------------===//
//
//   evict    drop a value that is live at a slot above the budget, and compute it
//            again before its next use; where that keeps an input live for longer,
//            above the budget, go on with the input, or let it stay: one large value
//            is well exchanged for a few small ones, which single steps would not find
//   extend   the same for an input of a recomputation that is kept for it alone
//   remove   take out a recomputation, and those that served it alone; perhaps
//            evict something else instead
//   shift    move a recomputation between its neighbours
//
//===----------------------------------------------------------------------===//
#include "CheckpointMoves.h"

#include <algorithm>
#include <functional>

#pragma STDC FP_CONTRACT OFF // the same bits with and without fused multiply-add

namespace zero::planning::checkpoint {
namespace {

constexpr size_t kMaxChanges = 14; // in one move
constexpr int32_t kMaxDepth = 20;
constexpr int32_t kPrunings = 4;
constexpr double kRoom = 2;          // times the bytes of the value that makes room
constexpr int32_t kNeighbours = 120; // up to three times as many

} // namespace

/// The first use of `node`'s value after slot `after`, before its next instance; -1 for none, or
/// where it is used at `after` itself.
template <typename Int> int32_t Moves<Int>::firstUse(int32_t node, int32_t after) const {
  int32_t first = INT32_MAX;
  for (int32_t reader : graph.readers(node)) {
    const auto &list = sequence.instances(reader);
    for (int32_t k = int32_t(list.size()) - 1; k >= 0 && list[k].slot >= after; --k) {
      if (list[k].slot == after)
        return -1;
      first = std::min(first, list[k].slot);
    }
  }
  return first == INT32_MAX ? -1 : first;
}

/// A slot of [low, high) above the budget; -1 where there seems to be none.
template <typename Int> int32_t Moves<Int>::slotAbove(int32_t low, int32_t high) {
  for (int32_t tries = 0; tries < 40; ++tries)
    if (int32_t slot = low + random.below(high - low); sequence.isAbove(slot))
      return slot;
  int32_t begin = low + random.below(high - low);
  if (int32_t slot = sequence.firstAbove(begin, high); slot < high)
    return slot;
  int32_t slot = sequence.firstAbove(low, begin);
  return slot < begin ? slot : -1;
}

/// A value that lies idle at `slot`, drawn by bytes a cost from up to `wanted`.
template <typename Int>
typename Moves<Int>::Victim Moves<Int>::victimAt(int32_t slot, int32_t wanted) {
  int32_t chosen = -1, reader = sequence.at(slot);
  std::span<const int32_t> inUse = reader < 0 ? std::span<const int32_t>() : graph.inputs(reader);
  double most = -1;
  for (int32_t tries = 0, found = 0; tries < 60 && found < wanted; ++tries) {
    int32_t node = neighbourhood.empty()
                       ? random.below(graph.size)
                       : neighbourhood[random.below(int64_t(neighbourhood.size()))];
    if (sequence.firstSlot(node) >= slot || graph.cost[node] >= sparedCost)
      continue;
    const auto &list = sequence.instances(node);
    int32_t k = list.size() == 1 ? 0 : sequence.before(node, slot);
    if (list[k].end <= slot || std::find(inUse.begin(), inUse.end(), node) != inUse.end())
      continue;
    ++found;
    double weight =
        random.unit() * double(graph.bytes[node]) / (double(graph.cost[node]) + costBias);
    if (weight > most) {
      most = weight;
      chosen = node;
    }
  }
  return chosen < 0 ? Victim{} : Victim{chosen, firstUse(chosen, slot)};
}

template <typename Int> bool Moves<Int>::isAffordable(int32_t node) const {
  return graph.cost[node] < sparedCost &&
         double(sequence.cost() + graph.cost[node] - graph.baseCost) <= mostCost;
}

/// Whether an input that would be live for longer, above the budget, may be. The bytes are only
/// drawn by: what the whole move does to the excess decides.
template <typename Int> bool Moves<Int>::keepsLive(int32_t input) {
  if (keepsInputs && !isAffordable(input)) {
    room -= double(graph.bytes[input]);
    return true;
  }
  if (graph.cost[input] >= sparedCost || random.below(8) == 0)
    return true;
  if (!keepsInputs || double(graph.bytes[input]) >= room * random.unit())
    return false;
  room -= double(graph.bytes[input]);
  return true;
}

template <typename Int> bool Moves<Int>::recompute(int32_t node, int32_t before, int32_t depth) {
  if (sequence.mark() > kMaxChanges || !isAffordable(node))
    return false;
  int32_t slot = sequence.makeRoomBefore(before);
  if (slot < 0 || sequence.firstSlot(node) >= slot)
    return false;
  constexpr int32_t kMaxInputs = 64;
  std::span<const int32_t> inputs = graph.inputs(node);
  int32_t ends[kMaxInputs];
  size_t count = std::min<size_t>(inputs.size(), kMaxInputs);
  for (size_t i = 0; i < count; ++i)
    ends[i] = sequence.instances(inputs[i])[sequence.before(inputs[i], slot)].end;
  sequence.insert(node, slot);
  if (depth == 0)
    room = kRoom * double(graph.bytes[node]);
  if (depth >= kMaxDepth)
    return true;
  for (size_t i = 0; i < count; ++i) {
    // Room made for one input may have moved the node; its slot is found again.
    int32_t input = inputs[i];
    int32_t here = sequence.at(slot) == node ? slot : slot - 1;
    if (ends[i] + 1 >= here || sequence.firstAbove(ends[i] + 1, here) == here || keepsLive(input))
      continue;
    if (!recompute(input, here, depth + 1))
      return false;
  }
  return true;
}

template <typename Int> bool Moves<Int>::evictSomewhere() {
  int32_t slot =
      sequence.excess() > 0 ? slotAbove(0, sequence.slots()) : random.below(sequence.slots());
  Victim victim = slot < 0 ? Victim{} : victimAt(slot, 6);
  return victim.node >= 0 && recompute(victim.node, victim.nextUse, 0);
}

template <typename Int> bool Moves<Int>::removeOne(int32_t slot) {
  pending.assign(1, slot);
  for (int32_t count = 0; !pending.empty() && count < 30; ++count) {
    int32_t taken = pending.back();
    pending.pop_back();
    if (!sequence.isExtra(taken))
      continue;
    int32_t node = sequence.at(taken);
    size_t first = pending.size();
    for (int32_t input : graph.inputs(node)) {
      int32_t at = sequence.instances(input)[sequence.before(input, taken)].slot;
      if (sequence.isExtra(at))
        pending.push_back(at);
    }
    sequence.remove(taken);
    // Only those that nothing reads any more.
    size_t kept = first;
    for (size_t i = first; i < pending.size(); ++i) {
      int32_t at = pending[i], input = sequence.at(at);
      if (sequence.instances(input)[sequence.before(input, at + 1)].end == at)
        pending[kept++] = at;
    }
    pending.resize(kept);
  }
  return true;
}

/// A recomputation, of the neighbourhood if a few draws find one.
template <typename Int> int32_t Moves<Int>::anyExtra() {
  const std::vector<int32_t> &extras = sequence.extras();
  int32_t slot = extras[random.below(int64_t(extras.size()))];
  for (int32_t tries = 0; tries < 20 && !neighbourhood.empty() && !isNear[sequence.at(slot)];
       ++tries)
    slot = extras[random.below(int64_t(extras.size()))];
  return slot;
}

template <typename Int> bool Moves<Int>::extendOne() {
  int32_t slot = anyExtra(), node = sequence.at(slot);
  std::span<const int32_t> inputs = graph.inputs(node);
  if (inputs.empty())
    return false;
  int32_t input = inputs[random.below(int64_t(inputs.size()))];
  // Idle since its last other use, if this is its last one.
  const auto &instance = sequence.instances(input)[sequence.before(input, slot)];
  if (instance.end != slot || slot - instance.slot < 3)
    return false;
  return recompute(input, slot, 0);
}

template <typename Int> bool Moves<Int>::shiftOne() {
  int32_t slot = anyExtra(), node = sequence.at(slot);
  int32_t k = sequence.before(node, slot);
  int32_t low = std::max(sequence.instances(node)[k].slot + 1, slot - 40);
  int32_t high = firstUse(node, slot);
  if (high < 0)
    high = slot;
  sequence.remove(slot);
  if (high <= low)
    return true;
  int32_t to = low + random.below(high - low);
  if (sequence.at(to) >= 0)
    return false;
  sequence.insert(node, to);
  return true;
}

template <typename Int> bool Moves<Int>::step(double most) {
  mostCost = most;
  int32_t kind = random.below(20);
  if (kind < 8 || sequence.extras().empty())
    return evictSomewhere();
  if (kind < 12)
    return extendOne();
  if (kind < 18) {
    int32_t slot = anyExtra();
    removeOne(slot);
    if (kind < 15)
      return true;
    for (int32_t repairs = 0; repairs < 2 && sequence.excess() > 0; ++repairs) {
      int32_t reach = sequence.slots() / 8;
      int32_t low = std::max(0, slot - reach), high = std::min(sequence.slots(), slot + reach);
      int32_t above = slotAbove(low, high);
      if (above < 0)
        break;
      Victim victim = victimAt(above, 3);
      if (victim.node >= 0 && !recompute(victim.node, victim.nextUse, 0))
        return false;
    }
    return true;
  }
  return shiftOne();
}

/// The last ones first: early ones serve what follows.
template <typename Int> void Moves<Int>::prune() {
  bool changed = true;
  for (int32_t pass = 0; changed && pass < kPrunings; ++pass) {
    changed = false;
    std::vector<int32_t> slots = sequence.extras();
    std::sort(slots.begin(), slots.end(), std::greater<>());
    for (int32_t slot : slots) {
      if (!sequence.isExtra(slot))
        continue;
      sequence.forget();
      removeOne(slot);
      if (sequence.excess() > 0)
        sequence.undo(0);
      else
        changed = true;
    }
  }
}

template <typename Int> void Moves<Int>::enterNeighbourhood() {
  size_t wanted = size_t(kNeighbours + random.below(2 * kNeighbours));
  neighbourhood.assign(1, random.below(graph.size));
  isNear.assign(graph.size, 0);
  isNear[neighbourhood[0]] = 1;
  auto offer = [&](std::span<const int32_t> nodes) {
    for (int32_t node : nodes)
      if (!isNear[node] && neighbourhood.size() < wanted) {
        isNear[node] = 1;
        neighbourhood.push_back(node);
      }
  };
  for (size_t k = 0; k < neighbourhood.size() && neighbourhood.size() < wanted; ++k) {
    int32_t node = neighbourhood[k];
    offer(graph.inputs(node));
    offer(graph.readers(node));
  }
}

template class Moves<int32_t>;
template class Moves<int64_t>;

} // namespace zero::planning::checkpoint
