//===- DataSets.h - what the kinds of data sets share --------------------===//
#ifndef ZERO_TRAINING_DATASETS_H
#define ZERO_TRAINING_DATASETS_H

#include "zero/Training/Data.h"

namespace zero::training {

/// Files up to this size are checked as a whole on opening, so that a bad value is told before
/// training and not hours later; longer ones are checked batch by batch.
inline constexpr int64_t kCheckOnOpenBytes = int64_t(1) << 30;

int64_t byteSize(BatchType type);
llvm::StringRef name(BatchType type);

/// `in [0, 128) or -100`.
std::string boundText(int64_t bound, std::optional<int64_t> ignore);

/// An argument with its sizes; products were checked by `openData`.
struct BatchPlan {
  BatchArgument argument;
  int64_t rankElements = 0;   // of one rank in one micro-step
  int64_t globalElements = 0; // of all ranks in one micro-step
};

/// Owned memory of one argument: all micro-steps of a step, `[micro-step, rank, …]`, and, for
/// labels, the same as `[rank, micro-step, …]`.
class BatchMemory {
public:
  BatchMemory() = default;
  BatchMemory(const BatchPlan &plan, const DataOptions &options, bool ownsBatches);

  char *batch(int64_t microStep) { return batches.data() + microStep * microBytes; }
  const char *batch(int64_t microStep) const { return batches.data() + microStep * microBytes; }

  /// Brings rank's parts together, from the step's batches (micro-step a at `first` + a · global
  /// bytes).
  void orderByRank(const char *first);
  /// Null for arguments that are no labels; else as `orderByRank` left it.
  const char *byRank() const { return ranked; }

private:
  bool isLabels = false;
  int64_t ranks = 1, microSteps = 1, microBytes = 0;
  std::vector<char> batches, reordered;
  const char *ranked = nullptr;
};

llvm::Expected<std::unique_ptr<DataSet>> openTokenData(llvm::StringRef path,
                                                       std::vector<BatchPlan> plans,
                                                       const DataOptions &options, bool isText);
llvm::Expected<std::unique_ptr<DataSet>>
openTensorData(llvm::StringRef path, std::vector<BatchPlan> plans, const DataOptions &options);

} // namespace zero::training

#endif // ZERO_TRAINING_DATASETS_H
