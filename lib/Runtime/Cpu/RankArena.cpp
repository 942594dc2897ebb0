//===- RankArena.cpp - the one allocation of a rank -----------------------===//

#include "RankArena.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace zrt {

static constexpr int64_t kGuardBytes = 4096;
static constexpr unsigned char kGuardByte = 0xA5, kPoisonByte = 0xFF;

std::unique_ptr<RankArena> RankArena::create(int64_t bytes, bool poisoned) {
  if (bytes < 0 || bytes > INT64_MAX - 3 * kGuardBytes)
    return nullptr;
  int64_t pages = (bytes + kGuardBytes - 1) / kGuardBytes + 2;
  auto *allocation =
      static_cast<char *>(std::aligned_alloc(kGuardBytes, size_t(pages * kGuardBytes)));
  if (!allocation)
    return nullptr;
  std::memset(allocation, kGuardByte, kGuardBytes);
  std::memset(allocation + kGuardBytes, poisoned ? kPoisonByte : 0, size_t(bytes));
  std::memset(allocation + kGuardBytes + bytes, kGuardByte, kGuardBytes);
  return std::unique_ptr<RankArena>(new RankArena(allocation, bytes));
}

RankArena::RankArena(char *allocation, int64_t bytes)
    : allocation(allocation), begin(allocation + kGuardBytes), bytes(bytes) {}

RankArena::~RankArena() { std::free(allocation); }

void RankArena::poison(int64_t offset, int64_t count) {
  std::memset(begin + offset, kPoisonByte, size_t(count));
}

const char *RankArena::guardFault() const {
  auto intact = [](const char *guard) {
    return std::all_of(guard, guard + kGuardBytes,
                       [](char byte) { return static_cast<unsigned char>(byte) == kGuardByte; });
  };
  if (!intact(allocation))
    return "before its begin";
  if (!intact(begin + bytes))
    return "behind its end";
  return nullptr;
}

} // namespace zrt
