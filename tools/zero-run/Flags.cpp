//===- Flags.cpp - zero-run's command line --------------------------------===//
//
// Flags stand by subject in files of their own (FlagText.h). A flag that has no meaning
// here is refused by name, never ignored.
//
//===----------------------------------------------------------------------===//

#include "../common/OwnFlags.h"
#include "FlagText.h"

namespace zero::run {

llvm::Expected<Flags> parseFlags(int argc, char **argv) {
  tools::dropForeignFlags([](const cl::OptionCategory *category) {
    return llvm::is_contained(
        {&modelFlags(), &parallelFlags(), &trainingFlags(), &outputFlags(), &debugFlags()},
        category);
  });
  std::string errors;
  llvm::raw_string_ostream stream(errors);
  if (!cl::ParseCommandLineOptions(
          argc, argv,
          "Compiles a model for N ranks and trains it. Sizes are bytes, or take KiB, MiB, GiB, "
          "TiB.\n\n"
          "  zero-run config.json --micro-batch 8 --seq-len 128 --ranks 2 --stage 3 --data "
          "text.txt "
          "--steps 300\n"
          "  zero-run model.mlir --ranks 256 --stage 3 --dry-run --report plan.json\n\n"
          "Exit codes: 0 done, 1 bad input, 2 wrong flags, 130 ended by Ctrl-C (after the step, "
          "with "
          "weights saved).\n",
          &stream))
    return llvm::createStringError(errors);
  Flags flags;
  takeModes(flags);
  if (llvm::Error error = adoptConfig(flags))
    return std::move(error);
  if (!readPrecision(flags) || !readLossScale(flags) || !readModelFlags(flags) ||
      !readParallel(flags) || !readProcesses(flags) || !readOptimizer(flags) ||
      !readTraining(flags) || !readCheckpoints(flags) || !checkOutputFlags(flags))
    return refusal();
  applyConfig(flags);
  return flags;
}

} // namespace zero::run
