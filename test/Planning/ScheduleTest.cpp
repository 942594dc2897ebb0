//===- ScheduleTest.cpp - order, and schedules of a few rows -------------===//
#include "WalkthroughSchedule.h"

#include <gtest/gtest.h>
#include <random>

using namespace zero::planning::schedule;

namespace {

std::string text(const std::vector<Violation> &violations) {
  std::string result;
  for (const Violation &violation : violations)
    result += std::string(name(violation.law)) + ": " + violation.message + "\n";
  return result;
}

std::string verified(const Schedule &schedule) {
  EXPECT_EQ(check(schedule), std::nullopt);
  return text(verify(schedule));
}

Row row(std::string name, Stream stream, std::vector<int64_t> waits = {}) {
  Row result;
  result.name = name;
  result.stream = stream;
  result.waits = waits;
  return result;
}

TEST(Schedule, OrderFollowsStreamsStartsAndWaits) {
  Schedule schedule;
  schedule.rows = {row("a", Stream::Compute),      row("g", Stream::Gather),
                   row("b", Stream::Compute),      row("r", Stream::Reduce),
                   row("c", Stream::Compute, {1}), row("s", Stream::Reduce),
                   row("d", Stream::Compute, {3})};
  EXPECT_TRUE(isOrdered(schedule, 0, 2));  // one stream
  EXPECT_TRUE(isOrdered(schedule, 0, 1));  // a start comes after compute before it
  EXPECT_FALSE(isOrdered(schedule, 1, 2)); // nobody waited yet
  EXPECT_FALSE(isOrdered(schedule, 1, 3)); // two streams, no wait between them
  EXPECT_TRUE(isOrdered(schedule, 1, 4));  // waited for
  EXPECT_TRUE(isOrdered(schedule, 1, 5));  // g, c waits for g, s starts after c
  EXPECT_TRUE(isOrdered(schedule, 3, 6));
  EXPECT_FALSE(isOrdered(schedule, 5, 6)); // s started, and only r was waited for
  EXPECT_FALSE(isOrdered(schedule, 2, 2)); // not before itself
}

TEST(Schedule, WalkthroughIsRight) { EXPECT_EQ(verified(WalkthroughSchedule().build()), ""); }

TEST(Schedule, WalkthroughIsRightBeforeItHasPlaces) {
  Schedule schedule = WalkthroughSchedule().build();
  schedule.arenaBytes.reset();
  for (Buffer &buffer : schedule.buffers)
    buffer.offset.reset();
  EXPECT_EQ(verified(schedule), "");
}

TEST(ScheduleS1, UnorderedReadNamesRowsAndBytes) {
  Schedule schedule;
  schedule.buffers = {{"w", BufferKind::State, 0, 8}, {"F", BufferKind::Gathered, 64, 24}};
  Row gather = row("gather", Stream::Gather);
  gather.kind = RowKind::Gather;
  gather.reads = {{0, 0, 8}};
  gather.writes = {{1, 0, 24}};
  Row use = row("use", Stream::Compute);
  use.reads = {{1, 8, 16}};
  Row end = row("end", Stream::Compute, {0});
  end.frees = {1};
  schedule.rows = {gather, use, end};
  EXPECT_EQ(verified(schedule), "S1: row 1 'use' reads 'F' at [72, 80) while row 0 'gather' may "
                                "still write these bytes: nothing orders the two\n");
  schedule.rows[1].waits = {0};
  schedule.rows[2].waits = {};
  EXPECT_EQ(verified(schedule), "");
}

TEST(ScheduleS1, LostAndMissingValues) {
  Schedule schedule;
  schedule.buffers = {{"a", BufferKind::Value, 0, 16},
                      {"b", BufferKind::Value, 8, 16},
                      {"s", BufferKind::State, 32, 4}};
  Row first = row("first", Stream::Compute), second = row("second", Stream::Compute),
      third = row("third", Stream::Compute);
  first.writes = {{0, 0, 16}};
  second.writes = {{1, 0, 16}};
  third.reads = {{0, 0, 16}};
  schedule.rows = {first, second, third};
  // b covers bytes 8 to 16 of a, in order and yet a loss.
  EXPECT_EQ(verified(schedule), "S1: row 2 'third' reads 'a' at [0, 16), and at [8, 16) stands the "
                                "value of 'b'\n");
  schedule.rows = {third};
  EXPECT_EQ(verified(schedule), "S1: row 0 'third' reads 'a' at [0, 16), and at [0, 16) stands "
                                "nothing that was written before\n");
  schedule.buffers[1].offset = 32;
  schedule.rows = {second};
  EXPECT_EQ(verified(schedule), "S1: row 0 'second' writes 'b' at [32, 48) over the state 's'\n");
}

TEST(ScheduleS1, SharedBytesInARowNeedInout) {
  Schedule schedule;
  schedule.buffers = {{"a", BufferKind::Value, 0, 16}, {"b", BufferKind::Value, 0, 16}};
  Row first = row("first", Stream::Compute), second = row("second", Stream::Compute);
  first.writes = {{0, 0, 16}};
  second.reads = {{0, 0, 16}};
  second.writes = {{1, 0, 16}};
  schedule.rows = {first, second};
  EXPECT_EQ(verified(schedule), "S1: row 1 'second' writes 'b' at [0, 16) over its own operand 'a' "
                                "at [0, 16), which is not inout\n");
  schedule.rows[1].inouts = {{0, 1}};
  EXPECT_EQ(verified(schedule), "");
}

TEST(ScheduleS4, GradientsOfStateWriteInTheFirstRunOnly) {
  // Stages 0 and 1: two contributions into full gradient state, kept.
  Schedule schedule;
  schedule.buffers = {{"g", BufferKind::State, 0, 16}};
  schedule.buckets = {{"b0", {{"w", 2}}, /*reductions=*/0}};
  Row first = row("first", Stream::Compute), second = row("second", Stream::Compute);
  first.writes = second.writes = second.reads = {{0, 0, 16}};
  first.accumulates = {{0, 0, Mode::WriteFirstRun, {0, 0, 16}}};
  second.accumulates = {{0, 0, Mode::Add, {0, 0, 16}}};
  schedule.rows = {first, second};
  EXPECT_EQ(verified(schedule), "");
  schedule.rows[1].accumulates[0].mode = Mode::WriteFirstRun;
  EXPECT_EQ(verified(schedule),
            "S4: row 1 'second' accumulates into slot 'w' of bucket 'b0': "
            "expects to add to what row 0 'first' contributed, and it writes\n");
}

TEST(ScheduleCheck, MalformedSchedulesAreRefused) {
  auto message = [](auto mutate) {
    Schedule schedule = WalkthroughSchedule().build();
    mutate(schedule);
    return check(schedule).value_or("accepted");
  };
  EXPECT_EQ(message([](Schedule &) {}), "accepted");
  EXPECT_EQ(message([](Schedule &s) { s.rows[3].waits = {36}; }),
            "row 3 'embed': expects to wait for a row below 36, got 36");
  EXPECT_NE(message([](Schedule &s) { s.rows[3].frees = {-1}; }).find("expects to free"),
            std::string::npos);
  EXPECT_NE(message([](Schedule &s) { s.rows[3].reads[0].end = 25; }).find("[0, 25)"),
            std::string::npos);
  EXPECT_NE(message([](Schedule &s) { s.rows[3].reads[0].buffer = 999; }).find("buffer 999"),
            std::string::npos);
  EXPECT_NE(message([](Schedule &s) { s.rows[15].inouts[0].result = 999; }).find("inout"),
            std::string::npos);
  EXPECT_NE(message([](Schedule &s) { s.rows[16].accumulates[0].slot = 1; }).find("slot"),
            std::string::npos);
  EXPECT_NE(message([](Schedule &s) { s.rows[19].bucket = 6; }).find("bucket below 6, got 6"),
            std::string::npos);
  EXPECT_NE(message([](Schedule &s) {
              s.buffers[bufferOf(s, "G5")].offset = 2025;
            }).find("inside the arena of 2048 bytes, got [2025, 2049)"),
            std::string::npos);
  EXPECT_NE(message([](Schedule &s) { s.buffers[bufferOf(s, "x")].bytes = 0; }).find("'x'"),
            std::string::npos);
  EXPECT_NE(
      message([](Schedule &s) { s.buffers[bufferOf(s, "t")].offset = INT64_MAX; }).find("'t'"),
      std::string::npos);
  EXPECT_NE(message([](Schedule &s) { s.buffers[bufferOf(s, "t")].offset = 1800; }).find("overlap"),
            std::string::npos);
}

/// Two overlapping accesses conflict where one writes; the checker's verdict must
/// be that of all pairs, with order by paths through the graph of rows.
TEST(ScheduleS1, RandomSchedulesAgreeWithAllPairs) {
  std::mt19937 random(11);
  int wrong = 0;
  for (int round = 0; round < 2000; ++round) {
    Schedule schedule;
    for (int i = 0; i < 3; ++i)
      schedule.buffers.push_back({"s" + std::to_string(i), BufferKind::State, 8 * i, 8});
    int count = 2 + random() % 6;
    std::vector<int64_t> started;
    for (int i = 0; i < count; ++i) {
      Row next = row("r" + std::to_string(i), Stream(random() % 3));
      if (next.stream == Stream::Compute)
        for (auto it = started.begin(); it != started.end();)
          if (random() % 2) {
            next.waits.push_back(*it);
            it = started.erase(it);
          } else {
            ++it;
          }
      else
        started.push_back(i);
      int64_t begin = random() % 7;
      Access access = {int64_t(random() % 3), begin, begin + 1 + int64_t(random() % (8 - begin))};
      (random() % 2 ? next.reads : next.writes).push_back(access);
      schedule.rows.push_back(next);
    }
    schedule.rows.push_back(row("end", Stream::Compute, started));

    // Edges, then all paths: rows are in topological order.
    size_t rows = schedule.rows.size();
    std::vector<std::vector<bool>> before(rows, std::vector<bool>(rows, false));
    for (size_t j = 0; j < rows; ++j)
      for (size_t i = 0; i < j; ++i) {
        const Row &a = schedule.rows[i], &b = schedule.rows[j];
        bool edge = a.stream == b.stream || a.stream == Stream::Compute ||
                    std::count(b.waits.begin(), b.waits.end(), int64_t(i));
        if (edge)
          for (size_t k = 0; k <= i; ++k)
            if (k == i || before[k][i])
              before[k][j] = true;
      }
    bool races = false;
    for (size_t j = 0; j < rows; ++j)
      for (size_t i = 0; i < j; ++i) {
        EXPECT_EQ(isOrdered(schedule, i, j), bool(before[i][j]));
        for (const auto &a : {schedule.rows[i].reads, schedule.rows[i].writes})
          for (const auto &b : {schedule.rows[j].reads, schedule.rows[j].writes}) {
            if (a.empty() || b.empty() ||
                (!schedule.rows[i].reads.empty() && !schedule.rows[j].reads.empty()))
              continue;
            bool overlap =
                a[0].buffer == b[0].buffer && a[0].begin < b[0].end && b[0].begin < a[0].end;
            races |= overlap && !before[i][j];
          }
      }
    EXPECT_EQ(races, verified(schedule).find("S1") != std::string::npos) << verified(schedule);
    wrong += races;
  }
  EXPECT_GT(wrong, 400); // both verdicts occur
  EXPECT_LT(wrong, 1600);
}

} // namespace
