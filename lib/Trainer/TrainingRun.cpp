//===- TrainingRun.cpp - what all runs share --------------------------------===//

#include "zero/Trainer/TrainingRun.h"

#include "zero/Reference/Array.h"

namespace zero {

using namespace training;

TrainingRun::~TrainingRun() = default;

std::string TrainingRun::stepText() const {
  return "step " + std::to_string(taken + 1) + " of " + std::to_string(total);
}

int64_t TrainingRun::savedBytes() const {
  int64_t bytes = 0;
  for (const ParameterSpec &spec : parameters())
    bytes += reference::countElements(spec.shape) * static_cast<int64_t>(sizeof(float));
  return bytes;
}

llvm::Error TrainingRun::save(llvm::StringRef path) const {
  std::vector<TensorSpec> tensors;
  for (const ParameterSpec &spec : parameters())
    tensors.push_back({spec.name, DType::F32, spec.shape});
  return writeSafetensors(path, tensors, [&](size_t index, llvm::MutableArrayRef<uint8_t> bytes) {
    return readParameter(index,
                         {reinterpret_cast<float *>(bytes.data()), bytes.size() / sizeof(float)});
  });
}

llvm::Error TrainingRun::openBatches(const TrainOptions &options,
                                     llvm::ArrayRef<BatchArgument> arguments, int64_t ranks,
                                     int64_t microSteps) {
  if (options.data.empty() && options.steps == 0)
    return llvm::Error::success();
  llvm::Expected<std::unique_ptr<DataSet>> opened =
      openData(options.data, arguments, {ranks, microSteps, options.seed});
  if (!opened)
    return opened.takeError();
  data = std::move(*opened);
  for (const std::string &line : data->warnings())
    heard.push_back("warning: " + line);
  llvm::Expected<int64_t> steps = numberOfSteps(options.steps, data->steps(), options.data);
  if (!steps)
    return steps.takeError();
  total = *steps;
  return llvm::Error::success();
}

llvm::Error loadWeights(llvm::StringRef path, llvm::ArrayRef<ParameterSpec> parameters,
                        llvm::function_ref<llvm::Error(size_t, llvm::ArrayRef<float>)> set,
                        std::vector<std::string> &warnings) {
  llvm::Expected<std::unique_ptr<Safetensors>> file = openWeights(path);
  if (!file)
    return file.takeError();
  llvm::Expected<WeightMatch> match = matchWeights(**file, parameters);
  if (!match)
    return match.takeError();
  std::vector<float> values;
  for (size_t index = 0; index < parameters.size(); ++index) {
    const TensorInfo &tensor = *match->tensors[index];
    values.resize(static_cast<size_t>(tensor.elements));
    if (llvm::Error error = (*file)->readF32(tensor, values))
      return error;
    if (llvm::Error error = set(index, values))
      return error;
  }
  for (const std::string &line : match->warnings)
    warnings.push_back("warning: " + line);
  return llvm::Error::success();
}

llvm::Expected<int64_t> numberOfSteps(std::optional<int64_t> asked, std::optional<int64_t> inData,
                                      llvm::StringRef path) {
  if (!asked && !inData)
    return inputError(path,
                      "expects a number of steps (--steps) for data without an end, got none");
  if (asked && inData && *asked > *inData)
    return inputError(path, "expects data for " + llvm::Twine(*asked) + " steps (--steps), got " +
                                llvm::Twine(*inData));
  return asked ? *asked : *inData;
}

} // namespace zero
