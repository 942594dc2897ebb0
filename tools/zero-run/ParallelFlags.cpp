//===- ParallelFlags.cpp - ranks, ZeRO and memory ------------------------===//
//
// How training is spread over ranks, and what may stand in their memory.
//
//===----------------------------------------------------------------------===//

#include "FlagText.h"

#include "zero/Runtime/InstructionSet.h"
#include "zero/Training/Sizes.h"

namespace zero::run {

using namespace training;

namespace {

constexpr int64_t kMaxRanks = 65536;      // that a plan is made for
constexpr int64_t kMaxThreadRanks = 1024; // that train in one process
constexpr int64_t kMaxMicroSteps = int64_t(1) << 20;
constexpr int64_t kMaxBucketBytes = int64_t(1) << 50;
constexpr int64_t kMaxThreads = 4096;

Text ranks("ranks", cl::init("1"), cl::value_desc("n"), cl::cat(parallelFlags()),
           cl::desc("Data-parallel ranks: threads of this process, or one in each that mpirun, "
                    "srun or torchrun starts (default: 1, or as many as were started)"));
Text stage("stage", cl::init("0"), cl::value_desc("s"), cl::cat(parallelFlags()),
           cl::desc("ZeRO stage: 0 replicates; 1 shards the optimizer's state, 2 gradients too, 3 "
                    "parameters too (default: 0)"));
Text accumulate("accumulate", cl::init("1"), cl::value_desc("n"), cl::cat(parallelFlags()),
                cl::desc("Micro-steps whose gradients one step sums (default: 1)"));
Text bucketBytes(
    "bucket-bytes", cl::init("25MiB"), cl::value_desc("size"), cl::cat(parallelFlags()),
    cl::desc("Bytes of a bucket and of the chunks that collectives move (default: 25MiB)"));
Text reduceEvery("reduce-every", cl::init("micro-step"), cl::value_desc("when"),
                 cl::cat(parallelFlags()),
                 cl::desc("Stage 2: reduce gradients every micro-step, or once a step with full "
                          "gradients until then: step, micro-step (default: micro-step)"));
Text recompute(
    "recompute", cl::init("none"), cl::value_desc("how"), cl::cat(parallelFlags()),
    cl::desc("What backward computes again: none, every-block (or block) all that lies "
             "inside a layer, min-cut elementwise and row kernels where that saves "
             "memory, budget as little as --memory-budget allows, or budget=<size> with that "
             "budget (default: none)"));
Text memoryBudget("memory-budget", cl::value_desc("size"), cl::cat(parallelFlags()),
                  cl::desc("Bytes of a rank's arena: refuse a larger plan, and say what holds its "
                           "peak; with --recompute budget, find one that fits"));
Text threads("threads-per-rank", cl::init("1"), cl::value_desc("n"), cl::cat(parallelFlags()),
             cl::desc("Threads inside a rank (default: 1)"));
Text instructions("instruction-set", cl::value_desc("set"), cl::cat(parallelFlags()),
                  cl::desc("The most that the runtime's kernels use of the processor: baseline, "
                           "avx2, avx512, amx. Ranks use what all of them have (default: the best "
                           "that is there)"));
Text target("target", cl::init("cpu"), cl::value_desc("target"), cl::cat(parallelFlags()),
            cl::desc("Where ranks run: cpu (default: cpu)"));

} // namespace

/// Process-wide, as it is which processor this is.
static bool readInstructions() {
  if (!instructions.getNumOccurrences())
    return true;
  std::string name;
  if (!readWord(instructions, name, {"baseline", "avx2", "avx512", "amx"}))
    return false;
  zrt::InstructionSet set = *zrt::instructionSetNamed(name);
  if (!zrt::supported(set))
    return refuse("expects --instruction-set of those that this processor has, up to " +
                  std::string(zrt::nameOf(zrt::instructionSet())) + ", got " + name);
  zrt::limitInstructionSet(set);
  return true;
}

/// `budget=<size>` names the budget as well.
static bool readRecompute(std::string &policy, std::optional<int64_t> &budget) {
  llvm::StringRef text = recompute.getValue();
  int64_t bytes = 0;
  if (text.consume_front("budget=")) {
    if (!take(parseSize(spelled(recompute) + " budget", text, 1), bytes))
      return false;
    budget = bytes;
    policy = "budget";
    return true;
  }
  if (text == "block") {
    policy = "every-block";
    return true;
  }
  return readWord(recompute, policy, {"none", "every-block", "min-cut", "budget"});
}

bool readParallel(Flags &flags) {
  CompileOptions &compile = flags.train.compile;
  std::optional<int64_t> budget;
  if (!readRecompute(compile.recompute, budget))
    return false;
  if (!readOnly(target, "cpu", {"cuda"}))
    return false;
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
  if (!readInstructions())
    return false;
  flags.ranksGiven = ranks.getNumOccurrences() != 0;
  bool runs = flags.trains() && !flags.reference;
  if (runs && compile.ranks > kMaxThreadRanks)
    return refuse("expects --ranks of at most " + llvm::Twine(kMaxThreadRanks) +
                  " in one process (more only with --dry-run), got " + ranks.getValue());
  if (memoryBudget.getNumOccurrences()) {
    int64_t bytes = 0;
    if (!take(parseSize(spelled(memoryBudget), memoryBudget, 1), bytes))
      return false;
    if (budget.value_or(bytes) != bytes)
      return refuse("expects one budget, got --recompute " + recompute.getValue() +
                    " and --memory-budget " + memoryBudget.getValue());
    budget = bytes;
  }
  flags.train.memoryBudget = budget;
  if (compile.recompute == "budget" && !flags.train.memoryBudget)
    return refuse("expects --memory-budget with --recompute budget");
  if (compile.recompute != "none" && flags.reference)
    return refuse("expects --recompute none with --reference, got --recompute " +
                  recompute.getValue());
  noteConfigFlags(flags,
                  {&ranks, &stage, &accumulate, &bucketBytes, &reduceEvery, &threads, &recompute});
  return true;
}

} // namespace zero::run
