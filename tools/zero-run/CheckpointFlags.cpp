//===- CheckpointFlags.cpp - what outlives a run, and what it goes on from ---===//
//
// Checkpoints: where they are written, which stay, and which one is gone on from.
//
//===----------------------------------------------------------------------===//

#include "FlagText.h"

#include "zero/Training/Sizes.h"

namespace zero::run {

using namespace training;

namespace {

Text folder("checkpoint-dir", cl::value_desc("folder"), cl::cat(trainingFlags()),
            cl::desc("Write checkpoints there: at the end, after an interruption, and every "
                     "--checkpoint-every steps"));
Text every("checkpoint-every", cl::value_desc("steps"), cl::cat(trainingFlags()),
           cl::desc("Steps from one checkpoint to the next"));
Text keep("keep", cl::init("2"), cl::value_desc("n"), cl::cat(trainingFlags()),
          cl::desc("Newest checkpoints that stay; 0 for all (default: 2)"));
Text resume("resume", cl::value_desc("what"), cl::cat(trainingFlags()),
            cl::desc("Go on from a checkpoint: its folder, or auto for the newest one of "
                     "--checkpoint-dir, if any"));
bool given(const Text &flag) { return flag.getNumOccurrences() > 0; }

} // namespace

bool resumes() { return given(resume); }

bool readCheckpoints(Flags &flags) {
  CheckpointOptions &options = flags.train.checkpoints;
  options.folder = folder;
  options.resume = resume;
  if ((given(every) && !readInteger(every, options.every, 1)) ||
      !readInteger(keep, options.keep, 0))
    return false;
  for (Text *flag : {&folder, &resume})
    if (given(*flag) && (!flags.trains() || flags.reference))
      return refuse("expects " + spelled(*flag) +
                    " only with a run of the compiled program that trains");
  for (Text *flag : {&folder, &resume})
    if (given(*flag) && flag->empty())
      return refuse("expects " + spelled(*flag) + " to be a folder, got nothing");
  for (Text *flag : {&every, &keep})
    if (given(*flag) && !given(folder))
      return refuse("expects " + spelled(*flag) + " only with --checkpoint-dir");
  if (options.resume == "auto" && !given(folder))
    return refuse("expects --resume auto only with --checkpoint-dir");
  if (given(resume) && options.resume != "auto" && !flags.train.weights.empty())
    return refuse("expects --resume without --weights, since a checkpoint has its own");
  return true;
}

} // namespace zero::run
