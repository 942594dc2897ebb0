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
};

class Walker {
public:
  explicit Walker(const RankContext &context);

  /// Runs all segments once; the input has been checked. False where some rank aborted. Allocates
  /// nothing, except to name what is not finite.
  bool step(const StepInput &input);

  /// Of the last step; equal on all ranks.
  const StepResult &result() const { return outcome; }

  struct RowTime {
    int64_t runs = 0;
    double seconds = 0.0;
  };
  /// Rows of all segments, in order; empty unless profiling.
  const std::vector<RowTime> &times() const { return rowTimes; }

  /// Fills the rank's part of every parameter and zeroes the moments.
  void initialize(uint64_t seed);

private:
  bool walk(size_t segmentIndex);
  bool execute(const Segment &segment, const Row &row);
  void copyInputs(size_t segmentIndex);
  void launchRow(const Row &row);
  bool gather(const Row &row, const Bucket &bucket);
  bool reduceScatter(const Row &row, const Bucket &bucket);
  void poisonGradients();
  void poisonPeersPieces(const Bucket &bucket, int64_t offset);

  // The control rows (WalkerControl.cpp).
  bool count(const Segment &segment, const Row &row);
  void setSeed(const Row &row);
  bool norm(const Row &row);
  bool update(const Bucket &bucket);
  bool settleLoss();
  bool nameFirstNonFinite();
  void addSquares(const float *values, int64_t elements);
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
  float *floats(const Row &row, size_t index) const {
    return reinterpret_cast<float *>(operand(row, index));
  }
  float *state(const Bucket &bucket, StateKind kind) const {
    const StatePlace &place = bucket.state[static_cast<int>(kind)];
    return place.present ? reinterpret_cast<float *>(context.arena.data() + place.offset) : nullptr;
  }
  /// One value of every rank, gathered.
  template <typename T> const T *exchanged(const T *mine, int64_t elements);

  RankContext context;
  const StepInput *input = nullptr;
  StepResult outcome;
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
