#include "zero/Training/DeepSpeedConfig.h"
#include "TestFiles.h"

namespace zero::training {
namespace {

DeepSpeedConfig parsed(const std::string &text) {
  return unwrap(parseDeepSpeedConfig(text, "ds.json"));
}
std::string refused(const std::string &text) {
  return errorOf(parseDeepSpeedConfig(text, "ds.json"));
}
std::vector<std::string> warned(const std::string &text) { return parsed(text).warnings; }

TEST(DeepSpeedConfig, NothingSaysNothing) {
  DeepSpeedConfig config = parsed("{}");
  EXPECT_FALSE(config.trainBatch || config.microBatch || config.accumulate || config.fp16 ||
               config.bf16 || config.gradDtype || config.lossScale || config.optimizer ||
               config.scheduler || config.clip || config.stage || config.bucketElements);
  EXPECT_TRUE(config.warnings.empty());
}

// The file that Hugging Face's documentation gives: what its trainer fills stays open.
TEST(DeepSpeedConfig, AutoLeavesValuesOpen) {
  DeepSpeedConfig config = parsed(R"({
    "fp16": {"enabled": "auto", "loss_scale": 0, "loss_scale_window": 1000,
             "initial_scale_power": 16, "hysteresis": 2, "min_loss_scale": 1},
    "optimizer": {"type": "AdamW", "params": {"lr": "auto", "betas": "auto", "eps": "auto",
                                              "weight_decay": "auto"}},
    "scheduler": {"type": "WarmupDecayLR", "params": {
        "last_batch_iteration": -1, "total_num_steps": "auto", "warmup_min_lr": "auto",
        "warmup_max_lr": "auto", "warmup_num_steps": "auto"}},
    "zero_optimization": {"stage": 3, "overlap_comm": true, "contiguous_gradients": true,
                          "reduce_bucket_size": "auto", "allgather_partitions": true,
                          "stage3_gather_16bit_weights_on_model_save": true},
    "gradient_accumulation_steps": "auto", "gradient_clipping": "auto",
    "train_batch_size": "auto", "train_micro_batch_size_per_gpu": "auto",
    "wall_clock_breakdown": false
  })");
  EXPECT_FALSE(config.trainBatch || config.microBatch || config.accumulate || config.fp16 ||
               config.lossScale || config.clip || config.bucketElements);
  ASSERT_TRUE(config.optimizer && config.scheduler);
  EXPECT_EQ(config.optimizer->name, "adamw");
  EXPECT_FALSE(config.optimizer->lr || config.optimizer->beta1 || config.optimizer->eps ||
               config.optimizer->weightDecay);
  EXPECT_FALSE(config.scheduler->peak || config.scheduler->warmup || config.scheduler->totalSteps);
  EXPECT_EQ(config.stage, 3);
  EXPECT_EQ(config.warnings, std::vector<std::string>());
}

TEST(DeepSpeedConfig, ReadsEveryPart) {
  DeepSpeedConfig config = parsed(R"({
    "train_batch_size": 48, "train_micro_batch_size_per_gpu": 4, "gradient_accumulation_steps": 3,
    "bf16": {"enabled": true}, "data_types": {"grad_accum_dtype": "fp32"},
    "gradient_clipping": 0.5,
    "optimizer": {"type": "Adam", "params": {"lr": 3e-4, "betas": [0.8, 0.95], "eps": 1e-6,
                                             "weight_decay": 0.01, "torch_adam": true}},
    "zero_optimization": {"stage": 2, "reduce_bucket_size": 5e8, "allgather_bucket_size": 500000000}
  })");
  EXPECT_EQ(config.trainBatch, 48);
  EXPECT_EQ(config.microBatch, 4);
  EXPECT_EQ(config.accumulate, 3);
  EXPECT_EQ(config.bf16, true);
  EXPECT_EQ(config.gradDtype, "f32");
  EXPECT_EQ(config.clip, 0.5);
  EXPECT_EQ(config.optimizer->name, "adamw");
  EXPECT_EQ(config.optimizer->lr, 3e-4);
  EXPECT_EQ(config.optimizer->beta1, 0.8);
  EXPECT_EQ(config.optimizer->beta2, 0.95);
  EXPECT_EQ(config.optimizer->eps, 1e-6);
  EXPECT_EQ(config.optimizer->weightDecay, 0.01);
  EXPECT_EQ(config.stage, 2);
  EXPECT_EQ(config.bucketElements, 500000000);
  EXPECT_TRUE(config.warnings.empty());
}

std::string optimizerOf(const std::string &type, const std::string &params) {
  return parsed(R"({"optimizer":{"type":")" + type + R"(","params":{)" + params + "}}}")
      .optimizer->name;
}

TEST(DeepSpeedConfig, AdamIsAdamWUnlessItSaysOtherwise) {
  EXPECT_EQ(optimizerOf("Adam", ""), "adamw");
  EXPECT_EQ(optimizerOf("Adam", R"("adam_w_mode":true)"), "adamw");
  EXPECT_EQ(optimizerOf("Adam", R"("adam_w_mode":false)"), "adam");
  EXPECT_EQ(optimizerOf("adam", R"("adam_w_mode":false,"torch_adam":true)"), "adam");
  EXPECT_EQ(optimizerOf("AdamW", R"("adam_w_mode":false)"), "adamw");
  EXPECT_EQ(
      warned(R"({"optimizer":{"type":"AdamW","params":{"adam_w_mode":false}}})"),
      (std::vector<std::string>{"warning: ds.json: 'optimizer.params.adam_w_mode' is not honoured: "
                                "AdamW takes decay off the weights, in DeepSpeed too"}));
}

// torch.optim.AdamW decays by 0.01, DeepSpeed's own by nothing; Lion's constructor begins at 1e-4.
TEST(DeepSpeedConfig, DefaultsAreThoseOfTheConstructors) {
  auto optimizer = [](const std::string &text) {
    return *parsed(R"({"optimizer":)" + text + "}").optimizer;
  };
  EXPECT_EQ(optimizer(R"({"type":"AdamW","params":{"torch_adam":true}})").defaultWeightDecay, 0.01);
  EXPECT_EQ(optimizer(R"({"type":"Adam","params":{"torch_adam":true,"adam_w_mode":false}})")
                .defaultWeightDecay,
            0.0);
  EXPECT_EQ(optimizer(R"({"type":"AdamW"})").defaultWeightDecay, 0.0);
  EXPECT_EQ(optimizer(R"({"type":"AdamW"})").defaultLr, 1e-3);
  EXPECT_EQ(optimizer(R"({"type":"Lion"})").defaultLr, 1e-4);
  EXPECT_EQ(optimizer(R"({"type":"SGD","params":{"momentum":0.9}})").momentum, 0.9);
}

// 2^16 and a thousand steps, with one overflow forgiven, are what DeepSpeed begins with.
TEST(DeepSpeedConfig, LossScales) {
  LossScaleOptions scale = *parsed(R"({"fp16":{"enabled":true}})").lossScale;
  EXPECT_EQ(scale.initial, 65536.0);
  EXPECT_EQ(scale.growthInterval, 1000);
  EXPECT_EQ(scale.hysteresis, 2);
  EXPECT_EQ(scale.minimum, 1.0);
  EXPECT_FALSE(scale.consecutiveHysteresis);
  scale = *parsed(R"({"fp16":{"enabled":true,"initial_scale_power":32,"loss_scale_window":10,
      "hysteresis":1,"consecutive_hysteresis":true,"min_loss_scale":0.5,"loss_scale":0}})")
               .lossScale;
  EXPECT_EQ(scale.initial, 4294967296.0);
  EXPECT_EQ(scale.growthInterval, 10);
  EXPECT_EQ(scale.hysteresis, 1);
  EXPECT_TRUE(scale.consecutiveHysteresis);
  EXPECT_EQ(scale.minimum, 0.5);
  scale = *parsed(R"({"fp16":{"enabled":true,"loss_scale":128}})").lossScale;
  EXPECT_EQ(scale.initial, 128.0);
  EXPECT_EQ(scale.growthInterval, 0);
  EXPECT_FALSE(parsed(R"({"fp16":{"enabled":false,"loss_scale":128}})").lossScale);
}

TEST(DeepSpeedConfig, Schedulers) {
  auto scheduler = [](const std::string &type, const std::string &params) {
    return *parsed(R"({"scheduler":{"type":")" + type + R"(","params":{)" + params + "}}}")
                .scheduler;
  };
  // The defaults of WarmupLR: 0 to 0.001 along a logarithm, in 1000 steps.
  Schedule schedule = scheduler("WarmupLR", "").schedule(5.0, 7, 99);
  EXPECT_EQ(schedule.kind, ScheduleKind::Constant);
  EXPECT_EQ(schedule.warmupKind, WarmupKind::DeepSpeedLog);
  EXPECT_EQ(schedule.peak, 1e-3);
  EXPECT_EQ(schedule.warmup, 1000);
  EXPECT_EQ(schedule.start, 0.0);
  // What is auto comes from elsewhere: rate, warm-up and number of steps.
  schedule = scheduler("WarmupDecayLR", R"("warmup_min_lr":1.0,"warmup_max_lr":"auto",
      "warmup_num_steps":"auto","total_num_steps":"auto","warmup_type":"linear")")
                 .schedule(5.0, 7, 99);
  EXPECT_EQ(schedule.kind, ScheduleKind::Linear);
  EXPECT_EQ(schedule.warmupKind, WarmupKind::DeepSpeedLinear);
  EXPECT_EQ(schedule.peak, 5.0);
  EXPECT_EQ(schedule.warmup, 7);
  EXPECT_EQ(schedule.totalSteps, 99);
  EXPECT_EQ(schedule.start, 1.0);
  EXPECT_EQ(schedule.floor, 1.0);
  // Ratios are of the optimizer's rate.
  schedule = scheduler("WarmupCosineLR", R"("warmup_min_ratio":0.25,"cos_min_ratio":0.5,
      "warmup_num_steps":3,"total_num_steps":30)")
                 .schedule(8.0, 7, 99);
  EXPECT_EQ(schedule.kind, ScheduleKind::Cosine);
  EXPECT_EQ(schedule.peak, 8.0);
  EXPECT_EQ(schedule.start, 2.0);
  EXPECT_EQ(schedule.floor, 4.0);
  EXPECT_EQ(schedule.warmup, 3);
  EXPECT_EQ(schedule.totalSteps, 30);
  EXPECT_EQ(scheduler("WarmupCosineLR", R"("total_num_steps":2000)").schedule(8, 0, 0).floor, 8e-4);
  EXPECT_EQ(warned(R"({"optimizer":{"type":"Lion","params":{"lr":1}},
                       "scheduler":{"type":"WarmupLR","params":{"warmup_max_lr":2}}})"),
            (std::vector<std::string>{"warning: ds.json: 'optimizer.params.lr' is not honoured: "
                                      "'scheduler.params.warmup_max_lr' sets the rate, in "
                                      "DeepSpeed too"}));
}

TEST(DeepSpeedConfig, BucketsHaveTheSmallerSize) {
  DeepSpeedConfig config =
      parsed(R"({"zero_optimization":{"reduce_bucket_size":200,"allgather_bucket_size":100}})");
  EXPECT_EQ(config.bucketElements, 100);
  EXPECT_EQ(config.bucketKey, "zero_optimization.allgather_bucket_size");
  EXPECT_EQ(config.stage, 0);
  EXPECT_EQ(config.warnings,
            (std::vector<std::string>{
                "warning: ds.json: 'zero_optimization.reduce_bucket_size' is not honoured: buckets "
                "have one "
                "size, the smaller one of 'zero_optimization.allgather_bucket_size'"}));
  EXPECT_EQ(parsed(R"({"zero_optimization":true})").stage, 1);
}

// In the order of the tables, whatever that of the file.
TEST(DeepSpeedConfig, ListsWhatItCannotHonour) {
  EXPECT_EQ(
      warned(R"({"zero_optimization":{"stage3_max_live_parameters":1e9,"contiguous_gradients":false,
                   "offload_optimizer":{"device":"cpu"},"offload_param":{"device":"none"},
                   "round_robin_gradients":false},
                 "tensorboard":{"enabled":true},"wandb":{"enabled":false},
                 "steps_per_print":2000,"prescale_gradients":true,"amp":{"enabled":false},
                 "gradient_predivide_factor":1.0,
                 "optimizer":{"type":"SGD","params":{"nesterov":true,"dampening":0}}})"),
      (std::vector<std::string>{
          "warning: ds.json: 'prescale_gradients' is not honoured: gradients are divided once, in "
          "f32",
          "warning: ds.json: 'steps_per_print' is not honoured: progress is told every step",
          "warning: ds.json: 'tensorboard' is not honoured: the log of a run is --log",
          "warning: ds.json: 'optimizer.params.nesterov' is not honoured: momentum is the plain "
          "one",
          "warning: ds.json: 'zero_optimization.contiguous_gradients' is not honoured: gradients "
          "always lie "
          "in buckets",
          "warning: ds.json: 'zero_optimization.stage3_max_live_parameters' is not honoured: "
          "gathers and "
          "their lifetimes follow from the model",
          "warning: ds.json: 'zero_optimization.offload_optimizer' is not honoured: states stay in "
          "the "
          "memory of their rank"}));
}

TEST(DeepSpeedConfig, RefusesMisspeltKeys) {
  EXPECT_EQ(refused("{\n  \"train_bacth_size\": 8\n}"),
            "ds.json:2:3: error: expects a key that DeepSpeed has, got 'train_bacth_size'; did you "
            "mean 'train_batch_size'?");
  EXPECT_EQ(refused(R"({"zero_optimization":{"stage":1,"reduce_bucket_sise":5}})"),
            "ds.json:1:33: error: expects a key that DeepSpeed has, got "
            "'zero_optimization.reduce_bucket_sise'; did you mean "
            "'zero_optimization.reduce_bucket_size'?");
  EXPECT_EQ(refused(R"({"fp16":{"enable":true}})"),
            "ds.json:1:10: error: expects a key that DeepSpeed has, got 'fp16.enable'; did you "
            "mean 'fp16.enabled'?");
  EXPECT_EQ(refused(R"({"optimizer":{"type":"Lion","params":{"eps":1}}})"),
            "ds.json:1:39: error: expects a key that DeepSpeed has, got "
            "'optimizer.params.eps'");
  EXPECT_EQ(refused(R"({"frobnication":1,"zzz":2})"),
            "ds.json:1:2: error: expects a key that DeepSpeed has, got 'frobnication'");
}

TEST(DeepSpeedConfig, RefusesWhatIsWrong) {
  EXPECT_EQ(refused("[]"), "ds.json: error: expects a DeepSpeed configuration, an object, got []");
  EXPECT_EQ(refused(R"({"train_batch_size":0})"),
            "ds.json:1:2: error: expects 'train_batch_size' to be an integer of at least 1, got 0");
  EXPECT_EQ(refused(R"({"train_batch_size":2.5})"),
            "ds.json:1:2: error: expects 'train_batch_size' to be an integer of at least 1, got "
            "2.5");
  EXPECT_EQ(refused(R"({"gradient_clipping":"1"})"),
            "ds.json:1:2: error: expects 'gradient_clipping' to be a number of at least 0, got "
            "\"1\"");
  EXPECT_EQ(refused(R"({"fp16":true})"),
            "ds.json:1:2: error: expects 'fp16' to be an object, got true");
  EXPECT_EQ(refused(R"({"fp16":{"enabled":1}})"),
            "ds.json:1:10: error: expects 'fp16.enabled' to be true or false, got 1");
  EXPECT_EQ(refused(R"({"zero_optimization":{"stage":4}})"),
            "ds.json:1:23: error: expects 'zero_optimization.stage' to be an integer between 0 and "
            "3, got 4");
  EXPECT_EQ(refused(R"({"optimizer":{"type":"Lamb"}})"),
            "ds.json:1:15: error: expects 'optimizer.type' to be Adam, AdamW, SGD or Lion, got "
            "'Lamb'");
  EXPECT_EQ(refused(R"({"optimizer":{"params":{}}})"),
            "ds.json: error: expects 'optimizer.type' to be Adam, AdamW, SGD or Lion, got none");
  EXPECT_EQ(refused(R"({"optimizer":{"type":"Adam","params":{"betas":[0.9]}}})"),
            "ds.json:1:39: error: expects 'optimizer.params.betas' to be two numbers, got [0.9]");
  EXPECT_EQ(refused(R"({"optimizer":{"type":"Adam","params":{"betas":[0.9,1]}}})"),
            "ds.json:1:39: error: expects 'optimizer.params.betas' to be a number in [0, 1), got "
            "1");
  EXPECT_EQ(refused(R"({"optimizer":{"type":"Adam","params":{"max_grad_norm":1}}})"),
            "ds.json:1:39: error: expects 'gradient_clipping' in place of "
            "'optimizer.params.max_grad_norm', as DeepSpeed does");
  EXPECT_EQ(refused(R"({"scheduler":{"type":"OneCycle"}})"),
            "ds.json:1:15: error: expects 'scheduler.type' to be WarmupLR, WarmupDecayLR or "
            "WarmupCosineLR, got 'OneCycle'");
  EXPECT_EQ(refused(R"({"scheduler":{"type":"WarmupLR","params":{"warmup_type":"cubic"}}})"),
            "ds.json:1:43: error: expects 'scheduler.params.warmup_type' to be log or linear, got "
            "\"cubic\"");
  EXPECT_EQ(refused(R"({"data_types":{"grad_accum_dtype":"int8"}})"),
            "ds.json:1:16: error: expects 'data_types.grad_accum_dtype' to be fp32, fp16 or bf16, "
            "got \"int8\"");
  EXPECT_EQ(refused("{\"train_batch_size\":8,}"),
            "ds.json:1:23: error: expects JSON: Expected object key");
  EXPECT_EQ(errorOf(readDeepSpeedConfig("/nowhere/ds.json")),
            "/nowhere/ds.json: error: cannot read the file: No such file or directory");
}

TEST(DeepSpeedConfig, RefusesWhatContradictsItself) {
  EXPECT_EQ(refused(R"({"bf16":{"enabled":true},"fp16":{"enabled":true}})"),
            "ds.json:1:34: error: expects one of 'fp16.enabled' and 'bf16.enabled', got both");
  EXPECT_EQ(refused(R"({"bf16":{},"bfloat16":{}})"),
            "ds.json:1:12: error: expects one of 'bf16' and 'bfloat16', its old name, got both");
  EXPECT_EQ(
      refused(R"({"fp16":{"enabled":true,"initial_scale_power":4,"min_loss_scale":32}})"),
      "ds.json:1:49: error: expects 'fp16.min_loss_scale' to be at least 2^-126 and at most the "
      "initial scale, 2^4, got 32");
  EXPECT_EQ(
      refused(R"({"fp16":{"enabled":true,"loss_scale":1e39}})"),
      "ds.json:1:25: error: expects 'fp16.loss_scale' to be 0 or between 2^-126 and 2^126, got "
      "1e+39");
  EXPECT_EQ(refused(R"({"scheduler":{"type":"WarmupDecayLR","params":{"total_num_steps":5}}})"),
            "ds.json:1:48: error: expects 'scheduler.params.total_num_steps' of at least "
            "'scheduler.params.warmup_num_steps', 1000, got 5");
  EXPECT_EQ(refused(R"({"scheduler":{"type":"WarmupCosineLR"}})"),
            "ds.json: error: expects 'scheduler.params.total_num_steps', got none");
  EXPECT_EQ(refused(R"({"scheduler":{"type":"WarmupLR","params":{"warmup_min_lr":0.1}}})"),
            "ds.json:1:43: error: expects 'scheduler.params.warmup_min_lr' to be at most "
            "'scheduler.params.warmup_max_lr', got 0.1");
}

TEST(DeepSpeedConfig, TwoBatchSizesGiveTheThird) {
  auto settle = [](const std::string &text, int64_t ranks, std::optional<int64_t> micro = {},
                   std::optional<int64_t> steps = {}) {
    BatchSizes sizes = unwrap(settleBatch(parsed(text), ranks, micro, steps));
    return std::pair(sizes.microBatch.value_or(0), sizes.accumulate);
  };
  using Sizes = std::pair<int64_t, int64_t>;
  const std::string b = R"("train_batch_size":24)", m = R"("train_micro_batch_size_per_gpu":4)",
                    a = R"("gradient_accumulation_steps":3)";
  EXPECT_EQ(settle("{" + b + "," + m + "}", 2), Sizes(4, 3));
  EXPECT_EQ(settle("{" + b + "," + a + "}", 2), Sizes(4, 3));
  EXPECT_EQ(settle("{" + m + "," + a + "}", 5), Sizes(4, 3));
  EXPECT_EQ(settle("{" + b + "," + m + "," + a + "}", 2), Sizes(4, 3));
  EXPECT_EQ(settle("{" + b + "}", 2), Sizes(12, 1));
  EXPECT_EQ(settle("{" + m + "}", 2), Sizes(4, 1));
  EXPECT_EQ(settle("{" + a + "}", 2), Sizes(0, 3));
  // The command line gives what the file leaves open.
  EXPECT_EQ(settle("{" + b + "}", 2, 4), Sizes(4, 3));
  EXPECT_EQ(settle("{" + b + "}", 2, {}, 3), Sizes(4, 3));
  EXPECT_EQ(settle("{" + a + "}", 2, 8), Sizes(8, 3));
}

TEST(DeepSpeedConfig, BatchSizesThatDoNotFitAreTold) {
  auto refusedBatch = [](const std::string &text, int64_t ranks) {
    return errorOf(settleBatch(parsed(text), ranks, {}, {}));
  };
  const std::string b = R"("train_batch_size":32)", m = R"("train_micro_batch_size_per_gpu":5)",
                    a = R"("gradient_accumulation_steps":3)";
  EXPECT_EQ(refusedBatch("{" + b + "," + m + "," + a + "}", 2),
            "ds.json: error: expects 'train_batch_size' to be 5 rows · 3 micro-steps · 2 ranks, "
            "got 32");
  EXPECT_EQ(refusedBatch("{" + b + "," + m + "}", 2),
            "ds.json: error: expects 'train_batch_size' to be a multiple of 5 rows · 2 ranks, got "
            "32");
  EXPECT_EQ(refusedBatch("{" + b + "," + a + "}", 2),
            "ds.json: error: expects 'train_batch_size' to be a multiple of 3 micro-steps · 2 "
            "ranks, got 32");
  EXPECT_EQ(refusedBatch("{" + b + "}", 3),
            "ds.json: error: expects 'train_batch_size' to be a multiple of 3 ranks, got 32");
  EXPECT_EQ(refusedBatch(R"({"train_batch_size":1,"train_micro_batch_size_per_gpu":9e17})", 64),
            "ds.json: error: expects 'train_batch_size' to be a multiple of 900000000000000000 "
            "rows · 64 ranks, got 1");
}

} // namespace
} // namespace zero::training
