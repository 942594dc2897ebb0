//===- TrainingFlags.cpp - what a run trains on, from where, for how long
//
// Data, initial weights, steps, and what a mean loss is taken over.
//
//===----------------------------------------------------------------------===//

#include "FlagText.h"

#include "zero/Training/Sizes.h"

namespace zero::run {

using namespace training;

namespace {

Text
    data("data", cl::value_desc("file"), cl::cat(trainingFlags()),
         cl::desc("Batches: .txt (bytes are tokens), .bin (uint16 tokens) or .safetensors (tensors "
                  "named as the model's arguments, [step, micro-step, global batch, …])"));
Text evalData(
    "eval-data", cl::value_desc("file"), cl::cat(trainingFlags()),
    cl::desc("Held-out data, in the forms of --data: its mean loss is told behind the last "
             "step; a token file is read once, in order"));
Text evalEvery("eval-every", cl::value_desc("steps"), cl::cat(trainingFlags()),
               cl::desc("Evaluate behind every so many steps too"));
Text
    weights("weights", cl::value_desc("file"), cl::cat(trainingFlags()),
            cl::desc("Initial weights: .safetensors, or a Hugging Face folder (default: drawn from "
                     "--seed)"));
Text steps("steps", cl::value_desc("n"), cl::cat(trainingFlags()),
           cl::desc("Steps to train (default: all of a .safetensors data file)"));
Text endAfter("end-after", cl::value_desc("n"), cl::cat(trainingFlags()),
              cl::desc("End behind step n, as Ctrl-C would, on a schedule that goes to --steps"));
Text seed("seed", cl::init("0"), cl::value_desc("n"), cl::cat(trainingFlags()),
          cl::desc("Seed of initial weights and of the order of data (default: 0)"));
Text lossMean(
    "loss-mean", cl::init("step"), cl::value_desc("over"), cl::cat(trainingFlags()),
    cl::desc("What a mean loss divides by: the labels of the whole step, or, as plain data "
             "parallelism does, of each micro-step or rank: step, micro-step, rank "
             "(default: step)"));

} // namespace

bool readTraining(Flags &flags) {
  TrainOptions &train = flags.train;
  if (!readWord(lossMean, train.compile.lossMean, {"step", "micro-step", "rank"}) ||
      !take(parseUnsigned(spelled(seed), seed), train.seed))
    return false;
  train.seedIsGiven = seed.getNumOccurrences() > 0;
  train.weights = weights;
  train.data = data;
  train.evalData = evalData;
  train.compile.evaluate = !evalData.empty();
  if (evalEvery.getNumOccurrences()) {
    if (evalData.empty())
      return refuse("expects --eval-every only with --eval-data");
    if (!readInteger(evalEvery, flags.evalEvery, 1))
      return false;
  }
  int64_t count = 0;
  if (steps.getNumOccurrences()) {
    if (!readInteger(steps, count, 0))
      return false;
    train.steps = count;
  }
  if (endAfter.getNumOccurrences() && !readInteger(endAfter, flags.endAfter, 1))
    return false;
  // What a checkpoint holds can be exported without any step.
  if (data.empty() && !train.steps && resumes())
    train.steps = 0;
  if (flags.trains() && data.empty() && train.steps != 0)
    return refuse("expects --data with something to train on (or --dry-run)");
  noteConfigFlags(flags, {&lossMean});
  return true;
}

} // namespace zero::run
