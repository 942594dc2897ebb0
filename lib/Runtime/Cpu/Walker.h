//===- Walker.h - one rank walks the step table ---------------------------===//
//
// Segments in order, each run in order, rows in order; all ranks alike. On a
// backend whose kernels and collectives return when they are done, streams and
// waits have nothing to order.
//
//===----------------------------------------------------------------------===//
#ifndef ZERO_RUNTIME_CPU_WALKER_H
#define ZERO_RUNTIME_CPU_WALKER_H

#include "RankArena.h"
#include "zero/Runtime/Communicator.h"
#include "zero/Runtime/Kernels.h"
#include "zero/Runtime/Session.h"

namespace zrt {

/// What a rank works with; the session owns all of it.
struct RankContext {
  const Program &program;
  const std::vector<GeneratedKernel> &generated;
  const SessionOptions &options;
  RankArena &arena;
  Communicator &communicator;
  ThreadTeam &team;
  bool profiled; // whether this rank's rows are timed
};

class Walker {
public:
  explicit Walker(const RankContext &context);

  /// Runs the segments of a step once; the input has been checked. False where some rank aborted.
  /// Allocates nothing.
  bool step(const StepInput &input);

  /// The same for the segments of an evaluation.
  bool evaluate(const BatchPointers &data, EvalResult &result);

  /// Of the last step; equal on all ranks.
  const StepResult &result() const { return outcome; }
  const TrafficCount &traffic() const { return sent; }

  struct RowTime {
    int64_t runs = 0;
    double seconds = 0.0;
  };
  /// Rows of all segments, in order; empty unless profiling.
  const std::vector<RowTime> &times() const { return rowTimes; }

  /// Fills the rank's part of every parameter and its master, and zeroes the moments.
  void initialize(uint64_t seed);

private:
  void begin(const BatchPointers &data);
  bool walkAll(SegmentRole role);
  bool walk(size_t segmentIndex);
  bool execute(const Segment &segment, const Row &row);
  void copyInputs(size_t segmentIndex);
  void launchRow(const Row &row);
  bool gather(const Row &row, const Bucket &bucket);
  bool reduceScatter(const Row &row, const Bucket &bucket);
  bool allReduce(const Row &row, const Bucket &bucket);
  void poisonGradients();
  void poisonPeersPieces(const Bucket &bucket, int64_t offset, int64_t width);

  // The control rows (WalkerControl.cpp).
  bool count(const Segment &segment, const Row &row);
  void setSeed(const Segment &segment, const Row &row);
  void setRandom(const Row &row);
  bool settleLoss();
  std::optional<double> sumOverRanks(std::string_view scalar);

  // What reads gradients (WalkerUpdate.cpp).
  bool norm(const Row &row);
  bool update(const Bucket &bucket);
  bool nameFirstNonFinite();
  void addSquares(const char *values, ElementType type, int64_t elements);
  UpdateScalars scalarsFor(const Slot &slot) const;
  template <typename Fn> void forEachGradient(const Bucket &bucket, bool ownedOnly, Fn &&fn) const;

  /// Whether the row adds to its destination in this run of its segment.
  bool adds(const Row &row) const {
    return row.mode == WriteMode::Add || (row.mode == WriteMode::WriteFirst && run > 0);
  }
  char *operand(const Row &row, size_t index) const {
    if (row.operands[index] < 0)
      return nullptr;
    int64_t moved = row.perRunBytes.empty() ? 0 : row.perRunBytes[index] * run;
    return context.arena.data() + row.operands[index] + moved;
  }
  char *state(const Bucket &bucket, StateKind kind) const {
    const StatePlace &place = bucket.state[static_cast<int>(kind)];
    return place.present ? context.arena.data() + place.offset : nullptr;
  }
  /// The values of every rank, gathered; null where some rank aborted.
  template <typename T> const T *exchanged(const T *mine, int64_t elements) {
    auto *all = reinterpret_cast<T *>(gathered.data());
    return context.communicator.exchange(mine, elements * int64_t(sizeof(T)), all) ? all : nullptr;
  }

  RankContext context;
  const StepInput *input = nullptr; // of the step that runs
  const BatchPointers *data = nullptr;
  StepResult outcome;
  TrafficCount sent; // in the last step
  int64_t run = 0;
  bool lossSettled = false, seenNorm = false, normOverRanks = false;

  // Scratch, sized once.
  std::vector<char *> pointers;
  std::vector<int64_t> counts;
  std::vector<SquareSum> partialSums;
  std::vector<uint64_t> gathered;
  std::vector<RowTime> rowTimes;
};

} // namespace zrt

#endif // ZERO_RUNTIME_CPU_WALKER_H
