//===- Session.h - run a program on N ranks ------------------------------===//
//
// A session owns the arenas of its local ranks and walks the program's segments
// on them: all ranks, on a thread each, or the one rank of this process behind a
// given communicator. In that case calls are collective: all processes make the
// same ones in the same order, with the same arguments, and have the same results.
// Everything is allocated in `create`; `step` allocates nothing (M1).
//
//===----------------------------------------------------------------------===//
#ifndef ZERO_RUNTIME_SESSION_H
#define ZERO_RUNTIME_SESSION_H

#include "zero/Runtime/Communicator.h"
#include "zero/Runtime/Program.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace zrt {

using GeneratedKernel = void (*)(char **operands, int64_t begin, int64_t end);

struct SessionOptions {
  bool poison = false;  // NaN in fresh and freed ranges and padding, guards around the arena
  bool profile = false; // seconds per row, summed
  /// Null: all ranks are threads of this process. Else this process holds rank
  /// `communicator->rank()` alone, and runs it on the thread that calls.
  std::shared_ptr<Communicator> communicator = nullptr;
};

/// data[segment index][run * inputs of the segment + input index]: the *global* batch of that run,
/// rank-major: rank r reads the r-th 1/N (contiguous, as long as one rank's input). Pointers are to
/// host memory and valid during the call. Segments that a call does not run may have none.
using BatchPointers = std::vector<std::vector<const void *>>;

/// What one step is told.
struct StepInput {
  BatchPointers data;
  double lr = 0.0;
  int64_t stepsTaken = 0; // before this step; bias corrections use stepsTaken + 1
  int64_t stepsRun = 0;   // before this step, skipped ones too; keys dropout
  double lossScale = 1.0;
  uint64_t seed = 0; // of dropout
};

struct StepResult {
  double loss = 0.0;     // the quotient of §5 (N2), summed in f64 over ranks and micro-steps
  double gradNorm = 0.0; // before clipping
  int64_t labelCount = 0;
  bool finite = true; // false: no weight, master or moment was changed, on any rank
  /// The parameter whose gradient is not finite, or "loss"; a name in the session's program.
  std::string_view firstNonFinite;
};

/// A mean over several evaluations is the quotient of the sums.
struct EvalResult {
  double lossSum = 0.0; // over all ranks and labels
  /// Labels that were not ignored; where the loss is no mean over labels, ranks times runs.
  int64_t labelCount = 0;
};

struct RowProfile {
  std::string segment, label; // label: the kernel's or collective's name
  int64_t row = 0, runs = 0;
  double seconds = 0.0; // of the first local rank
  int64_t flops = 0;    // per run
};

/// Consecutive ranks that this process holds.
struct RankRange {
  int64_t first = 0, count = 0;
};

/// Elements [beginElement, beginElement + count) of a parameter's state, on the rank that owns
/// them.
struct StatePiece {
  int64_t rank = 0;
  std::string_view parameter;
  StateKind kind = StateKind::Param;
  int64_t beginElement = 0, count = 0;
  ElementType type = ElementType::f32;
  const void *data = nullptr; // valid until the next call that changes state
};

class Session {
public:
  /// Checks the program again, allocates arenas and threads; with a communicator, makes sure that
  /// all ranks could, and of the same program (S3). Null with a message in `error`.
  static std::unique_ptr<Session> create(Program program, std::vector<GeneratedKernel> kernels,
                                         SessionOptions options, std::string &error);
  ~Session();

  /// Fills every parameter from its initialiser and zeroes moments; a pure function of (seed, name,
  /// element). Weights of 16 bits are the rounded values of an f32 model's.
  void initialize(uint64_t seed);

  /// Whole parameter in, f32, row-major, by name; with `kind`, its moments or gradients. Setting
  /// the weights or their master sets both: the master to the values, 16-bit weights to these
  /// rounded. False with a message for an unknown name, a wrong size, or a state that it does not
  /// have.
  bool setParameter(std::string_view name, const float *values, int64_t elements,
                    std::string &error, StateKind kind = StateKind::Param);

  /// Whole parameter out, as f32; for Param its master where there is one. Over a communicator the
  /// owners of the pieces send them, so that every process gets the whole.
  bool getParameter(std::string_view name, float *values, int64_t elements, std::string &error,
                    StateKind kind = StateKind::Param) const;

  /// Elements [beginElement, beginElement + count) in, on every local rank that holds some of them;
  /// no communication. Where there is a master, Param is refused, and Master sets both. So each
  /// process gives all that it holds: the whole of Master at stages 1 and 2, where weights are
  /// whole and masters are not.
  bool setStateRange(std::string_view name, StateKind kind, int64_t beginElement, int64_t count,
                     const float *values, std::string &error);

  /// Every element of every state exactly once over all ranks, here those of the local ranks: in
  /// the order of ranks, buckets, slots, kinds and elements. Not Param where there is a master, and
  /// no gradients.
  void forEachOwnedPiece(const std::function<void(const StatePiece &)> &fn) const;

  /// Runs the segments of a step once, on all ranks. False with a message when an input is out of
  /// range (nothing changed), or when a rank failed (the session then refuses further steps with
  /// the same message).
  bool step(const StepInput &input, StepResult &result, std::string &error);

  /// Runs the segments of an evaluation once; state stays as it is. Fails like `step`.
  bool evaluate(const BatchPointers &data, EvalResult &result, std::string &error);

  const Program &program() const;
  RankRange localRanks() const;
  int64_t allocatedArenaBytes() const; // per rank, without guards
  /// Of the last step, on the first local rank, or on any local one.
  TrafficCount traffic() const;
  TrafficCount traffic(int64_t rank) const;
  std::vector<RowProfile> profile() const;
  /// Raw bytes of a local rank's arena, for tests.
  char *arena(int64_t rank);

private:
  struct Impl;
  explicit Session(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl;
};

} // namespace zrt

#endif // ZERO_RUNTIME_SESSION_H
