//===- HoldGathers.cpp - gathered buckets held as far as a budget allows ---===//
//
// At stage 3 a bucket that was gathered for a repetition waits for backward's own
// launch, and takes memory meanwhile. A budget comes first: where it does not leave
// room for all that, less is held, and the rest is gathered twice. (M3, C1)
//
//===----------------------------------------------------------------------===//

#include "HoldGathers.h"

#include "zero/Trainer/Trainer.h"

using namespace mlir;

namespace zero {

namespace {

constexpr int kHalvings = 6;

} // namespace

llvm::Expected<PackedModule> packCopy(Compiler &compiler, ModuleOp module, CompileOptions options) {
  PackedModule result;
  result.module = module.clone();
  options.until = Level::Arena;
  if (!compiler.run(*result.module, options))
    return compilerError(compiler);
  FailureOr<Report> report = makeReport(*result.module);
  if (failed(report))
    return compilerError(compiler);
  result.report = std::move(*report);
  return std::move(result);
}

llvm::Expected<PackedModule> packHolding(Compiler &compiler, ModuleOp module,
                                         CompileOptions options, int64_t budgetBytes) {
  auto pack = [&](int64_t holdBytes) {
    options.holdBytes = holdBytes;
    return packCopy(compiler, module, options);
  };
  llvm::Expected<PackedModule> all = pack(-1);
  if (!all || all->report.arenaBytes <= budgetBytes || options.stage < 3)
    return all;
  llvm::Expected<PackedModule> best = pack(0);
  if (!best || best->report.arenaBytes > budgetBytes)
    return best;
  int64_t low = 0, high = all->report.arenaBytes - all->report.peak.states;
  for (int round = 0; round < kHalvings && low + 1 < high; ++round) {
    int64_t middle = low + (high - low) / 2;
    llvm::Expected<PackedModule> some = pack(middle);
    if (!some)
      return some;
    bool fits = some->report.arenaBytes <= budgetBytes;
    (fits ? low : high) = middle;
    if (fits && some->report.communication.total() <= best->report.communication.total())
      best = std::move(some);
  }
  return best;
}

} // namespace zero
