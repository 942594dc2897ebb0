//===- Files.cpp - writing that reaches the disk -------------------------===//

#include "Files.h"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <unistd.h>

namespace zero::training {

llvm::Error systemError(llvm::StringRef path, const llvm::Twine &what, std::error_code code) {
  return inputError(path, what + ": " + code.message());
}

std::error_code lastError() { return {errno, std::generic_category()}; }

std::error_code writeAll(int fd, llvm::ArrayRef<uint8_t> bytes) {
  while (!bytes.empty()) {
    // Linux writes at most 2 GiB at a time.
    ssize_t written = ::write(fd, bytes.data(), std::min<size_t>(bytes.size(), size_t(1) << 30));
    if (written < 0 && errno == EINTR)
      continue;
    if (written <= 0)
      return lastError();
    bytes = bytes.drop_front(static_cast<size_t>(written));
  }
  return {};
}

void syncFolder(llvm::StringRef path) {
  OpenFile folder(
      ::open(path.empty() ? "." : path.str().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (folder)
    (void)::fsync(folder.get());
}

std::error_code OpenFile::close() {
  int closed = std::exchange(fd, -1);
  if (closed >= 0 && ::close(closed) != 0)
    return lastError();
  return {};
}

} // namespace zero::training
