//===- InstructionSet.cpp - which of a processor's instructions are used --===//
#include "Table.h"

#include <algorithm>
#include <atomic>
#include <iterator>

namespace zrt {

constexpr std::string_view kNames[] = {"baseline", "avx2", "avx512", "amx"};

std::string_view nameOf(InstructionSet set) { return kNames[static_cast<size_t>(set)]; }

std::optional<InstructionSet> instructionSetNamed(std::string_view name) {
  const std::string_view *found = std::find(std::begin(kNames), std::end(kNames), name);
  if (found == std::end(kNames))
    return std::nullopt;
  return static_cast<InstructionSet>(found - std::begin(kNames));
}

bool supported(InstructionSet set) {
  __builtin_cpu_init();
  bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
              __builtin_cpu_supports("f16c");
  switch (set) {
  case InstructionSet::Baseline:
    return true;
  case InstructionSet::Avx2:
    return avx2;
  case InstructionSet::Avx512:
    return avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  case InstructionSet::Amx:
    static const bool amx = supported(InstructionSet::Avx512) && amx::available();
    return amx;
  }
  return false;
}

static std::atomic<InstructionSet> &used() {
  static std::atomic<InstructionSet> set =
      supported(InstructionSet::Amx)      ? InstructionSet::Amx
      : supported(InstructionSet::Avx512) ? InstructionSet::Avx512
      : supported(InstructionSet::Avx2)   ? InstructionSet::Avx2
                                          : InstructionSet::Baseline;
  return set;
}

InstructionSet instructionSet() { return used().load(std::memory_order_relaxed); }

void limitInstructionSet(InstructionSet most) {
  used().store(std::min(instructionSet(), most), std::memory_order_relaxed);
}

} // namespace zrt
