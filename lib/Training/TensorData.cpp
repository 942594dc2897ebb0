//===- TensorData.cpp - batches from a tensor file ------------------------===//
//
// Where a tensor has the argument's element type and lies aligned, batches are
// addresses in the mapping. Others are converted into memory of their own, one
// step at a time, and only where no value changes: integers into integers that
// hold them, F16 and BF16 into f32.
//
//===----------------------------------------------------------------------===//

#include "Convert.h"
#include "DataSets.h"
#include "PageAdvice.h"

#include "llvm/ADT/STLExtras.h"

#include <cstring>
#include <limits>

namespace zero::training {
namespace {

bool isInteger(DType type) { return !isFloat(type) && type != DType::Bool; }

/// Calls `function(T())` with the C++ type of an integer element type.
template <typename Function> void withInteger(DType type, Function function) {
  switch (type) {
  case DType::U8:
    return function(uint8_t());
  case DType::I8:
    return function(int8_t());
  case DType::U16:
    return function(uint16_t());
  case DType::I16:
    return function(int16_t());
  case DType::U32:
    return function(uint32_t());
  case DType::I32:
    return function(int32_t());
  case DType::U64:
    return function(uint64_t());
  case DType::I64:
    return function(int64_t());
  default:
    return;
  }
}

template <typename T> T loadElement(const uint8_t *from, int64_t index) {
  T value;
  std::memcpy(&value, from + index * static_cast<int64_t>(sizeof(T)), sizeof(T));
  return value;
}

struct Source {
  BatchPlan plan;
  const TensorInfo *tensor = nullptr;
  const uint8_t *bytes = nullptr;
  int64_t stepElements = 0;
  bool mapped = false;
  BatchMemory memory;
  const char *current = nullptr; // micro-step 0 of the current step

  const uint8_t *stepBytes(int64_t step) const {
    return bytes + step * stepElements * byteSize(tensor->type);
  }
};

class TensorData final : public DataSet {
public:
  TensorData(std::shared_ptr<Safetensors> file, std::vector<Source> inputs, int64_t stepCount,
             const DataOptions &options)
      : file(std::move(file)), sources(std::move(inputs)), stepCount(stepCount) {
    int64_t bytes = 0;
    for (Source &source : sources) {
      source.memory = BatchMemory(source.plan, options, /*ownsBatches=*/!source.mapped);
      bytes += source.tensor->byteLength;
      if (source.plan.argument.role == BatchRole::Tokens && !stepTokens)
        stepTokens = source.stepElements;
    }
    checkOnOpen = bytes <= kCheckOnOpenBytes;
    for (const Source &source : sources)
      if (!checkOnOpen)
        advise(source.bytes, source.tensor->byteLength, PageAdvice::Sequential);
    for (const TensorInfo &tensor : this->file->tensors())
      if (llvm::none_of(sources, [&](const Source &source) { return source.tensor == &tensor; }))
        notes.push_back(this->file->path().str() + ": no argument of the model is named " +
                        quoted(tensor.name) + ", which is not read");
  }

  std::unique_ptr<DataSet> clone() const override { return std::make_unique<TensorData>(*this); }

  std::optional<int64_t> steps() const override { return stepCount; }

  llvm::Error checkAll() const {
    for (int64_t step = 0; checkOnOpen && step < stepCount; ++step)
      for (const Source &source : sources)
        if (llvm::Error error = checkStep(source, step))
          return error;
    return llvm::Error::success();
  }

  llvm::Error load(int64_t step) override {
    if (step < 0 || step >= stepCount)
      return inputError(file->path(), "expects a step below " + llvm::Twine(stepCount) +
                                          ", the number of steps in the file, got " +
                                          llvm::Twine(step));
    for (Source &source : sources) {
      if (!checkOnOpen)
        if (llvm::Error error = checkStep(source, step))
          return error;
      if (source.mapped) {
        source.current = reinterpret_cast<const char *>(source.stepBytes(step));
        touch(source.current, source.stepElements * byteSize(source.tensor->type));
      } else {
        convert(source, step);
        source.current = source.memory.batch(0);
      }
      source.memory.orderByRank(source.current);
    }
    return llvm::Error::success();
  }

  const void *batch(int64_t microStep, int64_t argument) const override {
    const Source &source = sources[argument];
    return source.current +
           microStep * source.plan.globalElements * byteSize(source.plan.argument.type);
  }
  const void *stepLabels(int64_t argument) const override {
    return sources[argument].memory.byRank();
  }

private:
  static void convert(Source &source, int64_t step) {
    const uint8_t *from = source.stepBytes(step);
    size_t count = static_cast<size_t>(source.stepElements);
    if (source.plan.argument.type == BatchType::F32) {
      convertToF32(source.tensor->type, from,
                   {reinterpret_cast<float *>(source.memory.batch(0)), count});
      return;
    }
    withInteger(source.tensor->type, [&]<typename T>(T) {
      for (int64_t i = 0; i < source.stepElements; ++i) {
        T value = loadElement<T>(from, i);
        if (source.plan.argument.type == BatchType::I32)
          reinterpret_cast<int32_t *>(source.memory.batch(0))[i] = static_cast<int32_t>(value);
        else
          reinterpret_cast<int64_t *>(source.memory.batch(0))[i] = static_cast<int64_t>(value);
      }
    });
  }

  /// Integers must fit the argument's type, and its bound where it has one.
  llvm::Error checkStep(const Source &source, int64_t step) const {
    const BatchArgument &argument = source.plan.argument;
    if (argument.type == BatchType::F32)
      return llvm::Error::success();
    bool narrow = argument.type == BatchType::I32;
    int64_t least = argument.bound ? 0 : narrow ? INT32_MIN : INT64_MIN;
    int64_t most = argument.bound ? *argument.bound - 1 : narrow ? INT32_MAX : INT64_MAX;
    int64_t ignore = argument.ignore.value_or(least);
    int64_t badIndex = -1;
    std::string badValue;
    withInteger(source.tensor->type, [&]<typename T>(T) {
      const uint8_t *from = source.stepBytes(step);
      for (int64_t i = 0; i < source.stepElements && badIndex < 0; ++i) {
        T value = loadElement<T>(from, i);
        bool fine = (std::cmp_greater_equal(value, least) && std::cmp_less_equal(value, most)) ||
                    std::cmp_equal(value, ignore);
        if (!fine) {
          badIndex = i;
          badValue = std::to_string(value);
        }
      }
    });
    if (badIndex < 0)
      return llvm::Error::success();
    // The place as an index into the tensor, last dimension first.
    std::vector<int64_t> index(source.tensor->shape.size());
    int64_t rest = badIndex;
    for (size_t d = index.size(); d-- > 1;) {
      index[d] = rest % source.tensor->shape[d];
      rest /= source.tensor->shape[d];
    }
    index[0] = step;
    std::string expected = argument.bound ? boundText(*argument.bound, argument.ignore)
                                          : "that fit " + name(argument.type).str();
    return inputError(file->path(), "expects values of " + quoted(argument.name) + " " + expected +
                                        ", got " + badValue + " at " + shapeText(index));
  }

  std::shared_ptr<Safetensors> file;
  std::vector<Source> sources;
  int64_t stepCount;
  bool checkOnOpen = true;
};

/// Whether a tensor's elements can become an argument's without changing any value.
bool converts(DType from, BatchType to) {
  if (to == BatchType::F32)
    return from == DType::F32 || from == DType::F16 || from == DType::BF16;
  return isInteger(from);
}

bool isSameType(DType from, BatchType to) {
  return (to == BatchType::F32 && from == DType::F32) ||
         (to == BatchType::I32 && from == DType::I32) ||
         (to == BatchType::I64 && from == DType::I64);
}

} // namespace

llvm::Expected<std::unique_ptr<DataSet>>
openTensorData(llvm::StringRef path, std::vector<BatchPlan> plans, const DataOptions &options) {
  llvm::Expected<std::unique_ptr<Safetensors>> file = Safetensors::open(path);
  if (!file)
    return file.takeError();
  std::vector<Source> sources;
  for (BatchPlan &plan : plans) {
    const BatchArgument &argument = plan.argument;
    const TensorInfo *tensor = (*file)->find(argument.name);
    if (!tensor)
      return inputError(path, "expects a tensor named " + quoted(argument.name) +
                                  " after the model's argument, got none");
    std::vector<int64_t> rest = {options.microSteps, argument.shape[0] * options.ranks};
    rest.insert(rest.end(), argument.shape.begin() + 1, argument.shape.end());
    if (tensor->shape.empty() || llvm::ArrayRef(tensor->shape).drop_front() != llvm::ArrayRef(rest))
      return inputError(path, "expects tensor " + quoted(argument.name) +
                                  " of [step, micro-step, global batch, …] to have shape [steps, " +
                                  llvm::StringRef(shapeText(rest)).drop_front() + ", got " +
                                  shapeText(tensor->shape));
    if (!converts(tensor->type, argument.type))
      return inputError(path, "expects tensor " + quoted(argument.name) + " to hold " +
                                  name(argument.type) + ", or a type that " + name(argument.type) +
                                  " can hold, got " + name(tensor->type));
    if (tensor->shape[0] < 1)
      return inputError(path, "expects at least one step, got tensor " + quoted(argument.name) +
                                  " of shape " + shapeText(tensor->shape));
    if (!sources.empty() && tensor->shape[0] != sources[0].tensor->shape[0])
      return inputError(path, "expects all arguments to have the same number of steps, got " +
                                  llvm::Twine(sources[0].tensor->shape[0]) + " of " +
                                  quoted(sources[0].tensor->name) + " and " +
                                  llvm::Twine(tensor->shape[0]) + " of " + quoted(tensor->name));
    Source source;
    source.tensor = tensor;
    source.bytes = (*file)->bytes(*tensor).data();
    source.stepElements = plan.globalElements * options.microSteps;
    source.mapped = isSameType(tensor->type, argument.type) &&
                    reinterpret_cast<uintptr_t>(source.bytes) %
                            static_cast<uintptr_t>(byteSize(argument.type)) ==
                        0;
    source.plan = std::move(plan);
    sources.push_back(std::move(source));
  }
  if (sources.empty())
    return inputError(path, "expects a model with at least one batch argument to feed, got none");
  int64_t stepCount = sources[0].tensor->shape[0];
  auto data =
      std::make_unique<TensorData>(std::move(*file), std::move(sources), stepCount, options);
  if (llvm::Error error = data->checkAll())
    return std::move(error);
  return std::move(data);
}

} // namespace zero::training
