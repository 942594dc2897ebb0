//===- Flags.h - zero-run's command line -------------------------------------===//
#ifndef ZERO_RUN_FLAGS_H
#define ZERO_RUN_FLAGS_H

#include "zero/Trainer/Agreement.h"
#include "zero/Trainer/Options.h"
#include "zero/Training/DeepSpeedConfig.h"
#include "zero/Training/Safetensors.h"

namespace zero::run {

inline constexpr int64_t kDefaultRankTimeout = 1800; // seconds
inline constexpr int kBadInput = 1, kWrongFlags = 2, kInterrupted = 130;

struct Flags {
  ModelOptions model;
  TrainOptions train;
  std::string log, save, exported, report, plot, object;
  std::optional<training::DType> exportType;
  int64_t evalEvery = 0;
  int64_t endAfter = 0; // steps; 0: behind all
  bool dryRun = false, reference = false, printTable = false;
  int64_t rankTimeout = 0; // seconds
  bool ranksGiven = false;
  /// `--config`, whose values the flags above have taken.
  std::optional<training::DeepSpeedConfig> config;
  /// The first flag given that a module from level Z on already answers; empty: none.
  std::string configFlag;
  /// The first flag given that only a graph leaves open; empty: none.
  std::string graphFlag;
  /// The first flag given that only a run in f16 has; empty: none.
  std::string f16Flag;

  /// Whether steps are taken: neither planned nor compiled only.
  bool trains() const { return !dryRun && !printTable && object.empty(); }
};

/// Parses the command line; the error is what is wrong with it, in whole lines.
llvm::Expected<Flags> parseFlags(int argc, char **argv);

/// Settles batch sizes with `--config`, once the number of ranks is settled. Its figures are told
/// by an InputError.
llvm::Error settleConfig(Flags &flags);

/// What all ranks of a job have to be started with: the model, and each flag that bears on more
/// than one rank.
std::vector<Fact> startFacts(const Flags &flags);

} // namespace zero::run

#endif // ZERO_RUN_FLAGS_H
