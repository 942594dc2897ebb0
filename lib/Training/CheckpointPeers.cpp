//===- CheckpointPeers.cpp - how processes agree on a checkpoint ---------===//

#include "zero/Training/CheckpointPeers.h"

#include "zero/Training/Checkpoint.h"

#include <algorithm>
#include <cstring>

namespace zero::training {
namespace {

/// An error as bytes of fixed size; long texts are cut.
struct Verdict {
  enum Class : uint8_t { Fine, Plain, Input, Damaged };
  Class outcome = Fine;
  char file[511] = {}, text[512] = {};

  void set(Class as, llvm::StringRef fileName, llvm::StringRef message) {
    outcome = as;
    std::memcpy(file, fileName.data(), std::min(fileName.size(), sizeof(file) - 1));
    std::memcpy(text, message.data(), std::min(message.size(), sizeof(text) - 1));
  }
};

Verdict verdictOf(llvm::Error error) {
  Verdict verdict;
  llvm::handleAllErrors(
      std::move(error),
      [&](const DamagedError &e) { verdict.set(Verdict::Damaged, e.location().file, e.detail()); },
      [&](const InputError &e) { verdict.set(Verdict::Input, e.location().file, e.detail()); },
      [&](const llvm::ErrorInfoBase &e) { verdict.set(Verdict::Plain, "", e.message()); });
  return verdict;
}

llvm::Error errorOf(const Verdict &verdict) {
  switch (verdict.outcome) {
  case Verdict::Fine:
    return llvm::Error::success();
  case Verdict::Plain:
    return llvm::createStringError(verdict.text);
  case Verdict::Input:
    return inputError(verdict.file, verdict.text);
  case Verdict::Damaged:
    return llvm::make_error<DamagedError>(verdict.file, verdict.text);
  }
  return llvm::Error::success();
}

} // namespace

llvm::Error CheckpointPeers::agree(llvm::Error mine) const {
  if (processes == 1)
    return mine;
  Verdict verdict = verdictOf(std::move(mine));
  std::vector<Verdict> all(static_cast<size_t>(processes));
  if (llvm::Error error = exchange(&verdict, sizeof(Verdict), all.data()))
    return error;
  for (const Verdict &other : all)
    if (other.outcome != Verdict::Fine)
      return errorOf(other);
  return llvm::Error::success();
}

llvm::Expected<int64_t> CheckpointPeers::fromFirst(int64_t value) const {
  if (processes == 1)
    return value;
  std::vector<int64_t> all(static_cast<size_t>(processes));
  if (llvm::Error error = exchange(&value, sizeof(value), all.data()))
    return std::move(error);
  return all.front();
}

} // namespace zero::training
