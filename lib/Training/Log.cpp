//===- Log.cpp - one JSON object a step -----------------------------------===//

#include "zero/Training/Log.h"

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
  append(out, "}");
}

llvm::Expected<std::unique_ptr<JsonLog>> JsonLog::open(llvm::StringRef path, bool append) {
  int flags = O_WRONLY | O_CREAT | O_CLOEXEC | O_APPEND | (append ? 0 : O_TRUNC);
  int fd = ::open(path.str().c_str(), flags, 0666);
  if (fd < 0)
    return inputError(path, "cannot write the file: " + std::generic_category().message(errno));
  return std::unique_ptr<JsonLog>(new JsonLog(path.str(), fd));
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
