//===- DeepSpeedConfig.cpp - a recipe from a DeepSpeed configuration -----===//

#include "zero/Training/DeepSpeedConfig.h"

#include "DeepSpeedKeys.h"

#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/MemoryBuffer.h"

#include <cmath>
#include <limits>

namespace zero::training {
namespace {

constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
constexpr double kUnbounded = std::numeric_limits<double>::infinity();

/// Values by path. Remembers the first fault, so that reading is a list.
class Reader {
public:
  Reader(const DeepSpeedFile &file, DeepSpeedConfig &config) : file(file), config(config) {}

  llvm::Error read();

private:
  /// Null where a path leads nowhere, or to `null`.
  const llvm::json::Value *find(llvm::StringRef path) const {
    const llvm::json::Value *value = &file.document.root;
    while (value && !path.empty()) {
      llvm::StringRef name;
      std::tie(name, path) = path.split('.');
      const llvm::json::Object *object = value->getAsObject();
      value = object ? object->get(name) : nullptr;
    }
    return value && !value->getAsNull() ? value : nullptr;
  }
  bool isAuto(llvm::StringRef path) const {
    const llvm::json::Value *value = find(path);
    return value && value->getAsString() == "auto";
  }
  /// A value to be read: neither absent nor auto.
  const llvm::json::Value *get(llvm::StringRef path) const {
    return isAuto(path) ? nullptr : find(path);
  }

  void fail(llvm::StringRef path, const llvm::Twine &message) {
    if (!failure)
      failure.emplace(file.error(path, message));
  }
  void expect(llvm::StringRef path, const llvm::Twine &what, const llvm::json::Value &got) {
    fail(path, "expects " + quoted(path) + " to be " + what + ", got " + jsonText(got));
  }
  void warn(llvm::StringRef path, const llvm::Twine &reason) {
    config.warnings.push_back(notHonoured(file, path, reason));
  }

  void count(std::optional<int64_t> &into, llvm::StringRef path, int64_t least,
             int64_t most = kMost) {
    const llvm::json::Value *value = get(path);
    if (!value)
      return;
    std::optional<int64_t> number = value->getAsInteger();
    if (!number || *number < least || *number > most)
      return expect(path,
                    most == kMost
                        ? "an integer of at least " + llvm::Twine(least)
                        : "an integer between " + llvm::Twine(least) + " and " + llvm::Twine(most),
                    *value);
    into = *number;
  }
  /// Of at least 0, and below `bound` where there is one.
  void real(std::optional<double> &into, llvm::StringRef path, double bound = kUnbounded) {
    if (const llvm::json::Value *value = get(path))
      real(into, path, *value, bound);
  }
  void real(std::optional<double> &into, llvm::StringRef path, const llvm::json::Value &value,
            double bound) {
    std::optional<double> number = value.getAsNumber();
    if (!number || !std::isfinite(*number) || *number < 0.0 || *number >= bound)
      return expect(path, bound == 1.0 ? "a number in [0, 1)" : "a number of at least 0", value);
    into = *number;
  }
  void flag(std::optional<bool> &into, llvm::StringRef path) {
    const llvm::json::Value *value = get(path);
    if (!value)
      return;
    into = value->getAsBoolean();
    if (!into)
      expect(path, "true or false", *value);
  }
  std::optional<std::string> word(llvm::StringRef path) {
    const llvm::json::Value *value = get(path);
    if (!value)
      return std::nullopt;
    std::optional<llvm::StringRef> text = value->getAsString();
    if (!text)
      expect(path, "a string", *value);
    return text ? std::optional(text->str()) : std::nullopt;
  }
  /// An object whose keys are in the table; null where absent or wrong.
  const llvm::json::Object *section(llvm::StringRef path, llvm::ArrayRef<DeepSpeedKey> table) {
    const llvm::json::Value *value = get(path);
    const llvm::json::Object *object = value ? value->getAsObject() : nullptr;
    if (value && !object)
      expect(path, "an object", *value);
    if (!object || failure)
      return nullptr;
    if (llvm::Error error = checkKeys(file, path, *object, table, config.warnings))
      failure.emplace(std::move(error));
    return failure ? nullptr : object;
  }

  void readBatch();
  void readTypes();
  void readLossScale();
  void readOptimizer();
  void readAdam(DeepSpeedOptimizer &optimizer);
  void readScheduler();
  void readZero();
  void readBuckets();

  const DeepSpeedFile &file;
  DeepSpeedConfig &config;
  std::optional<llvm::Error> failure;
};

void Reader::readBatch() {
  count(config.trainBatch, "train_batch_size", 1);
  count(config.microBatch, "train_micro_batch_size_per_gpu", 1);
  count(config.accumulate, "gradient_accumulation_steps", 1);
  real(config.clip, "gradient_clipping");
}

void Reader::readTypes() {
  section("fp16", deepSpeedFp16Keys());
  flag(config.fp16, "fp16.enabled");
  if (find("bf16") && find("bfloat16"))
    fail("bfloat16", "expects one of 'bf16' and 'bfloat16', its old name, got both");
  std::string bf16 = find("bfloat16") ? "bfloat16" : "bf16";
  section(bf16, deepSpeedBf16Keys());
  flag(config.bf16, bf16 + ".enabled");
  if (config.fp16 == true && config.bf16 == true)
    fail("fp16.enabled", "expects one of 'fp16.enabled' and '" + bf16 + ".enabled', got both");
  if (config.fp16 == true)
    readLossScale();

  section("data_types", deepSpeedDataTypeKeys());
  if (std::optional<std::string> type = word("data_types.grad_accum_dtype")) {
    config.gradDtype = llvm::StringSwitch<std::string>(*type)
                           .Cases({"fp32", "float32"}, "f32")
                           .Cases({"bf16", "bfloat16"}, "bf16")
                           .Cases({"fp16", "float16"}, "f16")
                           .Default("");
    if (config.gradDtype->empty())
      expect("data_types.grad_accum_dtype", "fp32, fp16 or bf16",
             *find("data_types.grad_accum_dtype"));
  }
}

void Reader::readLossScale() {
  std::optional<double> fixed, minimum;
  std::optional<int64_t> power, window, hysteresis;
  std::optional<bool> consecutive;
  real(fixed, "fp16.loss_scale");
  count(power, "fp16.initial_scale_power", 0, 126); // an f32 holds them
  count(window, "fp16.loss_scale_window", 1);
  count(hysteresis, "fp16.hysteresis", 1);
  flag(consecutive, "fp16.consecutive_hysteresis");
  real(minimum, "fp16.min_loss_scale");
  LossScaleOptions &scale = config.lossScale.emplace();
  if (fixed.value_or(0.0) != 0.0) {
    if (*fixed < kLeastLossScale || *fixed > kMostLossScale)
      expect("fp16.loss_scale", "0 or between 2^-126 and 2^126", *find("fp16.loss_scale"));
    scale.initial = scale.minimum = *fixed;
    scale.growthInterval = 0;
    return;
  }
  scale.initial = std::ldexp(1.0, static_cast<int>(power.value_or(16)));
  scale.growthInterval = window.value_or(1000);
  scale.hysteresis = hysteresis.value_or(2);
  scale.consecutiveHysteresis = consecutive.value_or(false);
  scale.minimum = minimum.value_or(1.0);
  if (scale.minimum < kLeastLossScale || scale.minimum > scale.initial)
    expect("fp16.min_loss_scale",
           "at least 2^-126 and at most the initial scale, 2^" + llvm::Twine(power.value_or(16)),
           *find("fp16.min_loss_scale"));
}

void Reader::readOptimizer() {
  if (!section("optimizer", deepSpeedTypedKeys()))
    return;
  std::optional<std::string> type = word("optimizer.type");
  DeepSpeedOptimizer &optimizer = config.optimizer.emplace();
  optimizer.type = type.value_or("");
  // DeepSpeed takes its own in any case; SGD is torch.optim's, by its name.
  optimizer.name = llvm::StringSwitch<std::string>(optimizer.type)
                       .CaseLower("adam", "adamw")
                       .CaseLower("adamw", "adamw")
                       .CaseLower("lion", "lion")
                       .CaseLower("sgd", "sgd")
                       .Default("");
  if (optimizer.name.empty())
    return fail("optimizer.type", "expects 'optimizer.type' to be Adam, AdamW, SGD or Lion, got " +
                                      (type ? quoted(*type) : "none"));
  section("optimizer.params", deepSpeedOptimizerKeys(optimizer.name));
  const std::string params = "optimizer.params.";
  if (find(params + "max_grad_norm"))
    fail(params + "max_grad_norm", "expects 'gradient_clipping' in place of '" + params +
                                       "max_grad_norm', as DeepSpeed does");
  real(optimizer.lr, params + "lr");
  real(optimizer.eps, params + "eps");
  real(optimizer.weightDecay, params + "weight_decay");
  real(optimizer.momentum, params + "momentum");
  if (const llvm::json::Value *value = get(params + "betas")) {
    const llvm::json::Array *betas = value->getAsArray();
    if (!betas || betas->size() != 2)
      return expect(params + "betas", "two numbers", *value);
    real(optimizer.beta1, params + "betas", (*betas)[0], 1.0);
    real(optimizer.beta2, params + "betas", (*betas)[1], 1.0);
  }
  if (optimizer.name == "adamw")
    readAdam(optimizer);
  if (optimizer.name == "lion" && !find(params + "lr"))
    optimizer.defaultLr = 1e-4;
}

/// Adam is AdamW unless it says otherwise; AdamW always is.
void Reader::readAdam(DeepSpeedOptimizer &optimizer) {
  std::optional<bool> decoupled, torch;
  flag(decoupled, "optimizer.params.adam_w_mode");
  flag(torch, "optimizer.params.torch_adam");
  bool isAdam = llvm::StringRef(optimizer.type).equals_insensitive("adam");
  if (decoupled == false && isAdam)
    optimizer.name = "adam";
  else if (decoupled == false)
    warn("optimizer.params.adam_w_mode", "AdamW takes decay off the weights, in DeepSpeed too");
  // The constructors differ: torch.optim.AdamW decays unless told not to.
  if (torch == true && optimizer.name == "adamw" && !find("optimizer.params.weight_decay"))
    optimizer.defaultWeightDecay = 0.01;
}

void Reader::readScheduler() {
  if (!section("scheduler", deepSpeedTypedKeys()))
    return;
  std::optional<std::string> type = word("scheduler.type");
  llvm::ArrayRef<DeepSpeedKey> keys = deepSpeedSchedulerKeys(type.value_or(""));
  if (keys.empty())
    return fail("scheduler.type",
                "expects 'scheduler.type' to be WarmupLR, WarmupDecayLR or WarmupCosineLR, got " +
                    (type ? quoted(*type) : "none"));
  section("scheduler.params", keys);
  const std::string params = "scheduler.params.";
  DeepSpeedScheduler &scheduler = config.scheduler.emplace();
  scheduler.type = *type;
  scheduler.kind = *type == "WarmupLR"        ? ScheduleKind::Constant
                   : *type == "WarmupDecayLR" ? ScheduleKind::Linear
                                              : ScheduleKind::Cosine;
  bool isCosine = scheduler.kind == ScheduleKind::Cosine;
  if (std::optional<std::string> shape = word(params + "warmup_type")) {
    if (*shape != "log" && *shape != "linear")
      expect(params + "warmup_type", "log or linear", *find(params + "warmup_type"));
    if (*shape == "linear")
      scheduler.warmupKind = WarmupKind::DeepSpeedLinear;
  }
  count(scheduler.warmup, params + "warmup_num_steps", 0);
  if (!find(params + "warmup_num_steps"))
    scheduler.warmup = 1000;
  count(scheduler.totalSteps, params + "total_num_steps", 1);
  if (scheduler.kind != ScheduleKind::Constant && !find(params + "total_num_steps"))
    fail("scheduler.params", "expects '" + params + "total_num_steps', got none");
  if (scheduler.totalSteps && scheduler.warmup && *scheduler.totalSteps < *scheduler.warmup)
    fail(params + "total_num_steps",
         "expects '" + params + "total_num_steps' of at least '" + params + "warmup_num_steps', " +
             llvm::Twine(*scheduler.warmup) + ", got " + llvm::Twine(*scheduler.totalSteps));

  std::optional<double> start, floor;
  if (isCosine) {
    real(start, params + "warmup_min_ratio", 1.0);
    real(floor, params + "cos_min_ratio", 1.0);
    scheduler.floor = floor.value_or(1e-4);
  } else {
    real(start, params + "warmup_min_lr");
    real(scheduler.peak, params + "warmup_max_lr");
    if (!find(params + "warmup_max_lr"))
      scheduler.peak = 1e-3;
    scheduler.floor = start.value_or(0.0);
    if (scheduler.peak && scheduler.floor > *scheduler.peak)
      expect(params + "warmup_min_lr", "at most '" + params + "warmup_max_lr'",
             *find(params + "warmup_min_lr"));
  }
  scheduler.start = start.value_or(0.0);
  if (scheduler.peak && config.optimizer && config.optimizer->lr &&
      *config.optimizer->lr != *scheduler.peak)
    warn("optimizer.params.lr", "'" + params + "warmup_max_lr' sets the rate, in DeepSpeed too");
}

void Reader::readZero() {
  if (const llvm::json::Value *value = get("zero_optimization"); value && value->getAsBoolean()) {
    config.stage = *value->getAsBoolean() ? 1 : 0; // the spelling of DeepSpeed 0.2
    return;
  }
  if (!section("zero_optimization", deepSpeedZeroKeys()))
    return;
  count(config.stage, "zero_optimization.stage", 0, 3);
  if (!find("zero_optimization.stage"))
    config.stage = 0;
  for (llvm::StringRef name :
       {"zero_optimization.offload_param", "zero_optimization.offload_optimizer"}) {
    const llvm::json::Value *device = find((name + ".device").str());
    if (find(name) && !(device && device->getAsString() == "none"))
      warn(name, "states stay in the memory of their rank");
  }
  readBuckets();
}

/// A bucket has one size here, for its gradients and its weights.
void Reader::readBuckets() {
  const std::string reduceKey = "zero_optimization.reduce_bucket_size",
                    gatherKey = "zero_optimization.allgather_bucket_size";
  std::optional<int64_t> reduce, gather;
  count(reduce, reduceKey, 1, int64_t(1) << 48);
  count(gather, gatherKey, 1, int64_t(1) << 48);
  bool takesGather = gather && (!reduce || *gather < *reduce);
  config.bucketElements = takesGather ? gather : reduce;
  config.bucketKey = takesGather ? gatherKey : reduceKey;
  if (reduce && gather && *reduce != *gather)
    warn(takesGather ? reduceKey : gatherKey,
         "buckets have one size, the smaller one of '" + config.bucketKey + "'");
}

llvm::Error Reader::read() {
  const llvm::json::Object *root = file.document.root.getAsObject();
  if (!root)
    return file.error("", "expects a DeepSpeed configuration, an object, got " +
                              jsonText(file.document.root).substr(0, 40));
  if (llvm::Error error = checkKeys(file, "", *root, deepSpeedRootKeys(), config.warnings))
    return error;
  readBatch();
  readTypes();
  readOptimizer();
  readScheduler();
  readZero();
  return failure ? std::move(*failure) : llvm::Error::success();
}

} // namespace

Schedule DeepSpeedScheduler::schedule(double lr, int64_t warmupSteps, int64_t steps) const {
  Schedule schedule;
  schedule.kind = kind;
  schedule.warmupKind = warmupKind;
  schedule.peak = peak.value_or(lr);
  schedule.warmup = warmup.value_or(warmupSteps);
  schedule.totalSteps = totalSteps.value_or(steps);
  double unit = kind == ScheduleKind::Cosine ? schedule.peak : 1.0;
  schedule.start = start * unit;
  schedule.floor = floor * unit;
  return schedule;
}

llvm::Expected<BatchSizes> settleBatch(const DeepSpeedConfig &config, int64_t ranks,
                                       std::optional<int64_t> microBatch,
                                       std::optional<int64_t> accumulate) {
  std::optional<int64_t> micro = config.microBatch ? config.microBatch : microBatch;
  std::optional<int64_t> steps = config.accumulate ? config.accumulate : accumulate;
  if (!config.trainBatch)
    return BatchSizes{micro, steps.value_or(1)};
  int64_t batch = *config.trainBatch, known = 0;
  bool isWhole = micro && steps;
  bool overflow = llvm::MulOverflow(micro.value_or(1), steps.value_or(1), known) ||
                  llvm::MulOverflow(known, ranks, known);
  if (!overflow && batch % known == 0 && (!isWhole || batch == known))
    return BatchSizes{micro ? *micro : batch / known, steps ? *steps : micro ? batch / known : 1};
  std::string factors;
  if (micro)
    factors += std::to_string(*micro) + " rows · ";
  if (steps)
    factors += std::to_string(*steps) + " micro-steps · ";
  return inputError(config.path, "expects 'train_batch_size' to be " +
                                     llvm::Twine(isWhole ? "" : "a multiple of ") + factors +
                                     llvm::Twine(ranks) + " ranks, got " + llvm::Twine(batch));
}

llvm::Expected<DeepSpeedConfig> parseDeepSpeedConfig(llvm::StringRef text, llvm::StringRef path) {
  llvm::Expected<JsonDocument> document = parseJson(text, path, /*withPaths=*/true);
  if (!document)
    return document.takeError();
  DeepSpeedConfig config;
  config.path = path.str();
  if (llvm::Error error = Reader({text, path, *document}, config).read())
    return std::move(error);
  return config;
}

llvm::Expected<DeepSpeedConfig> readDeepSpeedConfig(llvm::StringRef path) {
  auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/false);
  if (!buffer)
    return inputError(path, "cannot read the file: " + buffer.getError().message());
  return parseDeepSpeedConfig((*buffer)->getBuffer(), path);
}

} // namespace zero::training
