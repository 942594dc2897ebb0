//===- PrecisionFlags.cpp - types of weights, activations and gradients --===//
//
// The types that training computes and accumulates in.
//
//===----------------------------------------------------------------------===//

#include "FlagText.h"

namespace zero::run {

namespace {

Text dtype("dtype", cl::init("f32"), cl::value_desc("type"), cl::cat(modelFlags()),
           cl::desc("Type of weights and activations: f32 (default: f32)"));
Text gradDtype("grad-dtype", cl::init("f32"), cl::value_desc("type"), cl::cat(parallelFlags()),
               cl::desc("Type of accumulated gradients: f32 (default: f32)"));

} // namespace

bool readPrecision(Flags &) {
  return readOnly(dtype, "f32", {"bf16", "f16"}) && readOnly(gradDtype, "f32", {"bf16"});
}

} // namespace zero::run
