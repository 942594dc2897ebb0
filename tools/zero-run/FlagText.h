//===- FlagText.h - flags as text, and how they are read ---------------------===//
//
// Numbers are taken as text, so that a wrong one is refused in the words of all of
// Zero's tools. Every subject has a file with its flags and a reader; a reader that
// returns false has refused a flag by a message.
//
//===----------------------------------------------------------------------===//
#ifndef ZERO_RUN_FLAGTEXT_H
#define ZERO_RUN_FLAGTEXT_H

#include "Flags.h"

#include "llvm/Support/CommandLine.h"

#include <limits>

namespace zero::run {

namespace cl = llvm::cl;
using Text = cl::opt<std::string>;
using Switch = cl::opt<bool>;

/// Functions, since flags of several files join one category before main.
cl::OptionCategory &modelFlags();
cl::OptionCategory &parallelFlags();
cl::OptionCategory &trainingFlags();
cl::OptionCategory &outputFlags();
cl::OptionCategory &debugFlags();

/// Keep the message of a flag that can't be read; false.
bool refuse(llvm::Error error);
bool refuse(const llvm::Twine &message);
/// What was refused, as `parseFlags` gives it.
llvm::Error refusal();

/// `--name`, or `--name of ds.json`.
std::string spelled(const cl::Option &flag);

/// Gives a flag a value, as if it stood on the command line; `file` is where it does stand.
void adoptFlag(cl::Option &flag, const std::string &value, llvm::StringRef file);

template <typename T> bool take(llvm::Expected<T> value, T &into) {
  if (!value)
    return refuse(value.takeError());
  into = *value;
  return true;
}
bool readInteger(Text &flag, int64_t &into, int64_t minimum,
                 int64_t maximum = std::numeric_limits<int64_t>::max());
bool readReal(Text &flag, double &into, double minimum);
/// In [0, 1).
bool readFraction(Text &flag, double &into);
bool readWord(Text &flag, std::string &into, llvm::ArrayRef<llvm::StringRef> choices);
/// A flag of which this version knows one value; the others have a name, and are refused by it.
bool readOnly(Text &flag, llvm::StringRef known, llvm::ArrayRef<llvm::StringRef> later);

/// Keeps the first flag given of those that zero.config answers from level Z on.
void noteConfigFlags(Flags &flags, std::initializer_list<cl::Option *> answered);

/// Whether the run goes on from a checkpoint.
bool resumes(); // CheckpointFlags.cpp

/// One a subject, in the order in which they are read: a later one sees what earlier ones read.
void takeModes(Flags &flags);          // OutputFlags.cpp
llvm::Error adoptConfig(Flags &flags); // ConfigFlags.cpp
bool readPrecision(Flags &flags);      // PrecisionFlags.cpp
bool readLossScale(Flags &flags);      // LossScaleFlags.cpp
bool readModelFlags(Flags &flags);     // ModelFlags.cpp
bool readParallel(Flags &flags);       // ParallelFlags.cpp
bool readProcesses(Flags &flags);      // ProcessFlags.cpp
bool readOptimizer(Flags &flags);      // OptimizerFlags.cpp
bool readTraining(Flags &flags);       // TrainingFlags.cpp
bool readCheckpoints(Flags &flags);    // CheckpointFlags.cpp
void applyConfig(Flags &flags);        // ConfigFlags.cpp
bool checkOutputFlags(Flags &flags);   // OutputFlags.cpp

} // namespace zero::run

#endif // ZERO_RUN_FLAGTEXT_H
