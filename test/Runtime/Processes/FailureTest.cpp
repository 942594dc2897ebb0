//===- FailureTest.cpp - ranks that end, stand still or disagree (F2) -----===//

#include "Conformance.h"
#include "Forked.h"

#include <atomic>
#include <csignal>
#include <gtest/gtest.h>
#include <thread>
#include <unistd.h>

using namespace zrt;
using namespace zrt::test;

namespace {

/// Barriers until one fails.
std::string meetUntilTheEnd(ProcessCommunicator &communicator) {
  while (communicator.barrier())
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  return communicator.error();
}

bool begins(const std::string &text, const std::string &with) { return text.rfind(with, 0) == 0; }

TEST(Failure, F2_AnAbortEndsTheOthersAndNamesTheCause) {
  for (int64_t ranks : {2, 4})
    for (const Ending &ending :
         runJoined(ranks, impatient(),
                   [](ProcessCommunicator &communicator) { return runAbort(communicator); }))
      EXPECT_EQ(ending.text, "");
}

// Whoever is killed, the others know within a moment who it was; one of them tells.
TEST(Failure, F2_AKilledRankIsNamed) {
  for (int64_t killed : {0, 1, 2}) {
    JoinOptions options = impatient();
    std::atomic<bool> told = false; // in each process its own
    options.tell = [&told](const std::string &) { told = true; };
    auto endings = runJoined(3, options, [&](ProcessCommunicator &communicator) {
      if (communicator.rank() == killed) {
        (void)communicator.barrier();
        raise(SIGKILL);
      }
      std::string text = meetUntilTheEnd(communicator);
      // The callback runs beside this thread.
      std::this_thread::sleep_for(std::chrono::milliseconds(200));
      bool tells = communicator.rank() == (killed == 0 ? 1 : 0);
      return text + (tells == told ? "" : " (told by another)") +
             (communicator.reports() ? " (reported twice)" : "");
    });
    for (int64_t rank = 0; rank < 3; ++rank) {
      const Ending &ending = endings[size_t(rank)];
      if (rank == killed) {
        EXPECT_EQ(ending.signal, SIGKILL);
        continue;
      }
      EXPECT_TRUE(begins(ending.text, "lost rank " + std::to_string(killed) + " (process "))
          << ending.text;
      EXPECT_TRUE(ending.text.ends_with("): its process ended")) << ending.text;
      EXPECT_LT(ending.seconds, 5.0);
    }
  }
}

// The same for one that ends with the best of codes.
TEST(Failure, F2_ARankThatLeavesIsNamed) {
  auto endings = runJoined(2, impatient(), [&](ProcessCommunicator &communicator) {
    if (communicator.rank() == 1)
      _exit(0);
    return meetUntilTheEnd(communicator);
  });
  EXPECT_TRUE(begins(endings[0].text, "lost rank 1 (process ")) << endings[0].text;
}

// Standing still is no end: nothing is heard of it, and those who wait must notice.
TEST(Failure, F2_ASilentRankIsNamed) {
  JoinOptions options = impatient();
  options.rankTimeout = 1.0;
  auto endings = runJoined(3, options, [](ProcessCommunicator &communicator) {
    if (communicator.rank() == 1 && communicator.barrier())
      std::this_thread::sleep_for(std::chrono::milliseconds(2500));
    return meetUntilTheEnd(communicator);
  });
  for (const Ending &ending : endings) // also to the one who was silent, once it is back
    EXPECT_EQ(ending.text, "expects rank 1 to take part in a collective, and waited 1 s in vain "
                           "(--rank-timeout)");
  EXPECT_LT(endings[0].seconds, 2.5);
}

// A rank deep in a launch hears nothing of a failure; seconds later it is told to end.
TEST(Failure, F2_ABusyRankIsEnded) {
  JoinOptions options = impatient();
  options.stuck = [] { _exit(7); };
  auto endings = runJoined(2, options, [](ProcessCommunicator &communicator) {
    if (communicator.rank() == 1)
      raise(SIGKILL);
    std::this_thread::sleep_for(std::chrono::seconds(14));
    return std::string("still there");
  });
  EXPECT_EQ(endings[0].code, 7);
  EXPECT_LT(endings[0].seconds, 9.0);
}

TEST(Failure, F2_OneOfThoseWhoFailAlikeReports) {
  auto endings = runJoined(3, impatient(), [](ProcessCommunicator &communicator) {
    communicator.abort("expects data, got none");
    return std::string(communicator.reports() ? "reports" : "");
  });
  int reports = 0;
  for (const Ending &ending : endings)
    reports += ending.text == "reports";
  EXPECT_EQ(reports, 1);
}

// A fault that comes behind another may be its consequence, and stays unsaid.
TEST(Failure, F2_OfThoseWhoFailDifferentlySomeReport) {
  auto endings = runJoined(3, impatient(), [](ProcessCommunicator &communicator) {
    communicator.abort("fault " + std::to_string(communicator.rank()));
    return communicator.reports() ? "reports " + communicator.error() : "";
  });
  int reports = 0;
  for (int64_t rank = 0; rank < 3; ++rank)
    if (const std::string &text = endings[size_t(rank)].text; !text.empty()) {
      EXPECT_EQ(text, "reports fault " + std::to_string(rank));
      ++reports;
    }
  EXPECT_GE(reports, 1);
}

// Ranks that run other programs don't take each other's bytes for their own.
TEST(Failure, S3_OtherMessagesAreNotTaken) {
  auto endings = runJoined(2, impatient(), [](ProcessCommunicator &communicator) {
    int64_t value = 0, all[2];
    bool narrow = communicator.rank() == 1; // 4 bytes where the other sends 8
    while (communicator.exchange(&value, narrow ? 4 : 8, all)) {
    }
    return communicator.error();
  });
  for (const Ending &ending : endings)
    EXPECT_TRUE(ending.text.ends_with(": the ranks do not run the same program")) << ending.text;
}

} // namespace
