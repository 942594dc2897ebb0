//===- OptimizerFlags.cpp - the update, and its learning rate ------------===//
//
// Flags of another optimizer or schedule than the chosen one are refused: they would
// change nothing.
//
//===----------------------------------------------------------------------===//

#include "FlagText.h"

#include "zero/Dialect/Zero/Groups.h"

#include "llvm/ADT/StringExtras.h"

namespace zero::run {

using namespace training;

namespace {

constexpr double kLionBeta2 = 0.99; // Chen et al., arXiv 2302.06675, section 5

Text optimizer("optimizer", cl::init("adamw"), cl::value_desc("name"), cl::cat(trainingFlags()),
               cl::desc("adamw, adam or sgd, as torch.optim has them, or lion (default: adamw)"));
Text lr("lr", cl::init("1e-3"), cl::value_desc("rate"), cl::cat(trainingFlags()),
        cl::desc("Learning rate after warm-up (default: 1e-3)"));
Text beta1("beta1", cl::init("0.9"), cl::value_desc("x"), cl::cat(trainingFlags()),
           cl::desc("Decay of the first moment, for adamw, adam and lion (default: 0.9)"));
Text beta2("beta2", cl::init("0.999"), cl::value_desc("x"), cl::cat(trainingFlags()),
           cl::desc("Decay of the second moment, for adamw and adam, or of lion's moment "
                    "(default: 0.999; 0.99 for lion)"));
Text eps("eps", cl::init("1e-8"), cl::value_desc("x"), cl::cat(trainingFlags()),
         cl::desc("Added to the root of the second moment, for adamw and adam (default: 1e-8)"));
Text weightDecay("weight-decay", cl::init("0"), cl::value_desc("x"), cl::cat(trainingFlags()),
                 cl::desc("Weight decay, on parameters of rank 2 and more (default: 0)"));
Text momentum("momentum", cl::init("0"), cl::value_desc("x"), cl::cat(trainingFlags()),
              cl::desc("Momentum of sgd (default: 0)"));
cl::list<std::string>
    groups("group", cl::value_desc("pattern:settings"), cl::cat(trainingFlags()),
           cl::desc("A rate or decay of their own for parameters whose names match, such as "
                    "'*.bias:lr=0.5,weight-decay=0': lr is a factor of --lr and its schedule, "
                    "weight-decay is in place of --weight-decay, whatever the rank. May be "
                    "repeated; the first that matches holds"));
Text clip("clip", cl::init("0"), cl::value_desc("norm"), cl::cat(trainingFlags()),
          cl::desc("Bound on the global gradient norm; 0 for none (default: 0)"));
Text schedule("schedule", cl::init("constant"), cl::value_desc("kind"), cl::cat(trainingFlags()),
              cl::desc("Learning rate behind the warm-up: constant, linear or cosine down to "
                       "--min-lr at the last step, or inverse-sqrt (default: constant)"));
Text warmup("warmup", cl::init("0"), cl::value_desc("steps"), cl::cat(trainingFlags()),
            cl::desc("Steps over which the learning rate rises (default: 0)"));
Text minLr("min-lr", cl::init("0"), cl::value_desc("rate"), cl::cat(trainingFlags()),
           cl::desc("Learning rate below which --schedule doesn't fall (default: 0)"));
Text scheduleSteps("schedule-steps", cl::value_desc("steps"), cl::cat(trainingFlags()),
                   cl::desc("Steps, warm-up included, until linear and cosine are at --min-lr "
                            "(default: --steps)"));

/// Flags of another optimizer would change nothing.
bool refuseForeign(llvm::StringRef chosen) {
  const std::pair<Text *, std::vector<llvm::StringRef>> uses[] = {
      {&beta1, {"adamw", "adam", "lion"}},
      {&beta2, {"adamw", "adam", "lion"}},
      {&eps, {"adamw", "adam"}},
      {&momentum, {"sgd"}}};
  for (auto &[flag, users] : uses)
    if (flag->getNumOccurrences() && !llvm::is_contained(users, chosen)) {
      std::string others = llvm::join(llvm::ArrayRef(users).drop_back(), ", ");
      return refuse("expects " + spelled(*flag) + " only with --optimizer " + others +
                    (others.empty() ? "" : " or ") + users.back() + ", got --optimizer " + chosen);
    }
  return true;
}

bool readGroups(CompileOptions &compile) {
  for (const std::string &text : groups) {
    std::string problem;
    if (!ir::parseGroup(text, problem))
      return refuse(problem + " (--group)");
    compile.groups += (compile.groups.empty() ? "" : ";") + text;
  }
  return true;
}

bool readSchedule(Schedule &into) {
  std::string kind;
  if (!readReal(lr, into.peak, 0.0) ||
      !readWord(schedule, kind, {"constant", "linear", "cosine", "inverse-sqrt"}) ||
      !readInteger(warmup, into.warmup, 0) || !readReal(minLr, into.floor, 0.0))
    return false;
  into.kind = *parseScheduleKind(kind);
  bool falls = kind != "constant", ends = kind == "linear" || kind == "cosine";
  if (minLr.getNumOccurrences() && !falls)
    return refuse("expects --min-lr only with --schedule linear, cosine or inverse-sqrt");
  if (into.floor > into.peak)
    return refuse("expects --min-lr of at most --lr, " + lr.getValue() + ", got " +
                  minLr.getValue());
  if (scheduleSteps.getNumOccurrences() && !ends)
    return refuse("expects --schedule-steps only with --schedule linear or cosine");
  return !scheduleSteps.getNumOccurrences() || readInteger(scheduleSteps, into.totalSteps, 1);
}

} // namespace

bool readOptimizer(Flags &flags) {
  CompileOptions &compile = flags.train.compile;
  if (!readWord(optimizer, compile.optimizer, {"adamw", "adam", "sgd", "lion"}) ||
      !refuseForeign(compile.optimizer) || !readFraction(beta1, compile.beta1) ||
      !readFraction(beta2, compile.beta2) || !readReal(eps, compile.eps, 0.0) ||
      !readReal(weightDecay, compile.weightDecay, 0.0) ||
      !readReal(momentum, compile.momentum, 0.0) || !readReal(clip, compile.clip, 0.0) ||
      !readGroups(compile) || !readSchedule(flags.train.schedule))
    return false;
  if (compile.optimizer == "lion" && !beta2.getNumOccurrences())
    compile.beta2 = kLionBeta2;
  noteConfigFlags(flags, {&optimizer, &beta1, &beta2, &eps, &weightDecay, std::addressof(groups),
                          &momentum, &clip});
  return true;
}

} // namespace zero::run
