//===- GoldenTest.cpp - the reference trainer against PyTorch in f64 -----------===//
//
// The golden runs hold a trace of the same training in f64 (test/Integration/golden).
// Differentiated by our passes and trained by plain loops, every loss and gradient norm
// must agree to 1e-9, and so must the final weights together: any difference in a
// formula would be larger by orders of magnitude.
//
//===----------------------------------------------------------------------===//

#include "TestSupport.h"

#include "zero/Dialect/Zero/Config.h"
#include "zero/Models/Models.h"
#include "zero/Passes/Passes.h"
#include "zero/Passes/Register.h"
#include "zero/Reference/ReferenceTrainer.h"
#include "zero/Training/Safetensors.h"
#include "zero/Training/Schedule.h"

#include "mlir/Pass/PassManager.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"

#include <cmath>
#include <cstring>

using namespace mlir;

namespace zero::reference {
namespace {

std::string folder(StringRef name) {
  return (ZERO_TEST_DATA_DIR "/Integration/golden/" + name + "/").str();
}

llvm::json::Value readJson(const std::string &path) {
  auto buffer = llvm::MemoryBuffer::getFile(path);
  if (!buffer)
    return nullptr;
  llvm::Expected<llvm::json::Value> value = llvm::json::parse((*buffer)->getBuffer());
  if (value)
    return *value;
  llvm::consumeError(value.takeError());
  return nullptr;
}

template <typename From, typename To>
void copyInto(ArrayRef<uint8_t> bytes, std::vector<To> &values) {
  values.resize(bytes.size() / sizeof(From));
  for (size_t k = 0; k < values.size(); ++k) {
    From value;
    std::memcpy(&value, bytes.data() + k * sizeof(From), sizeof(From));
    values[k] = static_cast<To>(value);
  }
}

std::unique_ptr<training::Safetensors> open(const std::string &path) {
  auto file = training::Safetensors::open(path);
  if (!file) {
    ADD_FAILURE() << llvm::toString(file.takeError());
    return nullptr;
  }
  return std::move(*file);
}

Array toArray(const training::Safetensors &file, const training::TensorInfo &tensor) {
  Array array;
  array.shape.assign(tensor.shape.begin(), tensor.shape.end());
  array.isFloat = training::isFloat(tensor.type);
  ArrayRef<uint8_t> bytes = file.bytes(tensor);
  if (tensor.type == training::DType::F32)
    copyInto<float>(bytes, array.f);
  else if (tensor.type == training::DType::F64)
    copyInto<double>(bytes, array.f);
  else
    copyInto<int32_t>(bytes, array.i);
  return array;
}

/// Element [step, microStep] of a batch tensor.
Array part(const Array &all, int64_t step, int64_t microStep) {
  Shape shape(ArrayRef<int64_t>(all.shape).drop_front(2));
  int64_t size = countElements(shape), begin = (step * all.shape[1] + microStep) * size;
  Array result(shape, all.isFloat);
  for (int64_t k = 0; k < size; ++k) {
    if (all.isFloat)
      result.f[k] = all.f[begin + k];
    else
      result.i[k] = all.i[begin + k];
  }
  return result;
}

class Golden : public ReferenceTest {
protected:
  Golden() {
    DialectRegistry registry;
    registerAllDialects(registry);
    context.appendDialectRegistry(registry);
  }

  OwningOpRef<ModuleOp> readModel(StringRef name) {
    auto buffer =
        llvm::MemoryBuffer::getFile(ZERO_TEST_DATA_DIR "/Integration/models/" + name + ".mlir");
    return buffer ? parse((*buffer)->getBuffer()) : nullptr;
  }
  OwningOpRef<ModuleOp> makeModel(StringRef name) {
    auto config = training::readModelConfig(folder(name) + "config.json");
    if (!config) {
      ADD_FAILURE() << llvm::toString(config.takeError());
      return nullptr;
    }
    auto module = models::buildModel(context, *config, {.seqLen = 32, .microBatch = std::nullopt});
    if (!module) {
      ADD_FAILURE() << llvm::toString(module.takeError());
      return nullptr;
    }
    return std::move(*module);
  }

  /// Trains `steps` steps (0: all) and compares; `batchNames` are the graph's arguments in order.
  void train(StringRef name, OwningOpRef<ModuleOp> module, ArrayRef<StringRef> batchNames,
             int64_t steps = 0, double tolerance = 1e-9);
};

void Golden::train(StringRef name, OwningOpRef<ModuleOp> module, ArrayRef<StringRef> batchNames,
                   int64_t steps, double tolerance) {
  ASSERT_TRUE(module) << messages;
  llvm::json::Value recipe = readJson(folder(name) + "training.json");
  llvm::json::Value trace = readJson(folder(name) + "trace_f64.json");
  ASSERT_TRUE(recipe.getAsObject() && trace.getAsArray());
  const llvm::json::Object &p = *recipe.getAsObject();
  auto number = [&](StringRef key) { return *p.getNumber(key); };
  int64_t microSteps = *p.getInteger("accum"), allSteps = *p.getInteger("steps");
  steps = steps ? steps : allSteps;

  ir::Config config;
  config.microSteps = microSteps;
  config.set(*module);
  PassManager passes(&context);
  CloseBatchPassOptions close;
  close.microBatch = *p.getInteger("batch");
  passes.addPass(createCloseBatchPass(close));
  passes.addPass(createAutodiffPass());
  ASSERT_TRUE(succeeded(passes.run(*module))) << messages;

  auto initial = open(folder(name) + "model.safetensors");
  auto batches = open(folder(name) + "batches.safetensors");
  auto final = open(folder(name) + "final_f64.safetensors");
  ASSERT_TRUE(initial && batches && final);
  Parameters parameters;
  for (const training::TensorInfo &tensor : initial->tensors())
    parameters[tensor.name] = toArray(*initial, tensor);
  SmallVector<Array> data;
  for (StringRef argument : batchNames) {
    ASSERT_TRUE(batches->find(argument)) << argument.str();
    data.push_back(toArray(*batches, *batches->find(argument)));
  }

  training::Schedule schedule{training::ScheduleKind::Cosine, number("lr"), *p.getInteger("warmup"),
                              allSteps};
  Optimizer optimizer{.kind = OptimizerKind::AdamW,
                      .beta1 = number("beta1"),
                      .beta2 = number("beta2"),
                      .eps = number("eps"),
                      .weightDecay = number("weight_decay"),
                      .clip = number("clip")};
  FailureOr<ReferenceTrainer> trainer =
      ReferenceTrainer::create(*module, std::move(parameters), optimizer,
                               [&](int64_t taken) { return schedule.rateAt(taken); });
  ASSERT_TRUE(succeeded(trainer)) << messages;

  for (int64_t step = 0; step < steps; ++step) {
    SmallVector<SmallVector<Array>> arguments(microSteps);
    for (int64_t a = 0; a < microSteps; ++a)
      for (const Array &all : data)
        arguments[a].push_back(part(all, step, a));
    FailureOr<StepResult> result = trainer->step(arguments);
    ASSERT_TRUE(succeeded(result)) << messages;
    const llvm::json::Object &row = *(*trace.getAsArray())[step].getAsObject();
    double loss = *row.getNumber("loss"), norm = *row.getNumber("grad_norm");
    EXPECT_NEAR(result->loss, loss, tolerance * loss) << "step " << step;
    EXPECT_NEAR(result->gradNorm, norm, tolerance * norm) << "step " << step;
    EXPECT_DOUBLE_EQ(result->learningRate, *row.getNumber("lr")) << "step " << step;
  }
  if (steps < allSteps)
    return;
  // The bias of attention keys does not matter to the loss: its gradient is rounding noise, which
  // Adam scales to full steps (README of the golden runs).
  double difference = 0.0, size = 0.0;
  for (const training::TensorInfo &tensor : final->tensors()) {
    Array expected = toArray(*final, tensor), actual = trainer->parameters().lookup(tensor.name);
    ASSERT_EQ(actual.f.size(), expected.f.size()) << tensor.name;
    if (StringRef(tensor.name).ends_with("attention.self.key.bias"))
      continue;
    size_t third = expected.f.size() / 3;
    bool keyBias = StringRef(tensor.name).ends_with("c_attn.bias");
    for (size_t k = 0; k < expected.f.size(); ++k) {
      if (keyBias && k / third == 1)
        continue;
      difference += std::pow(actual.f[k] - expected.f[k], 2);
      size += std::pow(expected.f[k], 2);
    }
  }
  EXPECT_LT(std::sqrt(difference / size), 1e-9);
}

TEST_F(Golden, tiny) { train("tiny", readModel("tiny"), {"tokens", "labels"}); }

TEST_F(Golden, mlp) { train("mlp", readModel("mlp"), {"x", "labels"}); }

// Few steps: plain loops are slow, and each formula is met in the first ones.
TEST_F(Golden, gpt2) { train("gpt2", makeModel("gpt2"), {"input_ids", "labels"}, 10); }

TEST_F(Golden, gpt2Accum4) {
  train("gpt2-accum4", makeModel("gpt2-accum4"), {"input_ids", "labels"}, 2);
}

// transformers forms sines and cosines in f32, also in its f64 runs; ours are exact.
TEST_F(Golden, llama) { train("llama", makeModel("llama"), {"input_ids", "labels"}, 6, 1e-8); }

TEST_F(Golden, bert) { train("bert", makeModel("bert"), {"input_ids", "labels"}, 6); }

TEST_F(Golden, bertAccum3) {
  train("bert-accum3", makeModel("bert-accum3"), {"input_ids", "labels"}, 2);
}

} // namespace
} // namespace zero::reference
