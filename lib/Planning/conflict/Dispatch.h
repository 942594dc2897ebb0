//===- Dispatch.h - the kernel of an instruction set ---------------------===//
#ifndef ZERO_LIB_PLANNING_CONFLICT_DISPATCH_H
#define ZERO_LIB_PLANNING_CONFLICT_DISPATCH_H

#include "ConflictSearch.h"
#include "Kernel.h"

namespace zero::planning::arena {

/// For lanes of 16, 32 and 64 bits.
template <typename Lane> const Kernel<Lane> &kernelOf(SearchIsa isa);
template <> const Kernel<int16_t> &kernelOf(SearchIsa isa);
template <> const Kernel<int32_t> &kernelOf(SearchIsa isa);
template <> const Kernel<int64_t> &kernelOf(SearchIsa isa);

} // namespace zero::planning::arena

#endif // ZERO_LIB_PLANNING_CONFLICT_DISPATCH_H
