//===- Errors.cpp - what a user is told about a file ---------------------===//

#include "zero/Training/Errors.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

namespace zero::training {

char InputError::ID = 0;

void InputError::log(llvm::raw_ostream &os) const {
  os << where.file;
  if (where.line)
    os << ':' << where.line << ':' << where.column;
  os << ": error: " << what;
}

llvm::Error inputError(llvm::StringRef file, const llvm::Twine &message) {
  return inputError(Location{file.str()}, message);
}

llvm::Error inputError(Location location, const llvm::Twine &message) {
  return llvm::make_error<InputError>(std::move(location), message.str());
}

std::string quoted(llvm::StringRef name) {
  // A name may be as long as a header; a message should not.
  constexpr size_t kLongest = 200;
  std::string text = "'";
  llvm::raw_string_ostream os(text);
  for (char c : name.take_front(kLongest)) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
      os << "\\x" << llvm::hexdigit((c >> 4) & 15) << llvm::hexdigit(c & 15);
    else
      os << c;
  }
  os << (name.size() > kLongest ? "…'" : "'");
  return text;
}

std::string shapeText(llvm::ArrayRef<int64_t> shape) {
  std::string text = "[";
  for (auto [i, extent] : llvm::enumerate(shape))
    text += (i ? ", " : "") + std::to_string(extent);
  return text + "]";
}

} // namespace zero::training
