//===- Job.cpp - this process among those of its job -------------------------===//

#include "Job.h"

#include "zero/Trainer/Agreement.h"

#include "llvm/ADT/StringExtras.h"

#include <cstdlib>
#include <unistd.h>

namespace zero::run {

/// Messages that name no file get the tool's name. In one call, since ranks share a terminal.
static void print(llvm::StringRef lines) {
  std::string text;
  for (llvm::StringRef line : llvm::split(lines.rtrim('\n'), '\n')) {
    bool bare = line.starts_with("error: ") || line.starts_with("warning: ");
    ((text += bare ? "zero-run: " : "") += line) += '\n';
  }
  llvm::errs() << text;
}

llvm::Error Job::detect() {
  std::string error;
  if (std::optional<zrt::LaunchEnvironment> found = zrt::detectLaunch(error)) {
    launch = *found;
    return llvm::Error::success();
  }
  return llvm::createStringError("error: " + error);
}

std::optional<int64_t> Job::launched() const {
  if (processes)
    return processes->ranks();
  return launch.source.empty() || launch.ranks == 0 ? std::nullopt : std::optional(launch.ranks);
}

bool Job::join(int64_t rankTimeout) {
  if (!isSplit())
    return true;
  constexpr double kJoinSeconds = 300.0;
  zrt::JoinOptions options;
  options.rankTimeout = static_cast<double>(rankTimeout);
  options.joinTimeout = std::min(kJoinSeconds, options.rankTimeout);
  // From a thread of the communicator, when this one may be deep in a launch; a line of progress
  // may be open.
  options.tell = [rank = launch.rank](const std::string &message) {
    if (isatty(STDOUT_FILENO))
      llvm::errs() << '\n';
    print(withRank(rank, "error: " + message));
  };
  options.stuck = [] { std::_Exit(kBadInput); };
  std::string error;
  processes = zrt::joinProcesses(launch, options, error);
  if (processes)
    launch.rank = processes->rank();
  else if (!error.empty()) // else rank 0 has it
    print("error: " + error);
  return processes != nullptr;
}

int Job::refuse(llvm::Error error, int code) {
  bool common = error.isA<CommonError>() || !processes;
  std::string text = llvm::toString(std::move(error));
  if (common) {
    if (isFirst() || !processes)
      print(text);
    return code;
  }
  processes->abort(text);
  if (processes->reports())
    print(withRank(launch.rank, text));
  return code;
}

void Job::warn(llvm::ArrayRef<std::string> lines) const {
  for (const std::string &line : lines)
    if (isFirst())
      print(line);
}

} // namespace zero::run
