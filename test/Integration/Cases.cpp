//===- Cases.cpp - read and run the golden cases ------------------------------===//

#include "Cases.h"

#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"

#include <cmath>
#include <cstring>

namespace zero::test {

using namespace training;

Compiler &sharedCompiler() {
  static Compiler *compiler = new Compiler(); // kernels outlive every session
  return *compiler;
}

static llvm::json::Value readJson(const std::string &path) {
  auto buffer = llvm::MemoryBuffer::getFile(path);
  if (!buffer)
    llvm::report_fatal_error(llvm::Twine("expects test data at ") + path);
  llvm::Expected<llvm::json::Value> value = llvm::json::parse((*buffer)->getBuffer());
  if (!value)
    llvm::report_fatal_error(value.takeError());
  return std::move(*value);
}

static Weights readWeights(const std::string &path) {
  llvm::Expected<std::unique_ptr<Safetensors>> file = Safetensors::open(path);
  if (!file)
    llvm::report_fatal_error(file.takeError());
  Weights weights;
  for (const TensorInfo &tensor : (*file)->tensors()) {
    std::vector<float> &values = weights[tensor.name];
    values.resize(static_cast<size_t>(tensor.elements));
    if (llvm::Error error = (*file)->readF32(tensor, values))
      llvm::report_fatal_error(std::move(error));
  }
  return weights;
}

static GoldenCase readCase(const std::string &name) {
  GoldenCase golden;
  golden.name = name;
  golden.folder = std::string(ZERO_TEST_DATA_DIR) + "/Integration/golden/" + name + "/";
  llvm::json::Value parsed = readJson(golden.folder + "training.json");
  const llvm::json::Object &recipe = *parsed.getAsObject();
  auto number = [&](llvm::StringRef key) { return recipe.getNumber(key).value_or(0.0); };
  golden.globalBatch = recipe.getInteger("batch").value();
  golden.sequence = recipe.getInteger("seq").value_or(0);
  golden.steps = recipe.getInteger("steps").value();
  CompileOptions &compile = golden.options.compile;
  compile.microSteps = recipe.getInteger("accum").value();
  compile.beta1 = number("beta1");
  compile.beta2 = number("beta2");
  compile.eps = number("eps");
  compile.weightDecay = number("weight_decay");
  compile.clip = number("clip");
  golden.options.schedule = {ScheduleKind::Cosine, number("lr"),
                             recipe.getInteger("warmup").value(), golden.steps};
  golden.options.weights = golden.folder + "model.safetensors";
  golden.options.data = golden.folder + "batches.safetensors";
  compile.dtype = recipe.getString("dtype").value_or("f32");
  if (std::optional<double> scale = recipe.getNumber("loss_scale"))
    golden.options.lossScale = {.initial = *scale,
                                .growthInterval = recipe.getInteger("growth_interval").value()};
  bool isTruth = compile.dtype == "f32";
  llvm::json::Value trace = readJson(golden.folder + (isTruth ? "trace_f64.json" : "trace.json"));
  for (const llvm::json::Value &value : *trace.getAsArray()) {
    const llvm::json::Object &step = *value.getAsObject();
    golden.truth.push_back({step.getNumber("loss").value(), step.getNumber("lr").value(),
                            step.getNumber("grad_norm").value_or(0.0),
                            step.getNumber("loss_scale").value_or(1.0),
                            step.getBoolean("skipped").value_or(false)});
  }
  if (isTruth)
    golden.final = readWeights(golden.folder + "final_f64.safetensors");
  return golden;
}

const GoldenCase &goldenCase(const std::string &name) {
  static std::map<std::string, GoldenCase> cases;
  auto found = cases.find(name);
  if (found == cases.end())
    found = cases.emplace(name, readCase(name)).first;
  return found->second;
}

ModelOptions GoldenCase::model(int64_t ranks) const {
  ModelOptions options;
  options.microBatch = globalBatch / ranks;
  if (name == "tiny" || name == "mlp") {
    options.path = std::string(ZERO_TEST_DATA_DIR) + "/Integration/models/" + name + ".mlir";
  } else {
    options.path = folder + "config.json";
    options.seqLen = sequence;
  }
  return options;
}

std::unique_ptr<Trainer> makeTrainer(const GoldenCase &golden, const Variant &run,
                                     std::string &error) {
  ModelOptions model = golden.model(run.ranks);
  auto module = readModel(sharedCompiler(), model);
  if (!module) {
    error = llvm::toString(module.takeError());
    return nullptr;
  }
  TrainOptions options = golden.options;
  options.compile.microBatch = model.microBatch;
  options.compile.ranks = run.ranks;
  options.compile.stage = run.stage;
  options.compile.bucketBytes = run.bucketBytes;
  options.compile.threadsPerRank = run.threadsPerRank;
  options.compile.reduceEvery = run.reduceEvery;
  options.compile.clean = run.clean;
  options.compile.evaluate = run.evaluates;
  if (run.evaluates)
    options.evalData = options.data;
  if (run.lr)
    options.schedule.peak = options.schedule.floor = *run.lr;
  if (!run.dtype.empty())
    options.compile.dtype = run.dtype;
  options.compile.keepF32 = run.keepF32;
  options.compile.gradDtype = run.gradDtype;
  options.compile.recompute = run.recompute;
  options.memoryBudget = run.memoryBudget;
  options.poison = run.poison;
  options.checkpoints = run.checkpoints;
  auto trainer = Trainer::create(sharedCompiler(), **module, options);
  if (!trainer) {
    error = llvm::toString(trainer.takeError());
    return nullptr;
  }
  return std::move(*trainer);
}

Weights weightsOf(const TrainingRun &run) {
  Weights weights;
  llvm::ArrayRef<ParameterSpec> specs = run.parameters();
  for (size_t i = 0; i < specs.size(); ++i) {
    int64_t elements = 1;
    for (int64_t extent : specs[i].shape)
      elements *= extent;
    std::vector<float> &values = weights[specs[i].name];
    values.resize(static_cast<size_t>(elements));
    if (llvm::Error error = run.readParameter(i, values))
      llvm::report_fatal_error(std::move(error));
  }
  return weights;
}

Outcome train(const GoldenCase &golden, const Variant &run) {
  Outcome outcome;
  std::unique_ptr<Trainer> trainer = makeTrainer(golden, run, outcome.error);
  if (!trainer)
    return outcome;
  outcome.report = trainer->report();
  int64_t steps = run.steps < 0 ? golden.steps : run.steps;
  for (int64_t step = 0; step < steps; ++step) {
    llvm::Expected<StepRecord> record = trainer->step();
    if (!record) {
      outcome.error = llvm::toString(record.takeError());
      return outcome;
    }
    outcome.records.push_back(*record);
  }
  outcome.weights = weightsOf(*trainer);
  return outcome;
}

/// Whether element `i` of a parameter of `size` elements belongs to a bias of attention keys.
static bool isKeyBias(llvm::StringRef name, size_t i, size_t size) {
  return name.ends_with("attention.self.key.bias") ||
         (name.ends_with("c_attn.bias") && i >= size / 3 && i < 2 * (size / 3));
}

double weightDistance(const Weights &a, const Weights &b) {
  double difference = 0.0, norm = 0.0;
  for (const auto &[name, truth] : b) {
    auto found = a.find(name);
    if (found == a.end() || found->second.size() != truth.size())
      return INFINITY;
    for (size_t i = 0; i < truth.size(); ++i) {
      if (isKeyBias(name, i, truth.size()))
        continue;
      double d = double(found->second[i]) - double(truth[i]);
      difference += d * d;
      norm += double(truth[i]) * double(truth[i]);
    }
  }
  return std::sqrt(difference / norm);
}

std::string firstDifference(const Weights &a, const Weights &b) {
  if (a.size() != b.size())
    return "number of parameters";
  for (const auto &[name, values] : a) {
    auto found = b.find(name);
    if (found == b.end() || found->second.size() != values.size() ||
        std::memcmp(found->second.data(), values.data(), values.size() * sizeof(float)) != 0)
      return name;
  }
  return "";
}

llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>> parseModel(const std::string &text) {
  auto module = sharedCompiler().parseText(text, "model.mlir");
  if (!module)
    return compilerError(sharedCompiler());
  return std::move(module);
}

} // namespace zero::test
