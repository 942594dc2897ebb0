//===- RunIdentity.cpp - whether a checkpoint is of this run -----------------===//

#include "RunIdentity.h"

#include "zero/Runtime/InstructionSet.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/raw_ostream.h"

#include <charconv>

namespace zero {

using namespace training;

namespace {

llvm::StringRef nameOf(zrt::BucketClass category) {
  return category == zrt::BucketClass::Trainable ? "trainable"
         : category == zrt::BucketClass::Frozen  ? "frozen"
                                                 : "unused";
}

llvm::StringRef nameOf(zrt::ElementType type) {
  return type == zrt::ElementType::bf16 ? "bf16" : type == zrt::ElementType::f16 ? "f16" : "f32";
}

llvm::StringRef nameOf(zrt::OptimizerKind kind) {
  switch (kind) {
  case zrt::OptimizerKind::Sgd:
    return "sgd";
  case zrt::OptimizerKind::Adam:
    return "adam";
  case zrt::OptimizerKind::AdamW:
    return "adamw";
  case zrt::OptimizerKind::Lion:
    return "lion";
  }
  return "";
}

/// The fewest digits that read back as the same number.
std::string text(double value) {
  char digits[32];
  return {digits, std::to_chars(digits, std::end(digits), value).ptr};
}
std::string text(int64_t value) { return std::to_string(value); }

/// Rows of one rank in one micro-step.
int64_t microBatchOf(const zrt::Program &program) {
  for (const zrt::Segment &segment : program.segments)
    if (segment.role == zrt::SegmentRole::Step && segment.name == "micro_step" &&
        !segment.inputs.empty() && !segment.inputs.front().shape.empty())
      return segment.inputs.front().shape.front();
  return 1;
}

} // namespace

CheckpointManifest identify(const zrt::Program &program, const TrainOptions &options) {
  CheckpointManifest manifest;
  std::vector<std::string> types;
  for (const zrt::Bucket &bucket : program.buckets)
    for (const zrt::Slot &slot : bucket.slots) {
      manifest.parameters.push_back({slot.parameter, slot.shape, nameOf(bucket.bucketClass).str(),
                                     nameOf(bucket.type).str()});
      if (!llvm::is_contained(types, manifest.parameters.back().type))
        types.push_back(manifest.parameters.back().type);
    }
  // By name, not in the order of buckets, which another stage may have another way.
  llvm::sort(manifest.parameters, [](const auto &a, const auto &b) { return a.name < b.name; });
  llvm::sort(types);
  manifest.globalBatch = program.ranks * program.microSteps * microBatchOf(program);

  const zrt::OptimizerDesc &optimizer = program.optimizer;
  manifest.configuration = {
      {"ranks", text(program.ranks)},
      {"stage", text(program.stage)},
      {"accumulate", text(program.microSteps)},
      {"micro-batch", text(microBatchOf(program))},
      {"threads-per-rank", text(program.threadsPerRank)},
      {"instruction-set", std::string(zrt::nameOf(zrt::instructionSet()))},
      {"bucket-bytes", text(options.compile.bucketBytes)},
      {"reduce-every", options.compile.reduceEvery},
      {"grad-dtype", options.compile.gradDtype},
      {"types", llvm::join(types, " ")},
      {"optimizer", nameOf(optimizer.kind).str()},
      {"beta1", text(optimizer.beta1)},
      {"beta2", text(optimizer.beta2)},
      {"eps", text(optimizer.eps)},
      {"weight-decay", text(optimizer.weightDecay)},
      {"momentum", text(optimizer.momentum)},
      {"clip", text(optimizer.clip)},
      {"groups", options.compile.groups},
      {"loss-mean", options.compile.lossMean},
      {"lr", text(options.schedule.peak)},
      {"schedule", name(options.schedule.kind).str()},
      {"floor", text(options.schedule.floor)},
      {"warmup", text(options.schedule.warmup)},
  };
  if (!options.data.empty())
    manifest.configuration["steps"] = options.steps ? text(*options.steps) : "all";
  return manifest;
}

llvm::Error expectSameModel(llvm::StringRef path, const CheckpointManifest &there,
                            const CheckpointManifest &here) {
  auto differs = [&](const llvm::Twine &found) {
    return inputError(path, "expects a checkpoint of this model, got one " + found);
  };
  llvm::StringMap<const CheckpointManifest::Parameter *> stored;
  for (const CheckpointManifest::Parameter &parameter : there.parameters)
    stored[parameter.name] = &parameter;
  for (const CheckpointManifest::Parameter &parameter : here.parameters) {
    auto found = stored.find(parameter.name);
    std::string spelled = quoted(parameter.name);
    if (found == stored.end())
      return differs("without parameter " + spelled);
    const CheckpointManifest::Parameter &other = *found->second;
    if (other.shape != parameter.shape)
      return differs("where parameter " + spelled + " has shape " + shapeText(other.shape) +
                     ", here " + shapeText(parameter.shape));
    if (other.category != parameter.category)
      return differs("where parameter " + spelled + " is " + other.category + ", here " +
                     parameter.category);
    stored.erase(found);
  }
  for (const CheckpointManifest::Parameter &parameter : there.parameters)
    if (stored.contains(parameter.name))
      return differs("with parameter " + quoted(parameter.name) + ", which the model lacks");
  return llvm::Error::success();
}

llvm::Error expectSameBatch(llvm::StringRef path, const CheckpointManifest &there,
                            const zrt::Program &program) {
  int64_t rows = microBatchOf(program);
  int64_t here = program.ranks * program.microSteps * rows;
  if (here == there.globalBatch)
    return llvm::Error::success();
  return inputError(path, "expects the " + llvm::Twine(there.globalBatch) +
                              " samples a step of the checkpoint, got " + llvm::Twine(here) + " (" +
                              llvm::Twine(program.ranks) + " ranks x " +
                              llvm::Twine(program.microSteps) + " micro-steps x " +
                              llvm::Twine(rows) + " rows)");
}

llvm::Error expectSameOptimizer(llvm::StringRef path, const CheckpointManifest &there,
                                const CheckpointManifest &here) {
  auto kindIn = [](const CheckpointManifest &manifest) {
    auto found = manifest.configuration.find("optimizer");
    return found == manifest.configuration.end() ? std::string("none") : found->second;
  };
  if (kindIn(there) == kindIn(here))
    return llvm::Error::success();
  return inputError(path, "expects the optimizer of the checkpoint, " + kindIn(there) + ", got " +
                              kindIn(here));
}

std::string changesText(const CheckpointManifest &there, const CheckpointManifest &here) {
  std::string changes;
  for (const auto &[key, value] : here.configuration) {
    auto before = there.configuration.find(key);
    if (before != there.configuration.end() && before->second != value)
      changes += (changes.empty() ? ", with " : ", ") + key + " " + value + " (was " +
                 before->second + ")";
  }
  return changes;
}

} // namespace zero
