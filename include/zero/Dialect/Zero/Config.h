//===- Config.h - `zero.config`: what every later pass needs to know ---------------===//
//
// Stands on the module as a dictionary, so that printing, parsing and going on
// gives the same bytes. Set by `zero-configure`, first in every pipeline.
//
//===----------------------------------------------------------------------===//
#ifndef ZERO_DIALECT_ZERO_CONFIG_H
#define ZERO_DIALECT_ZERO_CONFIG_H

#include "zero/Dialect/Zero/Groups.h"

#include "mlir/IR/BuiltinOps.h"

#include <cstdint>
#include <optional>
#include <string>

namespace zero::ir {

struct Config {
  static constexpr llvm::StringLiteral kAttrName = "zero.config";

  int64_t ranks = 1;
  int64_t stage = 0;
  int64_t microSteps = 1;
  int64_t bucketBytes = 25 << 20;
  int64_t threadsPerRank = 1;
  bool reduceEveryStep = false;    // stage 2: keep full gradients over the micro-steps
  std::string lossMean = "step";   // step, micro-step, rank
  std::string optimizer = "adamw"; // adamw, adam, sgd, lion
  double beta1 = 0.9, beta2 = 0.999, eps = 1e-8, weightDecay = 0.0, momentum = 0.0, clip = 0.0;
  std::vector<ParameterGroup> groups; // no entry where there are none

  /// Reads the module's `zero.config`. Nothing, with an error on the module, where it is missing
  /// ("expects zero.config: run zero-configure first") or holds a wrong or out-of-range entry.
  static std::optional<Config> get(::mlir::ModuleOp module);
  /// Checks every field and says what is wrong with the first bad one; empty where all is right.
  std::string check() const;
  void set(::mlir::ModuleOp module) const;
};

} // namespace zero::ir

#endif // ZERO_DIALECT_ZERO_CONFIG_H
