//===- Lower.cpp - generated kernels to the llvm dialect -----------------------------===//
//
// Each generated kernel becomes one llvm.func a combination of results that its
// launches write or add: `zrt.k.NAME`, `zrt.k.NAME.add1`. The zero.kernel ops and
// the segments stay, since they are the text of the step table.
//
//===----------------------------------------------------------------------===//

#include "GeneratedKernel.h"

#include "zero/Dialect/NN/NN.h"
#include "zero/Passes/KernelDescriptors.h"
#include "zero/Passes/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <set>

namespace zero {
#define GEN_PASS_DEF_LOWERPASS
#include "zero/Passes/Passes.h.inc"

using namespace mlir;

namespace {

class Lower : public impl::LowerPassBase<Lower> {
public:
  using Base::Base;

  void runOnOperation() override {
    if (target != "cpu") {
      emitError(getOperation().getLoc()) << "expects target=cpu, got target=" << target;
      return signalPassFailure();
    }
    std::map<StringRef, Variants> variants = collectVariants();
    OpBuilder builder(&getContext());
    for (ir::KernelOp kernel : kernels()) {
      Variants wanted = variants[kernel.getSymName()];
      if (wanted.empty())
        wanted.insert(std::vector<int64_t>());
      for (const std::vector<int64_t> &added : wanted) {
        FailureOr<LLVM::LLVMFuncOp> function = emitGenerated(builder, kernel, added);
        if (failed(function) || failed(convertToLLVM(*function)))
          return signalPassFailure();
      }
    }
  }

private:
  using Variants = std::set<std::vector<int64_t>>;

  SmallVector<ir::KernelOp> kernels() {
    SmallVector<ir::KernelOp> generated;
    for (auto kernel : getOperation().getOps<ir::KernelOp>())
      if (kernel.getKind() == ir::KernelKind::Generated)
        generated.push_back(kernel);
    return generated;
  }

  std::map<StringRef, Variants> collectVariants() {
    std::map<StringRef, Variants> variants;
    getOperation().walk([&](ir::LaunchOp launch) {
      AddedResults added = addedResults(launch);
      Variants &wanted = variants[launch.getKernel()];
      wanted.insert(std::vector<int64_t>(added.first.begin(), added.first.end()));
      wanted.insert(std::vector<int64_t>(added.later.begin(), added.later.end()));
    });
    return variants;
  }
};

} // namespace
} // namespace zero
