//===- Session.h - run a program on N ranks ------------------------------===//
//
// A session owns one arena per rank and one thread per rank (the in-process
// communicator), and walks the program's segments. Everything is allocated in
// `create`; `step` allocates nothing (M1).
//
//===----------------------------------------------------------------------===//
#ifndef ZERO_RUNTIME_SESSION_H
#define ZERO_RUNTIME_SESSION_H

#include "zero/Runtime/Communicator.h"
#include "zero/Runtime/Program.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace zrt {

using GeneratedKernel = void (*)(char **operands, int64_t begin, int64_t end);

struct SessionOptions {
  bool poison = false;  // NaN in fresh and freed ranges and padding, guards around the arena
  bool profile = false; // seconds per row, summed
};

/// What one step is told. Pointers are to host memory and valid during the call.
struct StepInput {
  /// inputs[segment index][run * inputs of the segment + input index]: the *global* batch of that
  /// run, rank-major: rank r reads the r-th 1/N (contiguous, as long as one rank's input).
  std::vector<std::vector<const void *>> data;
  double lr = 0.0;
  int64_t stepsTaken = 0; // before this step; bias corrections use stepsTaken + 1
  double lossScale = 1.0;
};

struct StepResult {
  double loss = 0.0;     // the quotient of §5 (N2), summed in f64 over ranks and micro-steps
  double gradNorm = 0.0; // before clipping
  int64_t labelCount = 0;
  bool finite = true;         // false: no weight was changed
  std::string firstNonFinite; // the parameter whose gradient is not finite, or "loss"
};

struct RowProfile {
  std::string segment, label; // label: the kernel's or collective's name
  int64_t row = 0, runs = 0;
  double seconds = 0.0; // rank 0
  int64_t flops = 0;    // per run
};

class Session {
public:
  /// Checks the program again, allocates arenas and threads. Null with a message in `error`.
  static std::unique_ptr<Session> create(Program program, std::vector<GeneratedKernel> kernels,
                                         SessionOptions options, std::string &error);
  ~Session();

  /// Fills every parameter from its initialiser and zeroes moments; a pure function of (seed, name,
  /// element).
  void initialize(uint64_t seed);

  /// Whole parameter in and out, f32, row-major, by name; with `kind`, its moments or gradients.
  /// False with a message for an unknown name, a wrong size, or a state that it does not have.
  bool setParameter(std::string_view name, const float *values, int64_t elements,
                    std::string &error, StateKind kind = StateKind::Param);
  bool getParameter(std::string_view name, float *values, int64_t elements, std::string &error,
                    StateKind kind = StateKind::Param) const;

  /// Runs all segments once, on all ranks. False with a message when an input is out of range
  /// (nothing changed), or when a rank failed (the session then refuses further steps with the same
  /// message).
  bool step(const StepInput &input, StepResult &result, std::string &error);

  const Program &program() const;
  int64_t allocatedArenaBytes() const; // per rank, without guards
  TrafficCount traffic() const;        // of rank 0 in the last step
  TrafficCount traffic(int64_t rank) const;
  std::vector<RowProfile> profile() const;
  /// Raw bytes of a rank's arena, for tests.
  char *arena(int64_t rank);

private:
  struct Impl;
  explicit Session(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl;
};

} // namespace zrt

#endif // ZERO_RUNTIME_SESSION_H
