//===- ThreadTeam.h - the threads of one rank -----------------------------===//
//
// Makes the team that a rank hands to its kernels (the interface stands in
// Kernels.h). Parts are dealt out as threads come free: kernels split over
// independent units only, so which thread runs a part cannot change a bit.
//
//===----------------------------------------------------------------------===//
#ifndef ZERO_RUNTIME_THREADTEAM_H
#define ZERO_RUNTIME_THREADTEAM_H

#include "zero/Runtime/Kernels.h"

#include <memory>

namespace zrt {

/// The caller of `run` is one of the `threads`; 1 runs everything inline. Between runs the others
/// sleep; with `spin` they look around for some microseconds first, which pays only while there is
/// a core for every thread. `run` allocates nothing and must not be called from within a part.
std::unique_ptr<ThreadTeam> createThreadTeam(int64_t threads, bool spin);

} // namespace zrt

#endif // ZERO_RUNTIME_THREADTEAM_H
