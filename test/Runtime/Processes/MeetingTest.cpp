//===- MeetingTest.cpp - ranks that don't find one another ----------------===//

#include "Forked.h"

#include "../../../lib/Runtime/Processes/Sockets.h"

#include <gtest/gtest.h>
#include <thread>

using namespace zrt;
using namespace zrt::test;

namespace {

/// Joins as rank `rank` of `ranks`; the text of what went wrong.
std::string join(int64_t rank, int64_t ranks, uint16_t port, double joinTimeout = 10.0) {
  JoinOptions options = impatient();
  options.joinTimeout = joinTimeout;
  std::string error;
  auto communicator = joinProcesses(tcpRank(rank, ranks, port), options, error);
  return communicator    ? (communicator->barrier() ? "" : communicator->error())
         : error.empty() ? "rank 0 has it"
                         : error;
}

void pause(int milliseconds) {
  std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
}

/// Whether `text` has the parts in this order: process numbers and names of machines differ.
testing::AssertionResult hasInOrder(const std::string &text, std::vector<std::string> parts) {
  size_t from = 0;
  for (const std::string &part : parts) {
    size_t at = text.find(part, from);
    if (at == text.npos)
      return testing::AssertionFailure() << "'" << text << "' lacks '" << part << "'";
    from = at + part.size();
  }
  return testing::AssertionSuccess();
}

TEST(Meeting, RanksMayComeInAnyOrder) {
  uint16_t port = freePort();
  for (const Ending &ending : runForked(3, [&](int64_t index) {
         pause(int(index) * 100);
         return join(2 - index, 3, port); // rank 0 comes last
       }))
    EXPECT_EQ(ending.text, "");
}

TEST(Meeting, F1_NobodyListens) {
  uint16_t port = freePort();
  std::string text = join(1, 2, port, 0.3);
  EXPECT_EQ(text, "rank 1 expects rank 0 to listen at 127.0.0.1:" + std::to_string(port) +
                      ", got nobody: Connection refused");
}

TEST(Meeting, F1_NoSuchHost) {
  LaunchEnvironment launch = tcpRank(1, 2, 9);
  launch.host = "host.invalid";
  JoinOptions options = impatient();
  options.joinTimeout = 0.1;
  std::string error;
  EXPECT_FALSE(joinProcesses(launch, options, error));
  EXPECT_TRUE(hasInOrder(error, {"rank 1 expects rank 0 to listen at host.invalid:9, got nobody: ",
                                 "host 'host.invalid': "}));
}

TEST(Meeting, F1_ARankIsMissing) {
  uint16_t port = freePort();
  auto endings = runForked(2, [&](int64_t index) { return join(index, 4, port, 1.0); });
  EXPECT_TRUE(hasInOrder(endings[0].text, {"expects 4 ranks to meet at rank 0 (process ",
                                           "waited in vain for rank 2, 3"}));
  EXPECT_EQ(endings[1].text, "rank 0 has it");
}

TEST(Meeting, F1_AnotherNumberOfRanks) {
  uint16_t port = freePort();
  auto endings = runForked(3, [&](int64_t index) {
    pause(int(index) * 100);
    return join(index, index == 2 ? 4 : 3, port);
  });
  EXPECT_TRUE(hasInOrder(endings[0].text,
                         {"expects all processes to be started for as many ranks, got 4 for rank 2 "
                          "(process ",
                          " and 3 for rank 0 (process "}));
  EXPECT_EQ(endings[1].text, "rank 0 has it");
  EXPECT_EQ(endings[2].text, "rank 0 has it");
}

TEST(Meeting, F1_TwoOfOneRank) {
  uint16_t port = freePort();
  auto endings = runForked(3, [&](int64_t index) {
    pause(int(index) * 100);
    return join(index == 0 ? 0 : 2, 3, port);
  });
  EXPECT_TRUE(hasInOrder(endings[0].text, {"expects one process of each rank, got two of rank 2: "
                                           "process ",
                                           " and process "}));
  EXPECT_EQ(endings[1].text, "rank 0 has it");
  EXPECT_EQ(endings[2].text, "rank 0 has it");
}

TEST(Meeting, F1_TwoOfRankZero) {
  uint16_t port = freePort();
  auto endings = runForked(2, [&](int64_t index) {
    pause(int(index) * 200);
    return join(0, 2, port, 0.6);
  });
  EXPECT_EQ(endings[1].text, "rank 0 cannot listen at 127.0.0.1:" + std::to_string(port) +
                                 ": Address already in use");
}

// A stranger at the port is neither taken for a rank nor waited for long.
TEST(Meeting, StrangersAreShownOut) {
  uint16_t port = freePort();
  auto endings = runForked(3, [&](int64_t index) {
    if (index < 2) {
      pause(int(index) * 300);
      return join(index, 2, port);
    }
    std::string error;
    Socket link;
    while (!(link = connectTo("127.0.0.1", port, inSeconds(5), error)))
      pause(10);
    const char text[200] = "GET / HTTP/1.1";
    return std::string(sendAll(link, text, sizeof text, inSeconds(1)) ? "" : "not sent");
  });
  for (const Ending &ending : endings)
    EXPECT_EQ(ending.text, "");
}

} // namespace
