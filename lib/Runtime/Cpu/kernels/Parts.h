//===- Parts.h - a function object over a thread team ---------------------===//
#ifndef ZERO_LIB_RUNTIME_CPU_KERNELS_PARTS_H
#define ZERO_LIB_RUNTIME_CPU_KERNELS_PARTS_H

#include "Vector.h"
#include "zero/Runtime/Kernels.h"

namespace zrt::ZRT_ISA {

/// body(part) for part in [0, parts).
template <typename Body> static void runParts(ThreadTeam &team, int64_t parts, Body &body) {
  if (parts == 1)
    return body(0);
  team.run(
      parts, [](void *context, int64_t part) { (*static_cast<Body *>(context))(part); }, &body);
}

/// Bounds of one of `parts` consecutive ranges that cover [0, total), in whole units.
struct Range {
  int64_t begin, end;
};
ZRT_INLINE Range partOf(int64_t total, int64_t unit, int64_t part, int64_t parts) {
  int64_t units = (total + unit - 1) / unit;
  return {smaller(total, units * part / parts * unit),
          smaller(total, units * (part + 1) / parts * unit)};
}

} // namespace zrt::ZRT_ISA

#endif // ZERO_LIB_RUNTIME_CPU_KERNELS_PARTS_H
