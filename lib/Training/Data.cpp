//===- Data.cpp - the batches of every step -------------------------------===//

#include "DataSets.h"

#include "llvm/Support/MathExtras.h"
#include "llvm/Support/Path.h"

#include <cstring>

namespace zero::training {

DataSet::~DataSet() = default;

int64_t byteSize(BatchType type) { return type == BatchType::I64 ? 8 : 4; }

llvm::StringRef name(BatchType type) {
  switch (type) {
  case BatchType::F32:
    return "f32";
  case BatchType::I32:
    return "i32";
  case BatchType::I64:
    return "i64";
  }
  return "";
}

std::string boundText(int64_t bound, std::optional<int64_t> ignore) {
  std::string text = "in [0, " + std::to_string(bound) + ")";
  return ignore ? text + " or " + std::to_string(*ignore) : text;
}

BatchMemory::BatchMemory(const BatchPlan &plan, const DataOptions &options, bool ownsBatches)
    : isLabels(plan.argument.role == BatchRole::Labels), ranks(options.ranks),
      microSteps(options.microSteps),
      microBytes(plan.globalElements * byteSize(plan.argument.type)) {
  size_t stepBytes = static_cast<size_t>(microBytes * microSteps);
  if (ownsBatches)
    batches.resize(stepBytes);
  if (isLabels && ranks > 1 && microSteps > 1)
    reordered.resize(stepBytes);
}

void BatchMemory::orderByRank(const char *first) {
  if (!isLabels)
    return;
  // With one rank or one micro-step both orders are the same.
  ranked = reordered.empty() ? first : reordered.data();
  if (reordered.empty())
    return;
  int64_t rankBytes = microBytes / ranks;
  for (int64_t rank = 0; rank < ranks; ++rank)
    for (int64_t micro = 0; micro < microSteps; ++micro)
      std::memcpy(reordered.data() + (rank * microSteps + micro) * rankBytes,
                  first + micro * microBytes + rank * rankBytes, static_cast<size_t>(rankBytes));
}

llvm::Expected<std::unique_ptr<DataSet>> openData(llvm::StringRef path,
                                                  llvm::ArrayRef<BatchArgument> arguments,
                                                  const DataOptions &options) {
  if (options.ranks < 1 || options.microSteps < 1)
    return inputError(path, "expects at least one rank and one micro-step, got " +
                                llvm::Twine(options.ranks) + " and " +
                                llvm::Twine(options.microSteps));
  std::vector<BatchPlan> plans;
  for (const BatchArgument &argument : arguments) {
    BatchPlan plan{argument, 1, 0};
    int64_t stepBytes = 0;
    bool bad = argument.shape.empty();
    for (int64_t extent : argument.shape)
      bad |= extent < 1 || llvm::MulOverflow(plan.rankElements, extent, plan.rankElements);
    bad |= llvm::MulOverflow(plan.rankElements, options.ranks, plan.globalElements) ||
           llvm::MulOverflow(plan.globalElements, options.microSteps, stepBytes) ||
           llvm::MulOverflow(stepBytes, byteSize(argument.type), stepBytes);
    if (bad)
      return inputError(
          path,
          "expects argument " + quoted(argument.name) +
              " to have a micro-batch as its first dimension, and less than 2^63 bytes a step, "
              "got shape " +
              shapeText(argument.shape));
    plans.push_back(std::move(plan));
  }
  llvm::StringRef extension = llvm::sys::path::extension(path);
  if (extension == ".safetensors")
    return openTensorData(path, std::move(plans), options);
  if (extension == ".txt" || extension == ".bin")
    return openTokenData(path, std::move(plans), options, /*isText=*/extension == ".txt");
  return inputError(path, "expects data in a file named .txt, .bin or .safetensors, got " +
                              (extension.empty() ? "no extension" : quoted(extension)));
}

} // namespace zero::training
