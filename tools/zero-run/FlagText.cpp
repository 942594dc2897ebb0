//===- FlagText.cpp - flags as text, and how they are read -------------------===//
#include "FlagText.h"

#include "zero/Training/Sizes.h"

namespace zero::run {

using namespace training;

cl::OptionCategory &modelFlags() {
  static cl::OptionCategory category("Model");
  return category;
}
cl::OptionCategory &parallelFlags() {
  static cl::OptionCategory category("Ranks and memory");
  return category;
}
cl::OptionCategory &trainingFlags() {
  static cl::OptionCategory category("Training");
  return category;
}
cl::OptionCategory &outputFlags() {
  static cl::OptionCategory category("Output");
  return category;
}
cl::OptionCategory &debugFlags() {
  static cl::OptionCategory category("Looking inside");
  return category;
}

static std::string refused;

bool refuse(llvm::Error error) { return refuse(llvm::toString(std::move(error))); }
bool refuse(const llvm::Twine &message) {
  refused = message.str();
  return false;
}
llvm::Error refusal() { return llvm::createStringError("error: " + refused); }

/// The file that a flag's value came from.
static llvm::StringMap<std::string> adopted;

std::string spelled(const cl::Option &flag) {
  auto file = adopted.find(flag.ArgStr);
  return ("--" + flag.ArgStr).str() + (file == adopted.end() ? "" : " of " + file->second);
}

void adoptFlag(cl::Option &flag, const std::string &value, llvm::StringRef file) {
  flag.addOccurrence(0, flag.ArgStr, value);
  adopted[flag.ArgStr] = file;
}

bool readInteger(Text &flag, int64_t &into, int64_t minimum, int64_t maximum) {
  return take(parseInteger(spelled(flag), flag, minimum, maximum), into);
}
bool readReal(Text &flag, double &into, double minimum) {
  return take(parseFloat(spelled(flag), flag, minimum), into);
}
bool readFraction(Text &flag, double &into) {
  if (!readReal(flag, into, 0.0))
    return false;
  return into < 1.0 || refuse("expects " + spelled(flag) + " in [0, 1), got " + flag.getValue());
}
bool readWord(Text &flag, std::string &into, llvm::ArrayRef<llvm::StringRef> choices) {
  llvm::Expected<size_t> choice = parseChoice(spelled(flag), flag, choices);
  if (!choice)
    return refuse(choice.takeError());
  into = choices[*choice].str();
  return true;
}

bool readOnly(Text &flag, llvm::StringRef known, llvm::ArrayRef<llvm::StringRef> later) {
  if (flag.getValue() == known)
    return true;
  if (llvm::is_contained(later, llvm::StringRef(flag)))
    return refuse(spelled(flag) + " " + flag.getValue() +
                  " is not supported in this version; expects " + known);
  return refuse("expects " + spelled(flag) + " to be " + known + ", got " +
                (flag.empty() ? "nothing" : flag.getValue()));
}

void noteConfigFlags(Flags &flags, std::initializer_list<cl::Option *> answered) {
  for (cl::Option *flag : answered)
    if (flags.configFlag.empty() && flag->getNumOccurrences())
      flags.configFlag = spelled(*flag);
}

} // namespace zero::run
