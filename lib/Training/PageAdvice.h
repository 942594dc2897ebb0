//===- PageAdvice.h - how a mapped file will be read ---------------------===//
//
// Files larger than memory are mapped and read where a step needs them. What the system
// reads ahead on its own is wrong for windows in random order (it reads what nobody
// asked for), so it is told. These are hints: nothing depends on their success.
//
//===----------------------------------------------------------------------===//
#ifndef ZERO_LIB_TRAINING_PAGEADVICE_H
#define ZERO_LIB_TRAINING_PAGEADVICE_H

#include <cstdint>

namespace zero::training {

enum class PageAdvice : uint8_t {
  Sequential, // from front to back
  Random,     // pieces in any order; nothing beside them is read
  WillNeed    // soon: reading may begin
};

void advise(const void *begin, int64_t bytes, PageAdvice advice);

/// Reads a byte of each page, so that the next reader doesn't wait for the disk.
void touch(const void *begin, int64_t bytes);

} // namespace zero::training

#endif // ZERO_LIB_TRAINING_PAGEADVICE_H
