//===- Errors.h - what a user is told about a file -----------------------===//
//
// Every complaint about a file is one line that names it, and the place in it
// where one is known: `model.json:3:7: error: expects …, got …`. The text of an
// `InputError` is that whole line, ready for standard error. Messages about
// flags (Sizes.h) have no file and come without `error:`; the tool adds its name.
//
//===----------------------------------------------------------------------===//
#ifndef ZERO_TRAINING_ERRORS_H
#define ZERO_TRAINING_ERRORS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <string>

namespace zero::training {

/// A place in a text file; lines and columns count from 1, and 0 stands for "unknown".
struct Location {
  std::string file;
  unsigned line = 0, column = 0;
};

class InputError : public llvm::ErrorInfo<InputError> {
public:
  static char ID;
  InputError(Location location, std::string message)
      : where(std::move(location)), what(std::move(message)) {}

  void log(llvm::raw_ostream &os) const override;
  std::error_code convertToErrorCode() const override { return llvm::inconvertibleErrorCode(); }

  const Location &location() const { return where; }
  /// Without the place, which `message()` (the whole line) begins with.
  const std::string &detail() const { return what; }

private:
  Location where;
  std::string what;
};

llvm::Error inputError(llvm::StringRef file, const llvm::Twine &message);
llvm::Error inputError(Location location, const llvm::Twine &message);

/// `'name'`, with control characters escaped, since names come from files.
std::string quoted(llvm::StringRef name);

/// `[2, 3]`; `[]` is a scalar.
std::string shapeText(llvm::ArrayRef<int64_t> shape);

} // namespace zero::training

#endif // ZERO_TRAINING_ERRORS_H
