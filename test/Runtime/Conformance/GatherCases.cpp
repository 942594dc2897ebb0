//===- GatherCases.cpp - the pieces of all ranks, everywhere --------------===//

#include "Checks.h"

namespace zrt::test {

/// Length 3N, chunk 2N: pieces of 2 in the first chunk, of 1 in the second. Rank r's shard is
/// 10r+1 10r+2 10r+3 (exact in bf16 up to 25 ranks). At N = 2:
///   full = [1 2 | 11 12 | 3 | 13]
static BucketLayout layoutOf(const Communicator &c) {
  return {3 * c.ranks(), 2 * c.ranks(), c.ranks()};
}

static Floats gathered(int64_t ranks) {
  Floats full;
  for (int64_t rank = 0; rank < ranks; ++rank)
    full.insert(full.end(), {float(10 * rank + 1), float(10 * rank + 2)});
  for (int64_t rank = 0; rank < ranks; ++rank)
    full.push_back(float(10 * rank + 3));
  return full;
}

static std::string allGatherCase(Communicator &c) {
  Checks checks(c);
  for (ElementType type : kTypes) {
    float base = float(10 * c.rank());
    Array shard(type, {base + 1, base + 2, base + 3}), full(type, 3 * c.ranks(), 9.0f);
    allGather(c, checks, layoutOf(c), shard, full);
    checks.equal(full, gathered(c.ranks()), "full");
  }
  return checks.fault;
}

/// What lies outside of the own pieces is overwritten.
static std::string allGatherInPlaceCase(Communicator &c) {
  Checks checks(c);
  BucketLayout layout = layoutOf(c);
  for (ElementType type : kTypes) {
    Floats values(size_t(layout.lengthElements()), 9.0f), expected = gathered(c.ranks());
    layout.forEachOwned(c.rank(), 0, layout.lengthElements(), [&](const Piece &piece) {
      for (int64_t i = piece.begin; i < piece.begin + piece.count; ++i)
        values[size_t(i)] = expected[size_t(i)];
    });
    Array full(type, values);
    allGatherInPlace(c, checks, layout, full);
    checks.equal(full, expected, "full");
  }
  return checks.fault;
}

/// Worked for two ranks: length 6, chunk 4. Shards 0: 1 2 3, 1: 10 20 30; each sends 6·1/2.
static std::string twoRanks(Communicator &c) {
  Checks checks(c);
  c.resetTraffic();
  Array shard(ElementType::bf16, c.rank() == 0 ? Floats{1, 2, 3} : Floats{10, 20, 30});
  Array full(ElementType::bf16, 6, 0.0f);
  allGather(c, checks, BucketLayout(6, 4, 2), shard, full);
  checks.equal(full, {1, 2, 10, 20, 3, 30}, "full");
  checks.equal(c.traffic().allGatherElements, 3, "elements sent");
  return checks.fault;
}

/// A gather moves bits, whatever they stand for: NaNs with payloads in all types, and integers.
static std::string bitsAsTheyAre(Communicator &c) {
  Checks checks(c);
  BucketLayout layout(2 * c.ranks(), 2 * c.ranks(), c.ranks());
  for (ElementType type :
       {ElementType::f32, ElementType::bf16, ElementType::f16, ElementType::i64}) {
    int64_t length = 2 * elementBytes(type);
    Bytes shard, full(size_t(length * c.ranks())), expected;
    for (int64_t rank = 0; rank < c.ranks(); ++rank)
      for (int64_t i = 0; i < length; ++i) {
        expected.push_back(uint8_t(0xff - i - 3 * rank));
        if (rank == c.rank())
          shard.push_back(expected.back());
      }
    checks.returned(c.allGather(layout, type, shard.data(), full.data()), "allGather");
    checks.equal(full, expected, std::string(name(type)));
  }
  return checks.fault;
}

const std::vector<ConformanceCase> kGatherCases = {
    {"AllGather", 0, allGatherCase},
    {"AllGatherInPlace", 0, allGatherInPlaceCase},
    {"AllGatherOverTwoRanks", 2, twoRanks},
    {"AllGatherMovesBits", 0, bitsAsTheyAre},
};

} // namespace zrt::test
