//===- ArenaCommand.h - zero-plan arena ------------------------------------===//
#ifndef ZERO_TOOLS_ZEROPLAN_ARENACOMMAND_H
#define ZERO_TOOLS_ZEROPLAN_ARENACOMMAND_H

#include "llvm/Support/CommandLine.h"

extern llvm::cl::SubCommand arenaCommand;

/// Hides the flags of LLVM's that no one asked for from its --help.
void hideOtherArenaFlags();

/// Runs the subcommand as its flags say; an exit code as in zero-plan.cpp.
int runArena();

#endif // ZERO_TOOLS_ZEROPLAN_ARENACOMMAND_H
