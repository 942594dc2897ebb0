//===- TrainingRun.cpp - what all runs share --------------------------------===//

#include "zero/Trainer/TrainingRun.h"

#include "zero/Reference/Array.h"
#include "zero/Runtime/HalfFloat.h"
#include "zero/Trainer/Agreement.h"

#include "llvm/ADT/STLExtras.h"

#include <numeric>

namespace zero {

using namespace training;

TrainingRun::~TrainingRun() = default;

std::string TrainingRun::stepText() const {
  return "step " + std::to_string(run + 1) + " of " + std::to_string(total);
}

int64_t TrainingRun::savedBytes() const {
  int64_t bytes = 0;
  for (const ParameterSpec &spec : parameters())
    bytes += reference::countElements(spec.shape) * static_cast<int64_t>(sizeof(float));
  return bytes;
}

llvm::Error TrainingRun::save(llvm::StringRef path) const {
  return write(path, [](size_t) { return DType::F32; });
}

llvm::Error TrainingRun::exportTo(llvm::StringRef path, std::optional<DType> type) const {
  return write(path, [&](size_t index) { return type ? *type : typeOf(index); });
}

/// The types that weights are stored in.
static zrt::ElementType elementType(DType type) {
  return type == DType::BF16  ? zrt::ElementType::bf16
         : type == DType::F16 ? zrt::ElementType::f16
                              : zrt::ElementType::f32;
}

llvm::Error TrainingRun::write(llvm::StringRef path,
                               llvm::function_ref<DType(size_t index)> typeOf) const {
  std::vector<size_t> order(parameters().size());
  std::iota(order.begin(), order.end(), 0);
  llvm::sort(order,
             [&](size_t a, size_t b) { return parameters()[a].name < parameters()[b].name; });
  std::vector<TensorSpec> tensors;
  for (size_t index : order)
    tensors.push_back({parameters()[index].name, typeOf(index), parameters()[index].shape});
  // Ranks read every parameter together, in the order of the file: also where they don't write, or
  // rank 0 can't any more.
  size_t next = 0;
  std::vector<float> values;
  auto writeAll = [&] {
    return writeSafetensors(path, tensors, [&](size_t index, llvm::MutableArrayRef<uint8_t> bytes) {
      next = index + 1;
      values.resize(bytes.size() / static_cast<size_t>(byteSize(tensors[index].type)));
      llvm::Error error = readParameter(order[index], values);
      zrt::fromFloats(elementType(tensors[index].type), values.data(),
                      static_cast<int64_t>(values.size()), bytes.data());
      return error;
    });
  };
  llvm::Error outcome = !peers || peers->rank() == 0 ? writeAll() : llvm::Error::success();
  for (; peers && next < tensors.size(); ++next) {
    values.resize(static_cast<size_t>(reference::countElements(tensors[next].shape)));
    if (llvm::Error error = readParameter(order[next], values))
      return llvm::joinErrors(std::move(outcome), std::move(error));
  }
  return settle(peers.get(), std::move(outcome));
}

llvm::Error TrainingRun::openBatches(const TrainOptions &options,
                                     llvm::ArrayRef<BatchArgument> arguments, int64_t ranks,
                                     int64_t microSteps) {
  if (options.data.empty() && options.steps == 0) {
    total = run;
    return llvm::Error::success();
  }
  llvm::Expected<std::unique_ptr<DataSet>> opened =
      openData(options.data, arguments, {ranks, microSteps, options.seed});
  if (!opened)
    return opened.takeError();
  data = readAhead(std::move(*opened));
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
