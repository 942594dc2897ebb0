//===- CheckpointCrashTest.cpp - a run that ends at any system call ------===//
//
// This program has its own write, fsync, rename, mkdir, open, unlinkat and ftruncate,
// which shadow those of the C library. They count, and end the process, or report a
// full disk, at the call that a test asks for. So (F2) is tried at every moment there
// is, not at those that a clock happens to hit.
//
//===----------------------------------------------------------------------===//

#include "CheckpointCases.h"

#include <cstdarg>
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

enum class Fault { None, Crash, CrashAfterHalf, DiskFull };

struct {
  bool watching = false;
  Fault fault = Fault::None;
  int at = -1, calls = 0;
  std::vector<std::string> trace; // `fsync /path`
} calls;

/// Whether the call may go on; one that may not has set errno.
bool counted(const char *what, const std::string &subject, bool takesSpace) {
  if (!calls.watching)
    return true;
  calls.trace.push_back(std::string(what) + " " + subject);
  bool now = calls.calls++ == calls.at;
  if (now && calls.fault == Fault::Crash)
    ::_exit(9);
  // A full disk stays full.
  if (calls.fault == Fault::DiskFull && calls.at >= 0 && calls.calls > calls.at && takesSpace) {
    errno = ENOSPC;
    return false;
  }
  return true;
}

std::string pathOf(int fd) {
  char path[4096] = {};
  ssize_t length =
      ::readlink(("/proc/self/fd/" + std::to_string(fd)).c_str(), path, sizeof(path) - 1);
  return std::string(path, length > 0 ? length : 0);
}

template <typename Function> Function *next(const char *name) {
  return reinterpret_cast<Function *>(::dlsym(RTLD_NEXT, name));
}

} // namespace

extern "C" {

ssize_t write(int fd, const void *data, size_t bytes) {
  static auto *real = next<ssize_t(int, const void *, size_t)>("write");
  if (calls.watching && calls.fault == Fault::CrashAfterHalf && calls.calls == calls.at) {
    real(fd, data, bytes / 2);
    ::_exit(9);
  }
  return counted("write", pathOf(fd), true) ? real(fd, data, bytes) : -1;
}
// No test here cuts the power, so nothing need reach the disk, which takes long on some machines.
int fsync(int fd) { return counted("fsync", pathOf(fd), false) ? 0 : -1; }
int ftruncate(int fd, off_t bytes) noexcept {
  static auto *real = next<int(int, off_t)>("ftruncate");
  return counted("ftruncate", pathOf(fd), false) ? real(fd, bytes) : -1;
}
int rename(const char *from, const char *to) noexcept {
  static auto *real = next<int(const char *, const char *)>("rename");
  return counted("rename", std::string(from) + " " + to, false) ? real(from, to) : -1;
}
int mkdir(const char *path, mode_t mode) noexcept {
  static auto *real = next<int(const char *, mode_t)>("mkdir");
  return counted("mkdir", path, true) ? real(path, mode) : -1;
}
int unlinkat(int fd, const char *path, int flags) noexcept {
  static auto *real = next<int(int, const char *, int)>("unlinkat");
  return counted("unlinkat", path, false) ? real(fd, path, flags) : -1;
}
int open(const char *path, int flags, ...) {
  static auto *real = next<int(const char *, int, ...)>("open");
  va_list rest;
  va_start(rest, flags);
  mode_t mode = flags & O_CREAT ? va_arg(rest, mode_t) : 0;
  va_end(rest);
  bool creates = flags & O_CREAT;
  return !creates || counted("create", path, true) ? real(path, flags, mode) : -1;
}

} // extern "C"

namespace zero::training {
namespace {

/// The last checkpoint is that of step 6; each deletes the one before it.
constexpr int64_t kLastStep = 6;

class CheckpointCrash : public testing::Test {
protected:
  /// One rank, so that calls come in one order. All values tell the step.
  static llvm::Error writeStep(CheckpointFolder &folder, int64_t step) {
    std::vector<float> values(6, static_cast<float>(step));
    RankPieces rank;
    rank.pieces.push_back({{"w", SavedKind::Param, 0, 6}, DType::F32, values.data()});
    CheckpointManifest manifest = smallManifest(step);
    manifest.parameters.resize(1);
    return folder.write(manifest, rank, 1, /*keep=*/1);
  }

  static int64_t stepOf(const Checkpoint &checkpoint) {
    int64_t step = checkpoint.manifest().step;
    EXPECT_EQ(read(checkpoint, "w", SavedKind::Param, 0, 6),
              std::vector<float>(6, static_cast<float>(step)));
    return step;
  }

  /// A run goes on from what it finds.
  llvm::Error run() const {
    auto folder = CheckpointFolder::open(root);
    if (!folder)
      return folder.takeError();
    std::vector<std::string> warnings;
    auto newest = (*folder)->openNewest(warnings);
    if (!newest)
      return newest.takeError();
    for (int64_t step = *newest ? stepOf(**newest) + 2 : 2; step <= kLastStep; step += 2)
      if (llvm::Error error = writeStep(**folder, step))
        return error;
    return llvm::Error::success();
  }

  /// The step of the newest checkpoint, which must be whole, and all others too.
  int64_t newestStep() const {
    auto folder = unwrap(CheckpointFolder::open(root));
    std::vector<std::string> warnings;
    std::unique_ptr<Checkpoint> newest = unwrap(folder->openNewest(warnings));
    EXPECT_TRUE(warnings.empty()) << warnings.front();
    for (int64_t step : unwrap(folder->steps()))
      EXPECT_EQ(stepOf(*unwrap(Checkpoint::open(folder->pathOf(step)))), step);
    return newest ? stepOf(*newest) : 0;
  }

  void startOver() const {
    llvm::sys::fs::remove_directories(root);
    expectSuccess(writeStep(*unwrap(CheckpointFolder::open(root)), 2));
  }

  /// What a child process does that watches its calls, and how it ends.
  static int inChild(llvm::function_ref<int()> body) {
    pid_t child = ::fork();
    if (child == 0)
      ::_exit(body());
    int status = 0;
    EXPECT_EQ(::waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
  int runWith(Fault fault, int at, std::string *message = nullptr) const {
    int pipe[2];
    EXPECT_EQ(::pipe(pipe), 0);
    int code = inChild([&] {
      calls = {true, fault, at, 0, {}};
      llvm::Error error = run();
      calls.watching = false;
      if (!error)
        return 0;
      std::string text = llvm::toString(std::move(error));
      return ::write(pipe[1], text.data(), text.size()) > 0 ? 1 : 2;
    });
    ::close(pipe[1]);
    char text[4096] = {};
    EXPECT_GE(::read(pipe[0], text, sizeof(text) - 1), 0);
    ::close(pipe[0]);
    if (message)
      *message = text;
    return code;
  }

  std::vector<std::string> entries() const {
    std::vector<std::string> names;
    std::error_code code;
    for (llvm::sys::fs::directory_iterator it(root, code), end; it != end && !code;
         it.increment(code))
      names.push_back(llvm::sys::path::filename(it->path()).str());
    return names;
  }

  TestFolder files;
  std::string root = files.path("D");
};

TEST_F(CheckpointCrash, F2_AtAnyCallOneWholeCheckpointIsThere) {
  int crashes = 0;
  int64_t reached = 2;
  for (int at = 0;; ++at) {
    bool ended = false;
    for (Fault fault : {Fault::Crash, Fault::CrashAfterHalf}) {
      startOver();
      int code = runWith(fault, at);
      int64_t step = newestStep();
      if (code == 9) {
        // The later the crash, the further the run came; never back.
        EXPECT_GE(step, reached) << "call " << at;
        reached = step;
        ++crashes;
      } else {
        EXPECT_EQ(code, 0);
        EXPECT_EQ(step, kLastStep);
        ended |= fault == Fault::Crash;
      }
      // Whatever was left behind, the next run comes to the end, and cleans up.
      EXPECT_EQ(runWith(Fault::None, -1), 0) << "call " << at;
      EXPECT_EQ(newestStep(), kLastStep);
      for (const std::string &entry : entries())
        EXPECT_TRUE(entry == ".lock" || entry.starts_with("step-")) << entry << ", call " << at;
    }
    if (ended)
      break;
  }
  EXPECT_EQ(reached, kLastStep);
  EXPECT_GT(crashes, 30); // two checkpoints: files, folders, names and deletions
}

TEST_F(CheckpointCrash, F2_AFullDiskLeavesTheOldOne) {
  int failures = 0;
  for (int at = 0;; ++at) {
    startOver();
    std::string message;
    int code = runWith(Fault::DiskFull, at, &message);
    EXPECT_GE(newestStep(), 2);
    if (code == 0)
      break;
    ++failures;
    EXPECT_EQ(code, 1);
    EXPECT_TRUE(llvm::StringRef(message).ends_with(": No space left on device")) << message;
    EXPECT_EQ(runWith(Fault::None, -1), 0);
    EXPECT_EQ(newestStep(), kLastStep);
  }
  EXPECT_GT(failures, 10);
}

// What a power cut leaves is what was synced: each file before its folder, the folder before its
// name, the name before another one is deleted.
TEST_F(CheckpointCrash, F2_SyncsInOrder) {
  startOver();
  calls = {true, Fault::None, -1, 0, {}};
  llvm::Error error = run();
  calls.watching = false;
  expectSuccess(std::move(error));
  std::string temporary = root + "/.tmp-step-00000004", whole = root + "/step-00000004";
  std::vector<std::string> trace;
  // From the first folder to the first deletion.
  for (const std::string &call : calls.trace) {
    if (trace.empty() && call != "mkdir " + temporary)
      continue;
    // A file may take any number of writes.
    if (trace.empty() || trace.back() != call)
      trace.push_back(call);
    if (call.starts_with("unlinkat"))
      break;
  }
  trace.pop_back();
  EXPECT_EQ(trace, (std::vector<std::string>{
                       "mkdir " + temporary,
                       "create " + temporary + "/rank-00000.safetensors",
                       "write " + temporary + "/rank-00000.safetensors",
                       "fsync " + temporary + "/rank-00000.safetensors",
                       "create " + temporary + "/checkpoint.json",
                       "write " + temporary + "/checkpoint.json",
                       "fsync " + temporary + "/checkpoint.json",
                       "fsync " + temporary,
                       "rename " + temporary + " " + whole,
                       "fsync " + root,
                       "rename " + root + "/step-00000002 " + root + "/.old-step-00000002",
                   }));
}

} // namespace
} // namespace zero::training
