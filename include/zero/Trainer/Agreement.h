//===- Agreement.h - ranks that are processes go on together, or not at all --===//
//
// Every process of a job reads the same flags and files, and may find another thing
// wrong with them. Before ranks depend on one another they settle whether all are
// well, and whether they were started alike: else one waits for another that has long
// ended, or trains on other numbers.
//
// These functions are collective. A null communicator is a job of one process. On the
// path of a step, `settle` and `onAnyRank` allocate nothing for up to 1024 ranks.
//
//===----------------------------------------------------------------------===//
#ifndef ZERO_TRAINER_AGREEMENT_H
#define ZERO_TRAINER_AGREEMENT_H

#include "zero/Runtime/Communicator.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"

#include <string>

namespace zero {

/// An error that all ranks have, in the same words: one of them tells it.
class CommonError : public llvm::ErrorInfo<CommonError> {
public:
  static char ID;
  explicit CommonError(std::string text) : text(std::move(text)) {}
  void log(llvm::raw_ostream &os) const override { os << text; }
  std::error_code convertToErrorCode() const override { return llvm::inconvertibleErrorCode(); }

private:
  std::string text;
};

/// Lines of an error with the rank that they are of: `error: rank 2: …`, `rank 2: model.mlir:1:1:
/// …`.
std::string withRank(int64_t rank, llvm::StringRef lines);

/// Success where `mine` is one on all ranks. Else a CommonError: the error of the lowest rank that
/// has one, with that rank's number where not all have the same. Where the job has ended, its
/// communicator's error. Lines of text, as the Trainer's errors are.
llvm::Error settle(zrt::Communicator *communicator, llvm::Error mine);

/// An error that comes of what all ranks know alike.
llvm::Error sameEverywhere(zrt::Communicator *communicator, llvm::Error error);

/// Whether it is so on some rank; false where the job has ended.
bool onAnyRank(zrt::Communicator *communicator, bool mine);

/// What a process knows of a run, in the halves of a sentence: `rank 2 was started` `with --lr
/// 2e-3`. All ranks have the same ones in the same order.
struct Fact {
  std::string verb, object;
};

/// A CommonError on all ranks where a fact of some rank is not rank 0's: of the lowest such rank
/// the first one, as `rank 2 was started with --lr 2e-3, rank 0 with --lr 1e-3`.
llvm::Error expectAlike(zrt::Communicator *communicator, llvm::ArrayRef<Fact> facts);

/// Limits the runtime's kernels to the instruction set that all ranks have, so that weights that
/// are replicated stay replicas, whichever machines ranks lie on. The text tells of ranks that have
/// different ones; empty where all have the same.
llvm::Expected<std::string> useCommonInstructionSet(zrt::Communicator *communicator);

/// `model.mlir (1843 bytes, 6c1f…)`: the file's name, size and a hash of its bytes, of at most the
/// first MiB; the name alone where there is no such file.
std::string identify(llvm::StringRef path);

} // namespace zero

#endif // ZERO_TRAINER_AGREEMENT_H
