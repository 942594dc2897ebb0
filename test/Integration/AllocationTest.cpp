//===- AllocationTest.cpp - steps 2 to N allocate nothing (M1) --------------===//
//
// Replaces the process's allocator by one that counts, on all threads.
//
//===----------------------------------------------------------------------===//

#include "Cases.h"

#include <atomic>
#include <cerrno>
#include <gtest/gtest.h>

static std::atomic<int64_t> allocations{0};

extern "C" {
void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);
void *__libc_memalign(size_t, size_t);

void *malloc(size_t size) {
  ++allocations;
  return __libc_malloc(size);
}
void *calloc(size_t count, size_t size) {
  ++allocations;
  return __libc_calloc(count, size);
}
void *realloc(void *old, size_t size) {
  ++allocations;
  return __libc_realloc(old, size);
}
void *aligned_alloc(size_t alignment, size_t size) {
  ++allocations;
  return __libc_memalign(alignment, size);
}
int posix_memalign(void **result, size_t alignment, size_t size) {
  ++allocations;
  *result = __libc_memalign(alignment, size);
  return *result ? 0 : ENOMEM;
}
}

using namespace zero;
using namespace zero::test;

namespace {

TEST(Allocation, M1_LaterStepsAllocateNothing) {
  for (const char *name : {"tiny", "mlp", "gpt2", "gpt2-accum4"})
    for (int64_t stage : {0, 1, 2, 3})
      for (int64_t threads : {1, 2}) {
        SCOPED_TRACE(std::string(name) + ", stage " + std::to_string(stage) + ", " +
                     std::to_string(threads) + " threads");
        std::string error;
        int64_t before = allocations;
        auto trainer = makeTrainer(goldenCase(name),
                                   {.ranks = 2, .stage = stage, .threadsPerRank = threads}, error);
        ASSERT_TRUE(trainer) << error;
        EXPECT_GT(allocations, before); // the counter counts
        ASSERT_FALSE(llvm::errorToBool(trainer->step().takeError()));
        before = allocations;
        for (int step = 1; step < 4; ++step)
          ASSERT_FALSE(llvm::errorToBool(trainer->step().takeError()));
        EXPECT_EQ(allocations, before);
      }
}

} // namespace
