//===- Log.h - one JSON object a step -------------------------------------===//
//
// `--log F.jsonl`. Each line is written by one system call, so that a run killed
// at any moment leaves whole lines. Numbers have the fewest digits that read back
// as the same f64; what does not exist (a gradient norm of a skipped step, a loss
// that is not finite) is `null`.
//
//===----------------------------------------------------------------------===//
#ifndef ZERO_TRAINING_LOG_H
#define ZERO_TRAINING_LOG_H

#include "zero/Training/Errors.h"

#include "llvm/ADT/SmallString.h"

#include <memory>
#include <optional>

namespace zero::training {

/// What is told of one step.
struct StepRecord {
  int64_t step = 0; // from 0
  std::optional<double> loss;
  double lr = 0.0;
  std::optional<double> gradNorm; // before clipping
  double lossScale = 1.0;
  bool skipped = false;
  double seconds = 0.0;
  std::optional<double> tokensPerSecond;
  /// The mean over a held-out file behind this step; logged where there is one.
  std::optional<double> evalLoss;
};

/// `{"step":0,"loss":4.85,…}` without the newline, appended to `out`. Doesn't allocate where `out`
/// holds 512 bytes.
void formatRecord(const StepRecord &record, llvm::SmallVectorImpl<char> &out);

class JsonLog {
public:
  /// Starts the file anew, or goes on at its end.
  static llvm::Expected<std::unique_ptr<JsonLog>> open(llvm::StringRef path, bool append = false);
  /// Goes on behind the lines of steps before `step`: those from it on, which a run logged before it
  /// was killed, will come again. Without such lines, or without a file, it starts anew.
  static llvm::Expected<std::unique_ptr<JsonLog>> resume(llvm::StringRef path, int64_t step);
  ~JsonLog();
  JsonLog(const JsonLog &) = delete;
  JsonLog &operator=(const JsonLog &) = delete;

  /// Allocates nothing on success.
  llvm::Error write(const StepRecord &record);

private:
  JsonLog(std::string path, int fd) : path(std::move(path)), fd(fd) {}
  std::string path;
  int fd;
  llvm::SmallString<512> line;
};

} // namespace zero::training

#endif // ZERO_TRAINING_LOG_H
