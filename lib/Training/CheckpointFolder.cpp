//===- CheckpointFolder.cpp - write, commit, keep ------------------------===//
//
// The order is what makes a crash harmless: files, then the manifest, each synced;
// the folder they lie in, synced; then its one rename; then the parent, synced; only
// then is an older one deleted, which begins with taking its name away.
//
//===----------------------------------------------------------------------===//

#include "zero/Training/CheckpointFolder.h"

#include "CheckpointShard.h"
#include "Files.h"
#include "Parallel.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/Path.h"

#include <fcntl.h>
#include <filesystem>
#include <sys/file.h>
#include <unistd.h>

namespace zero::training {
namespace {

constexpr llvm::StringLiteral kTemporary = ".tmp-", kOld = ".old-";

std::string stepName(int64_t step) { return llvm::formatv("step-{0,0+8}", step); }

std::optional<int64_t> parseStepName(llvm::StringRef entry) {
  int64_t step = 0;
  if (!entry.consume_front("step-") || entry.size() < 8 || !llvm::all_of(entry, llvm::isDigit) ||
      entry.getAsInteger(10, step))
    return std::nullopt;
  return step;
}

llvm::Expected<std::vector<std::string>> entriesOf(llvm::StringRef folder) {
  std::error_code code;
  std::vector<std::string> entries;
  llvm::sys::fs::directory_iterator it(folder, code), end;
  for (; !code && it != end; it.increment(code))
    entries.push_back(llvm::sys::path::filename(it->path()).str());
  if (code)
    return systemError(folder, "cannot read the folder", code);
  llvm::sort(entries);
  return std::move(entries);
}

/// What is no longer there is fine; links are removed, not followed.
llvm::Error removeTree(const std::string &path) {
  std::error_code code;
  std::filesystem::remove_all(path, code);
  return code ? systemError(path, "cannot remove the folder", code) : llvm::Error::success();
}

llvm::Error writeText(const std::string &path, llvm::StringRef text) {
  OpenFile out(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  if (!out)
    return systemError(path, "cannot create the file", lastError());
  std::error_code code = writeAll(out.get(), llvm::arrayRefFromStringRef(text));
  if (!code && ::fsync(out.get()) != 0)
    code = lastError();
  if (std::error_code closing = out.close(); !code)
    code = closing;
  return code ? systemError(path, "cannot write the file (earlier checkpoints stand unchanged)",
                            code)
              : llvm::Error::success();
}

std::string thisProcess() {
  char host[256] = {};
  if (::gethostname(host, sizeof(host) - 1) != 0)
    host[0] = '\0';
  return "process " + std::to_string(::getpid()) + " on " + (*host ? host : "an unnamed host");
}

} // namespace

std::string CheckpointFolder::at(const llvm::Twine &entry) const {
  llvm::SmallString<128> path(folder);
  llvm::sys::path::append(path, entry);
  return path.str().str();
}

std::string CheckpointFolder::pathOf(int64_t step) const { return at(stepName(step)); }

CheckpointFolder::~CheckpointFolder() {
  if (lockFd >= 0)
    ::close(lockFd);
}

/// The lock goes with the process, however it ends.
llvm::Error CheckpointFolder::lock() {
  std::string path = at(".lock");
  lockFd = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (lockFd < 0)
    return systemError(folder, "cannot write to the checkpoint folder", lastError());
  if (::flock(lockFd, LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK)
      return systemError(path, "cannot lock the checkpoint folder", lastError());
    char text[300] = {};
    ssize_t length = ::read(lockFd, text, sizeof(text) - 1);
    llvm::StringRef holder = llvm::StringRef(text, length > 0 ? length : 0).trim();
    return inputError(folder, "expects a checkpoint folder for one run at a time, got one that " +
                                  (holder.empty() ? "another process" : holder) + " holds");
  }
  // Whose lock it is is a courtesy, which a full disk may take away.
  std::string text = thisProcess() + "\n";
  if (::ftruncate(lockFd, 0) == 0)
    (void)writeAll(lockFd, llvm::arrayRefFromStringRef(text));
  return llvm::Error::success();
}

llvm::Expected<std::unique_ptr<CheckpointFolder>> CheckpointFolder::open(llvm::StringRef path,
                                                                         CheckpointPeers peers) {
  std::unique_ptr<CheckpointFolder> opened(new CheckpointFolder(path.str(), std::move(peers)));
  auto prepare = [&]() -> llvm::Error {
    if (std::error_code code = llvm::sys::fs::create_directories(path, /*IgnoreExisting=*/true,
                                                                 llvm::sys::fs::all_all))
      return systemError(path, "cannot create the checkpoint folder", code);
    syncFolder(llvm::sys::path::parent_path(path));
    if (llvm::Error error = opened->lock())
      return error;
    llvm::Expected<std::vector<std::string>> entries = entriesOf(path);
    if (!entries)
      return entries.takeError();
    for (llvm::StringRef entry : *entries)
      if (entry.starts_with(kTemporary) || entry.starts_with(kOld))
        if (llvm::Error error = removeTree(opened->at(entry)))
          return error;
    return llvm::Error::success();
  };
  bool isFirst = opened->peers.isFirst();
  if (llvm::Error error = opened->peers.agree(isFirst ? prepare() : llvm::Error::success()))
    return std::move(error);
  return std::move(opened);
}

llvm::Expected<std::vector<int64_t>> CheckpointFolder::steps() const {
  llvm::Expected<std::vector<std::string>> entries = entriesOf(folder);
  if (!entries)
    return entries.takeError();
  std::vector<int64_t> steps;
  for (llvm::StringRef entry : *entries)
    if (std::optional<int64_t> step = parseStepName(entry))
      steps.push_back(*step);
  llvm::sort(steps);
  return std::move(steps);
}

/// Each process writes its own ranks' files; then all know of all.
llvm::Error CheckpointFolder::writeShards(CheckpointManifest &manifest, llvm::StringRef into,
                                          llvm::ArrayRef<RankPieces> local, int64_t ranks) const {
  struct Figures {
    int64_t rank = 0, bytes = 0;
    uint64_t headChecksum = 0;
  };
  std::vector<Figures> mine(local.size()), all(static_cast<size_t>(ranks));
  llvm::Error written = inParallel(local.size(), [&](size_t i) -> llvm::Error {
    llvm::Expected<CheckpointFile> file = writeShard(into, local[i].rank, local[i].pieces);
    if (!file)
      return file.takeError();
    mine[i] = {local[i].rank, file->bytes, file->headChecksum};
    return llvm::Error::success();
  });
  if (llvm::Error error = peers.agree(std::move(written)))
    return error;
  if (peers.processes == 1)
    all = mine;
  else if (llvm::Error error = peers.exchange(
               mine.data(), static_cast<int64_t>(mine.size() * sizeof(Figures)), all.data()))
    return error;
  manifest.files.clear();
  for (const Figures &file : all)
    manifest.files.push_back({shardName(file.rank), file.bytes, file.headChecksum});
  return llvm::Error::success();
}

llvm::Error CheckpointFolder::commit(const CheckpointManifest &manifest, llvm::StringRef from) {
  std::string manifestPath = at(llvm::sys::path::filename(from) + "/" + kManifestName);
  if (llvm::Error error = writeText(manifestPath, format(manifest)))
    return error;
  syncFolder(from);
  std::string target = pathOf(manifest.step);
  if (::rename(from.str().c_str(), target.c_str()) != 0)
    return systemError(target, "cannot give the new checkpoint its name", lastError());
  syncFolder(folder);
  return llvm::Error::success();
}

llvm::Error CheckpointFolder::keepNewest(int64_t keep) {
  llvm::Expected<std::vector<int64_t>> there = steps();
  if (!there)
    return there.takeError();
  if (keep == 0 || static_cast<int64_t>(there->size()) <= keep)
    return llvm::Error::success();
  for (int64_t step : llvm::ArrayRef(*there).drop_back(static_cast<size_t>(keep))) {
    std::string old = at(kOld + stepName(step));
    if (::rename(pathOf(step).c_str(), old.c_str()) != 0)
      return systemError(pathOf(step), "cannot remove the old checkpoint", lastError());
    if (llvm::Error error = removeTree(old))
      return error;
  }
  return llvm::Error::success();
}

llvm::Error CheckpointFolder::write(CheckpointManifest manifest, llvm::ArrayRef<RankPieces> local,
                                    int64_t ranks, int64_t keep) {
  std::string temporary = at(kTemporary + stepName(manifest.step));
  auto onFirst = [&](llvm::function_ref<llvm::Error()> action) {
    return peers.agree(peers.isFirst() ? action() : llvm::Error::success());
  };
  auto begin = [&]() -> llvm::Error {
    if (llvm::sys::fs::exists(pathOf(manifest.step)))
      return inputError(pathOf(manifest.step), "expects no checkpoint of this step yet, got one");
    if (llvm::Error error = removeTree(temporary))
      return error;
    if (std::error_code code = llvm::sys::fs::create_directory(temporary, /*IgnoreExisting=*/false,
                                                               llvm::sys::fs::all_all))
      return systemError(temporary, "cannot create the folder", code);
    return llvm::Error::success();
  };
  if (llvm::Error error = onFirst(begin))
    return error;
  llvm::Error written = writeShards(manifest, temporary, local, ranks);
  if (!written)
    written = onFirst([&] { return commit(manifest, temporary); });
  if (written) {
    // A full disk gets its space back. What can't be removed now is left to the next run.
    if (peers.isFirst())
      llvm::consumeError(removeTree(temporary));
    return written;
  }
  return onFirst([&] { return keepNewest(keep); });
}

llvm::Error CheckpointFolder::setAside(int64_t step, llvm::StringRef why,
                                       std::vector<std::string> &warnings) {
  std::string aside = ("." + why + "-" + stepName(step)).str();
  auto rename = [&]() -> llvm::Error {
    if (llvm::Error error = removeTree(at(aside)))
      return error;
    if (::rename(pathOf(step).c_str(), at(aside).c_str()) != 0)
      return systemError(pathOf(step), "cannot set the checkpoint aside", lastError());
    syncFolder(folder);
    return llvm::Error::success();
  };
  warnings.push_back(pathOf(step) + ": warning: " + why.str() + ", and set aside as " + aside);
  return peers.agree(peers.isFirst() ? rename() : llvm::Error::success());
}

llvm::Expected<std::unique_ptr<Checkpoint>>
CheckpointFolder::openNewest(std::vector<std::string> &warnings) {
  llvm::Expected<std::vector<int64_t>> there = steps();
  std::vector<int64_t> left = there ? *there : std::vector<int64_t>();
  if (llvm::Error error = peers.agree(there.takeError()))
    return std::move(error);
  std::vector<int64_t> damaged;
  std::vector<std::string> faults;
  for (;;) {
    // What the first process sees: others may see a shared folder a moment later.
    llvm::Expected<int64_t> step = peers.fromFirst(left.empty() ? -1 : left.back());
    if (!step)
      return step.takeError();
    if (!left.empty())
      left.pop_back();
    if (*step < 0 && damaged.empty())
      return nullptr;
    if (*step < 0)
      return llvm::createStringError(llvm::join(faults, "\n") + "\n" + folder +
                                     ": error: expects a whole checkpoint to resume from, got " +
                                     "damaged ones only");
    llvm::Expected<std::unique_ptr<Checkpoint>> opened = Checkpoint::open(pathOf(*step), peers);
    if (opened) {
      for (size_t i = 0; i < damaged.size(); ++i) {
        warnings.push_back(faults[i]);
        if (llvm::Error error = setAside(damaged[i], "damaged", warnings))
          return std::move(error);
      }
      return opened;
    }
    llvm::Error failure = opened.takeError();
    if (!failure.isA<DamagedError>())
      return std::move(failure);
    damaged.push_back(*step);
    faults.push_back(llvm::toString(std::move(failure)));
  }
}

} // namespace zero::training
