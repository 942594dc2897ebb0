//===- Ledger.h - what a stage costs in memory and in traffic ------------===//
//
// (M2) Model states by kind, without padding. A row is ⌊total over ranks ÷ N⌋:
// ranks own pieces of different lengths, and a report gives one figure.
//
//   stage        param      grad       master, moments
//   0            full       full       full
//   1            full       full       ÷ N
//   2            full       ÷ N        ÷ N
//   3            ÷ N        ÷ N        ÷ N
//
// Frozen and unused parameters cost their weights only. Over several micro-steps
// gradients accumulate in a row of their own, `grad_accum`, in place of `grad`.
// Stage 2 that reduces once a step keeps full gradients: stage 1's ledger.
//
// (C1) Traffic in elements sent by each rank: |b|·(N−1)/N for each gather and
// reduce-scatter of a bucket of |b| elements, padding included; twice that for
// an all-reduce.
//
//===----------------------------------------------------------------------===//
#ifndef ZERO_PLANNING_LEDGER_H
#define ZERO_PLANNING_LEDGER_H

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace zero::planning::ledger {

enum class Kind : uint8_t { Param, Grad, GradAccum, Master, Moment1, Moment2 };
inline constexpr int kKindCount = 6;
/// `param`, `grad`, `grad_accum`, `master`, `moment1`, `moment2`.
const char *name(Kind kind);

/// Parameters of one element type, and what the recipe keeps of each. A width of
/// zero keeps none of that kind.
struct Group {
  int64_t trainable = 0; ///< elements; the loss depends on them
  int64_t frozen = 0;    ///< elements
  int64_t unused = 0;    ///< elements
  int64_t paramBytes = 4;
  int64_t gradBytes = 4;
  int64_t gradAccumBytes = 4; ///< in place of gradBytes with several micro-steps
  int64_t masterBytes = 0;
  int64_t moment1Bytes = 4;
  int64_t moment2Bytes = 4;
};

struct Problem {
  int64_t stage = 0; ///< 0 to 3
  int64_t ranks = 1;
  int64_t microSteps = 1;
  bool reduceEveryStep = false; ///< stage 2 only
  std::vector<Group> groups;
};

struct States {
  int64_t bytes[kKindCount] = {}; ///< ⌊total over ranks ÷ N⌋, by Kind
  int64_t rowsBytes = 0;          ///< the sum of the rows
  int64_t totalBytes = 0;         ///< ⌊total of all kinds over ranks ÷ N⌋
};

/// What is wrong with `problem`, or nothing: a stage outside 0 to 3, ranks or
/// micro-steps below one, negative counts, 2^62 bytes or more over all ranks,
/// `reduceEveryStep` outside stage 2.
std::optional<std::string> check(const Problem &problem);

/// The rows of model_state_bytes. Needs a problem that `check` accepts.
States states(const Problem &problem);

/// How often a step moves one bucket.
struct Moves {
  int64_t length = 0; ///< elements, a multiple of the ranks
  int64_t allGathers = 0;
  int64_t reduceScatters = 0;
  int64_t allReduces = 0;
};

/// Elements sent by each rank in a step, by kind of collective.
struct Traffic {
  int64_t allReduce = 0;
  int64_t reduceScatter = 0;
  int64_t allGather = 0;
  int64_t total() const { return allReduce + reduceScatter + allGather; }
  bool operator==(const Traffic &) const = default;
};

/// The sum over buckets, from counts read off a schedule. Nothing where a count
/// is negative, a length is no multiple of `ranks`, or the sum overflows.
std::optional<Traffic> traffic(const std::vector<Moves> &buckets, int64_t ranks);

/// The moves of a bucket with nothing tied, frozen or left out, one gather in
/// forward and one in backward: what C1's 2Ψ, (A+1)Ψ and 3AΨ stand for.
Moves plainMoves(int64_t length, int64_t stage, int64_t microSteps, bool reduceEveryStep = false);

} // namespace zero::planning::ledger

#endif // ZERO_PLANNING_LEDGER_H
