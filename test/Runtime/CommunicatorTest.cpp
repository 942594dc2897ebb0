//===- CommunicatorTest.cpp - collectives, with the values of each rank ---===//

#include "zero/Runtime/Communicator.h"

#include <cmath>
#include <gtest/gtest.h>
#include <thread>

using namespace zrt;

namespace {

using Ranks = std::vector<std::unique_ptr<Communicator>>;
using Floats = std::vector<float>;

/// Runs fn(rank) on one thread a rank.
template <typename Fn> void onAllRanks(int64_t ranks, Fn &&fn) {
  std::vector<std::thread> threads;
  for (int64_t rank = 0; rank < ranks; ++rank)
    threads.emplace_back([&fn, rank] { fn(rank); });
  for (std::thread &thread : threads)
    thread.join();
}

/// Full gradients of a rank: element i holds 100·rank + i.
Floats gradients(const BucketLayout &layout, int64_t rank) {
  Floats values(size_t(layout.lengthElements()));
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = float(100 * rank) + float(i);
  return values;
}

struct Results {
  std::vector<Floats> perRank;
  std::vector<TrafficCount> traffic;
};

/// fn(communicator, result) on every rank.
template <typename Fn> Results collect(int64_t ranks, Fn &&fn) {
  Ranks communicators = createInProcessCommunicators(ranks, false);
  Results results{std::vector<Floats>(size_t(ranks)), {}};
  onAllRanks(ranks, [&](int64_t rank) { fn(*communicators[rank], results.perRank[rank]); });
  for (auto &communicator : communicators)
    results.traffic.push_back(communicator->traffic());
  return results;
}

TEST(Communicator, AllGatherOverOneRank) {
  BucketLayout layout(5, 2, 1);
  Results results = collect(1, [&](Communicator &c, Floats &full) {
    Floats shard = {1, 2, 3, 4, 5};
    full.resize(5);
    EXPECT_TRUE(c.allGather(layout, shard.data(), full.data()));
  });
  EXPECT_EQ(results.perRank[0], (Floats{1, 2, 3, 4, 5}));
  EXPECT_EQ(results.traffic[0].allGatherElements, 0);
}

TEST(Communicator, AllGatherOverTwoRanks) {
  // Length 6, chunk 4: chunks of 4 and 2, pieces of 2 and 1. Shards 0: 1 2 3, 1: 10 20 30.
  //   full = [1 2 | 10 20 | 3 | 30]
  BucketLayout layout(6, 4, 2);
  Results results = collect(2, [&](Communicator &c, Floats &full) {
    Floats shard = c.rank() == 0 ? Floats{1, 2, 3} : Floats{10, 20, 30};
    full.resize(6);
    EXPECT_TRUE(c.allGather(layout, shard.data(), full.data()));
  });
  for (int rank = 0; rank < 2; ++rank) {
    EXPECT_EQ(results.perRank[rank], (Floats{1, 2, 10, 20, 3, 30}));
    EXPECT_EQ(results.traffic[rank].allGatherElements, 3); // 6 · 1/2
  }
}

TEST(Communicator, AllGatherInPlaceOverThreeRanks) {
  // Length 9, chunk 6: pieces of 2, then of 1. Rank r holds r + 1 in its own pieces, 9 elsewhere.
  BucketLayout layout(9, 6, 3);
  Results results = collect(3, [&](Communicator &c, Floats &full) {
    full.assign(9, 9.0f);
    layout.forEachOwned(c.rank(), 0, 9, [&](const Piece &piece) {
      std::fill_n(full.begin() + piece.begin, piece.count, float(c.rank() + 1));
    });
    EXPECT_TRUE(c.allGather(layout, nullptr, full.data()));
  });
  for (int rank = 0; rank < 3; ++rank) {
    EXPECT_EQ(results.perRank[rank], (Floats{1, 1, 2, 2, 3, 3, 1, 2, 3}));
    EXPECT_EQ(results.traffic[rank].allGatherElements, 6); // 9 · 2/3
  }
}

TEST(Communicator, ReduceScatterOverTwoRanks) {
  // Sums over ranks: i + (100 + i) = 100 + 2i. Length 6, chunk 4: rank 0 owns 0 1 4, rank 1 owns 2
  // 3 5.
  BucketLayout layout(6, 4, 2);
  Results results = collect(2, [&](Communicator &c, Floats &shard) {
    Floats full = gradients(layout, c.rank());
    shard.resize(3);
    EXPECT_TRUE(c.reduceScatter(layout, full.data(), shard.data(), false));
  });
  EXPECT_EQ(results.perRank[0], (Floats{100, 102, 108}));
  EXPECT_EQ(results.perRank[1], (Floats{104, 106, 110}));
  EXPECT_EQ(results.traffic[1].reduceScatterElements, 3);
}

TEST(Communicator, ReduceScatterAddsTheFinishedSum) {
  // 2^24 + (1 + 1) = 2^24 + 2, where (2^24 + 1) + 1 = 2^24 in f32: the sum comes first.
  BucketLayout layout(2, 2, 2);
  Results results = collect(2, [&](Communicator &c, Floats &shard) {
    Floats full = {1.0f, 1.0f};
    shard = {0x1p24f};
    EXPECT_TRUE(c.reduceScatter(layout, full.data(), shard.data(), true));
  });
  EXPECT_EQ(results.perRank[0], (Floats{0x1p24f + 2}));
  EXPECT_EQ(results.perRank[1], (Floats{0x1p24f + 2}));
}

TEST(Communicator, N1_SumsInRankOrderFromRankZero) {
  // In f32 (1 + 2^24) - 2^24 = 0 (1 is lost), while 1 + (2^24 - 2^24) = 1, on every rank.
  // And -0 + -0 + -0 stays -0: no sum begins with +0.
  BucketLayout layout(6, 6, 3);
  Results results = collect(3, [&](Communicator &c, Floats &full) {
    const float terms[] = {1.0f, 0x1p24f, -0x1p24f};
    full.assign(6, terms[c.rank()]);
    full[1] = full[3] = full[5] = -0.0f;
    EXPECT_TRUE(c.allReduce(layout, full.data()));
  });
  for (const Floats &full : results.perRank)
    for (size_t i = 0; i < 6; ++i) {
      EXPECT_EQ(full[i], 0.0f);
      EXPECT_EQ(std::signbit(full[i]), i % 2 == 1);
    }
}

TEST(Communicator, AllReduceOverFiveRanks) {
  // Σ (100·r + i) over five ranks = 1000 + 5i.
  BucketLayout layout(15, 10, 5);
  Floats expected;
  for (int i = 0; i < 15; ++i)
    expected.push_back(float(1000 + 5 * i));
  Results results = collect(5, [&](Communicator &c, Floats &full) {
    full = gradients(layout, c.rank());
    EXPECT_TRUE(c.allReduce(layout, full.data()));
  });
  for (int rank = 0; rank < 5; ++rank) {
    EXPECT_EQ(results.perRank[rank], expected);
    EXPECT_EQ(results.traffic[rank].allReduceElements, 24); // 2 · 15 · 4/5
  }
}

TEST(Communicator, N1_EveryWayToReduceGivesTheSameBits) {
  // Thirds do not add exactly, so a different order would show. More than one block of 1024.
  for (int64_t ranks : {1, 2, 3, 5}) {
    BucketLayout layout(3000 * ranks, 2500 * ranks, ranks);
    auto make = [&](int64_t rank) {
      Floats values(size_t(layout.lengthElements()));
      for (size_t i = 0; i < values.size(); ++i)
        values[i] = float(i * 7919 % 1000 + size_t(rank)) / 3.0f;
      return values;
    };
    Results outOfPlace = collect(ranks, [&](Communicator &c, Floats &full) {
      Floats gradients = make(c.rank()), shard(size_t(layout.shardElements()));
      full.resize(gradients.size());
      EXPECT_TRUE(c.reduceScatter(layout, gradients.data(), shard.data(), false));
      EXPECT_TRUE(c.allGather(layout, shard.data(), full.data()));
    });
    Results inPlace = collect(ranks, [&](Communicator &c, Floats &full) {
      full = make(c.rank());
      EXPECT_TRUE(c.reduceScatter(layout, full.data(), nullptr, false));
      EXPECT_TRUE(c.allGather(layout, nullptr, full.data()));
    });
    Results allReduced = collect(ranks, [&](Communicator &c, Floats &full) {
      full = make(c.rank());
      EXPECT_TRUE(c.allReduce(layout, full.data()));
    });
    Floats expected = make(0);
    for (int64_t rank = 1; rank < ranks; ++rank) {
      Floats next = make(rank);
      for (size_t i = 0; i < expected.size(); ++i)
        expected[i] += next[i];
    }
    for (int64_t rank = 0; rank < ranks; ++rank) {
      EXPECT_EQ(outOfPlace.perRank[rank], expected);
      EXPECT_EQ(inPlace.perRank[rank], expected);
      EXPECT_EQ(allReduced.perRank[rank], expected);
    }
  }
}

TEST(Communicator, ExchangeGathersInRankOrder) {
  Results results = collect(5, [&](Communicator &c, Floats &all) {
    float mine = float(c.rank() * c.rank());
    all.resize(5);
    EXPECT_TRUE(c.exchange(&mine, sizeof mine, all.data()));
  });
  for (int rank = 0; rank < 5; ++rank) {
    EXPECT_EQ(results.perRank[rank], (Floats{0, 1, 4, 9, 16}));
    EXPECT_EQ(results.traffic[rank].controlBytes, 16); // 4 bytes to each of 4 peers
  }
}

TEST(Communicator, ManyRanksOnFewCores) {
  constexpr int64_t kRanks = 48;
  BucketLayout layout(kRanks, kRanks, kRanks);
  Results results = collect(kRanks, [&](Communicator &c, Floats &full) {
    full.assign(kRanks, 1.0f);
    for (int turn = 0; turn < 4; ++turn)
      EXPECT_TRUE(c.allReduce(layout, full.data()));
  });
  for (const Floats &full : results.perRank)
    EXPECT_EQ(full, Floats(kRanks, float(kRanks * kRanks) * float(kRanks * kRanks)));
}

TEST(Communicator, F2_AnAbortEndsTheOthersAndNamesTheCause) {
  // Rank 2 fails before the third barrier; the others would wait for it for ever.
  for (bool spin : {false, true}) {
    Ranks communicators = createInProcessCommunicators(4, spin);
    std::vector<int> passed(4, 0);
    onAllRanks(4, [&](int64_t rank) {
      for (int turn = 0; turn < 10; ++turn) {
        if (rank == 2 && turn == 2) {
          communicators[rank]->abort("rank 2: expects luck, got none");
          return;
        }
        if (!communicators[rank]->barrier())
          return;
        ++passed[rank];
      }
    });
    for (int64_t rank : {0, 1, 3}) {
      EXPECT_LE(passed[rank], 2); // a rank may still be leaving the second barrier
      EXPECT_FALSE(communicators[rank]->barrier());
      EXPECT_EQ(communicators[rank]->error(), "rank 2: expects luck, got none");
    }
    communicators[0]->abort("a later cause");
    EXPECT_EQ(communicators[1]->error(), "rank 2: expects luck, got none");
  }
}

} // namespace
