//===- ProcessFlags.cpp - a job of several processes ---------------------===//
//
// Who is in the job, its launcher says (zero/Runtime/Processes.h). Ranks have to be
// started alike; for that the flags are told as facts.
//
//===----------------------------------------------------------------------===//

#include "FlagText.h"

#include "zero/Training/Sizes.h"

#include "llvm/ADT/StringExtras.h"

namespace zero::run {

namespace {

Text rankTimeout("rank-timeout", cl::init("1800"), cl::value_desc("seconds"),
                 cl::cat(parallelFlags()),
                 cl::desc("With a process a rank: seconds that a rank may let others wait before "
                          "the job ends (default: 1800)"));

/// Paths that may differ from machine to machine; what lies there may not.
constexpr llvm::StringLiteral kInputs[] = {"data", "weights", "config", "eval-data"};
/// What concerns rank 0 alone, or nobody else, or is settled behind.
constexpr llvm::StringLiteral kOwn[] = {"log",          "report",          "profile", "poison",
                                        "rank-timeout", "instruction-set", "help",    "version"};

/// The value as text; all of Zero's flags are Text, Switch or a list of texts.
std::string valueOf(cl::Option &option) {
  if (option.getNumOccurrencesFlag() == cl::ZeroOrMore)
    return llvm::join(static_cast<cl::list<std::string> &>(option), " ");
  if (option.getValueExpectedFlag() == cl::ValueRequired)
    return static_cast<Text &>(option).getValue();
  return "";
}

} // namespace

bool readProcesses(Flags &flags) {
  constexpr int64_t kMostSeconds = int64_t(1) << 30;
  return readInteger(rankTimeout, flags.rankTimeout, 1, kMostSeconds);
}

std::vector<Fact> startFacts(const Flags &flags) {
  std::vector<Fact> facts = {{"read", identify(flags.model.path)}};
  std::vector<std::pair<llvm::StringRef, cl::Option *>> options;
  for (auto &[name, option] : cl::getRegisteredOptions())
    if (!llvm::is_contained(kOwn, name))
      options.emplace_back(name, option);
  llvm::sort(options);
  for (auto [name, option] : options) {
    std::string value = option->getNumOccurrences() ? valueOf(*option) : "";
    if (llvm::is_contained(kInputs, name) && !value.empty())
      value = identify(value);
    facts.push_back({"was started", (option->getNumOccurrences() ? "with --" : "without --") +
                                        name.str() + (value.empty() ? "" : " " + value)});
  }
  return facts;
}

} // namespace zero::run
