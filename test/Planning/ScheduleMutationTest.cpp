//===- ScheduleMutationTest.cpp - a right schedule, broken in every way --===//
//
// Each test breaks the worked example in one place and expects a violation of
// the law that is named, with the rows and buffers that matter in its message.
// A few mutations are harmless, and the checker must say so.
//
//===----------------------------------------------------------------------===//
#include "WalkthroughSchedule.h"

#include <algorithm>
#include <gtest/gtest.h>

using namespace zero::planning::schedule;

namespace {

template <typename Mutate> std::vector<Violation> broken(Mutate mutate) {
  Schedule schedule = WalkthroughSchedule().build();
  mutate(schedule);
  EXPECT_EQ(check(schedule), std::nullopt);
  return verify(schedule);
}

std::string text(const std::vector<Violation> &violations) {
  std::string result;
  for (const Violation &violation : violations)
    result += std::string(name(violation.law)) + ": " + violation.message + "\n";
  return result;
}

/// Expects a violation of `law` whose message holds each of `parts`.
void expect(const std::vector<Violation> &violations, Law law, std::vector<std::string> parts) {
  for (const Violation &violation : violations)
    if (violation.law == law &&
        std::all_of(parts.begin(), parts.end(), [&](const std::string &part) {
          return violation.message.find(part) != std::string::npos;
        }))
      return;
  std::string wanted = name(law);
  for (const std::string &part : parts)
    wanted += " " + part;
  ADD_FAILURE() << "expects " << wanted << ", got\n" << text(violations);
}

void moveWait(Schedule &schedule, int64_t started, int64_t from, int64_t to) {
  auto &waits = schedule.rows[from].waits;
  waits.erase(std::find(waits.begin(), waits.end(), started));
  schedule.rows[to].waits.push_back(started);
}

/// Swaps two neighbours; nothing else refers to either by number before both.
void swapRows(Schedule &schedule, int64_t row) {
  std::swap(schedule.rows[row], schedule.rows[row + 1]);
  for (Row &other : schedule.rows)
    for (int64_t &wait : other.waits)
      if (wait == row || wait == row + 1)
        wait = 2 * row + 1 - wait;
}

TEST(ScheduleMutationS3, EveryDroppedWait) {
  Schedule right = WalkthroughSchedule().build();
  int dropped = 0;
  for (size_t row = 0; row < right.rows.size(); ++row)
    for (size_t i = 0; i < right.rows[row].waits.size(); ++i, ++dropped) {
      int64_t started = right.rows[row].waits[i];
      expect(broken([&](Schedule &s) { s.rows[row].waits.erase(s.rows[row].waits.begin() + i); }),
             Law::S3, {"row " + std::to_string(started) + " ", "never waited for"});
    }
  EXPECT_EQ(dropped, 17); // eleven gathers and six reductions
}

TEST(ScheduleMutationS3, EveryDoubledWait) {
  Schedule right = WalkthroughSchedule().build();
  for (size_t row = 0; row < right.rows.size(); ++row)
    for (int64_t started : right.rows[row].waits) {
      expect(broken([&](Schedule &s) { s.rows[row].waits.push_back(started); }), Law::S3,
             {"waits for row " + std::to_string(started) + " ", "did already"});
      if (row != 35)
        expect(broken([&](Schedule &s) { s.rows[35].waits.push_back(started); }), Law::S3,
               {"row 35", "waits for row " + std::to_string(started) + " ", "did already"});
    }
}

TEST(ScheduleMutationS3, WaitsForWhatIsNoStart) {
  expect(broken([](Schedule &s) { s.rows[6].waits.push_back(3); }), Law::S3,
         {"row 6 'ln'", "row 3 'embed'", "not started"});
  expect(broken([](Schedule &s) { moveWait(s, 4, 9, 3); }), Law::S3,
         {"row 3 'embed'", "row 4", "not issued before"});
}

TEST(ScheduleMutationS3, SegmentEndsWithAStreamOpen) {
  // b1's reduction is waited for by the end; a reduction after the end is not.
  expect(broken([](Schedule &s) { swapRows(s, 34); }), Law::S3,
         {"reduce_scatter b0", "may still run when the segment ends"});
}

/// The wait still happens, once, but too late for the data.
TEST(ScheduleMutationS1, EveryGatherWaitedForTooLate) {
  Schedule right = WalkthroughSchedule().build();
  int moved = 0;
  for (size_t row = 0; row < right.rows.size(); ++row)
    for (int64_t started : right.rows[row].waits) {
      if (right.rows[started].kind != RowKind::Gather)
        continue;
      ++moved;
      auto violations = broken([&](Schedule &s) { moveWait(s, started, row, 35); });
      // Gathers run in one stream: waiting for a later one is waiting for both.
      bool implied = std::any_of(
          right.rows[row].waits.begin(), right.rows[row].waits.end(), [&](int64_t other) {
            return other > started && right.rows[other].kind == RowKind::Gather;
          });
      if (implied)
        EXPECT_EQ(text(violations), "");
      else
        expect(violations, Law::S1,
               {"row " + std::to_string(row) + " ", "reads 'F",
                "while row " + std::to_string(started) + " "});
    }
  EXPECT_EQ(moved, 11);
}

TEST(ScheduleMutationS1, ReductionsWaitedForTooLate) {
  // G1 takes G3's bytes at 768, so row 31 must wait for row 26.
  expect(broken([](Schedule &s) { moveWait(s, 26, 31, 35); }), Law::S1,
         {"row 31 'ln_grad'", "writes 'G1' at [768, 784)", "row 26 'reduce_scatter b3'", "read"});
  // The other waits only bound how many reductions are in flight.
  EXPECT_EQ(text(broken([](Schedule &s) { moveWait(s, 19, 25, 35); })), "");
  EXPECT_EQ(text(broken([](Schedule &s) { moveWait(s, 21, 27, 35); })), "");
  EXPECT_EQ(text(broken([](Schedule &s) { moveWait(s, 28, 33, 35); })), "");
}

TEST(ScheduleMutationS1, ShiftedOffsets) {
  auto shifted = [](const char *buffer, int64_t offset) {
    return broken([&](Schedule &s) { s.buffers[bufferOf(s, buffer)].offset = offset; });
  };
  // F2 (96 bytes) at 704 lies over F0's [640, 724), which embed has finished with;
  // and over F1's [768, 792), which ln reads later on another stream.
  expect(shifted("F2", 704), Law::S2, {"row 4", "'F2'", "over 'F1'", "not freed"});
  // u at 896 reaches into x at 1024, which is read until the end.
  expect(shifted("u", 896), Law::S1, {"reads 'x'", "the value of 'u'"});
  // G5 at 1536 lies over dh, its own operand.
  expect(shifted("G5", 1536), Law::S1, {"row 18 'db_pr'", "'G5'", "its own operand 'dh'"});
  // G3 at 1408 lies over G4, which is still being reduced: row 25 waits for 19 only.
  expect(shifted("G3", 1408), Law::S1,
         {"row 25 'db_fc'", "'G3' at [1408, 1432)", "row 21 'reduce_scatter b4'"});
  // F0b at 1536 lies where h is written while it is gathered.
  expect(shifted("F0b", 1536), Law::S1, {"row 12 'pr'", "'h'", "row 11 'all_gather F0b'"});
  // F2b at 1536: gathered over dh, which is read until row 31.
  expect(shifted("F2b", 1536), Law::S1, {"reads 'dh'"});
  // A weight shard is never written by a launch.
  expect(shifted("y", 64), Law::S1, {"row 6 'ln'", "'y' at [64, 160)", "over the state"});
  // dl moved off l: no aliasing, and still right; bytes 1880 on are free.
  EXPECT_EQ(text(shifted("dl", 1664)), "");
  EXPECT_EQ(text(shifted("G5", 2024)), "");
}

TEST(ScheduleMutationS1, EveryLivePairPlacedOnOneOffset) {
  // Whatever is read after another one was written cannot share its place. Both
  // orders of each pair below are alive together by the table.
  const char *pairs[][2] = {{"x", "y"},   {"x", "u"},     {"y", "a"},  {"u", "a"},   {"h", "l"},
                            {"dh", "dl"}, {"G0", "G5"},   {"G4", "a"}, {"F0", "F1"}, {"F2", "F3"},
                            {"F4", "F5"}, {"F0b", "F4b"}, {"G2", "y"}, {"G1", "dh"}, {"t", "x"}};
  for (auto &pair : pairs) {
    auto violations = broken([&](Schedule &s) {
      s.arenaBytes.reset();
      s.buffers[bufferOf(s, pair[0])].offset = s.buffers[bufferOf(s, pair[1])].offset;
    });
    EXPECT_FALSE(violations.empty()) << pair[0] << " on " << pair[1];
  }
}

TEST(ScheduleMutationS1, DroppedInout) {
  for (int64_t row : {15, 24, 31})
    expect(broken([&](Schedule &s) { s.rows[row].inouts.clear(); }), Law::S1,
           {"row " + std::to_string(row) + " ", "over its own operand"});
}

TEST(ScheduleMutationS1, StartsSwappedWithLaunches) {
  auto swapped = [](int64_t row) { return broken([&](Schedule &s) { swapRows(s, row); }); };
  // The gather of F0b at 1408 before gelu: fc (row 9), which read F3 there, comes
  // before it all the same.
  EXPECT_EQ(text(swapped(10)), "");
  // F4b (1280) is gathered over F4 while pr still reads it.
  expect(swapped(12), Law::S1, {"all_gather F4b", "pr"});
  // db_pr writes G5 after its reduction was started.
  expect(swapped(18), Law::S4, {"db_pr", "after", "reduce_scatter b5"});
  expect(swapped(18), Law::S1, {"reduce_scatter b5", "reads 'G5'", "nothing that was written"});
  // embed before F0 is gathered: it waits for what comes later.
  expect(broken([](Schedule &s) {
           swapRows(s, 2);
           swapRows(s, 1);
           swapRows(s, 0);
         }),
         Law::S3, {"embed", "not issued before"});
  // da at 832 would be computed before the last reader of `a`, dw_pr.
  expect(broken([](Schedule &s) {
           for (int64_t row : {22, 21, 20})
             swapRows(s, row);
         }),
         Law::S1, {"dw_pr", "reads 'a'", "the value of 'da'"});
}

TEST(ScheduleMutationS2, EveryDroppedFree) {
  Schedule right = WalkthroughSchedule().build();
  int dropped = 0;
  for (size_t row = 0; row < right.rows.size(); ++row)
    for (size_t i = 0; i < right.rows[row].frees.size(); ++i, ++dropped) {
      std::string buffer = "'" + right.buffers[right.rows[row].frees[i]].name + "'";
      expect(broken([&](Schedule &s) { s.rows[row].frees.erase(s.rows[row].frees.begin() + i); }),
             Law::S2, {"expects one free of " + buffer});
    }
  EXPECT_EQ(dropped, 11);
}

TEST(ScheduleMutationS2, EveryFreeTwiceOrTooEarly) {
  Schedule right = WalkthroughSchedule().build();
  for (size_t row = 0; row < right.rows.size(); ++row)
    for (int64_t buffer : right.rows[row].frees) {
      std::string name = "'" + right.buffers[buffer].name + "'";
      expect(broken([&](Schedule &s) { s.rows[35].frees.push_back(buffer); }), Law::S2,
             {"row 35", "frees " + name, "freed before"});
      // Freed by the compute row before, where the gather may still run or has
      // not begun.
      size_t before = row;
      while (before > 0 && (before == row || right.rows[before].stream != Stream::Compute))
        --before;
      expect(broken([&](Schedule &s) {
               std::erase(s.rows[row].frees, buffer);
               s.rows[before].frees.push_back(buffer);
             }),
             Law::S2, {name});
    }
}

TEST(ScheduleMutationS2, UseAfterFree) {
  // F0b is freed by dh; here dwte frees it, one row too early.
  expect(broken([](Schedule &s) {
           s.rows[17].frees.clear();
           s.rows[16].frees.push_back(bufferOf(s, "F0b"));
         }),
         Law::S2, {"row 17 'dh'", "reads 'F0b'", "after row 16 'dwte' freed it"});
  // Freed a row later than its bytes were gathered into again.
  expect(broken([](Schedule &s) {
           std::erase(s.rows[12].frees, bufferOf(s, "F4"));
           s.rows[15].frees.push_back(bufferOf(s, "F4"));
         }),
         Law::S2, {"row 13", "'F4b'", "over 'F4'", "not freed yet"});
  expect(broken([](Schedule &s) { s.rows[16].frees.push_back(bufferOf(s, "l")); }), Law::S2,
         {"frees 'l'", "no gather made"});
  // A launch that writes into gathered weights.
  expect(broken([](Schedule &s) { s.rows[3].writes.push_back({bufferOf(s, "F0"), 0, 4}); }),
         Law::S2, {"row 3 'embed'", "writes 'F0'", "only a gather"});
  // The second gather of b4 into the first one's value, instead of its own.
  expect(broken([](Schedule &s) { s.rows[13].writes[0].buffer = bufferOf(s, "F4"); }), Law::S2,
         {"row 13", "'F4'", "after"});
}

TEST(ScheduleMutationS4, Contributions) {
  // The scatter's contribution to the tied weight is lost.
  expect(broken([](Schedule &s) { s.rows[33].accumulates.clear(); }), Law::S4,
         {"slot 'wte' of bucket 'b0'", "expects 2 contributions, got 1"});
  expect(broken([](Schedule &s) { s.rows[20].accumulates.clear(); }), Law::S4,
         {"slot 'pr.w'", "expects 1 contributions, got 0"});
  // It writes, and the first contribution is gone.
  expect(broken([](Schedule &s) { s.rows[33].accumulates[0].mode = Mode::Write; }), Law::S4,
         {"row 33 'scatter'", "expects to add", "row 16 'dwte'"});
  expect(broken([](Schedule &s) { s.rows[16].accumulates[0].mode = Mode::Add; }), Law::S4,
         {"row 16 'dwte'", "expects the first contribution to write"});
  expect(broken([](Schedule &s) { s.rows[16].accumulates.push_back(s.rows[16].accumulates[0]); }),
         Law::S4, {"slot 'wte'", "expects 2 contributions, got 3"});
  // A part of the slot, or bytes elsewhere.
  expect(broken([](Schedule &s) { s.rows[16].writes[0].end = 76; }), Law::S4,
         {"row 16 'dwte'", "all bytes of the slot"});
  expect(broken([](Schedule &s) { s.rows[33].accumulates[0].target.end = 76; }), Law::S4,
         {"row 33 'scatter'", "'G0' at [1792, 1868)", "row 16 'dwte' at 'G0' at [1792, 1872)"});
}

TEST(ScheduleMutationS4, Reductions) {
  // One too many, one too few, of the wrong bucket, of half a slot.
  expect(broken([](Schedule &s) { s.rows[34].kind = RowKind::Other; }), Law::S4,
         {"bucket 'b0'", "expects 1 reductions, got 0"});
  expect(broken([](Schedule &s) { s.rows[32].bucket = 2; }), Law::S4,
         {"bucket 'b2'", "expects 1 reductions, got 2"});
  expect(broken([](Schedule &s) { s.rows[32].bucket = 2; }), Law::S4,
         {"row 32", "does not read slot 'fc.w'"});
  expect(broken([](Schedule &s) { s.rows[28].reads[0].end = 92; }), Law::S4,
         {"row 28", "does not read slot 'fc.w'"});
  // b0 reduced before the scatter has added to it.
  expect(broken([](Schedule &s) { swapRows(s, 33); }), Law::S4,
         {"'scatter'", "slot 'wte'", "after", "reduce_scatter b0"});
}

TEST(ScheduleMutation, TheLimitHolds) {
  Schedule schedule = WalkthroughSchedule().build();
  for (Row &row : schedule.rows)
    row.waits.clear();
  EXPECT_EQ(verify(schedule, 5).size(), 5u);
  EXPECT_GT(verify(schedule).size(), 17u);
}

} // namespace
