//===- HfRope.cpp - how rotary positions are scaled ------------------------===//
//
// Two spellings: `rope_theta` at the top with an object `rope_scaling`, and one object
// `rope_parameters` that holds both. A key that the kind does not use is refused, since
// whoever wrote it expected it to count.
//
//===----------------------------------------------------------------------===//

#include "HfReader.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <cmath>

namespace zero::training {
namespace {

struct Kind {
  llvm::StringLiteral name;
  RopeKind kind;
  std::vector<llvm::StringRef> required, optional;
};

llvm::ArrayRef<Kind> allKinds() {
  static const std::vector<Kind> kinds = {
      {"default", RopeKind::Default, {}, {}},
      {"linear", RopeKind::Linear, {"factor"}, {}},
      {"dynamic", RopeKind::Dynamic, {"factor"}, {}},
      {"llama3", RopeKind::Llama3, {"factor", "low_freq_factor", "high_freq_factor"}, {}},
      {"yarn",
       RopeKind::Yarn,
       {},
       {"factor", "attention_factor", "beta_fast", "beta_slow", "mscale", "mscale_all_dim",
        "truncate", "finetuned"}}};
  return kinds;
}

/// The object under one of the two keys, as it is read.
class RopeObject {
public:
  RopeObject(HfReader &reader, llvm::StringRef key, const llvm::json::Object &object)
      : reader(reader), key(key), object(object) {}

  std::string nameOf(llvm::StringRef inner) const { return quoted((key + "." + inner).str()); }
  void fail(const llvm::Twine &message) { reader.fail(key, message); }

  /// Null where absent or `null`.
  const llvm::json::Value *get(llvm::StringRef inner) const {
    const llvm::json::Value *value = object.get(inner);
    return value && value->kind() != llvm::json::Value::Null ? value : nullptr;
  }
  std::optional<double> positive(llvm::StringRef inner) {
    const llvm::json::Value *value = get(inner);
    if (!value)
      return std::nullopt;
    std::optional<double> number = value->getAsNumber();
    if (number && std::isfinite(*number) && *number > 0)
      return number;
    fail("expects " + nameOf(inner) + " to be a positive number, got " + HfReader::print(*value));
    return std::nullopt;
  }
  void positive(double &into, llvm::StringRef inner) { into = positive(inner).value_or(into); }

  const Kind *kind() {
    const llvm::json::Value *type = get("rope_type"), *old = get("type");
    if (type && old && *type != *old)
      fail("expects " + nameOf("type") + " to agree with " + nameOf("rope_type") +
           ", its other name");
    const llvm::json::Value *given = type ? type : old;
    std::optional<llvm::StringRef> name = given ? given->getAsString() : "default";
    for (const Kind &kind : allKinds())
      if (name && *name == kind.name)
        return &kind;
    auto names = llvm::map_range(allKinds(), [](const Kind &kind) { return kind.name.str(); });
    fail("expects " + nameOf(type ? "rope_type" : "type") + " to be one of " +
         llvm::join(names, ", ") + ", got " + HfReader::print(*given));
    return nullptr;
  }

  /// Each key is one of the kind's, and those that it needs are there.
  void checkKeys(const Kind &kind) {
    // The base and the positions of pretraining mean the same to all kinds, or nothing.
    constexpr llvm::StringRef common[] = {"rope_type", "type", "rope_theta",
                                          "original_max_position_embeddings",
                                          "partial_rotary_factor"};
    std::vector<llvm::StringRef> names;
    for (const auto &entry : object)
      names.push_back(entry.first);
    llvm::sort(names);
    for (llvm::StringRef inner : names)
      if (!llvm::is_contained(common, inner) && !llvm::is_contained(kind.required, inner) &&
          !llvm::is_contained(kind.optional, inner) && get(inner))
        fail("expects keys of the rotary scaling '" + kind.name + "', got " + nameOf(inner));
    for (llvm::StringRef inner : kind.required)
      if (!get(inner))
        lacks(inner, kind);
    // What is not said follows from the positions before and after.
    if (kind.kind == RopeKind::Yarn && !get("factor") && !get("original_max_position_embeddings"))
      lacks("factor", kind);
  }

private:
  void lacks(llvm::StringRef inner, const Kind &kind) {
    fail("expects " + nameOf(inner) + " for the rotary scaling '" + kind.name + "', got none");
  }

  HfReader &reader;
  llvm::StringRef key;
  const llvm::json::Object &object;
};

void readScaling(RopeObject &scaling, int64_t positions, int64_t outside, RopeConfig &rope) {
  if (std::optional<double> share = scaling.positive("partial_rotary_factor"); share && *share != 1)
    scaling.fail("expects " + scaling.nameOf("partial_rotary_factor") +
                 " to be 1: no other is supported");
  if (std::optional<double> original = scaling.positive("original_max_position_embeddings")) {
    // Below 2^53, where each number stands for itself.
    if (*original < 1 || *original > 0x1p53 || *original != std::floor(*original))
      scaling.fail("expects " + scaling.nameOf("original_max_position_embeddings") +
                   " to be an integer of at least 1, got " +
                   HfReader::print(llvm::json::Value(*original)));
    else
      rope.originalPositions = static_cast<int64_t>(*original);
  }
  if (outside) // some files have it there, and then it wins
    rope.originalPositions = outside;
  rope.factor = static_cast<double>(positions) / static_cast<double>(rope.originalPositions);
  scaling.positive(rope.factor, "factor");
  scaling.positive(rope.lowFrequencyFactor, "low_freq_factor");
  scaling.positive(rope.highFrequencyFactor, "high_freq_factor");
  if (rope.kind == RopeKind::Llama3 && rope.highFrequencyFactor <= rope.lowFrequencyFactor)
    scaling.fail("expects " + scaling.nameOf("high_freq_factor") + " to be greater than " +
                 scaling.nameOf("low_freq_factor"));
  scaling.positive(rope.betaFast, "beta_fast");
  scaling.positive(rope.betaSlow, "beta_slow");
  scaling.positive(rope.mscale, "mscale");
  scaling.positive(rope.mscaleAllDim, "mscale_all_dim");
  rope.attentionFactor = scaling.positive("attention_factor");
  if (const llvm::json::Value *truncate = scaling.get("truncate")) {
    if (std::optional<bool> state = truncate->getAsBoolean())
      rope.truncate = *state;
    else
      scaling.fail("expects " + scaling.nameOf("truncate") + " to be true or false, got " +
                   HfReader::print(*truncate));
  }
}

} // namespace

RopeConfig readRope(HfReader &reader, int64_t positions, int64_t headWidth) {
  RopeConfig rope;
  rope.originalPositions = positions;
  reader.real(rope.base, "rope_theta", /*zeroAllowed=*/false);
  double share = 1.0;
  reader.real(share, "partial_rotary_factor", /*zeroAllowed=*/true);
  if (share != 1.0)
    reader.fail("partial_rotary_factor",
                "expects 'partial_rotary_factor' to be 1: no other is supported");

  int64_t outside = 0;
  reader.count(outside, "original_max_position_embeddings");
  const llvm::json::Value *parameters = reader.get("rope_parameters");
  const llvm::json::Value *older = reader.get("rope_scaling");
  if (parameters && older && *parameters != *older)
    reader.fail("rope_scaling",
                "expects one of 'rope_parameters' and 'rope_scaling', got both, and "
                "they differ");
  llvm::StringRef key = parameters ? "rope_parameters" : "rope_scaling";
  const llvm::json::Value *value = parameters ? parameters : older;
  if (!value)
    return rope;
  const llvm::json::Object *object = value->getAsObject();
  if (!object) {
    reader.fail(key, "expects " + quoted(key) + " to be an object, got " + HfReader::print(*value));
    return rope;
  }
  RopeObject scaling(reader, key, *object);
  const Kind *kind = scaling.kind();
  if (!kind)
    return rope;
  rope.kind = kind->kind;
  scaling.checkKeys(*kind);
  if (std::optional<double> base = scaling.positive("rope_theta")) {
    if (reader.get("rope_theta") && *base != rope.base)
      reader.fail("rope_theta",
                  "expects 'rope_theta' to agree with " + scaling.nameOf("rope_theta"));
    rope.base = *base;
  }
  readScaling(scaling, positions, outside, rope);
  if (rope.kind == RopeKind::Yarn && rope.base <= 1)
    scaling.fail("expects a 'rope_theta' greater than 1 for the rotary scaling 'yarn'");
  if (rope.kind == RopeKind::Dynamic && headWidth == 2)
    scaling.fail("expects a 'head_dim' greater than 2 for the rotary scaling 'dynamic', got 2");
  return rope;
}

} // namespace zero::training
