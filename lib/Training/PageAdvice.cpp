//===- PageAdvice.cpp - how a mapped file will be read -------------------===//

#include "PageAdvice.h"

#include <sys/mman.h>
#include <unistd.h>

namespace zero::training {

static uintptr_t pageSize() {
  static const uintptr_t size = static_cast<uintptr_t>(::sysconf(_SC_PAGESIZE));
  return size;
}

void advise(const void *begin, int64_t bytes, PageAdvice advice) {
  uintptr_t first = reinterpret_cast<uintptr_t>(begin), end = first + static_cast<uintptr_t>(bytes);
  first -= first % pageSize();
  int number = advice == PageAdvice::Sequential ? MADV_SEQUENTIAL
               : advice == PageAdvice::Random   ? MADV_RANDOM
                                                : MADV_WILLNEED;
  (void)::madvise(reinterpret_cast<void *>(first), end - first, number);
}

void touch(const void *begin, int64_t bytes) {
  const volatile char *data = static_cast<const volatile char *>(begin);
  int64_t step = static_cast<int64_t>(pageSize());
  for (int64_t i = 0; i < bytes; i += step)
    (void)data[i];
  if (bytes > 0)
    (void)data[bytes - 1];
}

} // namespace zero::training
