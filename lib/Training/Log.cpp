//===- Log.cpp - one JSON object a step -----------------------------------===//

#include "zero/Training/Log.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"

#include <cerrno>
#include <charconv>
#include <cmath>
#include <fcntl.h>
#include <unistd.h>

namespace zero::training {
namespace {

void append(llvm::SmallVectorImpl<char> &out, llvm::StringRef text) {
  out.append(text.begin(), text.end());
}

template <typename T> void appendNumber(llvm::SmallVectorImpl<char> &out, T value) {
  char digits[32]; // the longest f64, -2.2250738585072014e-308, has 24
  out.append(digits, std::to_chars(digits, std::end(digits), value).ptr);
}

/// JSON has no infinities and NaNs.
void appendReal(llvm::SmallVectorImpl<char> &out, std::optional<double> value) {
  if (value && std::isfinite(*value))
    appendNumber(out, *value);
  else
    append(out, "null");
}

} // namespace

void formatRecord(const StepRecord &record, llvm::SmallVectorImpl<char> &out) {
  append(out, "{\"step\":");
  appendNumber(out, record.step);
  append(out, ",\"loss\":");
  appendReal(out, record.loss);
  append(out, ",\"lr\":");
  appendReal(out, record.lr);
  append(out, ",\"grad_norm\":");
  appendReal(out, record.gradNorm);
  append(out, ",\"loss_scale\":");
  appendReal(out, record.lossScale);
  append(out,
         record.skipped ? ",\"skipped\":true,\"seconds\":" : ",\"skipped\":false,\"seconds\":");
  appendReal(out, record.seconds);
  append(out, ",\"tokens_per_second\":");
  appendReal(out, record.tokensPerSecond);
  if (record.evalLoss) {
    append(out, ",\"eval_loss\":");
    appendReal(out, record.evalLoss);
  }
  append(out, "}");
}

llvm::Expected<std::unique_ptr<JsonLog>> JsonLog::open(llvm::StringRef path, bool append) {
  int flags = O_WRONLY | O_CREAT | O_CLOEXEC | O_APPEND | (append ? 0 : O_TRUNC);
  int fd = ::open(path.str().c_str(), flags, 0666);
  if (fd < 0)
    return inputError(path, "cannot write the file: " + std::generic_category().message(errno));
  return std::unique_ptr<JsonLog>(new JsonLog(path.str(), fd));
}

/// Bytes of the whole lines, from the beginning, that are of steps before `step`, in order.
static size_t bytesBefore(llvm::StringRef content, int64_t step) {
  size_t kept = 0;
  for (int64_t last = 0; kept < content.size();) {
    size_t end = content.find('\n', kept);
    llvm::StringRef line = content.slice(kept, end);
    int64_t logged = 0;
    if (end == llvm::StringRef::npos || !line.consume_front("{\"step\":") ||
        line.consumeInteger(10, logged) || logged < last || logged >= step)
      break;
    last = logged;
    kept = end + 1;
  }
  return kept;
}

llvm::Expected<std::unique_ptr<JsonLog>> JsonLog::resume(llvm::StringRef path, int64_t step) {
  size_t kept = 0;
  llvm::sys::fs::file_status status;
  if (!llvm::sys::fs::status(path, status) && llvm::sys::fs::is_regular_file(status)) {
    auto buffer =
        llvm::MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/false,
                                    /*IsVolatile=*/true); // read, not mapped: it is cut next
    if (!buffer)
      return inputError(path, "cannot read the file: " + buffer.getError().message());
    kept = bytesBefore((*buffer)->getBuffer(), step);
  }
  if (kept == 0)
    return open(path);
  if (::truncate(path.str().c_str(), static_cast<off_t>(kept)) != 0)
    return inputError(path, "cannot write the file: " + std::generic_category().message(errno));
  return open(path, /*append=*/true);
}

JsonLog::~JsonLog() { ::close(fd); }

llvm::Error JsonLog::write(const StepRecord &record) {
  line.clear();
  formatRecord(record, line);
  line.push_back('\n');
  for (llvm::StringRef rest = line; !rest.empty();) {
    ssize_t written = ::write(fd, rest.data(), rest.size());
    if (written < 0 && errno == EINTR)
      continue;
    if (written <= 0)
      return inputError(path, "cannot write the file: " + std::generic_category().message(errno));
    rest = rest.drop_front(static_cast<size_t>(written));
  }
  return llvm::Error::success();
}

} // namespace zero::training
