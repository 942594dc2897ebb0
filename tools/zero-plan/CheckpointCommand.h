//===- CheckpointCommand.h - zero-plan checkpoint --------------------------===//
#ifndef ZERO_TOOLS_ZEROPLAN_CHECKPOINTCOMMAND_H
#define ZERO_TOOLS_ZEROPLAN_CHECKPOINTCOMMAND_H

#include "llvm/Support/CommandLine.h"

extern llvm::cl::SubCommand checkpointCommand;

/// Hides the flags of LLVM's that no one asked for from its --help.
void hideOtherCheckpointFlags();

/// Runs the subcommand as its flags say; an exit code as in zero-plan.cpp.
int runCheckpoint();

#endif // ZERO_TOOLS_ZEROPLAN_CHECKPOINTCOMMAND_H
