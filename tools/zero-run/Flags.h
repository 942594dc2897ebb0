//===- Flags.h - zero-run's command line -------------------------------------===//
#ifndef ZERO_RUN_FLAGS_H
#define ZERO_RUN_FLAGS_H

#include "zero/Trainer/Options.h"

namespace zero::run {

inline constexpr int kBadInput = 1, kWrongFlags = 2, kInterrupted = 130;

struct Flags {
  ModelOptions model;
  TrainOptions train;
  std::string log, save, report, object;
  bool dryRun = false, reference = false, printTable = false;
  /// The first flag given that a module from level Z on already answers; empty: none.
  std::string configFlag;

  /// Whether steps are taken: neither planned nor compiled only.
  bool trains() const { return !dryRun && !printTable && object.empty(); }
};

/// Parses the command line; says on standard error what is wrong with it and gives nothing.
std::optional<Flags> parseFlags(int argc, char **argv);

/// `zero-run: error: message` on standard error; returns `code`.
int fail(int code, const llvm::Twine &message);

} // namespace zero::run

#endif // ZERO_RUN_FLAGS_H
