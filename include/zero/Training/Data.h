//===- Data.h - the batches of every step --------------------------------===//
//
// A data set answers one question: which bytes does batch argument i hold in
// micro-step a of step s, on all ranks together? The global batch is rank-major:
// rank r reads the r-th 1/N of its rows. Memory is mapped or allocated on opening;
// `load` allocates nothing (M1). Files are mapped, and may be larger than memory.
//
// Three kinds, by the file's extension:
//
// * `.txt`          bytes are tokens
// * `.bin`          uint16 tokens, as nanoGPT and llm.c write them (the latter with a
//                   header of 1024 bytes)
// * `.safetensors`  one tensor an argument, by its name: [step, micro-step, global batch, …]
//
// Token files. A window is T+1 consecutive tokens: T inputs and, one further on,
// their T labels. Windows start T tokens apart, so that in an epoch no token is a
// label twice. Global sample g = (s·A + a)·B + row takes window permutation(g mod W)
// of epoch g div W. The permutation and the shift of all windows by up to T−1 tokens
// are keyed by (seed, epoch): the order knows nothing of ranks, so N ranks see
// exactly what one would (N2). The shift gives each epoch other boundaries; it costs
// at most one window an epoch.
//
//===----------------------------------------------------------------------===//
#ifndef ZERO_TRAINING_DATA_H
#define ZERO_TRAINING_DATA_H

#include "zero/Training/Errors.h"

#include <memory>
#include <optional>
#include <vector>

namespace zero::training {

enum class BatchType : uint8_t { F32, I32, I64 };
enum class BatchRole : uint8_t { Tokens, Labels, Other };

/// A batch argument of the graph, as one rank sees it in one micro-step.
struct BatchArgument {
  std::string name;
  BatchType type = BatchType::F32;
  std::vector<int64_t> shape; // [rows of the micro-batch, …], all positive
  BatchRole role = BatchRole::Other;
  /// Integers must lie in [0, bound) or equal `ignore`.
  std::optional<int64_t> bound;
  std::optional<int64_t> ignore;
};

struct DataOptions {
  int64_t ranks = 1;      // N
  int64_t microSteps = 1; // A
  uint64_t seed = 0;      // of the order of windows; tensor files have their own order
  /// Windows of a token file once each, in the file's order, as an evaluation reads them. The rows
  /// that the last batch lacks hold tokens 0 and ignored labels; where labels can't be ignored,
  /// only whole batches are read.
  bool once = false;
};

class DataSet {
public:
  virtual ~DataSet();

  /// The same data with batches of its own: both may be loaded at the same time, by two threads.
  virtual std::unique_ptr<DataSet> clone() const = 0;

  /// How many steps there are; none: any number, epoch after epoch.
  virtual std::optional<int64_t> steps() const = 0;

  /// Makes the batches of step `step` ≥ 0 current; random access. Errors: a step beyond the last,
  /// a value out of its argument's bound (step, micro-step, position and value are named).
  virtual llvm::Error load(int64_t step) = 0;

  /// The global batch of an argument in a micro-step of the current step: N × shape[0] rows.
  /// Aligned to the element size; valid until the next `load`.
  virtual const void *batch(int64_t microStep, int64_t argument) const = 0;

  /// The labels of all micro-steps of the current step, `[rank, micro-step, rows, …]`: rank r's
  /// part is contiguous. Only for arguments with role Labels; null for others.
  virtual const void *stepLabels(int64_t argument) const = 0;

  /// What `open` noticed, such as tensors that no argument reads.
  llvm::ArrayRef<std::string> warnings() const { return notes; }

  /// Tokens in a step over all ranks and micro-steps (elements of the first token argument), or
  /// none where no argument has that role.
  std::optional<int64_t> tokensPerStep() const { return stepTokens; }

protected:
  std::vector<std::string> notes;
  std::optional<int64_t> stepTokens;
};

/// Opens `path` by its extension. Errors (InputError): missing, empty, another extension; shorter
/// than one window (both figures); a token that is not below the bound (position and value); an
/// argument that no tensor is named after; a tensor of another shape or type (both are printed);
/// arguments that a token file can't feed.
llvm::Expected<std::unique_ptr<DataSet>>
openData(llvm::StringRef path, llvm::ArrayRef<BatchArgument> arguments, const DataOptions &options);

/// The same data, whose next step is loaded by a thread of its own while the current one runs. An
/// error in a step that was loaded ahead is that of its own `load`.
std::unique_ptr<DataSet> readAhead(std::unique_ptr<DataSet> data);

} // namespace zero::training

#endif // ZERO_TRAINING_DATA_H
