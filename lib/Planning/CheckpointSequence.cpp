//===- CheckpointSequence.cpp - changing a sequence of computations --------===//
#include "CheckpointSequence.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace zero::planning::checkpoint {

Graph::Graph(const Problem &problem) : size(int32_t(problem.nodes.size())) {
  inputBegin.push_back(0);
  readerBegin.assign(size + 1, 0);
  unit = 0;
  for (const Node &node : problem.nodes) {
    cost.push_back(node.cost);
    unit = std::gcd(unit, node.bytes);
    baseCost += node.cost;
    for (int64_t input : node.inputs) {
      inputList.push_back(int32_t(input));
      ++readerBegin[input + 1];
    }
    inputBegin.push_back(int32_t(inputList.size()));
  }
  unit = std::max<int64_t>(unit, 1);
  for (const Node &node : problem.nodes) {
    bytes.push_back(node.bytes / unit);
    totalBytes += bytes.back();
  }
  // A budget beyond everything says no more than everything.
  budget = std::min(problem.budgetBytes / unit, totalBytes);
  std::partial_sum(readerBegin.begin(), readerBegin.end(), readerBegin.begin());
  readerList.resize(inputList.size());
  std::vector<int32_t> next(readerBegin.begin(), readerBegin.end() - 1);
  for (int32_t node = 0; node < size; ++node)
    for (int32_t input : inputs(node))
      readerList[next[input]++] = node;
}

template <typename Int>
Sequence<Int>::Sequence(const Graph &graph, int32_t slotsPerNode)
    : graph(graph), nodeAt(size_t(graph.size) * slotsPerNode + 8), firstSlots(graph.size),
      instancesOf(graph.size) {
  std::vector<int32_t> base(graph.size);
  std::iota(base.begin(), base.end(), 0);
  assign(base);
}

template <typename Int> void Sequence<Int>::assign(const std::vector<int32_t> &computations) {
  int64_t length = int64_t(computations.size());
  if (int64_t(nodeAt.size()) < 2 * length)
    nodeAt.resize(2 * length + length / 2);
  int64_t slotCount = int64_t(nodeAt.size());
  nodeAt.assign(slotCount, -1);
  extraIndex.assign(slotCount, -1);
  extraSlots.clear();
  journal.clear();
  crowded = false;
  costSum = 0;
  for (auto &list : instancesOf)
    list.clear();
  for (int64_t i = 0; i < length; ++i) {
    int32_t node = computations[i], slot = int32_t((i + 1) * slotCount / (length + 1));
    nodeAt[slot] = node;
    for (int32_t input : graph.inputs(node))
      instancesOf[input].back().end = slot;
    instancesOf[node].push_back({slot, slot});
    if (instancesOf[node].size() == 1) {
      firstSlots[node] = slot;
    } else {
      extraIndex[slot] = int32_t(extraSlots.size());
      extraSlots.push_back(slot);
    }
    costSum += graph.cost[node];
  }
  std::vector<int64_t> difference(slotCount + 1, 0);
  for (int32_t node = 0; node < graph.size; ++node)
    for (const Instance &instance : instancesOf[node]) {
      difference[instance.slot] += graph.bytes[node];
      difference[instance.end + 1] -= graph.bytes[node];
    }
  live.resize(slotCount);
  excessSum = 0;
  int64_t sum = -graph.budget;
  for (int64_t slot = 0; slot < slotCount; ++slot) {
    sum += difference[slot];
    live[slot] = Int(sum);
    excessSum += std::max<int64_t>(sum, 0);
  }
}

template <typename Int> std::vector<int32_t> Sequence<Int>::computations() const {
  std::vector<int32_t> result;
  for (int32_t node : nodeAt)
    if (node >= 0)
      result.push_back(node);
  return result;
}

template <typename Int>
int32_t Sequence<Int>::lastUse(int32_t node, int32_t slot, int32_t next) const {
  int32_t last = slot;
  for (int32_t reader : graph.readers(node)) {
    int32_t k = before(reader, next);
    if (k >= 0)
      last = std::max(last, instancesOf[reader][k].slot);
  }
  return last;
}

template <typename Int> void Sequence<Int>::insertAt(int32_t node, int32_t slot) {
  int64_t bytes = graph.bytes[node];
  std::vector<Instance> &list = instancesOf[node];
  int32_t previous = before(node, slot);
  int32_t end = slot;
  if (int32_t oldEnd = list[previous].end; oldEnd > slot) { // the later uses are the new one's
    list[previous].end = lastUse(node, list[previous].slot, slot);
    add(list[previous].end + 1, slot - 1, -bytes);
    end = oldEnd;
  } else {
    add(slot, slot, bytes);
  }
  list.insert(list.begin() + previous + 1, {slot, end});
  nodeAt[slot] = node;
  for (int32_t input : graph.inputs(node)) {
    Instance &instance = instancesOf[input][before(input, slot)];
    if (instance.end < slot) {
      add(instance.end + 1, slot, graph.bytes[input]);
      instance.end = slot;
    }
  }
  costSum += graph.cost[node];
  extraIndex[slot] = int32_t(extraSlots.size());
  extraSlots.push_back(slot);
}

template <typename Int> void Sequence<Int>::removeAt(int32_t slot) {
  int32_t node = nodeAt[slot];
  int64_t bytes = graph.bytes[node];
  std::vector<Instance> &list = instancesOf[node];
  int32_t previous = before(node, slot);
  int32_t end = list[previous + 1].end;
  nodeAt[slot] = -1;
  list.erase(list.begin() + previous + 1);
  if (end > slot) { // its uses go back to the one before
    add(list[previous].end + 1, slot - 1, bytes);
    list[previous].end = end;
  } else {
    add(slot, slot, -bytes);
  }
  for (int32_t input : graph.inputs(node)) {
    std::vector<Instance> &inputs = instancesOf[input];
    int32_t k = before(input, slot);
    if (inputs[k].end == slot) {
      int32_t next = k + 1 < int32_t(inputs.size()) ? inputs[k + 1].slot : slots();
      inputs[k].end = lastUse(input, inputs[k].slot, next);
      add(inputs[k].end + 1, slot, -graph.bytes[input]);
    }
  }
  costSum -= graph.cost[node];
  int32_t index = extraIndex[slot], last = extraSlots.back();
  extraSlots[index] = last;
  extraIndex[last] = index;
  extraSlots.pop_back();
  extraIndex[slot] = -1;
}

template <typename Int> void Sequence<Int>::place(int32_t node, int32_t from, int32_t to) {
  int32_t instance = before(node, from + 1);
  instancesOf[node][instance].slot = to;
  if (instance == 0)
    firstSlots[node] = to;
  nodeAt[from] = -1;
  nodeAt[to] = node;
  if (extraIndex[from] >= 0) {
    extraSlots[extraIndex[from]] = to;
    extraIndex[to] = extraIndex[from];
    extraIndex[from] = -1;
  }
}

// Between two neighbouring slots of which one is free, only what begins or ends at the occupant
// changes.
template <typename Int> void Sequence<Int>::moveLeft(int32_t slot) {
  int32_t node = nodeAt[slot];
  add(slot - 1, slot - 1, graph.bytes[node]);
  auto shorten = [&](int32_t value, Instance &instance) {
    if (instance.end == slot) {
      instance.end = slot - 1;
      add(slot, slot, -graph.bytes[value]);
    }
  };
  for (int32_t input : graph.inputs(node))
    shorten(input, instancesOf[input][before(input, slot)]);
  shorten(node, instancesOf[node][before(node, slot + 1)]);
  place(node, slot, slot - 1);
}

template <typename Int> void Sequence<Int>::moveRight(int32_t slot) {
  int32_t node = nodeAt[slot];
  add(slot, slot, -graph.bytes[node]);
  auto lengthen = [&](int32_t value, Instance &instance) {
    if (instance.end == slot) {
      instance.end = slot + 1;
      add(slot + 1, slot + 1, graph.bytes[value]);
    }
  };
  for (int32_t input : graph.inputs(node))
    lengthen(input, instancesOf[input][before(input, slot)]);
  lengthen(node, instancesOf[node][before(node, slot + 1)]);
  place(node, slot, slot + 1);
}

template <typename Int> int32_t Sequence<Int>::makeRoomBefore(int32_t slot) {
  constexpr int32_t kReach = 48, kSpread = 6;
  int32_t free = slot - 1;
  while (free >= 0 && slot - free < kReach && nodeAt[free] >= 0)
    --free;
  if (free < 0 || nodeAt[free] >= 0) {
    crowded = true;
    return -1;
  }
  if (free == slot - 1) { // the middle of the gap leaves room on both sides
    int32_t low = free;
    while (low > 0 && nodeAt[low - 1] < 0 && free - low < kSpread)
      --low;
    return (low + free + 1) / 2;
  }
  for (int32_t from = free + 1; from < slot; ++from) {
    moveLeft(from);
    journal.push_back({Kind::MoveLeft, 0, from});
  }
  return slot - 1;
}

template <typename Int> void Sequence<Int>::insert(int32_t node, int32_t slot) {
  insertAt(node, slot);
  journal.push_back({Kind::Insert, node, slot});
}

template <typename Int> void Sequence<Int>::remove(int32_t slot) {
  journal.push_back({Kind::Remove, nodeAt[slot], slot});
  removeAt(slot);
}

template <typename Int> void Sequence<Int>::undo(size_t mark) {
  for (; journal.size() > mark; journal.pop_back()) {
    const Entry &entry = journal.back();
    if (entry.kind == Kind::Insert)
      removeAt(entry.slot);
    else if (entry.kind == Kind::Remove)
      insertAt(entry.node, entry.slot);
    else
      moveRight(entry.slot - 1);
  }
}

template class Sequence<int32_t>;
template class Sequence<int64_t>;

} // namespace zero::planning::checkpoint
