//===- CommunicatorTest.cpp - ranks that are threads ----------------------===//

#include "Conformance.h"

#include <gtest/gtest.h>
#include <thread>

using namespace zrt;
using namespace zrt::test;

namespace {

/// Runs fn(communicator of a rank) on one thread a rank; fn returns what was wrong.
template <typename Fn> void onAllRanks(int64_t ranks, bool spin, Fn &&fn) {
  std::vector<std::unique_ptr<Communicator>> communicators =
      createInProcessCommunicators(ranks, spin);
  std::vector<std::string> faults(static_cast<size_t>(ranks));
  std::vector<std::thread> threads;
  for (int64_t rank = 0; rank < ranks; ++rank)
    threads.emplace_back([&, rank] { faults[size_t(rank)] = fn(*communicators[size_t(rank)]); });
  for (std::thread &thread : threads)
    thread.join();
  for (int64_t rank = 0; rank < ranks; ++rank)
    EXPECT_EQ(faults[size_t(rank)], "") << "rank " << rank << " of " << ranks;
}

TEST(Communicator, N1_C1_Conforms) {
  for (int64_t ranks : {1, 2, 3, 4, 5, 8})
    onAllRanks(ranks, ranks == 2, runConformance);
}

TEST(Communicator, EveryCaseFitsSomeNumberOfRanks) {
  for (const ConformanceCase &test : conformanceCases())
    EXPECT_TRUE(test.fits(2) || test.fits(3) || test.fits(5)) << test.name;
}

TEST(Communicator, ManyRanksOnFewCores) {
  constexpr int64_t kRanks = 48;
  BucketLayout layout(kRanks, kRanks, kRanks);
  onAllRanks(kRanks, false, [&](Communicator &c) {
    std::vector<float> full(kRanks, 1.0f);
    for (int turn = 0; turn < 4; ++turn)
      if (!c.allReduce(layout, ElementType::f32, full.data()))
        return "expects to go on, got " + c.error();
    return full == std::vector<float>(kRanks, 48.0f * 48.0f * 48.0f * 48.0f)
               ? std::string()
               : "expects 48^4, got " + std::to_string(full[0]);
  });
}

TEST(Communicator, F2_AnAbortEndsTheOthersAndNamesTheCause) {
  for (bool spin : {false, true})
    for (int64_t ranks : {2, 4})
      onAllRanks(ranks, spin, runAbort);
}

TEST(Communicator, F2_TheFirstCauseStays) {
  auto communicators = createInProcessCommunicators(2, false);
  communicators[1]->abort("the first cause");
  communicators[0]->abort("a later cause");
  EXPECT_EQ(communicators[0]->error(), "the first cause");
  EXPECT_FALSE(communicators[0]->barrier());
}

} // namespace
