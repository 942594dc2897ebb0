//===- LossScaleFlags.cpp - the scale of the loss ------------------------===//
//
// f32 needs no scale; 16-bit types do, since their small gradients vanish.
//
//===----------------------------------------------------------------------===//

#include "FlagText.h"

namespace zero::run {

namespace {

Text lossScale("loss-scale", cl::init("1"), cl::value_desc("x"), cl::cat(trainingFlags()),
               cl::desc("Scale of the loss in backward; 1 in f32 (default: 1)"));
Text growthInterval("growth-interval", cl::value_desc("steps"), cl::cat(trainingFlags()),
                    cl::Hidden, cl::desc("Steps before a dynamic loss scale grows"));

} // namespace

bool readLossScale(Flags &) {
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

} // namespace zero::run
