//===- BucketsTest.cpp - which parameters share a bucket -----------------===//
#include "zero/Planning/Buckets.h"

#include <gtest/gtest.h>
#include <random>

using namespace zero::planning::buckets;

namespace {

std::vector<int64_t> begins(const Bucket &bucket) {
  std::vector<int64_t> result;
  for (const Slot &slot : bucket.slots)
    result.push_back(slot.begin);
  return result;
}

std::string pieceText(const Bucket &bucket, int64_t ranks, int64_t rank) {
  std::string text;
  for (const Piece &piece : pieces(bucket, ranks, rank))
    text += "[" + std::to_string(piece.begin) + "," + std::to_string(piece.end) + ")@" +
            std::to_string(piece.shardBegin) + " ";
  return text;
}

/// The tied model of eight parameters at 3 ranks and 64 bytes a bucket.
Problem tiny() {
  return {{{"wte", 20},
           {"ln.w", 4},
           {"ln.b", 4, 4, Class::Frozen},
           {"fc.w", 24},
           {"fc.b", 6},
           {"pr.w", 24},
           {"pr.b", 4},
           {"extra", 6, 4, Class::Unused}},
          3,
          64};
}

TEST(Buckets, TinyHasTheLayoutWorkedByHand) {
  Problem problem = tiny();
  ASSERT_EQ(check(problem), std::nullopt);
  Plan buckets = plan(problem);
  EXPECT_EQ(verify(problem, buckets), std::nullopt);
  // 64 bytes hold 16 elements, of which 15 divide by 3: chunks of 15. No two
  // neighbours fit together: ln.w ends at 4, fc.w would begin at 16 and end at 40.
  struct Row {
    const char *name, *parameter;
    int64_t length, chunk, owned[3];
    const char *pieces[3];
  };
  const char *six[] = {"[0,2)@0 ", "[2,4)@0 ", "[4,6)@0 "};
  const char *two[] = {"[0,5)@0 [15,18)@5 ", "[5,10)@0 [18,21)@5 ", "[10,15)@0 [21,24)@5 "};
  Row rows[] = {
      {"b0",
       "wte",
       21,
       15,
       {7, 7, 6}, // rank 2 owns [10,15) and [19,21), and 20 is padding
       {"[0,5)@0 [15,17)@5 ", "[5,10)@0 [17,19)@5 ", "[10,15)@0 [19,21)@5 "}},
      {"b1", "ln.w", 6, 6, {2, 2, 0}, {six[0], six[1], six[2]}},
      {"b2", "fc.w", 24, 15, {8, 8, 8}, {two[0], two[1], two[2]}},
      {"b3", "fc.b", 6, 6, {2, 2, 2}, {six[0], six[1], six[2]}},
      {"b4", "pr.w", 24, 15, {8, 8, 8}, {two[0], two[1], two[2]}},
      {"b5", "pr.b", 6, 6, {2, 2, 0}, {six[0], six[1], six[2]}},
      {"f0", "ln.b", 6, 6, {2, 2, 0}, {six[0], six[1], six[2]}},
      {"u0", "extra", 6, 6, {2, 2, 2}, {six[0], six[1], six[2]}},
  };
  ASSERT_EQ(buckets.buckets.size(), std::size(rows));
  for (size_t i = 0; i < std::size(rows); ++i) {
    const Bucket &bucket = buckets.buckets[i];
    EXPECT_EQ(bucket.name, rows[i].name);
    ASSERT_EQ(bucket.slots.size(), 1u);
    EXPECT_EQ(problem.parameters[bucket.slots[0].parameter].name, rows[i].parameter);
    EXPECT_EQ(bucket.length, rows[i].length) << bucket.name;
    EXPECT_EQ(bucket.chunk, rows[i].chunk) << bucket.name;
    for (int rank = 0; rank < 3; ++rank) {
      EXPECT_EQ(ownedElements(bucket, 3, rank), rows[i].owned[rank]) << bucket.name;
      EXPECT_EQ(pieceText(bucket, 3, rank), rows[i].pieces[rank]) << bucket.name;
    }
  }
}

TEST(Buckets, SlotsBeginAtMultiplesOf64BytesAndPaddingCounts) {
  // bf16: 24 elements are 48 bytes, so the bias begins at element 32, the next
  // multiple of 64 bytes, and ends at 36: 72 bytes, padding included.
  Problem problem = {{{"fc.weight", 24, 2}, {"fc.bias", 4, 2}}, 4, 72};
  Plan buckets = plan(problem);
  ASSERT_EQ(buckets.buckets.size(), 1u);
  EXPECT_EQ(begins(buckets.buckets[0]), (std::vector<int64_t>{0, 32}));
  EXPECT_EQ(buckets.buckets[0].length, 36); // a multiple of 4 already
  EXPECT_EQ(buckets.buckets[0].chunk, 36);  // 72 bytes are 36 elements
  EXPECT_EQ(verify(problem, buckets), std::nullopt);
  // One byte less and the bias does not fit any more.
  problem.bucketBytes = 71;
  EXPECT_EQ(plan(problem).buckets.size(), 2u);
}

TEST(Buckets, ClassesAndTypesAreSequencesOfTheirOwn) {
  // Neither the frozen b nor the f64 c between a and d closes the f32 bucket.
  Problem problem = {
      {{"a", 4}, {"b", 4, 4, Class::Frozen}, {"c", 2, 8, Class::Trainable, 1}, {"d", 4}}, 1, 1024};
  Plan buckets = plan(problem);
  ASSERT_EQ(buckets.buckets.size(), 3u);
  EXPECT_EQ(buckets.buckets[0].slots.size(), 2u); // a at 0, d at 16
  EXPECT_EQ(begins(buckets.buckets[0]), (std::vector<int64_t>{0, 16}));
  EXPECT_EQ(buckets.buckets[1].name, "b1"); // c
  EXPECT_EQ(buckets.buckets[2].name, "f0"); // b
  EXPECT_EQ(verify(problem, buckets), std::nullopt);
}

TEST(Buckets, MoreRanksThanElementsAndTinyBuckets) {
  // A bucket of one byte still moves one element a rank; ranks 2 to 7 own nothing.
  Problem problem = {{{"a", 2}}, 8, 1};
  Plan buckets = plan(problem);
  EXPECT_EQ(verify(problem, buckets), std::nullopt);
  EXPECT_EQ(buckets.buckets[0].length, 8);
  EXPECT_EQ(buckets.buckets[0].chunk, 8);
  for (int rank = 0; rank < 8; ++rank)
    EXPECT_EQ(ownedElements(buckets.buckets[0], 8, rank), rank < 2 ? 1 : 0);
}

TEST(Buckets, CheckNamesTheOffender) {
  auto message = [](Problem problem) { return check(problem).value_or("none"); };
  EXPECT_EQ(message({{{"a", 1}}, 0, 64}), "expects at least 1 rank, got 0");
  EXPECT_EQ(message({{{"a", 1}}, 1, 0}), "expects bucket-bytes of at least 1, got 0");
  EXPECT_EQ(message({{{"a", 0}}, 1, 64}), "parameter 'a': expects at least 1 element, got 0");
  EXPECT_NE(message({{{"a", 1, 3}}, 1, 64}).find("parameter 'a'"), std::string::npos);
  EXPECT_NE(message({{{"a", 1, 4}, {"b", 1, 8}}, 1, 64}).find("parameter 'b'"), std::string::npos);
  // Alone 2^61 elements overflow, and so do many of 2^57 together.
  EXPECT_NE(message({{{"a", int64_t(1) << 61}}, 1, 64}).find("goes beyond"), std::string::npos);
  EXPECT_NE(message({{{"a", INT64_MAX}}, 1, 64}).find("goes beyond"), std::string::npos);
  Problem many{std::vector<Parameter>(4, {"a", int64_t(1) << 57}), 1, 64};
  EXPECT_NE(message(many).find("goes beyond"), std::string::npos);
  EXPECT_NE(message({{{"a", 1}}, INT64_MAX, 64}), "none");
  // Beyond 2^31 elements there is nothing special.
  EXPECT_EQ(check({{{"a", (int64_t(1) << 31) + 1}}, 1024, 1 << 20}), std::nullopt);
}

/// Each broken plan differs from the right one in one place.
TEST(Buckets, VerifyRejectsMutatedPlans) {
  Problem problem = {{{"a", 4}, {"b", 4}, {"c", 40}, {"d", 4, 4, Class::Frozen}}, 3, 96};
  Plan right = plan(problem); // b0: a at 0, b at 16 | b1: c | f0: d
  ASSERT_EQ(verify(problem, right), std::nullopt);
  ASSERT_EQ(right.buckets.size(), 3u);
  auto rejects = [&](auto mutate, const std::string &part) {
    Plan plan = right;
    mutate(plan.buckets);
    std::string message = verify(problem, plan).value_or("accepted");
    EXPECT_NE(message.find(part), std::string::npos) << message << " lacks " << part;
  };
  using Buckets = std::vector<Bucket>;
  rejects([](Buckets &b) { b[0].slots[1].begin = 8; }, "multiple of 64 bytes");
  rejects([](Buckets &b) { b[0].slots[1].begin = 0; }, "expects to begin at 4 or later");
  rejects([](Buckets &b) { b[0].slots[1].begin = 32; }, "leaves a hole");
  rejects([](Buckets &b) { b[0].slots[1].elements = 5; }, "expects 4 elements, got 5");
  rejects([](Buckets &b) { b[0].slots[1].parameter = 0; }, "stands in bucket 'b0' already");
  rejects([](Buckets &b) { b[0].slots[1].parameter = 9; }, "expects a parameter below 4");
  rejects([](Buckets &b) { b[0].slots.clear(); }, "at least one slot");
  rejects([](Buckets &b) { b[0].length += 3; }, "rounded up to a multiple of 3");
  rejects([](Buckets &b) { b[0].length -= 3; }, "rounded up to a multiple of 3");
  rejects([](Buckets &b) { b[1].chunk = 15; }, "expects chunks of 24 elements, got 15");
  rejects([](Buckets &b) { b[2].kind = Class::Trainable; }, "class and element type");
  rejects([](Buckets &b) { b.pop_back(); }, "slot for parameter 'd', got none");
  rejects([](Buckets &b) { std::swap(b[0], b[1]); }, "expects to come before bucket 'b1'");
  rejects([](Buckets &b) { std::swap(b[0].slots[0].parameter, b[0].slots[1].parameter); },
          "order of first use");
  // b moved into a bucket of its own, although it fits behind a.
  rejects(
      [](Buckets &b) {
        Bucket own = b[0];
        own.slots = {{1, 0, 4}};
        own.length = own.chunk = 6;
        b[0].slots.pop_back();
        b[0].length = b[0].chunk = 6;
        b.insert(b.begin() + 1, own);
      },
      "where it fits");
  // c behind a: 40 elements from 16 on are 224 bytes.
  rejects(
      [](Buckets &b) {
        b[0].slots = {{0, 0, 4}, {2, 16, 40}};
        b[0].length = 57;
        b[1].slots = {{1, 0, 4}};
      },
      "expects at most 96 bytes, got 224");
}

TEST(Buckets, RandomProblemsPartitionEveryElement) {
  std::mt19937 random(7);
  for (int round = 0; round < 300; ++round) {
    Problem problem;
    problem.ranks = 1 + random() % 7;
    problem.bucketBytes = 1 + random() % 600;
    for (int i = random() % 12; i >= 0; --i) {
      bool half = random() % 2;
      problem.parameters.push_back(
          {"p", int64_t(1 + random() % 90), half ? 2 : 4, Class(random() % 3), half});
    }
    ASSERT_EQ(check(problem), std::nullopt);
    Plan buckets = plan(problem);
    ASSERT_EQ(verify(problem, buckets), std::nullopt);
    for (const Bucket &bucket : buckets.buckets) {
      // Every element of the bucket has one owner, all shards are equally long,
      // and what the ranks own together is what the slots hold.
      std::vector<int> owners(bucket.length, 0);
      int64_t owned = 0, real = 0;
      for (int64_t rank = 0; rank < problem.ranks; ++rank) {
        int64_t shard = 0;
        for (const Piece &piece : pieces(bucket, problem.ranks, rank)) {
          EXPECT_EQ(piece.shardBegin, shard);
          shard += piece.end - piece.begin;
          for (int64_t i = piece.begin; i < piece.end; ++i)
            ++owners[i];
        }
        EXPECT_EQ(shard, bucket.length / problem.ranks);
        owned += ownedElements(bucket, problem.ranks, rank);
      }
      EXPECT_EQ(std::count(owners.begin(), owners.end(), 1), bucket.length);
      for (const Slot &slot : bucket.slots)
        real += slot.elements;
      EXPECT_EQ(owned, real);
    }
  }
}

} // namespace
