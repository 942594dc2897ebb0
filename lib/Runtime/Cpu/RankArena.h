//===- RankArena.h - the one allocation of a rank -------------------------===//
//
// [guard | arena | guard]. The guards hold a pattern that nobody should touch;
// poison is a byte pattern that is a NaN in every floating type, and -1 as an index.
//
//===----------------------------------------------------------------------===//
#ifndef ZERO_RUNTIME_CPU_RANKARENA_H
#define ZERO_RUNTIME_CPU_RANKARENA_H

#include <cstdint>
#include <memory>

namespace zrt {

class RankArena {
public:
  /// Page-aligned, filled with zeros, or with poison. Null where memory is short.
  static std::unique_ptr<RankArena> create(int64_t bytes, bool poisoned);
  ~RankArena();
  RankArena(const RankArena &) = delete;
  RankArena &operator=(const RankArena &) = delete;

  char *data() const { return begin; }
  int64_t size() const { return bytes; }
  void poison(int64_t offset, int64_t count);

  /// Null, or which end was written over: "before its begin" or "behind its end".
  const char *guardFault() const;

private:
  RankArena(char *allocation, int64_t bytes);

  char *allocation, *begin;
  int64_t bytes;
};

} // namespace zrt

#endif // ZERO_RUNTIME_CPU_RANKARENA_H
