//===- Dispatch.cpp - the kernel of an instruction set -------------------===//
#include "Dispatch.h"

namespace zero::planning::arena {

template <> const Kernel<int16_t> &kernelOf(SearchIsa isa) {
  return isa == SearchIsa::Avx512 ? avx512_16::kernel
         : isa == SearchIsa::Avx2 ? avx2_16::kernel
                                  : baseline_16::kernel;
}

template <> const Kernel<int32_t> &kernelOf(SearchIsa isa) {
  return isa == SearchIsa::Avx512 ? avx512_32::kernel
         : isa == SearchIsa::Avx2 ? avx2_32::kernel
                                  : baseline_32::kernel;
}

template <> const Kernel<int64_t> &kernelOf(SearchIsa isa) {
  return isa == SearchIsa::Avx512 ? avx512_64::kernel
         : isa == SearchIsa::Avx2 ? avx2_64::kernel
                                  : baseline_64::kernel;
}

bool supported(SearchIsa isa) {
  __builtin_cpu_init();
  switch (isa) {
  case SearchIsa::Avx512:
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  case SearchIsa::Avx2:
    return __builtin_cpu_supports("avx2");
  case SearchIsa::Baseline:
    break;
  }
  return true;
}

SearchIsa bestIsa() {
  static const SearchIsa best = supported(SearchIsa::Avx512) ? SearchIsa::Avx512
                                : supported(SearchIsa::Avx2) ? SearchIsa::Avx2
                                                             : SearchIsa::Baseline;
  return best;
}

} // namespace zero::planning::arena
