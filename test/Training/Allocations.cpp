#include "Allocations.h"

#include <atomic>
#include <cstdlib>
#include <new>

static std::atomic<int64_t> count = 0;

int64_t zero::training::allocationCount() { return count; }

void *operator new(size_t bytes) {
  ++count;
  if (void *memory = std::malloc(bytes ? bytes : 1))
    return memory;
  throw std::bad_alloc();
}
void operator delete(void *memory) noexcept { std::free(memory); }
void operator delete(void *memory, size_t) noexcept { std::free(memory); }
