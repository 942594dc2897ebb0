//===- Waiting.h - look around briefly, then sleep ------------------------===//
//
// Ranks and team threads wait on an atomic counter. Where each thread has a
// core, a few microseconds of spinning save the futex's wake-up; where threads
// outnumber cores (24 ranks on 2), spinning would take the core from the very
// thread that is waited for.
//
//===----------------------------------------------------------------------===//
#ifndef ZERO_RUNTIME_CPU_WAITING_H
#define ZERO_RUNTIME_CPU_WAITING_H

#include <atomic>
#include <cstdint>

namespace zrt {

inline constexpr int kSpins = 2000;

/// Returns once `counter` no longer holds `seen`.
inline void waitWhileEqual(const std::atomic<uint32_t> &counter, uint32_t seen, bool spin) {
  for (int turn = spin ? kSpins : 0; turn > 0; --turn) {
    if (counter.load(std::memory_order_acquire) != seen)
      return;
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
  }
  counter.wait(seen, std::memory_order_acquire);
}

} // namespace zrt

#endif // ZERO_RUNTIME_CPU_WAITING_H
