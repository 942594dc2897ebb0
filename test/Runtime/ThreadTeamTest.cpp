//===- ThreadTeamTest.cpp - the threads of one rank -----------------------===//

#include "zero/Runtime/ThreadTeam.h"

#include <gtest/gtest.h>

using namespace zrt;

namespace {

void mark(void *context, int64_t part) { ++static_cast<int *>(context)[part]; }

TEST(ThreadTeam, RunsEveryPartOnceAndJoins) {
  for (int64_t threads : {1, 2, 5})
    for (bool spin : {false, true}) {
      auto team = createThreadTeam(threads, spin);
      EXPECT_EQ(team->size(), threads);
      for (int64_t parts : {0, 1, 2, 7, 100}) {
        std::vector<int> marks(101, 0);
        for (int turn = 0; turn < 20; ++turn)
          team->run(parts, mark, marks.data());
        for (int64_t part = 0; part <= 100; ++part)
          EXPECT_EQ(marks[part], part < parts ? 20 : 0);
      }
    }
}

TEST(ThreadTeam, EndsWithoutHavingRun) { createThreadTeam(4, false); }

} // namespace
