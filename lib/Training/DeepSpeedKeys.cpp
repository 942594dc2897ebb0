//===- DeepSpeedKeys.cpp - the keys of a DeepSpeed configuration ---------===//

#include "DeepSpeedKeys.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <charconv>

namespace zero::training {
namespace {

using enum KeyUse;

constexpr llvm::StringLiteral kMonitor = "the log of a run is --log", kParts = "not a part of Zero",
                              kLoader = "data is read by --data",
                              kSchedule = "gathers and their lifetimes follow from the model",
                              kFull = "values are moved in their own type",
                              kMemory = "states stay in the memory of their rank";

constexpr DeepSpeedKey kRoot[] = {
    {"train_batch_size"},
    {"train_micro_batch_size_per_gpu"},
    {"gradient_accumulation_steps"},
    {"optimizer"},
    {"scheduler"},
    {"fp16"},
    {"bf16"},
    {"bfloat16"},
    {"gradient_clipping"},
    {"zero_optimization"},
    {"data_types"},
    {"zero_allow_untested_optimizer", Free},
    {"zero_force_ds_cpu_optimizer", Free},
    {"$schema", Free},
    {"amp", Switch, "", "types are those of fp16 or bf16, or --dtype"},
    {"prescale_gradients", Only, "false", "gradients are divided once, in f32"},
    {"gradient_predivide_factor", Only, "1", "gradients are divided once, in f32"},
    {"sparse_gradients", Only, "false", "gradients are dense"},
    {"fp32_allreduce", Only, "false", "gradients are reduced in their own type, with sums in f32"},
    {"communication_data_type", Only, "null",
     "gradients are reduced in their own type, with sums in f32"},
    {"seq_parallel_communication_data_type", Only, "null", kParts},
    {"disable_allgather", Only, "false", "updated weights are gathered"},
    {"steps_per_print", Never, "", "progress is told every step"},
    {"wall_clock_breakdown", Only, "false", "where time goes tells --profile"},
    {"memory_breakdown", Only, "false", "where memory goes tells --report"},
    {"dump_state", Only, "false", kMonitor},
    {"tensorboard", Switch, "", kMonitor},
    {"wandb", Switch, "", kMonitor},
    {"comet", Switch, "", kMonitor},
    {"csv_monitor", Switch, "", kMonitor},
    {"comms_logger", Switch, "", "--report counts communication"},
    {"flops_profiler", Switch, "", "where time goes tells --profile"},
    {"timers", Never, "", "where time goes tells --profile"},
    {"activation_checkpointing", Never, "", "what backward computes again says --recompute"},
    {"sparse_attention", Never, "", "attention is dense"},
    {"dataloader_drop_last", Only, "true", "data has no incomplete batch"},
    {"data_efficiency", Switch, "", kLoader},
    {"curriculum_learning", Switch, "", kLoader},
    {"progressive_layer_drop", Switch, "", kParts},
    {"eigenvalue", Switch, "", kParts},
    {"quantize_training", Switch, "", kParts},
    {"weight_quantization", Never, "", kParts},
    {"compression_training", Never, "", kParts},
    {"checkpoint", Never, "", "checkpoints are those of --checkpoint-dir"},
    {"nebula", Switch, "", "checkpoints are those of --checkpoint-dir"},
    {"datastates_ckpt", Never, "", "checkpoints are those of --checkpoint-dir"},
    {"aio", Never, "", kMemory},
    {"elasticity", Switch, "", "the number of ranks is --ranks, or the launcher's"},
    {"autotuning", Switch, "", kParts},
    {"pipeline", Never, "", "ranks are data-parallel"},
    {"tensor_parallel", Never, "", "ranks are data-parallel"},
    {"sequence_parallel_size", Only, "1", "ranks are data-parallel"},
    {"use_data_before_expert_parallelism", Only, "false", "ranks are data-parallel"},
    {"hybrid_engine", Switch, "", kParts},
    {"graph_harvesting", Only, "false", "every model is compiled"},
    {"compile", Switch, "", "every model is compiled"},
    {"vocabulary_size", Free},
};

constexpr DeepSpeedKey kFp16[] = {
    {"enabled"},
    {"loss_scale"},
    {"initial_scale_power"},
    {"loss_scale_window"},
    {"hysteresis"},
    {"consecutive_hysteresis"},
    {"min_loss_scale"},
    {"auto_cast", Free}, // values are converted where they meet f16
    {"fp16_master_weights_and_grads", Only, "false", "masters are f32"},
};

constexpr DeepSpeedKey kBf16[] = {
    {"enabled"},
    {"auto_cast", Free},
    {"immediate_grad_update", Free}, // only when gradients are copied
    {"check_grad_overflow", Free},   // always checked
    {"bf16_master_weights_and_grads", Only, "false", "masters are f32"},
    {"bf16_optimizer_states", Only, "false", "moments are f32"},
};

constexpr DeepSpeedKey kDataTypes[] = {{"grad_accum_dtype"}};

constexpr DeepSpeedKey kZero[] = {
    {"stage"},
    {"reduce_bucket_size"},
    {"allgather_bucket_size"},
    {"contiguous_gradients", Only, "true", "gradients always lie in buckets"},
    {"overlap_comm", Only, "true", "collectives are always issued ahead of their use"},
    {"reduce_scatter", Only, "true", "from stage 1 on gradients are reduced and scattered"},
    {"allgather_partitions", Only, "true", "updated weights are gathered, never broadcast"},
    {"use_multi_rank_bucket_allreduce", Free},
    {"round_robin_gradients", Only, "false",
     "a rank's part of a bucket is one piece of each chunk"},
    {"load_from_fp32_weights", Free},
    {"elastic_checkpoint", Free},
    {"ignore_unused_parameters", Only, "true", "unused parameters are warned about, and stay"},
    {"legacy_stage1", Only, "false", kParts},
    {"memory_efficient_linear", Free},
    {"override_module_apply", Free},
    {"pipeline_loading_checkpoint", Free},
    {"offload_param"},
    {"offload_optimizer"},
    {"cpu_offload", Only, "false", kMemory},
    {"cpu_offload_param", Only, "false", kMemory},
    {"cpu_offload_use_pin_memory", Free},
    {"super_offload", Only, "false", kMemory},
    {"zenflow", Never, "", kMemory},
    {"sub_group_size", Never, "", "every bucket is updated at once"},
    {"prefetch_bucket_size", Never, "", kSchedule},
    {"param_persistence_threshold", Never, "", kSchedule},
    {"model_persistence_threshold", Never, "", kSchedule},
    {"max_live_parameters", Never, "", kSchedule},
    {"max_reuse_distance", Never, "", kSchedule},
    {"module_granularity_threshold", Never, "", kSchedule},
    {"stage3_prefetch_bucket_size", Never, "", kSchedule},
    {"stage3_param_persistence_threshold", Never, "", kSchedule},
    {"stage3_model_persistence_threshold", Never, "", kSchedule},
    {"stage3_max_live_parameters", Never, "", kSchedule},
    {"stage3_max_reuse_distance", Never, "", kSchedule},
    {"stage3_module_granularity_threshold", Never, "", kSchedule},
    {"stage3_use_all_reduce_for_fetch_params", Only, "false", kSchedule},
    {"use_all_reduce_for_fetch_params", Only, "false", kSchedule},
    {"stage3_allgather_sequential", Only, "false", kSchedule},
    {"leaf_module", Never, "", kSchedule},
    {"log_trace_cache_warnings", Free},
    {"enable_sanity_checks", Free},
    // Weights are always saved whole.
    {"stage3_gather_16bit_weights_on_model_save", Free},
    {"stage3_gather_fp16_weights_on_model_save", Free},
    {"gather_16bit_weights_on_model_save", Free},
    {"zero_hpz_partition_size", Only, "1", "each shard has one holder"},
    {"mics_shard_size", Only, "-1", "each shard has one holder"},
    {"mics_hierarchical_params_gather", Only, "false", "each shard has one holder"},
    {"zero_quantized_weights", Only, "false", kFull},
    {"zero_quantized_nontrainable_weights", Only, "false", kFull},
    {"zero_quantized_gradients", Only, "false", kFull},
    {"zeropp_loco_param", Only, "null", kFull},
};

constexpr DeepSpeedKey kTyped[] = {{"type"}, {"params"}, {"legacy_fusion", Free}};

constexpr DeepSpeedKey kAdam[] = {
    {"lr"},
    {"betas"},
    {"eps"},
    {"weight_decay"},
    {"adam_w_mode"},
    {"torch_adam"},
    {"max_grad_norm"},
    {"bias_correction", Only, "true", "moments are corrected"},
    {"amsgrad", Only, "false", "the second moment is not bounded below"},
    {"maximize", Only, "false", "losses are made smaller"},
    {"set_grad_none", Free},
    {"fused", Free},
    {"foreach", Free},
    {"capturable", Free},
    {"differentiable", Free},
    {"fp32_optimizer_states", Only, "true", "moments are f32"},
};

constexpr DeepSpeedKey kSgd[] = {
    {"lr"},
    {"momentum"},
    {"weight_decay"},
    {"max_grad_norm"},
    {"dampening", Only, "0", "momentum is not dampened"},
    {"nesterov", Only, "false", "momentum is the plain one"},
    {"maximize", Only, "false", "losses are made smaller"},
    {"fused", Free},
    {"foreach", Free},
    {"differentiable", Free},
};

constexpr DeepSpeedKey kLion[] = {
    {"lr"},
    {"betas"},
    {"weight_decay"},
    {"max_grad_norm"},
    {"set_grad_none", Free},
    {"use_triton", Free},
    {"triton", Free},
    {"fp32_optimizer_states", Only, "true", "the moment is f32"},
};

constexpr llvm::StringLiteral kAnew = "a run counts its steps from 0, or resumes";

constexpr DeepSpeedKey kWarmup[] = {
    {"warmup_min_lr"},
    {"warmup_max_lr"},
    {"warmup_num_steps"},
    {"warmup_type"},
    {"last_batch_iteration", Only, "-1", kAnew},
};
constexpr DeepSpeedKey kWarmupDecay[] = {
    {"warmup_min_lr"}, {"warmup_max_lr"},   {"warmup_num_steps"},
    {"warmup_type"},   {"total_num_steps"}, {"last_batch_iteration", Only, "-1", kAnew},
};
constexpr DeepSpeedKey kWarmupCosine[] = {
    {"warmup_min_ratio"}, {"warmup_num_steps"}, {"warmup_type"},
    {"total_num_steps"},  {"cos_min_ratio"},    {"last_batch_iteration", Only, "-1", kAnew},
};

bool isAuto(const llvm::json::Value &value) { return value.getAsString() == "auto"; }

/// Whether the value asks for nothing that we don't do.
bool isHonoured(const DeepSpeedKey &key, const llvm::json::Value &value) {
  if (isAuto(value))
    return true;
  switch (key.use) {
  case Read:
  case Free:
    return true;
  case Only: {
    if (value.getAsNull() && key.neutral != "null")
      return true;
    llvm::Expected<llvm::json::Value> neutral = llvm::json::parse(key.neutral);
    return neutral ? *neutral == value : (llvm::consumeError(neutral.takeError()), false);
  }
  case Switch: {
    const llvm::json::Object *object = value.getAsObject();
    const llvm::json::Value *enabled = object ? object->get("enabled") : nullptr;
    return !enabled || isAuto(*enabled) || enabled->getAsBoolean() == false;
  }
  case Never:
    return value.getAsNull().has_value();
  }
  return false;
}

/// The key that was meant, perhaps.
llvm::StringRef nearest(llvm::StringRef name, llvm::ArrayRef<DeepSpeedKey> table) {
  llvm::StringRef best;
  unsigned least = std::max<unsigned>(2, name.size() / 3) + 1;
  for (const DeepSpeedKey &key : table) {
    unsigned distance = name.edit_distance(key.name, /*AllowReplacements=*/true, least);
    if (distance < least) {
      least = distance;
      best = key.name;
    }
  }
  return best;
}

} // namespace

llvm::ArrayRef<DeepSpeedKey> deepSpeedRootKeys() { return kRoot; }
llvm::ArrayRef<DeepSpeedKey> deepSpeedFp16Keys() { return kFp16; }
llvm::ArrayRef<DeepSpeedKey> deepSpeedBf16Keys() { return kBf16; }
llvm::ArrayRef<DeepSpeedKey> deepSpeedDataTypeKeys() { return kDataTypes; }
llvm::ArrayRef<DeepSpeedKey> deepSpeedZeroKeys() { return kZero; }
llvm::ArrayRef<DeepSpeedKey> deepSpeedTypedKeys() { return kTyped; }

llvm::ArrayRef<DeepSpeedKey> deepSpeedOptimizerKeys(llvm::StringRef optimizer) {
  if (optimizer == "sgd")
    return kSgd;
  if (optimizer == "lion")
    return kLion;
  return kAdam;
}

llvm::ArrayRef<DeepSpeedKey> deepSpeedSchedulerKeys(llvm::StringRef type) {
  if (type == "WarmupLR")
    return kWarmup;
  if (type == "WarmupDecayLR")
    return kWarmupDecay;
  if (type == "WarmupCosineLR")
    return kWarmupCosine;
  return {};
}

Location DeepSpeedFile::at(llvm::StringRef key) const {
  auto found = document.paths.find(key);
  return found == document.paths.end() ? Location{path.str()}
                                       : locationAt(text, path, found->second);
}

llvm::Error DeepSpeedFile::error(llvm::StringRef key, const llvm::Twine &message) const {
  return inputError(at(key), message);
}

std::string jsonText(const llvm::json::Value &value) {
  std::string text;
  if (const llvm::json::Array *array = value.getAsArray()) {
    for (const llvm::json::Value &element : *array)
      text += (text.empty() ? "" : ",") + jsonText(element);
    return "[" + text + "]";
  }
  if (std::optional<double> number = value.getAsNumber()) {
    char digits[32];
    return std::string(digits, std::to_chars(digits, std::end(digits), *number).ptr);
  }
  llvm::raw_string_ostream(text) << value;
  return text;
}

std::string notHonoured(const DeepSpeedFile &file, llvm::StringRef key, const llvm::Twine &reason) {
  return ("warning: " + file.path + ": " + quoted(key) + " is not honoured: " + reason).str();
}

llvm::Error checkKeys(const DeepSpeedFile &file, llvm::StringRef parent,
                      const llvm::json::Object &object, llvm::ArrayRef<DeepSpeedKey> table,
                      std::vector<std::string> &warnings) {
  auto full = [&](llvm::StringRef name) {
    return parent.empty() ? name.str() : (parent + "." + name).str();
  };
  // Of several unknown keys the one that stands first is told.
  std::string unknown;
  size_t first = llvm::StringRef::npos;
  for (const auto &entry : object) {
    llvm::StringRef name = entry.first;
    size_t at = file.document.paths.lookup(full(name));
    if (at < first && llvm::none_of(table, [&](const auto &key) { return key.name == name; })) {
      unknown = name;
      first = at;
    }
  }
  if (first != llvm::StringRef::npos) {
    llvm::StringRef meant = nearest(unknown, table);
    return file.error(full(unknown),
                      "expects a key that DeepSpeed has, got " + quoted(full(unknown)) +
                          (meant.empty() ? "" : "; did you mean " + quoted(full(meant)) + "?"));
  }
  for (const DeepSpeedKey &key : table)
    if (const llvm::json::Value *value = object.get(key.name); value && !isHonoured(key, *value))
      warnings.push_back(notHonoured(file, full(key.name), key.reason));
  return llvm::Error::success();
}

} // namespace zero::training
