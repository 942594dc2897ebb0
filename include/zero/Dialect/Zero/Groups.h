//===- Groups.h - parameters that a pattern chooses ---------------------------------===//
//
// A group gives the parameters whose names match its pattern another rate or another
// weight decay than the rest. The pattern is a shell's: `*` and `?` stand for any
// characters or one, `[a-c]` for one of a set, and a backslash takes the next character
// as it is. A parameter belongs to the first group that matches.
//
//===----------------------------------------------------------------------===//
#ifndef ZERO_DIALECT_ZERO_GROUPS_H
#define ZERO_DIALECT_ZERO_GROUPS_H

#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace zero::ir {

struct ParameterGroup {
  std::string pattern;
  double lrScale = 1.0; // a factor of the step's rate
  /// In place of the optimizer's, and whatever the rank of the parameter; none: as for the rest.
  std::optional<double> weightDecay;

  bool operator==(const ParameterGroup &) const = default;
};

/// `*.bias:lr=0.5,weight-decay=0`, with at least one of the two. Nothing with what is wrong.
std::optional<ParameterGroup> parseGroup(llvm::StringRef text, std::string &problem);
/// Such groups with semicolons between them, which no pattern can hold.
std::optional<std::vector<ParameterGroup>> parseGroups(llvm::StringRef text, std::string &problem);

/// Empty, or what is wrong with the pattern or a number.
std::string check(const ParameterGroup &group);

/// The first group that matches a parameter's name, or -1. All groups are ones that `check` passes.
int64_t groupOf(const std::vector<ParameterGroup> &groups, llvm::StringRef parameter);

} // namespace zero::ir

#endif // ZERO_DIALECT_ZERO_GROUPS_H
