//===- Launch.h - run one kernel on a rank's threads ----------------------===//
#ifndef ZERO_RUNTIME_CPU_LAUNCH_H
#define ZERO_RUNTIME_CPU_LAUNCH_H

#include "zero/Runtime/Kernels.h"
#include "zero/Runtime/Session.h"

namespace zrt {

/// `operands` as the kernel's descriptor lists them (Program.h), a null pointer for what is left
/// out. `add`: gradients are added to what they hold.
void launch(const Kernel &kernel, const std::vector<GeneratedKernel> &generated, char **operands,
            int64_t operandCount, bool add, ThreadTeam &team);

/// Bytes of workspace that the kernel needs; 0 for generated kernels, which say it nowhere.
int64_t workspaceBytes(const Kernel &kernel, int64_t threads);

/// How many operands precede the workspace of a library kernel.
int64_t operandsBeforeWorkspace(const Kernel &kernel);

} // namespace zrt

#endif // ZERO_RUNTIME_CPU_LAUNCH_H
