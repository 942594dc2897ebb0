//===- Beam.cpp - the best states of one depth, and of the next ----------===//
#include "Beam.h"

#include <tuple>

namespace zero::planning::arena {

template <typename Lane> void Beam<Lane>::begin(const Shape &wanted) {
  shape = wanted;
  const Context<Lane> &context = tables.context;
  if (shape.width > levelCapacity) {
    levelCapacity = shape.width;
    level = Aligned<Lane>(levelCapacity * context.stateLanes, /*zeroed=*/false);
    nextLevel = Aligned<Lane>(levelCapacity * context.stateLanes, /*zeroed=*/false);
  }
  std::copy_n(context.states, context.stateLanes, level.get());
  levelCount = 1;
  history.clear();
}

template <typename Lane> bool Beam<Lane>::step() {
  if (expandAll())
    return true;
  keepBest();
  adopt();
  return false;
}

/// The children of all states of this depth, or true and the offsets of one that has placed all.
template <typename Lane> bool Beam<Lane>::expandAll() {
  Context<Lane> &context = tables.context;
  context.nodes = 0;
  children.clear();
  for (int32_t parent = 0; parent < levelCount; ++parent) {
    size_t begin = children.size();
    children.resize(begin + tables.count);
    Lane *state = level.get() + parent * context.stateLanes;
    int32_t found =
        tables.kernel.expand(context, state, shape.rule, shape.margin, &children[begin]);
    if (found < 0) {
      for (int64_t depth = int64_t(history.size()) - 1, at = parent; depth >= 0; --depth) {
        const Step &step = history[depth][at];
        context.offset[step.item] = step.offset;
        at = step.parent;
      }
      return true;
    }
    children.resize(begin + found);
    for (size_t i = begin; i < children.size(); ++i)
      children[i].parent = parent;
  }
  spent += context.nodes;
  return false;
}

template <typename Lane> void Beam<Lane>::keepBest() {
  auto key = [](const Child &child) {
    return std::tuple(child.waste, child.low, child.high, child.parent, child.item);
  };
  std::sort(children.begin(), children.end(),
            [&](const Child &a, const Child &b) { return key(a) < key(b); });
  children.erase(std::unique(children.begin(), children.end(),
                             [](const Child &a, const Child &b) {
                               return a.low == b.low && a.high == b.high;
                             }),
                 children.end());
  if (int64_t(children.size()) > shape.width)
    children.resize(shape.width);
}

template <typename Lane> void Beam<Lane>::adopt() {
  Context<Lane> &context = tables.context;
  std::vector<Step> steps;
  for (size_t i = 0; i < children.size(); ++i) {
    const Child &child = children[i];
    const Lane *parent = level.get() + child.parent * context.stateLanes;
    Lane *state = nextLevel.get() + int64_t(i) * context.stateLanes;
    steps.push_back({child.parent, child.item, parent[child.item]});
    std::copy_n(parent, context.stateLanes, state);
    tables.kernel.advance(context, state, child.item);
  }
  history.push_back(std::move(steps));
  std::swap(level, nextLevel);
  levelCount = int64_t(children.size());
}

template class Beam<int16_t>;
template class Beam<int32_t>;
template class Beam<int64_t>;

} // namespace zero::planning::arena
