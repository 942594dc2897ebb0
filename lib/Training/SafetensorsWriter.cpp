//===- SafetensorsWriter.cpp - replace a tensor file as a whole ----------===//
//
// The target is never open for writing. The bytes go to a temporary file in the
// same folder, reach the disk (fsync), and then take the target's name (rename,
// which is atomic inside a file system); the folder is synced last, so that the
// new name survives a power cut (F2).
//
//===----------------------------------------------------------------------===//

#include "Files.h"
#include "SafetensorsLayout.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"

#include <cerrno>
#include <fcntl.h>
#include <unistd.h>

namespace zero::training {
namespace {

/// Where the bytes really go: through symbolic links, so that a link stays a link.
llvm::Expected<std::string> resolveTarget(llvm::StringRef path) {
  if (path.empty())
    return inputError(path, "expects a file name to save to, got nothing");
  llvm::sys::fs::file_status status;
  std::error_code missing = llvm::sys::fs::status(path, status);
  if (missing == std::errc::no_such_file_or_directory)
    return path.str();
  if (missing)
    return systemError(path, "cannot write the file", missing);
  if (llvm::sys::fs::is_directory(status))
    return inputError(path, "expects a file name to save to, got a folder");
  // Renaming onto a device or pipe would replace it.
  if (!llvm::sys::fs::is_regular_file(status))
    return inputError(path, "expects a regular file to save to, got a device or pipe");
  if (::access(path.str().c_str(), W_OK) != 0)
    return systemError(path, "cannot write the file", lastError());
  llvm::SmallString<128> real;
  if (std::error_code code = llvm::sys::fs::real_path(path, real))
    return systemError(path, "cannot write the file", code);
  return real.str().str();
}

struct Temporary {
  int fd = -1;
  llvm::SmallString<128> path;
  ~Temporary() {
    if (fd >= 0)
      ::close(fd);
    if (!path.empty())
      llvm::sys::fs::remove(path);
  }
};

llvm::Error createBeside(llvm::StringRef target, Temporary &temporary) {
  // Left-overs of a killed run with our process id must not be in the way, nor written to.
  for (int attempt = 0; attempt < 100; ++attempt) {
    temporary.path = llvm::formatv("{0}.tmp-{1}-{2}", target, ::getpid(), attempt).str();
    temporary.fd = ::open(temporary.path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (temporary.fd >= 0)
      return llvm::Error::success();
    if (errno != EEXIST)
      break;
  }
  std::error_code code = lastError();
  temporary.path.clear();
  return systemError(target, "cannot create a file in this folder", code);
}

} // namespace

llvm::Error writeSafetensors(llvm::StringRef path, llvm::ArrayRef<TensorSpec> specs,
                             TensorFill fill, const std::map<std::string, std::string> &metadata) {
  llvm::Expected<SafetensorsLayout> layout = layOut(path, specs, metadata);
  if (!layout)
    return layout.takeError();
  llvm::Expected<std::string> target = resolveTarget(path);
  if (!target)
    return target.takeError();
  Temporary temporary;
  if (llvm::Error error = createBeside(*target, temporary))
    return error;

  std::error_code code = writeAll(temporary.fd, llvm::arrayRefFromStringRef(layout->head));
  std::vector<uint8_t> bytes; // operator new aligns to 16
  for (size_t index : layout->order) {
    if (code)
      break;
    bytes.assign(static_cast<size_t>(layout->bytes[index]), 0);
    if (llvm::Error error = fill(index, bytes))
      return error;
    code = writeAll(temporary.fd, bytes);
  }
  if (!code && ::fsync(temporary.fd) != 0)
    code = lastError();
  int closed = ::close(temporary.fd);
  temporary.fd = -1;
  if (!code && closed != 0)
    code = lastError();
  if (code)
    return systemError(path, "cannot write the file (an earlier one stands unchanged)", code);
  if ((code = llvm::sys::fs::rename(temporary.path, *target)))
    return systemError(path, "cannot move the new file into place", code);
  temporary.path.clear();

  syncFolder(llvm::sys::path::parent_path(*target));
  return llvm::Error::success();
}

llvm::Error checkWritable(llvm::StringRef path, int64_t bytes) {
  llvm::Expected<std::string> target = resolveTarget(path);
  if (!target)
    return target.takeError();
  Temporary temporary;
  if (llvm::Error error = createBeside(*target, temporary))
    return error;
  llvm::ErrorOr<llvm::sys::fs::space_info> space = llvm::sys::fs::disk_space(temporary.path);
  if (space && bytes > 0 && space->available < static_cast<uint64_t>(bytes))
    return inputError(path, "expects " + llvm::Twine(bytes) +
                                " bytes of free disk to save to, got " +
                                llvm::Twine(space->available));
  return llvm::Error::success();
}

} // namespace zero::training
