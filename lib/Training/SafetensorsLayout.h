//===- SafetensorsLayout.h - what stands where in a file to be written ---===//
#ifndef ZERO_TRAINING_SAFETENSORSLAYOUT_H
#define ZERO_TRAINING_SAFETENSORSLAYOUT_H

#include "zero/Training/Safetensors.h"

namespace zero::training {

/// As in the reference implementation: a longer header is an attack or not a header.
inline constexpr uint64_t kMaxHeaderBytes = 100'000'000;

struct SafetensorsLayout {
  std::vector<size_t> order;  // indices into the specs, as they lie in the file
  std::vector<int64_t> bytes; // by spec
  /// The head of the file: the header's length and its JSON, padded to 8 bytes.
  std::string head;
  int64_t dataBytes = 0;
};

/// A function of the arguments: wider types first, so that every tensor is aligned, then by name.
llvm::Expected<SafetensorsLayout> layOut(llvm::StringRef path, llvm::ArrayRef<TensorSpec> specs,
                                         const std::map<std::string, std::string> &metadata);

} // namespace zero::training

#endif // ZERO_TRAINING_SAFETENSORSLAYOUT_H
