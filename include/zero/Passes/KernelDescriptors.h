//===- KernelDescriptors.h - what a kernel's body asks of the runtime ------===//
//
// A zero.kernel's body is nn ops; the runtime wants a descriptor (zrt::Kernel)
// and to know what each of its operands addresses. Both are derived from the
// body alone, without generating code, so that the arena can be planned and the
// former of kernels can ask what a library kernel is able to compute.
//
//===----------------------------------------------------------------------===//
#ifndef ZERO_PASSES_KERNELDESCRIPTORS_H
#define ZERO_PASSES_KERNELDESCRIPTORS_H

#include "zero/Dialect/Zero/Zero.h"
#include "zero/Runtime/Program.h"

#include <optional>
#include <string>
#include <vector>

namespace zero {

/// A kernel as the step table sees it.
struct KernelCall {
  struct Operand {
    enum Source { Argument, Result, Workspace };
    Source source = Argument;
    unsigned index = 0;     // of the argument or result
    int64_t byteOffset = 0; // behind the address of the argument or result
  };
  /// Name, kind, descriptor and flops. A generated kernel's `index` and `addIndex` are left to
  /// whoever lays out `zrt_kernels`; its `units` are set.
  zrt::Kernel kernel;
  /// In the order in which the runtime's row holds them; the workspace, if any, is last.
  std::vector<Operand> operands;
  int64_t workspaceBytes = 0;
};

/// The descriptor, or nothing and in `why` what the kernel's kind can't compute, as `expects X, got
/// Y`. Linear in the body's ops.
std::optional<KernelCall> describeKernel(ir::KernelOp kernel, int64_t threadsPerRank,
                                         std::string &why);

/// Per result, ascending: the arguments whose bytes it may be written over. Such an argument is
/// contiguous, has the result's element width and count of elements, and the kernel's loops read
/// none of its elements after writing that element's bytes. A launch that passes the same bytes as
/// two arguments may reuse them only if both are listed.
llvm::SmallVector<llvm::SmallVector<int64_t>> deriveMayReuse(ir::KernelOp kernel);

/// The results of a launch, ascending, that are added to what their slots hold: in the first run of
/// the segment in a step, and in later ones. Decided by the accumulations' modes, so empty before
/// level A.
struct AddedResults {
  llvm::SmallVector<int64_t> first, later;
};
AddedResults addedResults(ir::LaunchOp launch);

/// The symbol of a generated kernel's function. `added` holds, ascending, the results that are
/// added to what they hold instead of written over it: `zrt.k.NAME`, or `zrt.k.NAME.add1` with
/// result 1 added.
std::string generatedSymbol(llvm::StringRef kernel, llvm::ArrayRef<int64_t> added = {});

} // namespace zero

#endif // ZERO_PASSES_KERNELDESCRIPTORS_H
