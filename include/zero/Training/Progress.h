//===- Progress.h - how far a run has come --------------------------------===//
//
// On a terminal one line, redrawn in place and cut to the terminal's width, with
// step, loss, tokens a second and the time left. Into a pipe or a file, plain
// lines: about a hundred a run, and one whenever the last is ten seconds old.
//
//===----------------------------------------------------------------------===//
#ifndef ZERO_TRAINING_PROGRESS_H
#define ZERO_TRAINING_PROGRESS_H

#include "zero/Training/Log.h"

#include <string>

namespace zero::training {

/// `1m05s`, `2h03m`, `3d04h`; under a minute `7s`.
std::string formatDuration(double seconds);

/// `step 12/300  loss 2.4310  15.3k tokens/s  1m05s left`; steps are counted from 1 here. What
/// isn't known is left out.
std::string formatProgress(const StepRecord &record, int64_t totalSteps,
                           std::optional<double> secondsLeft);

class Progress {
public:
  /// Writes to file descriptor `fd`, which stays the caller's. `totalSteps` counts from step 0;
  /// a resumed run begins at `firstStep`.
  Progress(int fd, int64_t totalSteps, int64_t firstStep = 0);
  /// For tests and embedders: says itself whether there is a terminal, and how wide it is.
  Progress(int fd, int64_t totalSteps, int64_t firstStep, bool terminal, unsigned width);
  ~Progress();

  /// After each step; `elapsed` is seconds since training began.
  void step(const StepRecord &record, double elapsed);
  /// A line of its own (a warning), above the progress line.
  void note(llvm::StringRef text);
  /// Draws the last step, if it wasn't, and ends the line. Called by the destructor.
  void finish();

private:
  void draw();
  void write(llvm::StringRef text);

  int fd;
  int64_t totalSteps, firstStep;
  bool terminal;
  unsigned fixedWidth; // 0: ask the terminal
  StepRecord last;
  double lastElapsed = 0.0, drawnAt = -1e30;
  int64_t stepsSeen = 0;
  bool pending = false, lineOpen = false;
};

} // namespace zero::training

#endif // ZERO_TRAINING_PROGRESS_H
