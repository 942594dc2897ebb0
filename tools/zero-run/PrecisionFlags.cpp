//===- PrecisionFlags.cpp - types of weights, activations and gradients --===//
//
// A graph is written in f32 mostly; here it is told what to compute in. The passes
// decide what becomes of it, so that only flags that contradict one another are
// refused.
//
//===----------------------------------------------------------------------===//

#include "FlagText.h"

namespace zero::run {

namespace {

Text
    dtype("dtype", cl::init("f32"), cl::value_desc("type"), cl::cat(modelFlags()),
          cl::desc("Type of weights and activations: f32, bf16 or f16; the optimizer's masters and "
                   "moments are f32 (default: f32)"));
Text keepF32("keep-f32", cl::value_desc("names"), cl::cat(modelFlags()),
             cl::desc("Parameters that stay f32 under --dtype: names, with * for any characters, "
                      "separated by commas"));
Text
    gradDtype("grad-dtype", cl::value_desc("type"), cl::cat(parallelFlags()),
              cl::desc("Type of the gradients of 16-bit parameters: f32, bf16 or f16 (default: f32 "
                       "over several micro-steps, else the parameters')"));

} // namespace

bool readPrecision(Flags &flags) {
  CompileOptions &compile = flags.train.compile;
  for (Text *flag : {&dtype, &keepF32, &gradDtype})
    if (flag->getNumOccurrences() && flags.graphFlag.empty())
      flags.graphFlag = spelled(*flag);
  if (!readWord(dtype, compile.dtype, {"f32", "bf16", "f16"}))
    return false;
  if (gradDtype.getNumOccurrences() &&
      !readWord(gradDtype, compile.gradDtype, {"f32", "bf16", "f16"}))
    return false;
  bool isShort = compile.dtype != "f32";
  if (isShort && gradDtype.getNumOccurrences() && compile.gradDtype != "f32" &&
      compile.gradDtype != compile.dtype)
    return refuse("expects --grad-dtype f32 or " + compile.dtype + " with --dtype " +
                  compile.dtype + ", got " + compile.gradDtype);
  if (keepF32.getNumOccurrences() && !isShort)
    return refuse("expects --keep-f32 only with --dtype bf16 or f16");
  if (keepF32.getValue().find('"') != std::string::npos)
    return refuse("expects --keep-f32 without quotes, got " + keepF32.getValue());
  compile.keepF32 = keepF32;
  if (flags.reference && !flags.graphFlag.empty())
    return refuse("expects " + flags.graphFlag + " without --reference, which computes in f64");
  return true;
}

} // namespace zero::run
