//===- ConformanceTest.cpp - ranks that are processes, over TCP -----------===//

#include "Conformance.h"
#include "Forked.h"

#include <gtest/gtest.h>

using namespace zrt;
using namespace zrt::test;

namespace {

void expectConform(int64_t ranks, const JoinOptions &options) {
  std::vector<Ending> endings = runJoined(ranks, options, [](ProcessCommunicator &communicator) {
    return runConformance(communicator);
  });
  ASSERT_EQ(int64_t(endings.size()), ranks);
  for (int64_t rank = 0; rank < ranks; ++rank) {
    EXPECT_EQ(endings[size_t(rank)].text, "") << "rank " << rank << " of " << ranks;
    EXPECT_EQ(endings[size_t(rank)].code, 0) << "rank " << rank << " of " << ranks;
  }
}

TEST(Tcp, N1_C1_Conforms) {
  for (int64_t ranks : {1, 2, 3, 4, 5})
    expectConform(ranks, impatient());
}

// Messages and scratch smaller than any piece: everything goes in many turns.
TEST(Tcp, N1_ConformsInSmallMessages) {
  JoinOptions options = impatient();
  options.messageBytes = 192;
  options.scratchBytes = 1; // the least, 64 bytes a rank
  for (int64_t ranks : {2, 3})
    expectConform(ranks, options);
}

TEST(Tcp, ScratchIsWhatWasAskedFor) {
  // 1000 bytes over 3 ranks: 333 each, cut to 320, a multiple of 64.
  JoinOptions options = impatient();
  options.scratchBytes = 1000;
  for (const Ending &ending : runJoined(3, options, [](ProcessCommunicator &communicator) {
         bool right = communicator.scratchBytes() == 3 * 320 && communicator.barrier();
         return right ? ""
                      : "expects 960 bytes, got " + std::to_string(communicator.scratchBytes());
       }))
    EXPECT_EQ(ending.text, "");
}

} // namespace
