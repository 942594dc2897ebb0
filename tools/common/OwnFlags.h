//===- OwnFlags.h - a command line without LLVM's flags ------------------------===//
#ifndef ZERO_TOOLS_COMMON_OWNFLAGS_H
#define ZERO_TOOLS_COMMON_OWNFLAGS_H

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/CommandLine.h"

namespace zero::tools {

/// LLVM's shared library brings hundreds of flags of its own, which would be taken and ignored:
/// drops all whose categories are not `own`, but for --help and --version.
inline void dropForeignFlags(llvm::function_ref<bool(const llvm::cl::OptionCategory *)> own) {
  llvm::SmallVector<llvm::cl::Option *> foreign;
  for (auto &[name, option] : llvm::cl::getRegisteredOptions())
    if (llvm::none_of(option->Categories, [&](llvm::cl::OptionCategory *category) {
          return own(category) || category->getName() == "Generic Options";
        }))
      foreign.push_back(option);
  for (llvm::cl::Option *option : foreign)
    option->removeArgument();
}

} // namespace zero::tools

#endif // ZERO_TOOLS_COMMON_OWNFLAGS_H
