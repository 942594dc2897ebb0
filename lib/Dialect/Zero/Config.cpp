//===- Config.cpp - `zero.config` as a dictionary ------------------------------===//
//
// Every entry stands in the dictionary, the defaults too: what a pass reads is
// what the text says, and a later change of a default changes no old file.
//
//===----------------------------------------------------------------------===//

#include "zero/Dialect/Zero/Config.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"

#include "llvm/ADT/StringExtras.h"

#include <charconv>
#include <cmath>

using namespace mlir;

namespace zero::ir {
namespace {

constexpr int64_t kMaxRanks = 65536;
constexpr int64_t kMaxMicroSteps = int64_t(1) << 20;
constexpr int64_t kMaxBucketBytes = int64_t(1) << 50;
constexpr int64_t kMaxThreads = 4096;
constexpr StringLiteral kGroups = "groups";

/// Calls visitor(name, field) for each entry. `reduce_every` is spelled as its flag is.
template <typename ConfigT, typename Visitor> void visit(ConfigT &config, Visitor &&visitor) {
  visitor("ranks", config.ranks);
  visitor("stage", config.stage);
  visitor("micro_steps", config.microSteps);
  visitor("bucket_bytes", config.bucketBytes);
  visitor("threads_per_rank", config.threadsPerRank);
  visitor("reduce_every", config.reduceEveryStep);
  visitor("loss_mean", config.lossMean);
  visitor("optimizer", config.optimizer);
  visitor("beta1", config.beta1);
  visitor("beta2", config.beta2);
  visitor("eps", config.eps);
  visitor("weight_decay", config.weightDecay);
  visitor("momentum", config.momentum);
  visitor("clip", config.clip);
}

/// Reads one entry into a field; says what it expects where the attribute is another one.
struct Reader {
  Attribute entry;
  std::string operator()(int64_t &field) const {
    auto number = dyn_cast_or_null<IntegerAttr>(entry);
    if (!number || !number.getType().isInteger(64))
      return "an i64";
    field = number.getInt();
    return "";
  }
  std::string operator()(double &field) const {
    auto number = dyn_cast_or_null<FloatAttr>(entry);
    if (!number || !number.getType().isF64())
      return "an f64";
    field = number.getValueAsDouble();
    return "";
  }
  std::string operator()(std::string &field) const {
    auto text = dyn_cast_or_null<StringAttr>(entry);
    if (!text)
      return "a string";
    field = text.str();
    return "";
  }
  std::string operator()(bool &reduceEveryStep) const {
    auto text = dyn_cast_or_null<StringAttr>(entry);
    if (!text || (text.getValue() != "step" && text.getValue() != "micro-step"))
      return "\"step\" or \"micro-step\"";
    reduceEveryStep = text.getValue() == "step";
    return "";
  }
};

std::optional<ParameterGroup> readGroup(Attribute entry) {
  auto fields = dyn_cast<DictionaryAttr>(entry);
  if (!fields)
    return std::nullopt;
  auto pattern = dyn_cast_or_null<StringAttr>(fields.get("pattern"));
  auto rate = dyn_cast_or_null<FloatAttr>(fields.get("lr"));
  Attribute decayEntry = fields.get("weight_decay");
  auto decay = dyn_cast_or_null<FloatAttr>(decayEntry);
  if (!pattern || !rate || !rate.getType().isF64() || (decayEntry && !decay) ||
      (decay && !decay.getType().isF64()) || fields.size() != (decay ? 3 : 2))
    return std::nullopt;
  ParameterGroup group{pattern.str(), rate.getValueAsDouble(), std::nullopt};
  if (decay)
    group.weightDecay = decay.getValueAsDouble();
  return group;
}

/// The one entry that may be missing.
std::string readGroups(Attribute entry, std::vector<ParameterGroup> &groups) {
  auto list = dyn_cast<ArrayAttr>(entry);
  for (Attribute element : list ? list.getValue() : ArrayRef<Attribute>())
    if (std::optional<ParameterGroup> group = readGroup(element))
      groups.push_back(std::move(*group));
  if (list && !list.empty() && groups.size() == list.size())
    return "";
  return "a list of {lr = f64, pattern = string} with or without weight_decay = f64";
}

Attribute writeGroups(Builder &builder, const std::vector<ParameterGroup> &groups) {
  SmallVector<Attribute> list;
  for (const ParameterGroup &group : groups) {
    NamedAttrList fields;
    fields.set("pattern", builder.getStringAttr(group.pattern));
    fields.set("lr", builder.getF64FloatAttr(group.lrScale));
    if (group.weightDecay)
      fields.set("weight_decay", builder.getF64FloatAttr(*group.weightDecay));
    list.push_back(fields.getDictionary(builder.getContext()));
  }
  return builder.getArrayAttr(list);
}

struct Writer {
  Builder &builder;
  Attribute operator()(int64_t field) const { return builder.getI64IntegerAttr(field); }
  Attribute operator()(double field) const { return builder.getF64FloatAttr(field); }
  Attribute operator()(const std::string &field) const { return builder.getStringAttr(field); }
  Attribute operator()(bool reduceEveryStep) const {
    return builder.getStringAttr(reduceEveryStep ? "step" : "micro-step");
  }
};

template <typename... Parts> std::string message(const Parts &...parts) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  (stream << ... << parts);
  return text;
}

/// The shortest digits that read back as the number.
std::string shortest(double value) {
  char digits[32];
  return std::string(digits, std::to_chars(digits, digits + sizeof(digits), value).ptr);
}

std::string checkRange(StringRef name, int64_t value, int64_t low, int64_t high) {
  if (value >= low && value <= high)
    return "";
  return message("expects ", name, " between ", low, " and ", high, ", got ", value);
}

std::string checkBelowOne(StringRef name, double value) {
  if (value >= 0.0 && value < 1.0)
    return "";
  return message("expects ", name, " in [0, 1), got ", shortest(value));
}

std::string checkNotNegative(StringRef name, double value) {
  if (value >= 0.0 && std::isfinite(value))
    return "";
  return message("expects ", name, " to be finite and at least 0, got ", shortest(value));
}

std::string checkWord(StringRef name, StringRef value, ArrayRef<StringRef> known) {
  if (llvm::is_contained(known, value))
    return "";
  return message("expects ", name, " to be one of ", llvm::join(known, ", "), ", got '", value,
                 "'");
}

} // namespace

std::string Config::check() const {
  for (const std::string &problem :
       {checkRange("ranks", ranks, 1, kMaxRanks), checkRange("stage", stage, 0, 3),
        checkRange("micro-steps", microSteps, 1, kMaxMicroSteps),
        checkRange("bucket-bytes", bucketBytes, 1, kMaxBucketBytes),
        checkRange("threads-per-rank", threadsPerRank, 1, kMaxThreads),
        checkWord("loss-mean", lossMean, {"step", "micro-step", "rank"}),
        checkWord("optimizer", optimizer, {"adamw", "adam", "sgd", "lion"}),
        checkBelowOne("beta1", beta1), checkBelowOne("beta2", beta2), checkNotNegative("eps", eps),
        checkNotNegative("weight-decay", weightDecay), checkNotNegative("momentum", momentum),
        checkNotNegative("clip", clip)})
    if (!problem.empty())
      return problem;
  for (const ParameterGroup &group : groups)
    if (std::string problem = ir::check(group); !problem.empty())
      return problem;
  return "";
}

std::optional<Config> Config::get(ModuleOp module) {
  Attribute attribute = module->getAttr(kAttrName);
  if (!attribute) {
    module.emitError("expects zero.config: run zero-configure first");
    return std::nullopt;
  }
  auto entries = dyn_cast<DictionaryAttr>(attribute);
  if (!entries) {
    module.emitError() << "expects zero.config to be a dictionary, got " << attribute;
    return std::nullopt;
  }
  Config config;
  size_t known = 0;
  std::string problem;
  visit(config, [&](StringRef name, auto &field) {
    Attribute entry = entries.get(name);
    known += entry != nullptr;
    std::string want = Reader{entry}(field);
    if (want.empty() || !problem.empty())
      return;
    problem = message("expects zero.config to hold ", want, " '", name, "', got ");
    problem += entry ? message(entry) : "none";
  });
  if (Attribute entry = entries.get(kGroups)) {
    ++known;
    std::string want = readGroups(entry, config.groups);
    if (!want.empty() && problem.empty())
      problem = message("expects zero.config to hold ", want, " '", kGroups, "', got ", entry);
  }
  if (problem.empty() && known != entries.size())
    for (NamedAttribute entry : entries) {
      bool found = entry.getName() == kGroups;
      visit(config, [&](StringRef name, auto &) { found |= entry.getName() == name; });
      if (!found && problem.empty())
        problem = message("expects no entry '", entry.getName().getValue(), "' in zero.config");
    }
  if (problem.empty())
    problem = config.check();
  if (problem.empty())
    return config;
  module.emitError(problem);
  return std::nullopt;
}

void Config::set(ModuleOp module) const {
  Builder builder(module.getContext());
  NamedAttrList entries;
  visit(*this,
        [&](StringRef name, const auto &field) { entries.set(name, Writer{builder}(field)); });
  if (!groups.empty())
    entries.set(kGroups, writeGroups(builder, groups));
  module->setAttr(kAttrName, entries.getDictionary(module.getContext()));
}

} // namespace zero::ir
