//===- LayoutTest.cpp - who owns which elements of a bucket ---------------===//

#include "zero/Runtime/Layout.h"

#include <gtest/gtest.h>

using namespace zrt;

namespace {

std::vector<Piece> pieces(int64_t length, int64_t chunk, int64_t ranks, int64_t rank) {
  std::vector<Piece> list;
  BucketLayout layout(length, chunk, ranks);
  for (int64_t c = 0; c < layout.chunks(); ++c)
    list.push_back(layout.piece(c, rank));
  return list;
}

using Pieces = std::vector<Piece>;

TEST(Layout, PiecesOfTheWorkedExample) {
  // Three ranks, 16 elements a bucket: chunk = ⌊16/3⌋·3 = 15.
  // b0: wte, 20 elements → length 21 = 15 + 6; pieces of 5, then of 2. Shards have 7.
  EXPECT_EQ(pieces(21, 15, 3, 0), (Pieces{{0, 5, 0}, {15, 2, 5}}));
  EXPECT_EQ(pieces(21, 15, 3, 1), (Pieces{{5, 5, 0}, {17, 2, 5}}));
  EXPECT_EQ(pieces(21, 15, 3, 2), (Pieces{{10, 5, 0}, {19, 2, 5}}));
  // b2, b4: 24 = 15 + 9.
  EXPECT_EQ(pieces(24, 15, 3, 0), (Pieces{{0, 5, 0}, {15, 3, 5}}));
  EXPECT_EQ(pieces(24, 15, 3, 1), (Pieces{{5, 5, 0}, {18, 3, 5}}));
  EXPECT_EQ(pieces(24, 15, 3, 2), (Pieces{{10, 5, 0}, {21, 3, 5}}));
  // b1, b3, b5: 6 in one chunk.
  EXPECT_EQ(pieces(6, 15, 3, 0), (Pieces{{0, 2, 0}}));
  EXPECT_EQ(pieces(6, 15, 3, 1), (Pieces{{2, 2, 0}}));
  EXPECT_EQ(pieces(6, 15, 3, 2), (Pieces{{4, 2, 0}}));
}

TEST(Layout, RealElementsOfTheWorkedExample) {
  struct Case {
    int64_t length, real, owned[3];
  };
  // Bucket, elements of its slot, and how many of them each rank owns: 29, 29 and 24 in all.
  const Case cases[] = {{21, 20, {7, 7, 6}}, // b0: [19, 21) of rank 2 holds one padding element
                        {6, 4, {2, 2, 0}},   // b1: rank 2 owns padding only
                        {24, 24, {8, 8, 8}}, // b2
                        {6, 6, {2, 2, 2}},   // b3
                        {24, 24, {8, 8, 8}}, // b4
                        {6, 4, {2, 2, 0}}};  // b5
  int64_t total[3] = {};
  for (const Case &c : cases)
    for (int64_t rank = 0; rank < 3; ++rank) {
      int64_t owned = BucketLayout(c.length, 15, 3).ownedElements(rank, 0, c.real);
      EXPECT_EQ(owned, c.owned[rank]) << "length " << c.length << ", rank " << rank;
      total[rank] += owned;
    }
  EXPECT_EQ(total[0], 29);
  EXPECT_EQ(total[1], 29);
  EXPECT_EQ(total[2], 24);
}

TEST(Layout, MeetsARangeWithTheOwnedPieces) {
  // Length 24, chunk 15, rank 1 owns [5,10) at 0 and [18,21) at 5.
  // [7, 20): [7,10) at 2 and [18,20) at 5.
  Pieces met;
  BucketLayout(24, 15, 3).forEachOwned(1, 7, 20, [&](Piece piece) { met.push_back(piece); });
  EXPECT_EQ(met, (Pieces{{7, 3, 2}, {18, 2, 5}}));

  met.clear();
  BucketLayout(24, 15, 3).forEachOwned(1, 10, 18, [&](Piece piece) { met.push_back(piece); });
  BucketLayout(24, 15, 3).forEachOwned(1, 6, 6, [&](Piece piece) { met.push_back(piece); });
  EXPECT_TRUE(met.empty());
}

TEST(Layout, MoreRanksThanElements) {
  // A bias of 4 over 24 ranks: length 24, chunk 24; ranks 4 to 23 own padding only.
  BucketLayout layout(24, 24, 24);
  for (int64_t rank = 0; rank < 24; ++rank)
    EXPECT_EQ(layout.ownedElements(rank, 0, 4), rank < 4 ? 1 : 0);
}

TEST(Layout, EveryElementHasOneOwnerAndOnePlace) {
  for (int64_t ranks : {1, 2, 3, 5, 7, 24})
    for (int64_t chunks : {1, 2, 5})
      for (int64_t length = ranks; length <= 6 * ranks; length += ranks) {
        BucketLayout layout(length, chunks * ranks, ranks);
        std::vector<int> owners(size_t(length), 0);
        for (int64_t rank = 0; rank < ranks; ++rank) {
          int64_t nextInShard = 0;
          layout.forEachOwned(rank, 0, length, [&](const Piece &piece) {
            EXPECT_EQ(piece.shardBegin, nextInShard);
            nextInShard += piece.count;
            for (int64_t i = 0; i < piece.count; ++i)
              ++owners[size_t(piece.begin + i)];
          });
          EXPECT_EQ(nextInShard, layout.shardElements());
        }
        EXPECT_EQ(owners, std::vector<int>(size_t(length), 1));
      }
}

TEST(Layout, ChunksBeyond64BitsOfBytesDoNotOverflow) {
  // A chunk of 2^62 around a bucket of 6: one chunk, cut at the bucket's end.
  BucketLayout layout(6, int64_t(1) << 62, 2);
  EXPECT_EQ(layout.chunks(), 1);
  EXPECT_EQ(layout.piece(0, 1), (Piece{3, 3, 0}));
}

TEST(Layout, GradientsAreTheAccumulatedOnesWhereThereAreSuch) {
  Bucket bucket;
  EXPECT_EQ(gradientState(bucket), nullptr);
  bucket.state[int(StateKind::Grad)].present = true;
  EXPECT_EQ(gradientState(bucket), &bucket.state[int(StateKind::Grad)]);
  bucket.state[int(StateKind::GradAccum)].present = true;
  EXPECT_EQ(gradientState(bucket), &bucket.state[int(StateKind::GradAccum)]);
}

} // namespace
