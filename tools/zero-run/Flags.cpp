//===- Flags.cpp - zero-run's command line --------------------------------===//
//
// Numbers are taken as text, so that a wrong one is refused in the words of all of
// Zero's tools. A flag that has no meaning here is refused by name, never ignored.
//
//===----------------------------------------------------------------------===//

#include "Flags.h"

#include "zero/Training/Sizes.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Path.h"

namespace zero::run {

namespace cl = llvm::cl;
using namespace training;
using Text = cl::opt<std::string>;
using Switch = cl::opt<bool>;

namespace {

constexpr int64_t kMaxRanks = 65536;      // that a plan is made for
constexpr int64_t kMaxThreadRanks = 1024; // that train in one process
constexpr int64_t kMaxMicroSteps = int64_t(1) << 20;
constexpr int64_t kMaxBucketBytes = int64_t(1) << 50;
constexpr int64_t kMaxThreads = 4096;

cl::OptionCategory modelFlags("Model"), parallelFlags("Ranks and memory"),
    trainingFlags("Training"), outputFlags("Output"), debugFlags("Looking inside");

Text model(cl::Positional, cl::desc("<model: .mlir, .mlirbc or config.json>"), cl::cat(modelFlags));
Text microBatch("micro-batch", cl::value_desc("rows"), cl::cat(modelFlags),
                cl::desc("Rows per rank and micro-step, where the model leaves them open"));
Text seqLen("seq-len", cl::value_desc("tokens"), cl::cat(modelFlags),
            cl::desc("Tokens of a sequence, with a config.json (default: the model's positions)"));
Switch noDropout("no-dropout", cl::cat(modelFlags),
                 cl::desc("Take a config.json that asks for dropout, and train without"));
Text dtype("dtype", cl::init("f32"), cl::value_desc("type"), cl::cat(modelFlags),
           cl::desc("Type of weights and activations: f32 (default: f32)"));

Text ranks("ranks", cl::init("1"), cl::value_desc("n"), cl::cat(parallelFlags),
           cl::desc("Data-parallel ranks, threads of this process (default: 1)"));
Text stage("stage", cl::init("0"), cl::value_desc("s"), cl::cat(parallelFlags),
           cl::desc("ZeRO stage: 0 replicates; 1 shards the optimizer's state, 2 gradients too, 3 "
                    "parameters too (default: 0)"));
Text accumulate("accumulate", cl::init("1"), cl::value_desc("n"), cl::cat(parallelFlags),
                cl::desc("Micro-steps whose gradients one step sums (default: 1)"));
Text bucketBytes(
    "bucket-bytes", cl::init("25MiB"), cl::value_desc("size"), cl::cat(parallelFlags),
    cl::desc("Bytes of a bucket and of the chunks that collectives move (default: 25MiB)"));
Text reduceEvery("reduce-every", cl::init("micro-step"), cl::value_desc("when"),
                 cl::cat(parallelFlags),
                 cl::desc("Stage 2: reduce gradients every micro-step, or once a step with full "
                          "gradients until then: step, micro-step (default: micro-step)"));
Text recompute("recompute", cl::init("none"), cl::value_desc("how"), cl::cat(parallelFlags),
               cl::desc("What backward computes again: none (default: none)"));
Text memoryBudget("memory-budget", cl::value_desc("size"), cl::cat(parallelFlags),
                  cl::desc("Refuse a plan whose arena is larger, and say what holds its peak"));
Text threads("threads-per-rank", cl::init("1"), cl::value_desc("n"), cl::cat(parallelFlags),
             cl::desc("Threads inside a rank (default: 1)"));
Text target("target", cl::init("cpu"), cl::value_desc("target"), cl::cat(parallelFlags),
            cl::desc("Where ranks run: cpu (default: cpu)"));
Text gradDtype("grad-dtype", cl::init("f32"), cl::value_desc("type"), cl::cat(parallelFlags),
               cl::desc("Type of accumulated gradients: f32 (default: f32)"));

Text
    data("data", cl::value_desc("file"), cl::cat(trainingFlags),
         cl::desc("Batches: .txt (bytes are tokens), .bin (uint16 tokens) or .safetensors (tensors "
                  "named as the model's arguments, [step, micro-step, global batch, …])"));
Text
    weights("weights", cl::value_desc("file"), cl::cat(trainingFlags),
            cl::desc("Initial weights: .safetensors, or a Hugging Face folder (default: drawn from "
                     "--seed)"));
Text steps("steps", cl::value_desc("n"), cl::cat(trainingFlags),
           cl::desc("Steps to train (default: all of a .safetensors data file)"));
Text seed("seed", cl::init("0"), cl::value_desc("n"), cl::cat(trainingFlags),
          cl::desc("Seed of initial weights and of the order of data (default: 0)"));
Text optimizer("optimizer", cl::init("adamw"), cl::value_desc("name"), cl::cat(trainingFlags),
               cl::desc("adamw, adam or sgd, as torch.optim has them (default: adamw)"));
Text lr("lr", cl::init("1e-3"), cl::value_desc("rate"), cl::cat(trainingFlags),
        cl::desc("Learning rate after warm-up (default: 1e-3)"));
Text beta1("beta1", cl::init("0.9"), cl::value_desc("x"), cl::cat(trainingFlags),
           cl::desc("Decay of the first moment, for adamw and adam (default: 0.9)"));
Text beta2("beta2", cl::init("0.999"), cl::value_desc("x"), cl::cat(trainingFlags),
           cl::desc("Decay of the second moment, for adamw and adam (default: 0.999)"));
Text eps("eps", cl::init("1e-8"), cl::value_desc("x"), cl::cat(trainingFlags),
         cl::desc("Added to the root of the second moment, for adamw and adam (default: 1e-8)"));
Text weightDecay("weight-decay", cl::init("0"), cl::value_desc("x"), cl::cat(trainingFlags),
                 cl::desc("Weight decay, on parameters of rank 2 and more (default: 0)"));
Text momentum("momentum", cl::init("0"), cl::value_desc("x"), cl::cat(trainingFlags),
              cl::desc("Momentum of sgd (default: 0)"));
Text clip("clip", cl::init("0"), cl::value_desc("norm"), cl::cat(trainingFlags),
          cl::desc("Bound on the global gradient norm; 0 for none (default: 0)"));
Text schedule(
    "schedule", cl::init("constant"), cl::value_desc("kind"), cl::cat(trainingFlags),
    cl::desc("Learning rate behind the warm-up: constant, or linear or cosine down to 0 at "
             "the last step (default: constant)"));
Text warmup("warmup", cl::init("0"), cl::value_desc("steps"), cl::cat(trainingFlags),
            cl::desc("Steps over which the learning rate rises (default: 0)"));
Text lossMean(
    "loss-mean", cl::init("step"), cl::value_desc("over"), cl::cat(trainingFlags),
    cl::desc("What a mean loss divides by: the labels of the whole step, or, as plain data "
             "parallelism does, of each micro-step or rank: step, micro-step, rank "
             "(default: step)"));
Text lossScale("loss-scale", cl::init("1"), cl::value_desc("x"), cl::cat(trainingFlags),
               cl::desc("Scale of the loss in backward; 1 in f32 (default: 1)"));
Text growthInterval("growth-interval", cl::value_desc("steps"), cl::cat(trainingFlags), cl::Hidden,
                    cl::desc("Steps before a dynamic loss scale grows"));

Text save("save", cl::value_desc("file"), cl::cat(outputFlags),
          cl::desc("Write all weights there at the end (.safetensors)"));
Text log("log", cl::value_desc("file"), cl::cat(outputFlags),
         cl::desc("Write one JSON object a step there"));
Text report(
    "report", cl::value_desc("file"), cl::cat(outputFlags),
    cl::desc("Write memory and communication of the plan there, as JSON; - for standard output"));
Switch dryRun("dry-run", cl::cat(outputFlags), cl::desc("Plan and report, and run nothing"));

Switch reference("reference", cl::cat(debugFlags),
                 cl::desc("Train with the f64 reference interpreter in place of the compiled "
                          "program: slow, and the judge of it"));
Switch profile("profile", cl::cat(debugFlags), cl::desc("Print where the time of a step goes"));
Switch
    poison("poison", cl::cat(debugFlags),
           cl::desc("Fill memory that nothing should read with NaN, and guard the arena's ends"));
Switch printTable("print-table", cl::cat(debugFlags),
                  cl::desc("Print the step table, and run nothing"));
Text object("emit-object", cl::value_desc("file"), cl::cat(debugFlags),
            cl::desc("Write kernels and step table there as an object file, and run nothing"));
Switch cleanPasses("clean-passes", cl::cat(debugFlags), cl::Hidden,
                   cl::desc("Run canonicalize and cse after every pass"));

/// False, after the message of a flag that can't be read.
bool refuse(llvm::Error error) {
  fail(kWrongFlags, llvm::toString(std::move(error)));
  return false;
}
bool refuse(const llvm::Twine &message) {
  fail(kWrongFlags, message);
  return false;
}

std::string spelled(const Text &flag) { return ("--" + flag.ArgStr).str(); }

template <typename T> bool take(llvm::Expected<T> value, T &into) {
  if (!value)
    return refuse(value.takeError());
  into = *value;
  return true;
}
bool readInteger(Text &flag, int64_t &into, int64_t minimum,
                 int64_t maximum = std::numeric_limits<int64_t>::max()) {
  return take(parseInteger(spelled(flag), flag, minimum, maximum), into);
}
bool readReal(Text &flag, double &into, double minimum) {
  return take(parseFloat(spelled(flag), flag, minimum), into);
}
/// In [0, 1).
bool readFraction(Text &flag, double &into) {
  if (!readReal(flag, into, 0.0))
    return false;
  return into < 1.0 || refuse("expects " + spelled(flag) + " in [0, 1), got " + flag.getValue());
}
bool readWord(Text &flag, std::string &into, llvm::ArrayRef<llvm::StringRef> choices) {
  llvm::Expected<size_t> choice = parseChoice(spelled(flag), flag, choices);
  if (!choice)
    return refuse(choice.takeError());
  into = choices[*choice].str();
  return true;
}

/// A flag of which this version knows one value; the others have a name, and are refused by it.
bool readOnly(Text &flag, llvm::StringRef known, llvm::ArrayRef<llvm::StringRef> later) {
  if (flag.getValue() == known)
    return true;
  if (llvm::is_contained(later, llvm::StringRef(flag)))
    return refuse(spelled(flag) + " " + flag.getValue() +
                  " is not supported in this version; expects " + known);
  return refuse("expects " + spelled(flag) + " to be " + known + ", got " +
                (flag.empty() ? "nothing" : flag.getValue()));
}

bool refuseUnsupported() {
  if (!readOnly(dtype, "f32", {"bf16", "f16"}) || !readOnly(gradDtype, "f32", {"bf16"}) ||
      !readOnly(recompute, "none", {"block", "min-cut", "budget"}) ||
      !readOnly(target, "cpu", {"cuda"}))
    return false;
  double scale = 0.0;
  if (!readReal(lossScale, scale, 0.0))
    return false;
  if (scale != 1.0)
    return refuse("--loss-scale " + lossScale.getValue() +
                  " is not supported in this version; expects 1, since f32 needs no scale");
  if (growthInterval.getNumOccurrences())
    return refuse("--growth-interval is not supported in this version: the loss scale is 1");
  return true;
}

bool readModel(Flags &flags) {
  flags.model.path = model;
  if (model.empty())
    return refuse("expects a model: a file named .mlir, .mlirbc or .json; see --help");
  flags.model.allowDropout = noDropout;
  bool isConfig = llvm::sys::path::extension(model) == ".json";
  if (microBatch.getNumOccurrences()) {
    if (!readInteger(microBatch, flags.model.microBatch, 1, std::numeric_limits<int32_t>::max()))
      return false;
  } else if (isConfig) {
    return refuse("expects --micro-batch with a config.json");
  }
  flags.train.compile.microBatch = flags.model.microBatch;
  if (seqLen.getNumOccurrences() &&
      !readInteger(seqLen, flags.model.seqLen, 1, std::numeric_limits<int32_t>::max()))
    return false;
  if (!isConfig && (seqLen.getNumOccurrences() || noDropout))
    return refuse(std::string("expects ") + (noDropout ? "--no-dropout" : "--seq-len") +
                  " only with a config.json");
  return true;
}

bool readParallel(Flags &flags) {
  CompileOptions &compile = flags.train.compile;
  if (stage.getValue() == "auto")
    return refuse("--stage auto is not supported in this version; expects 0, 1, 2 or 3");
  if (!readInteger(ranks, compile.ranks, 1, kMaxRanks) ||
      !readInteger(stage, compile.stage, 0, 3) ||
      !readInteger(accumulate, compile.microSteps, 1, kMaxMicroSteps) ||
      !take(parseSize(spelled(bucketBytes), bucketBytes, 1, kMaxBucketBytes),
            compile.bucketBytes) ||
      !readInteger(threads, compile.threadsPerRank, 1, kMaxThreads) ||
      !readWord(reduceEvery, compile.reduceEvery, {"step", "micro-step"}))
    return false;
  if (reduceEvery.getNumOccurrences() && compile.stage != 2)
    return refuse("expects --reduce-every only with --stage 2, got --stage " + stage.getValue());
  bool runs = !dryRun && !printTable && object.empty() && !reference;
  if (runs && compile.ranks > kMaxThreadRanks)
    return refuse("expects --ranks of at most " + llvm::Twine(kMaxThreadRanks) +
                  " in one process (more only with --dry-run), got " + ranks.getValue());
  int64_t budget = 0;
  if (memoryBudget.getNumOccurrences()) {
    if (!take(parseSize(spelled(memoryBudget), memoryBudget, 1), budget))
      return false;
    flags.train.memoryBudget = budget;
  }
  return true;
}

/// Flags of another optimizer would change nothing.
bool refuseForeign(llvm::StringRef chosen) {
  bool isSgd = chosen == "sgd";
  for (Text *flag : {&beta1, &beta2, &eps, &momentum})
    if (flag->getNumOccurrences() && (flag == &momentum) != isSgd)
      return refuse("expects " + spelled(*flag) + " only with --optimizer " +
                    (isSgd ? "adamw or adam" : "sgd") + ", got --optimizer " + chosen);
  return true;
}

bool readTraining(Flags &flags) {
  TrainOptions &train = flags.train;
  CompileOptions &compile = train.compile;
  std::string kind;
  if (!readWord(optimizer, compile.optimizer, {"adamw", "adam", "sgd"}) ||
      !refuseForeign(compile.optimizer) || !readReal(lr, train.schedule.peak, 0.0) ||
      !readFraction(beta1, compile.beta1) || !readFraction(beta2, compile.beta2) ||
      !readReal(eps, compile.eps, 0.0) || !readReal(weightDecay, compile.weightDecay, 0.0) ||
      !readReal(momentum, compile.momentum, 0.0) || !readReal(clip, compile.clip, 0.0) ||
      !readWord(lossMean, compile.lossMean, {"step", "micro-step", "rank"}) ||
      !readWord(schedule, kind, {"constant", "linear", "cosine"}) ||
      !readInteger(warmup, train.schedule.warmup, 0) ||
      !take(parseUnsigned(spelled(seed), seed), train.seed))
    return false;
  train.schedule.kind = *parseScheduleKind(kind);
  train.weights = weights;
  train.data = data;
  int64_t count = 0;
  if (steps.getNumOccurrences()) {
    if (!readInteger(steps, count, 0))
      return false;
    train.steps = count;
  }
  bool runs = !dryRun && !printTable && object.empty();
  if (runs && data.empty() && train.steps != 0)
    return refuse("expects --data with something to train on (or --dry-run)");
  return true;
}

bool readOutput(Flags &flags) {
  flags.log = log;
  flags.save = save;
  flags.report = report;
  flags.object = object;
  flags.dryRun = dryRun;
  flags.reference = reference;
  flags.printTable = printTable;
  flags.train.poison = poison;
  flags.train.profile = profile;
  flags.train.compile.clean = cleanPasses;
  if (!save.empty() && !llvm::StringRef(save).ends_with(".safetensors"))
    return refuse("expects --save with a name that ends in .safetensors, got " + save.getValue());
  const Text *outputs[] = {&log, &save, &report, &object};
  for (const Text **one = std::begin(outputs); one != std::end(outputs); ++one)
    for (const Text **other = one + 1; other != std::end(outputs); ++other)
      if (!(*one)->empty() && (*one)->getValue() == (*other)->getValue())
        return refuse("expects outputs of different names, got " + (*one)->getValue() + " for " +
                      spelled(**one) + " and " + spelled(**other));
  bool stops = dryRun || printTable || !object.empty();
  if (dryRun && (printTable || !object.empty()))
    return refuse("expects --dry-run without --print-table and --emit-object, which compile");
  for (Text *flag : {&log, &save})
    if (stops && !flag->empty())
      return refuse("expects " + spelled(*flag) + " only with a run that trains");
  if (reference &&
      (stops || profile || poison || !report.empty() || memoryBudget.getNumOccurrences()))
    return refuse("expects --reference without --dry-run, --report, --memory-budget, --profile, "
                  "--poison, --print-table and --emit-object: it compiles nothing");
  if (reference && lossMean.getValue() != "step")
    return refuse("expects --loss-mean step with --reference, got " + lossMean.getValue());
  if (stops && (profile || poison))
    return refuse("expects --profile and --poison only with a run that trains");
  return true;
}

/// What zero.config answers from level Z on.
std::string firstConfigFlag() {
  for (Text *flag : {&ranks, &stage, &accumulate, &bucketBytes, &reduceEvery, &threads, &optimizer,
                     &beta1, &beta2, &eps, &weightDecay, &momentum, &clip, &lossMean, &microBatch})
    if (flag->getNumOccurrences())
      return spelled(*flag);
  return "";
}

/// LLVM's shared library brings hundreds of flags of its own, which would be taken and ignored.
void dropForeignFlags() {
  llvm::SmallVector<cl::Option *> foreign;
  for (auto &[name, option] : cl::getRegisteredOptions())
    if (llvm::none_of(option->Categories, [](cl::OptionCategory *category) {
          return llvm::is_contained(
                     {&modelFlags, &parallelFlags, &trainingFlags, &outputFlags, &debugFlags},
                     category) ||
                 category->getName() == "Generic Options"; // --help, --version
        }))
      foreign.push_back(option);
  for (cl::Option *option : foreign)
    option->removeArgument();
}

} // namespace

int fail(int code, const llvm::Twine &message) {
  llvm::errs() << "zero-run: error: " << message << "\n";
  return code;
}

std::optional<Flags> parseFlags(int argc, char **argv) {
  dropForeignFlags();
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
          &stream)) {
    llvm::errs() << errors;
    return std::nullopt;
  }
  Flags flags;
  if (!refuseUnsupported() || !readModel(flags) || !readParallel(flags) || !readTraining(flags) ||
      !readOutput(flags))
    return std::nullopt;
  flags.configFlag = firstConfigFlag();
  return flags;
}

} // namespace zero::run
