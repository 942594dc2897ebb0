//===- Blocks.cpp - a model's layers, by the period of its kernels ---------===//
//
// Layers of equal structure share kernels, up to what tells one instance of an op
// from another, so that a stack of them is a run of forward launches i with
// kernel(i) = kernel(i + period). The launches around the stack may happen to go on
// with it (a last norm is the norm of a layer), so the run has some freedom in where
// a layer begins. They may also break into it: what the first layer begins with joins
// the embedding's kernel, and what the last one ends with the head's. So a layer at
// either end may be broken off, down to half of one.
//
//===----------------------------------------------------------------------===//

#include "zero/Passes/Recompute.h"

#include "zero/Dialect/NN/NN.h"

#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/StringMap.h"

#include <algorithm>

namespace zero {

namespace {

/// Numbers kernels so that those which differ in names and in the sites of dropouts alone get one.
class KernelNumbers {
public:
  int64_t of(ir::KernelOp kernel) {
    auto [known, isNew] = byName.try_emplace(kernel.getSymName(), 0);
    if (isNew)
      known->second = byText.try_emplace(structureOf(kernel), byText.size()).first->second;
    return known->second;
  }

private:
  static std::string structureOf(ir::KernelOp kernel) {
    mlir::OwningOpRef<ir::KernelOp> copy = kernel.clone();
    copy->setSymName("kernel");
    copy->walk([](mlir::Operation *op) {
      if (auto dropout = mlir::dyn_cast<nn::DropoutOp>(op); dropout && dropout.getSite())
        dropout.setSite(0);
      if (auto attention = mlir::dyn_cast<nn::AttentionOp>(op); attention && attention.getSite())
        attention.setSite(0);
    });
    std::string text;
    llvm::raw_string_ostream(text) << *copy;
    return text;
  }

  llvm::StringMap<int64_t> byName, byText;
};

/// Launches that are enough for a layer broken off at an end of the stack.
int64_t halfOf(int64_t period) { return std::max<int64_t>(2, (period + 1) / 2); }

class BlockFinder {
public:
  explicit BlockFinder(const JointGraph &graph) : count(graph.firstBackward) {
    KernelNumbers numbers;
    for (int64_t i = 0; i < count; ++i)
      kernels.push_back(numbers.of(graph.launches[i].kernel));
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

  /// The run that is longest, of the shortest period. Of its second layer there is all, or `half`.
  Run longestRun(int64_t begin, int64_t end, bool half) const {
    auto enough = [&](int64_t period) { return half ? halfOf(period) : period; };
    Run best;
    for (int64_t period = 2; period + enough(period) <= end - begin; ++period)
      for (int64_t i = begin; i + period < end;) {
        int64_t first = i;
        while (i + period < end && kernels[i] == kernels[i + period])
          ++i;
        if (i - first >= enough(period) && i + period - first > best.end - best.begin)
          best = {first, i + period, period};
        i = std::max(i, first + 1);
      }
    return best;
  }

  void findIn(int64_t begin, int64_t end) {
    Run run = longestRun(begin, end, /*half=*/false);
    if (run.period == 0)
      run = longestRun(begin, end, /*half=*/true);
    if (run.period == 0)
      return;
    int64_t period = run.period, half = halfOf(period);
    auto repeats = [&](int64_t phase) {
      int64_t launches = run.end - phase;
      return launches / period + (launches % period >= half);
    };
    int64_t phase = run.begin;
    for (int64_t i = run.begin; i < run.begin + period; ++i)
      if (repeats(i) >= 2 && std::pair(crossing[i + period], -repeats(i)) <
                                 std::pair(crossing[phase + period], -repeats(phase)))
        phase = i;
    int64_t first = phase, last = phase + (run.end - phase) / period * period;
    for (int64_t i = phase; i < last; i += period)
      blocks.push_back({i, i + period});
    if (phase - run.begin >= half) {
      first = run.begin;
      blocks.push_back({first, phase});
    }
    if (run.end - last >= half) {
      blocks.push_back({last, run.end});
      last = run.end;
    }
    findIn(begin, first);
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
