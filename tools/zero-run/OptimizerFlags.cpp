//===- OptimizerFlags.cpp - the update, and its learning rate ------------===//
//
// Flags of another optimizer than the chosen one are refused: they would change
// nothing.
//
//===----------------------------------------------------------------------===//

#include "FlagText.h"

namespace zero::run {

using namespace training;

namespace {

Text optimizer("optimizer", cl::init("adamw"), cl::value_desc("name"), cl::cat(trainingFlags()),
               cl::desc("adamw, adam or sgd, as torch.optim has them (default: adamw)"));
Text lr("lr", cl::init("1e-3"), cl::value_desc("rate"), cl::cat(trainingFlags()),
        cl::desc("Learning rate after warm-up (default: 1e-3)"));
Text beta1("beta1", cl::init("0.9"), cl::value_desc("x"), cl::cat(trainingFlags()),
           cl::desc("Decay of the first moment, for adamw and adam (default: 0.9)"));
Text beta2("beta2", cl::init("0.999"), cl::value_desc("x"), cl::cat(trainingFlags()),
           cl::desc("Decay of the second moment, for adamw and adam (default: 0.999)"));
Text eps("eps", cl::init("1e-8"), cl::value_desc("x"), cl::cat(trainingFlags()),
         cl::desc("Added to the root of the second moment, for adamw and adam (default: 1e-8)"));
Text weightDecay("weight-decay", cl::init("0"), cl::value_desc("x"), cl::cat(trainingFlags()),
                 cl::desc("Weight decay, on parameters of rank 2 and more (default: 0)"));
Text momentum("momentum", cl::init("0"), cl::value_desc("x"), cl::cat(trainingFlags()),
              cl::desc("Momentum of sgd (default: 0)"));
Text clip("clip", cl::init("0"), cl::value_desc("norm"), cl::cat(trainingFlags()),
          cl::desc("Bound on the global gradient norm; 0 for none (default: 0)"));
Text schedule(
    "schedule", cl::init("constant"), cl::value_desc("kind"), cl::cat(trainingFlags()),
    cl::desc("Learning rate behind the warm-up: constant, or linear or cosine down to 0 at "
             "the last step (default: constant)"));
Text warmup("warmup", cl::init("0"), cl::value_desc("steps"), cl::cat(trainingFlags()),
            cl::desc("Steps over which the learning rate rises (default: 0)"));

/// Flags of another optimizer would change nothing.
bool refuseForeign(llvm::StringRef chosen) {
  bool isSgd = chosen == "sgd";
  for (Text *flag : {&beta1, &beta2, &eps, &momentum})
    if (flag->getNumOccurrences() && (flag == &momentum) != isSgd)
      return refuse("expects " + spelled(*flag) + " only with --optimizer " +
                    (isSgd ? "adamw or adam" : "sgd") + ", got --optimizer " + chosen);
  return true;
}

} // namespace

bool readOptimizer(Flags &flags) {
  TrainOptions &train = flags.train;
  CompileOptions &compile = train.compile;
  std::string kind;
  if (!readWord(optimizer, compile.optimizer, {"adamw", "adam", "sgd"}) ||
      !refuseForeign(compile.optimizer) || !readReal(lr, train.schedule.peak, 0.0) ||
      !readFraction(beta1, compile.beta1) || !readFraction(beta2, compile.beta2) ||
      !readReal(eps, compile.eps, 0.0) || !readReal(weightDecay, compile.weightDecay, 0.0) ||
      !readReal(momentum, compile.momentum, 0.0) || !readReal(clip, compile.clip, 0.0) ||
      !readWord(schedule, kind, {"constant", "linear", "cosine"}) ||
      !readInteger(warmup, train.schedule.warmup, 0))
    return false;
  train.schedule.kind = *parseScheduleKind(kind);
  noteConfigFlags(flags, {&optimizer, &beta1, &beta2, &eps, &weightDecay, &momentum, &clip});
  return true;
}

} // namespace zero::run
