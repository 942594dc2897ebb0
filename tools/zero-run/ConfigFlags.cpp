//===- ConfigFlags.cpp - flags from a DeepSpeed configuration ------------===//
//
// What the file says is taken as if the command line had said it, so that one set of
// rules holds for both; a flag that says something else is refused. What no flag can
// say is filled in behind the flags.
//
//===----------------------------------------------------------------------===//

#include "FlagText.h"

#include "zero/Dialect/Zero/Groups.h"
#include "zero/Training/Sizes.h"

#include <charconv>

namespace zero::run {

using namespace training;

namespace {

Text config("config", cl::value_desc("ds.json"), cl::cat(trainingFlags()),
            cl::desc("A DeepSpeed configuration: batch sizes, types, optimizer, scheduler, "
                     "clipping, stage. Other flags say what it leaves open"));

cl::Option &flagNamed(llvm::StringRef name) { return *cl::getRegisteredOptions().lookup(name); }
bool isGiven(llvm::StringRef name) { return flagNamed(name).getNumOccurrences() > 0; }
std::string valueOf(llvm::StringRef name) { return static_cast<Text &>(flagNamed(name)); }

/// The shortest digits that read back as the number.
std::string digits(double value) {
  char text[32];
  return std::string(text, std::to_chars(text, std::end(text), value).ptr);
}

/// Whether a flag's text says the same as the file's.
bool isSame(llvm::StringRef flag, llvm::StringRef file) {
  if (flag == file)
    return true;
  auto number = [](llvm::StringRef text) -> std::optional<double> {
    llvm::Expected<double> value = parseFloat("", text, -std::numeric_limits<double>::max());
    llvm::Expected<int64_t> size = parseSize("", text);
    std::optional<double> found;
    if (value)
      found = *value;
    else if (size)
      found = static_cast<double>(*size);
    llvm::consumeError(value.takeError());
    llvm::consumeError(size.takeError());
    return found;
  };
  std::optional<double> left = number(flag), right = number(file);
  return left && right && *left == *right;
}

/// Collects what the file says of flags.
class Adoption {
public:
  explicit Adoption(const DeepSpeedConfig &config) : config(config) {}

  llvm::Error adoptAll() {
    adoptSizes();
    adoptTypes();
    adoptOptimizer();
    adoptScheduler();
    return wrong.empty() ? llvm::Error::success() : llvm::createStringError("error: " + wrong);
  }

private:
  void refuse(const llvm::Twine &message) {
    if (wrong.empty())
      wrong = message.str();
  }

  /// `found` says what the file has where that isn't `text`.
  void adopt(llvm::StringRef flag, llvm::StringRef key, const std::string &text,
             std::string found = "") {
    if (found.empty())
      found = text + " there";
    if (!isGiven(flag))
      adoptFlag(flagNamed(flag), text, config.path);
    else if (!isSame(valueOf(flag), text))
      refuse("expects --" + flag + " " + valueOf(flag) + " and " + quoted(key) + " of " +
             config.path + " to agree, got " + found);
  }
  void adopt(llvm::StringRef flag, llvm::StringRef key, std::optional<double> value) {
    if (value)
      adopt(flag, key, digits(*value));
  }
  void adopt(llvm::StringRef flag, llvm::StringRef key, std::optional<int64_t> value) {
    if (value)
      adopt(flag, key, std::to_string(*value));
  }

  void adoptSizes() {
    adopt("micro-batch", "train_micro_batch_size_per_gpu", config.microBatch);
    adopt("accumulate", "gradient_accumulation_steps", config.accumulate);
    adopt("clip", "gradient_clipping", config.clip);
    adopt("stage", "zero_optimization.stage", config.stage);
  }

  void adoptTypes() {
    const std::pair<std::optional<bool>, std::pair<const char *, const char *>> types[] = {
        {config.fp16, {"f16", "fp16.enabled"}}, {config.bf16, {"bf16", "bf16.enabled"}}};
    for (auto &[enabled, names] : types) {
      auto [type, key] = names;
      if (enabled == true)
        adopt("dtype", key, type, "true there");
      else if (enabled == false && isGiven("dtype") && valueOf("dtype") == type)
        refuse(llvm::Twine("expects --dtype ") + type + " and " + quoted(key) + " of " +
               config.path + " to agree, got false there");
    }
    if (config.gradDtype)
      adopt("grad-dtype", "data_types.grad_accum_dtype", *config.gradDtype);
    if (config.lossScale) {
      bool isFixed = config.lossScale->growthInterval == 0;
      if (!isGiven("loss-scale") || valueOf("loss-scale") != "dynamic" || isFixed)
        adopt("loss-scale", isFixed ? "fp16.loss_scale" : "fp16.initial_scale_power",
              std::optional(config.lossScale->initial));
      adopt("growth-interval", isFixed ? "fp16.loss_scale" : "fp16.loss_scale_window",
            std::optional(config.lossScale->growthInterval));
    }
    // DeepSpeed counts elements; weights have the type that was just settled.
    if (config.bucketElements) {
      int64_t bytes = valueOf("dtype") == "f32" ? 4 : 2;
      adopt("bucket-bytes", config.bucketKey, std::to_string(*config.bucketElements * bytes),
            std::to_string(*config.bucketElements) + " elements of " + std::to_string(bytes) +
                " bytes there");
    }
  }

  void adoptOptimizer() {
    if (!config.optimizer)
      return;
    const DeepSpeedOptimizer &optimizer = *config.optimizer;
    const std::string params = "optimizer.params.";
    adopt("optimizer", "optimizer.type", optimizer.name,
          optimizer.type + " there, which is " + optimizer.name);
    adopt("beta1", params + "betas", optimizer.beta1);
    adopt("beta2", params + "betas", optimizer.beta2);
    adopt("eps", params + "eps", optimizer.eps);
    adopt("momentum", params + "momentum", optimizer.momentum);
    adopt("weight-decay", params + "weight_decay", optimizer.weightDecay);
    if (!isGiven("weight-decay"))
      adopt("weight-decay", "optimizer.type", std::optional(optimizer.defaultWeightDecay));
    if (config.scheduler && config.scheduler->peak)
      return;
    adopt("lr", params + "lr", optimizer.lr);
    if (!isGiven("lr"))
      adopt("lr", "optimizer.type", std::optional(optimizer.defaultLr));
  }

  void adoptScheduler() {
    if (!config.scheduler)
      return;
    for (llvm::StringRef flag : {"schedule", "min-lr"})
      if (isGiven(flag))
        refuse("expects --" + flag + " only without a 'scheduler' in " + config.path);
    const std::string params = "scheduler.params.";
    adopt("schedule", "scheduler.type", name(config.scheduler->kind).str());
    adopt("lr", params + "warmup_max_lr", config.scheduler->peak);
    adopt("warmup", params + "warmup_num_steps", config.scheduler->warmup);
    adopt("schedule-steps", params + "total_num_steps", config.scheduler->totalSteps);
  }

  const DeepSpeedConfig &config;
  std::string wrong;
};

/// DeepSpeed decays every parameter: also those whose group doesn't say, and those of rank 1.
std::string decayAll(llvm::StringRef text, double weightDecay) {
  std::string all = "*:weight-decay=" + digits(weightDecay), problem;
  std::vector<ir::ParameterGroup> groups = *ir::parseGroups(text, problem);
  std::string result;
  for (const ir::ParameterGroup &group : groups)
    result += group.pattern + ":lr=" + digits(group.lrScale) +
              ",weight-decay=" + digits(group.weightDecay.value_or(weightDecay)) + ";";
  return result + all;
}

} // namespace

llvm::Error adoptConfig(Flags &flags) {
  if (!config.getNumOccurrences())
    return llvm::Error::success();
  llvm::Expected<DeepSpeedConfig> read = readDeepSpeedConfig(config);
  if (!read)
    return read.takeError();
  flags.config = std::move(*read);
  return Adoption(*flags.config).adoptAll();
}

void applyConfig(Flags &flags) {
  if (!flags.config)
    return;
  TrainOptions &train = flags.train;
  if (flags.config->lossScale)
    train.lossScale = flags.config->lossScale;
  if (flags.config->optimizer && train.compile.weightDecay != 0.0)
    train.compile.groups = decayAll(train.compile.groups, train.compile.weightDecay);
  Schedule &schedule = train.schedule;
  if (flags.config->scheduler)
    schedule =
        flags.config->scheduler->schedule(schedule.peak, schedule.warmup, schedule.totalSteps);
}

llvm::Error settleConfig(Flags &flags) {
  if (!flags.config)
    return llvm::Error::success();
  CompileOptions &compile = flags.train.compile;
  auto given = [](bool isGiven, int64_t value) {
    return isGiven ? std::optional(value) : std::nullopt;
  };
  llvm::Expected<BatchSizes> sizes = settleBatch(
      *flags.config, compile.ranks, given(flags.model.microBatch > 0, flags.model.microBatch),
      given(isGiven("accumulate"), compile.microSteps));
  if (!sizes)
    return sizes.takeError();
  compile.microSteps = sizes->accumulate;
  flags.model.microBatch = compile.microBatch = sizes->microBatch.value_or(0);
  if (compile.microBatch == 0 && llvm::StringRef(flags.model.path).ends_with(".json"))
    return llvm::createStringError("error: expects --micro-batch with a config.json");
  return llvm::Error::success();
}

} // namespace zero::run
