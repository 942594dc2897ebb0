//===- AllocationTest.cpp - collectives allocate nothing (M1) -------------===//
//
// Counts what this process allocates, and so stands alone.
//
//===----------------------------------------------------------------------===//

#include "Forked.h"

#include <atomic>
#include <cstdlib>
#include <gtest/gtest.h>
#include <new>

static std::atomic<int64_t> allocations{0};

void *operator new(size_t bytes) {
  ++allocations;
  if (void *memory = std::malloc(bytes ? bytes : 1))
    return memory;
  std::abort();
}
void operator delete(void *memory) noexcept { std::free(memory); }
void operator delete(void *memory, size_t) noexcept { std::free(memory); }

using namespace zrt;
using namespace zrt::test;

namespace {

TEST(Processes, M1_CollectivesAllocateNothing) {
  auto endings = runJoined(3, impatient(), [](ProcessCommunicator &communicator) -> std::string {
    // Chunks of 30000 elements, and of 3: longer than the scratch of 64 KiB, and tiny.
    BucketLayout layout(90003, 30000 * 3, 3);
    std::vector<float> full(90003, 1.0f), shard(30001, 1.0f);
    double mine = 1.0, all[3];
    int64_t before = allocations;
    bool done =
        communicator.allGather(layout, ElementType::f32, shard.data(), full.data()) &&
        communicator.reduceScatter(layout, ElementType::f32, full.data(), shard.data(), true) &&
        communicator.allReduce(layout, ElementType::bf16, full.data()) &&
        communicator.exchange(&mine, sizeof mine, all) &&
        communicator.broadcast(full.data(), 90003 * 4, 1) && communicator.barrier();
    int64_t made = allocations - before;
    if (!done)
      return communicator.error();
    return made == 0 ? "" : "expects no allocation, got " + std::to_string(made);
  });
  for (const Ending &ending : endings)
    EXPECT_EQ(ending.text, "");
}

// The count itself counts.
TEST(Processes, AllocationsAreCounted) {
  int64_t before = allocations;
  std::vector<int> values(100);
  EXPECT_GT(allocations, before);
}

} // namespace
