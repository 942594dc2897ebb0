//===- LossScaleFlags.cpp - the scale of the loss ------------------------===//
//
// Only f16 needs a scale, since its small gradients vanish; f32 and bf16 have the range.
//
//===----------------------------------------------------------------------===//

#include "FlagText.h"

#include "zero/Training/Sizes.h"

namespace zero::run {

namespace {

Text lossScale("loss-scale", cl::value_desc("x"), cl::cat(trainingFlags()),
               cl::desc("In f16: factor of the loss in backward, halved at an overflow: where it "
                        "begins, or dynamic for 65536 (default: dynamic)"));
Text growthInterval("growth-interval", cl::value_desc("steps"), cl::cat(trainingFlags()),
                    cl::desc("In f16: good steps in a row that double the loss scale; 0 fixes it "
                             "at --loss-scale (default: 2000)"));

} // namespace

bool readLossScale(Flags &flags) {
  for (Text *flag : {&lossScale, &growthInterval})
    if (flag->getNumOccurrences() && flags.f16Flag.empty())
      flags.f16Flag = spelled(*flag);
  if (flags.f16Flag.empty())
    return true;
  if (flags.reference)
    return refuse("expects " + flags.f16Flag + " without --reference, which computes in f64");
  training::LossScaleOptions &options = flags.train.lossScale.emplace();
  bool isNumber = lossScale.getNumOccurrences() && lossScale.getValue() != "dynamic";
  if (isNumber && !readReal(lossScale, options.initial, 0.0))
    return false;
  if (options.initial == 0.0)
    return refuse("expects --loss-scale above 0, got " + lossScale.getValue());
  if (options.initial < training::kLeastLossScale || options.initial > training::kMostLossScale)
    return refuse("expects " + spelled(lossScale) + " between 2^-126 and 2^126, got " +
                  lossScale.getValue());
  if (growthInterval.getNumOccurrences() && !readInteger(growthInterval, options.growthInterval, 0))
    return false;
  if (options.growthInterval == 0 && !isNumber)
    return refuse("expects --loss-scale with a number where --growth-interval 0 fixes it");
  options.minimum = std::min(options.minimum, options.initial);
  return true;
}

} // namespace zero::run
