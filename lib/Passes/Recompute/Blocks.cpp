//===- Blocks.cpp - a model's layers, by the period of its kernels ---------===//
//
// Layers of equal structure share kernels, so that a stack of them is a run of
// forward launches i with kernel(i) = kernel(i + period). The launches around the
// stack may happen to go on with it (a last norm is the norm of a layer), so the
// run has some freedom in where a layer begins.
//
//===----------------------------------------------------------------------===//

#include "zero/Passes/Recompute.h"

#include "llvm/ADT/StringMap.h"

#include <algorithm>

namespace zero {

namespace {

class BlockFinder {
public:
  explicit BlockFinder(const JointGraph &graph) : count(graph.firstBackward) {
    llvm::StringMap<int64_t> numbers;
    for (int64_t i = 0; i < count; ++i)
      kernels.push_back(
          numbers.try_emplace(ir::LaunchOp(graph.launches[i].op).getKernel(), i).first->second);
    countCrossing(graph);
  }

  std::vector<std::pair<int64_t, int64_t>> run() {
    findIn(0, count);
    std::sort(blocks.begin(), blocks.end());
    return blocks;
  }

private:
  /// crossing[i]: bytes that forward launches before i make and ones from i on read.
  void countCrossing(const JointGraph &graph) {
    std::vector<int64_t> last(count);
    for (int64_t i = 0; i < count; ++i) {
      last[i] = i;
      for (int64_t input : graph.launches[i].inputs)
        last[input] = i;
    }
    crossing.assign(count + 1, 0);
    for (int64_t i = 0; i < count; ++i) {
      crossing[i + 1] += graph.launches[i].bytes;
      if (last[i] + 1 <= count)
        crossing[last[i] + 1] -= graph.launches[i].bytes;
    }
    for (int64_t i = 1; i <= count; ++i)
      crossing[i] += crossing[i - 1];
  }

  struct Run {
    int64_t begin = 0, end = 0, period = 0; // of launches
  };

  Run longestRun(int64_t begin, int64_t end) const {
    Run best;
    for (int64_t period = 2; 2 * period <= end - begin; ++period)
      for (int64_t i = begin; i + period < end;) {
        int64_t first = i;
        while (i + period < end && kernels[i] == kernels[i + period])
          ++i;
        if (i - first >= period && i + period - first > best.end - best.begin)
          best = {first, i + period, period};
        i = std::max(i, first + 1);
      }
    return best;
  }

  void findIn(int64_t begin, int64_t end) {
    Run run = longestRun(begin, end);
    if (run.period == 0)
      return;
    auto repeats = [&](int64_t phase) { return (run.end - phase) / run.period; };
    int64_t phase = run.begin;
    for (int64_t i = run.begin; i < run.begin + run.period; ++i)
      if (repeats(i) >= 2 && std::pair(crossing[i + run.period], -repeats(i)) <
                                 std::pair(crossing[phase + run.period], -repeats(phase)))
        phase = i;
    int64_t last = phase + repeats(phase) * run.period;
    for (int64_t i = phase; i < last; i += run.period)
      blocks.push_back({i, i + run.period});
    findIn(begin, phase);
    findIn(last, end);
  }

  int64_t count;
  std::vector<int64_t> kernels, crossing;
  std::vector<std::pair<int64_t, int64_t>> blocks;
};

} // namespace

std::vector<std::pair<int64_t, int64_t>> findBlocks(const JointGraph &graph) {
  return BlockFinder(graph).run();
}

std::vector<bool> repeatsOfBlocks(const JointGraph &graph,
                                  llvm::ArrayRef<std::pair<int64_t, int64_t>> blocks) {
  int64_t count = static_cast<int64_t>(graph.launches.size()), forward = graph.firstBackward;
  constexpr int64_t kNone = -1;
  std::vector<int64_t> blockOf(count, kNone);
  for (auto [number, block] : llvm::enumerate(blocks))
    for (int64_t i = block.first; i < block.second; ++i)
      blockOf[i] = static_cast<int64_t>(number);
  std::vector<bool> kept(count), needed(count);
  for (int64_t i = 0; i < count; ++i) {
    if (blockOf[i] == kNone || !graph.launches[i].isRepeatable)
      kept[i] = true;
    if (i <= forward) // what forms the loss's gradient reads as forward does
      for (int64_t input : graph.launches[i].inputs)
        if (blockOf[input] != blockOf[i])
          kept[input] = true;
  }
  for (int64_t i = count - 1; i >= 0; --i)
    if (i > forward || needed[i])
      for (int64_t input : graph.launches[i].inputs)
        if (input < forward && !kept[input])
          needed[input] = true;
  return needed;
}

} // namespace zero
