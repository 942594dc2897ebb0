//===- TestFiles.h - files and messages in tests -------------------------===//
#ifndef ZERO_TEST_TRAINING_TESTFILES_H
#define ZERO_TEST_TRAINING_TESTFILES_H

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace zero::training {

/// A folder that goes with the test.
class TestFolder {
public:
  TestFolder() { EXPECT_FALSE(llvm::sys::fs::createUniqueDirectory("zero-training", root)); }
  ~TestFolder() { llvm::sys::fs::remove_directories(root); }

  std::string path(llvm::StringRef name) const { return (root + "/" + name).str(); }
  std::string str() const { return root.str().str(); }

  std::string write(llvm::StringRef name, llvm::StringRef content) const {
    // Anew, since some file systems wait for the disk where a file is cut and written again.
    llvm::sys::fs::remove(path(name));
    std::ofstream(path(name), std::ios::binary) << content.str();
    return path(name);
  }
  std::vector<std::string> list() const {
    std::vector<std::string> names;
    std::error_code code;
    for (llvm::sys::fs::directory_iterator it(root, code), end; it != end && !code;
         it.increment(code))
      names.push_back(llvm::sys::path::filename(it->path()).str());
    return names;
  }

private:
  llvm::SmallString<128> root;
};

inline std::string readAll(const std::string &path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// The bytes of numbers, as they lie in memory.
template <typename T> std::string bytesOf(const std::vector<T> &values) {
  return {reinterpret_cast<const char *>(values.data()), values.size() * sizeof(T)};
}

/// A safetensors file from its two parts; the header is taken as it is.
inline std::string safetensors(const std::string &header, const std::string &data) {
  return bytesOf<uint64_t>({header.size()}) + header + data;
}

/// The message of a failure; without one the test fails.
template <typename T> std::string errorOf(llvm::Expected<T> value) {
  if (!value)
    return llvm::toString(value.takeError());
  ADD_FAILURE() << "expected an error";
  return "";
}
inline std::string errorOf(llvm::Error error) {
  if (error)
    return llvm::toString(std::move(error));
  ADD_FAILURE() << "expected an error";
  return "";
}

/// The value; an error ends the program with its message.
template <typename T> T unwrap(llvm::Expected<T> value) { return llvm::cantFail(std::move(value)); }
inline void expectSuccess(llvm::Error error) {
  if (error)
    ADD_FAILURE() << llvm::toString(std::move(error));
}

} // namespace zero::training

#endif // ZERO_TEST_TRAINING_TESTFILES_H
