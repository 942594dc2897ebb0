//===- ModelFlags.h - a model from flags behind a family's name -------------===//
//
// Each flag belongs to one family or to several; a flag of another family is refused by
// name. A flag that is not given leaves the family's default.
//
//===----------------------------------------------------------------------===//
#ifndef ZERO_TOOLS_ZEROMODEL_MODELFLAGS_H
#define ZERO_TOOLS_ZEROMODEL_MODELFLAGS_H

#include "zero/Training/HfConfig.h"

#include "llvm/Support/CommandLine.h"

namespace zero {

// Numbers are taken as text, so that a wrong one is refused in the words of all of Zero's tools.
using Text = llvm::cl::opt<std::string>;

/// The categories of the flags that describe a model.
bool isModelCategory(const llvm::cl::OptionCategory *category);

/// The first flag that describes a model and was given, or null.
const llvm::cl::Option *givenModelFlag();

/// The model that the flags describe; an error names the flag.
llvm::Expected<training::ModelConfig> modelFromFlags(llvm::StringRef family);

/// An integer in [1, 2^31), into `into`, where the flag was given.
llvm::Error readCount(const Text &flag, int64_t &into);

} // namespace zero

#endif // ZERO_TOOLS_ZEROMODEL_MODELFLAGS_H
