//===- Level.cpp - which level of the IR a module is at --------------------===//

#include "zero/Passes/Level.h"

#include "zero/Dialect/NN/NN.h"
#include "zero/Dialect/Zero/Zero.h"
#include "zero/Passes/ForwardFunction.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace zero {

Level levelOf(ModuleOp module) {
  if (!module.getOps<LLVM::LLVMFuncOp>().empty())
    return Level::Executable;
  if (!module.getOps<ir::ArenaOp>().empty())
    return Level::Arena;
  bool segments = false;
  for (auto segment : module.getOps<ir::SegmentOp>()) {
    segments = true;
    for (Operation &op : segment.getBody().front()) {
      auto launch = dyn_cast<ir::LaunchOp>(op);
      if ((launch && launch.getStream()) ||
          isa<ir::AllGatherStartOp, ir::ReduceScatterStartOp, ir::AllReduceStartOp>(op))
        return Level::Scheduled;
    }
  }
  if (segments)
    return Level::Sharded;
  auto joint = module.lookupSymbol<func::FuncOp>(kJointName);
  if (!joint || joint.isExternal() || !isa<nn::ReturnOp>(joint.front().getTerminator()))
    return Level::Graph;
  return joint.getOps<ir::LaunchOp>().empty() ? Level::Joint : Level::Launches;
}

LogicalResult expectLevel(ModuleOp module, Level level) {
  if (levelOf(module) == level)
    return success();
  return emitError(module.getLoc()) << "expects a module at level " << nameOf(level)
                                    << ", got one at level " << nameOf(levelOf(module));
}

static constexpr StringLiteral kNames[] = {"graph",     "joint", "launches", "sharded",
                                           "scheduled", "arena", "llvm"};

StringRef nameOf(Level level) { return kNames[static_cast<int>(level)]; }

std::optional<Level> parseLevel(StringRef name) {
  for (auto [i, candidate] : llvm::enumerate(kNames))
    if (candidate == name)
      return static_cast<Level>(i);
  return std::nullopt;
}

} // namespace zero
