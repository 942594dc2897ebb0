//===- zero-plan.cpp - the planners on their own -------------------------===//
//
// `zero-plan arena F.csv` packs the buffers of a CSV file; `zero-plan checkpoint`
// chooses what is kept for backward. Exit codes: 0 a plan was found (within the
// capacity or budget, if one was given), 1 bad input or no plan, 2 wrong flags.
//
//===----------------------------------------------------------------------===//
#include "ArenaCommand.h"
#include "CheckpointCommand.h"
#include "Command.h"

#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/raw_ostream.h"

#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace cl = llvm::cl;

int main(int argc, char **argv) {
#ifdef __GLIBC__
  // The working memory of each step goes back to the system at its end, instead of lying between
  // what the next one allocates.
  mallopt(M_MMAP_THRESHOLD, 1 << 17);
#endif
  llvm::InitLLVM init(argc, argv);
  hideOtherArenaFlags();
  hideOtherCheckpointFlags();
  cl::SetVersionPrinter([](llvm::raw_ostream &out) {
    out << "Zero version " ZERO_VERSION "\n";
    out.flush();
    cl::PrintVersionMessage();
  });
  std::string messages;
  llvm::raw_string_ostream stream(messages);
  if (!cl::ParseCommandLineOptions(argc, argv, "Zero's planners on their own\n", &stream)) {
    llvm::errs() << messages;
    return 2;
  }
  if (arenaCommand)
    return runArena();
  if (checkpointCommand)
    return runCheckpoint();
  return wrongFlag("expects a subcommand, 'arena' or 'checkpoint'; see --help");
}
