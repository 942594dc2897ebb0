//===- Files.h - writing that reaches the disk ---------------------------===//
#ifndef ZERO_TRAINING_FILES_H
#define ZERO_TRAINING_FILES_H

#include "zero/Training/Errors.h"

#include <system_error>

namespace zero::training {

/// `path: error: what: No space left on device`.
llvm::Error systemError(llvm::StringRef path, const llvm::Twine &what, std::error_code code);

/// What the last system call of this thread left in `errno`.
std::error_code lastError();

/// All bytes, however many calls that takes.
std::error_code writeAll(int fd, llvm::ArrayRef<uint8_t> bytes);

/// Makes renames and new names in a folder survive a power cut. File systems that can't sync a
/// folder are left alone.
void syncFolder(llvm::StringRef path);

/// A file descriptor that closes itself.
class OpenFile {
public:
  explicit OpenFile(int fd = -1) : fd(fd) {}
  OpenFile(OpenFile &&other) : fd(std::exchange(other.fd, -1)) {}
  OpenFile &operator=(OpenFile &&other) {
    std::swap(fd, other.fd);
    return *this;
  }
  ~OpenFile() { (void)close(); }

  int get() const { return fd; }
  explicit operator bool() const { return fd >= 0; }
  /// Some file systems tell of a full disk only here.
  std::error_code close();

private:
  int fd;
};

} // namespace zero::training

#endif // ZERO_TRAINING_FILES_H
