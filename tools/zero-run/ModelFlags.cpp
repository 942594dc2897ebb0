//===- ModelFlags.cpp - the model, and what it leaves open ---------------===//
//
// A model is a module of Zero or a config.json; the latter leaves sizes open.
//
//===----------------------------------------------------------------------===//

#include "FlagText.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"

namespace zero::run {

namespace {

Text model(cl::Positional, cl::desc("<model: .mlir, .mlirbc or config.json>"),
           cl::cat(modelFlags()));
Text microBatch("micro-batch", cl::value_desc("rows"), cl::cat(modelFlags()),
                cl::desc("Rows per rank and micro-step, where the model leaves them open"));
Text seqLen("seq-len", cl::value_desc("tokens"), cl::cat(modelFlags()),
            cl::desc("Tokens of a sequence, with a config.json (default: the model's positions)"));
Switch noDropout("no-dropout", cl::cat(modelFlags()),
                 cl::desc("Leave out the dropout that a config.json asks for"));

} // namespace

bool readModelFlags(Flags &flags) {
  flags.model.path = model;
  if (model.empty())
    return refuse("expects a model: a file named .mlir, .mlirbc or .json; see --help");
  flags.model.noDropout = noDropout;
  bool isConfig = llvm::sys::path::extension(model) == ".json";
  if (microBatch.getNumOccurrences()) {
    if (!readInteger(microBatch, flags.model.microBatch, 1, std::numeric_limits<int32_t>::max()))
      return false;
  } else if (isConfig && !flags.config) {
    return refuse("expects --micro-batch with a config.json");
  }
  flags.train.compile.microBatch = flags.model.microBatch;
  if (seqLen.getNumOccurrences() &&
      !readInteger(seqLen, flags.model.seqLen, 1, std::numeric_limits<int32_t>::max()))
    return false;
  if (!isConfig && (seqLen.getNumOccurrences() || noDropout))
    return refuse(std::string("expects ") + (noDropout ? "--no-dropout" : "--seq-len") +
                  " only with a config.json");
  noteConfigFlags(flags, {&microBatch});
  return true;
}

} // namespace zero::run
