//===- Check.cpp - sizes that a graph can have ------------------------------===//

#include "Check.h"

#include "llvm/Support/MathExtras.h"

namespace zero::models {

static std::string number(int64_t value) { return std::to_string(value); }

std::string checkPositive(llvm::ArrayRef<std::pair<const char *, int64_t>> sizes) {
  for (auto [what, value] : sizes)
    if (value < 1)
      return std::string("expects ") + what + " of at least 1, got " + number(value);
  return "";
}

std::string checkLayers(int64_t layers) {
  return layers <= kMaxLayers
             ? ""
             : "expects at most " + number(kMaxLayers) + " layers, got " + number(layers);
}

std::string checkHeads(int64_t heads, int64_t width) {
  return width % heads == 0 ? ""
                            : "expects heads to divide the width, got " + number(heads) +
                                  " heads and width " + number(width);
}

std::string checkSequence(int64_t seqLen, int64_t positions) {
  return seqLen <= positions ? ""
                             : "expects a sequence length of at most " + number(positions) +
                                   ", the positions of the model, got " + number(seqLen);
}

std::string checkBytes(const char *what, llvm::ArrayRef<int64_t> sizes) {
  int64_t bytes = 4;
  std::string text;
  bool overflow = false;
  for (int64_t size : sizes) {
    overflow |= llvm::MulOverflow(bytes, size, bytes);
    text += (text.empty() ? "" : " x ") + number(size);
  }
  if (!overflow)
    return "";
  return std::string("expects ") + what + " of less than 2^63 bytes, got " + text + " elements";
}

std::string firstOf(llvm::ArrayRef<std::string> lines) {
  for (const std::string &line : lines)
    if (!line.empty())
      return line;
  return "";
}

} // namespace zero::models
