//===- ReduceCases.cpp - sums over ranks ----------------------------------===//

#include "Checks.h"

namespace zrt::test {

/// Element i of rank r's gradients is (r + 1)·(i mod 4): the sum is (i mod 4)·N(N+1)/2, at most
/// 3·36 at 8 ranks, exact in every type up to 12 ranks.
static Floats gradients(const BucketLayout &layout, int64_t rank) {
  Floats values(size_t(layout.lengthElements()));
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = float((rank + 1) * int64_t(i % 4));
  return values;
}

static Floats sums(const BucketLayout &layout, int64_t ranks) {
  Floats values(size_t(layout.lengthElements()));
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = float(ranks * (ranks + 1) / 2 * int64_t(i % 4));
  return values;
}

/// The elements that a rank owns, in the order of its shard.
static Floats ownPart(const BucketLayout &layout, int64_t rank, const Floats &full) {
  Floats shard;
  layout.forEachOwned(rank, 0, layout.lengthElements(), [&](const Piece &piece) {
    shard.insert(shard.end(), full.begin() + piece.begin, full.begin() + piece.begin + piece.count);
  });
  return shard;
}

/// Length 7N, chunk 5N: pieces of 5 and of 2, at odd elements, so also at odd multiples of 2 bytes.
static BucketLayout oddLayout(const Communicator &c) {
  return {7 * c.ranks(), 5 * c.ranks(), c.ranks()};
}

static std::string reduceScatterCase(Communicator &c) {
  Checks checks(c);
  BucketLayout layout = oddLayout(c);
  for (ElementType type : kTypes) {
    Array full(type, gradients(layout, c.rank())), shard(type, 7, 9.0f);
    reduceScatter(c, checks, layout, full, shard, false);
    checks.equal(shard, ownPart(layout, c.rank(), sums(layout, c.ranks())), "shard");
  }
  return checks.fault;
}

/// Only the own pieces are specified.
static std::string reduceScatterInPlaceCase(Communicator &c) {
  Checks checks(c);
  BucketLayout layout = oddLayout(c);
  for (ElementType type : kTypes) {
    Array full(type, gradients(layout, c.rank()));
    reduceScatterInPlace(c, checks, layout, full);
    checks.equal(Array(type, ownPart(layout, c.rank(), full.floats())),
                 ownPart(layout, c.rank(), sums(layout, c.ranks())), "own pieces");
  }
  return checks.fault;
}

/// The shard held i; twice added, it holds i + 2·sum (at most 6 + 216, exact).
static std::string reduceScatterAdds(Communicator &c) {
  Checks checks(c);
  BucketLayout layout = oddLayout(c);
  for (ElementType type : kTypes) {
    Floats expected = ownPart(layout, c.rank(), sums(layout, c.ranks()));
    for (size_t i = 0; i < expected.size(); ++i)
      expected[i] = float(i) + 2 * expected[i];
    Array shard(type, {0, 1, 2, 3, 4, 5, 6});
    for (int turn = 0; turn < 2; ++turn) {
      Array full(type, gradients(layout, c.rank()));
      reduceScatter(c, checks, layout, full, shard, true);
    }
    checks.equal(shard, expected, "shard");
  }
  return checks.fault;
}

static std::string allReduceCase(Communicator &c) {
  Checks checks(c);
  BucketLayout layout = oddLayout(c);
  for (ElementType type : kTypes) {
    Array full(type, gradients(layout, c.rank()));
    allReduce(c, checks, layout, full);
    checks.equal(full, sums(layout, c.ranks()), "full");
  }
  return checks.fault;
}

/// Worked for two ranks: rank r holds 100r + i, the sums are 100 + 2i. Length 6, chunk 4: rank 0
/// owns 0 1 4, rank 1 owns 2 3 5. All are exact in bf16 (even, below 512).
static std::string reduceOverTwoRanks(Communicator &c) {
  Checks checks(c);
  c.resetTraffic();
  Floats values;
  for (int i = 0; i < 6; ++i)
    values.push_back(float(100 * c.rank() + i));
  Array full(ElementType::bf16, values), shard(ElementType::bf16, 3, 0.0f);
  reduceScatter(c, checks, BucketLayout(6, 4, 2), full, shard, false);
  checks.equal(shard, c.rank() == 0 ? Floats{100, 102, 108} : Floats{104, 106, 110}, "shard");
  checks.equal(c.traffic().reduceScatterElements, 3, "elements sent");
  return checks.fault;
}

/// Worked for five ranks: Σ (100r + i) = 1000 + 5i in f32; an all-reduce sends 2 · 15 · 4/5.
static std::string allReduceOverFiveRanks(Communicator &c) {
  Checks checks(c);
  c.resetTraffic();
  Floats values, expected;
  for (int i = 0; i < 15; ++i) {
    values.push_back(float(100 * c.rank() + i));
    expected.push_back(float(1000 + 5 * i));
  }
  Array full(ElementType::f32, values);
  allReduce(c, checks, BucketLayout(15, 10, 5), full);
  checks.equal(full, expected, "full");
  checks.equal(c.traffic().allReduceElements, 24, "elements sent");
  return checks.fault;
}

/// Values that do not add exactly, so that another order would show, over many chunks and blocks.
/// Every rank knows all ranks' values, and forms the sum of each element as the law says.
static std::string everyWayGivesTheSameBits(Communicator &c) {
  Checks checks(c);
  BucketLayout layout(1501 * c.ranks(), 1100 * c.ranks(), c.ranks());
  auto make = [&](ElementType type, int64_t rank) {
    Floats values(size_t(layout.lengthElements()));
    for (size_t i = 0; i < values.size(); ++i)
      values[i] = float(i * 7919 % 1000 + size_t(rank)) / 3.0f;
    return Array(type, values);
  };
  for (ElementType type : kTypes) {
    Floats expected = make(type, 0).floats();
    for (int64_t rank = 1; rank < c.ranks(); ++rank) {
      Floats next = make(type, rank).floats();
      for (size_t i = 0; i < expected.size(); ++i)
        expected[i] += next[i];
    }
    expected = Array(type, expected).floats(); // rounded once
    Array outOfPlace = make(type, c.rank()), shard(type, layout.shardElements(), 0.0f);
    reduceScatter(c, checks, layout, outOfPlace, shard, false);
    allGather(c, checks, layout, shard, outOfPlace);
    checks.equal(outOfPlace, expected, "reduce-scatter and gather");
    Array inPlace = make(type, c.rank());
    reduceScatterInPlace(c, checks, layout, inPlace);
    allGatherInPlace(c, checks, layout, inPlace);
    checks.equal(inPlace, expected, "reduce-scatter and gather in place");
    Array whole = make(type, c.rank());
    allReduce(c, checks, layout, whole);
    checks.equal(whole, expected, "all-reduce");
  }
  return checks.fault;
}

/// One chunk of 40,000 elements a rank, and 100 chunks of one: more than a buffer, and many calls.
static std::string longAndFine(Communicator &c) {
  Checks checks(c);
  for (const BucketLayout &layout : {BucketLayout(40000 * c.ranks(), 40000 * c.ranks(), c.ranks()),
                                     BucketLayout(100 * c.ranks(), c.ranks(), c.ranks())})
    for (ElementType type : kTypes) {
      Array full(type, gradients(layout, c.rank()));
      allReduce(c, checks, layout, full);
      checks.equal(full, sums(layout, c.ranks()), "full");
    }
  return checks.fault;
}

const std::vector<ConformanceCase> kReduceCases = {
    {"ReduceScatter", 0, reduceScatterCase},
    {"ReduceScatterInPlace", 0, reduceScatterInPlaceCase},
    {"ReduceScatterAdds", 0, reduceScatterAdds},
    {"AllReduce", 0, allReduceCase},
    {"ReduceScatterOverTwoRanks", 2, reduceOverTwoRanks},
    {"AllReduceOverFiveRanks", 5, allReduceOverFiveRanks},
    {"N1_EveryWayToReduceGivesTheSameBits", 0, everyWayGivesTheSameBits},
    {"LongAndFineChunks", 0, longAndFine},
};

} // namespace zrt::test
