//===- Groups.cpp - parameters that a pattern chooses --------------------------===//

#include "zero/Dialect/Zero/Groups.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/GlobPattern.h"

#include <charconv>
#include <cmath>

using namespace llvm;

namespace zero::ir {
namespace {

/// The whole text as a number.
std::optional<double> parseNumber(StringRef text) {
  double value = 0.0;
  auto [end, status] = std::from_chars(text.begin(), text.end(), value);
  if (status != std::errc() || end != text.end())
    return std::nullopt;
  return value;
}

bool isAllowed(double value) { return std::isfinite(value) && value >= 0.0; }

} // namespace

std::string check(const ParameterGroup &group) {
  std::string quoted = "'" + group.pattern + "'";
  if (group.pattern.empty())
    return "expects a group's pattern to match names, got nothing";
  if (group.pattern.find_first_of(";'\"{}") != std::string::npos)
    return "expects a group's pattern without ; ' \" { and }, got " + group.pattern;
  if (Expected<GlobPattern> pattern = GlobPattern::create(group.pattern); !pattern)
    return "expects a group's pattern to be one of names, got " + quoted + ": " +
           toString(pattern.takeError());
  if (!isAllowed(group.lrScale) || !isAllowed(group.weightDecay.value_or(0.0)))
    return "expects lr and weight-decay of group " + quoted + " to be finite and at least 0";
  return "";
}

std::optional<ParameterGroup> parseGroup(StringRef text, std::string &problem) {
  ParameterGroup group;
  auto [pattern, settings] = text.rsplit(':');
  group.pattern = pattern.str();
  bool hasRate = false;
  SmallVector<StringRef> parts;
  settings.split(parts, ',');
  for (StringRef part : parts) {
    auto [key, digits] = part.split('=');
    std::optional<double> number = parseNumber(digits);
    bool isRate = key == "lr" && !hasRate, isDecay = key == "weight-decay" && !group.weightDecay;
    if (!number || (!isRate && !isDecay)) {
      problem = "expects a group such as '*.bias:lr=0.5,weight-decay=0', got '" + text.str() + "'";
      return std::nullopt;
    }
    hasRate |= isRate;
    (isRate ? group.lrScale : group.weightDecay.emplace()) = *number;
  }
  problem = check(group);
  if (!problem.empty())
    return std::nullopt;
  return group;
}

std::optional<std::vector<ParameterGroup>> parseGroups(StringRef text, std::string &problem) {
  std::vector<ParameterGroup> groups;
  SmallVector<StringRef> parts;
  text.split(parts, ';', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
  for (StringRef part : parts) {
    std::optional<ParameterGroup> group = parseGroup(part, problem);
    if (!group)
      return std::nullopt;
    groups.push_back(std::move(*group));
  }
  return groups;
}

int64_t groupOf(const std::vector<ParameterGroup> &groups, StringRef parameter) {
  for (auto [index, group] : enumerate(groups)) {
    Expected<GlobPattern> pattern = GlobPattern::create(group.pattern);
    if (!pattern)
      consumeError(pattern.takeError());
    else if (pattern->match(parameter))
      return static_cast<int64_t>(index);
  }
  return -1;
}

} // namespace zero::ir
