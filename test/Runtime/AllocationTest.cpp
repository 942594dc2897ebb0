//===- AllocationTest.cpp - the step allocates nothing --------------------===//
//
// Replaces the process's allocator by one that counts, on all threads.
//
//===----------------------------------------------------------------------===//

#include "TinyProgram.h"

#include <atomic>
#include <cerrno>
#include <gtest/gtest.h>
#include <limits>

using namespace zrt;
using namespace zrt::test;

static std::atomic<int64_t> allocations{0};

// Under a sanitizer the allocator is already replaced.
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define ZERO_ALLOCATOR_IS_TAKEN
#endif
#endif

#ifndef ZERO_ALLOCATOR_IS_TAKEN
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
#endif

namespace {

TEST(Allocation, M1_StepsAllocateNothing) {
#ifdef ZERO_ALLOCATOR_IS_TAKEN
  GTEST_SKIP() << "the sanitizer has replaced the allocator";
#endif
  for (int64_t stage : {0, 1, 2, 3})
    for (int64_t threads : {1, 2})
      for (auto [type, checked] : {std::pair(ElementType::f32, false),
                                   {ElementType::f32, true},
                                   {ElementType::bf16, false},
                                   {ElementType::f16, true}}) {
        TinyOptions options{.ranks = 3,
                            .stage = stage,
                            .microSteps = 2,
                            .threads = threads,
                            .optimizer = {.kind = OptimizerKind::AdamW, .clip = 1.0},
                            .type = type};
        // A name that does not fit into a string itself: it is told where it is not finite.
        Program program = tinyProgram(options);
        program.buckets[0].slots[0].parameter = "a.parameter.with.a.long.name";
        int64_t beforeCreate = allocations;
        std::string error;
        auto made = Session::create(program, tinyKernels(options),
                                    {.poison = checked, .profile = checked}, error);
        ASSERT_TRUE(made) << error;
        EXPECT_GT(allocations, beforeCreate); // the counter counts
        made->initialize(0);
        TinyBatch batch(options);
        batch.fill(1);
        TinyBatch bad = batch;
        bad.labelAt(1, 3) = 1;
        bad.xAt(1, 3, 2) = std::numeric_limits<float>::infinity();
        StepInput input = batch.input(0.01, 0), skipped = bad.input(0.01, 0);
        StepResult result;
        ASSERT_TRUE(made->step(input, result, error)) << error;
        int64_t before = allocations;
        for (int step = 1; step < 6; ++step) {
          input.stepsTaken = step;
          if (!made->step(step == 3 ? skipped : input, result, error) ||
              result.finite != (step != 3))
            break;
          if (step == 3 && result.firstNonFinite != "a.parameter.with.a.long.name")
            break;
          error.assign(step == 5 ? "done" : "");
        }
        int64_t after = allocations;
        EXPECT_EQ(error, "done");
        EXPECT_EQ(after - before, 0) << "stage " << stage << ", threads " << threads;
      }
}

} // namespace
