//===- ArenaBeamTest.cpp - the exact search's beams alone ----------------===//
#include "SearchPacking.h"
#include "conflict/Beam.h"

#include <gtest/gtest.h>
#include <random>

using namespace zero::planning::arena;

namespace {

/// Cuts the rectangle of sections × capacity into `count` pieces, across or along, so that not one
/// unit is left: a packing exists, and loses nothing.
SearchProblem cutUp(std::mt19937 &random, int count, int32_t sections, int64_t capacity) {
  struct Piece {
    int32_t first, last;
    int64_t size;
  };
  std::vector<Piece> pieces = {{0, sections, capacity}};
  while (int(pieces.size()) < count) {
    Piece &piece = pieces[random() % pieces.size()], rest = piece;
    int32_t length = piece.last - piece.first;
    if (random() % 2 && length > 1) {
      rest.first = piece.last = piece.first + 1 + int32_t(random() % (length - 1));
    } else if (piece.size > 1) {
      piece.size = 1 + int64_t(random() % (piece.size - 1));
      rest.size -= piece.size;
    } else {
      continue;
    }
    pieces.push_back(rest);
  }
  SearchProblem problem;
  problem.sections = sections;
  problem.capacity = capacity;
  for (const Piece &piece : pieces)
    problem.items.push_back({piece.first, piece.last, piece.size, 0, capacity - piece.size, 1});
  return problem;
}

struct Outcome {
  bool packed = false;
  int64_t nodes = 0;
  std::vector<int64_t> offsets;

  bool operator==(const Outcome &) const = default;
};

template <typename Lane>
Outcome runBeam(const SearchProblem &problem, SearchIsa isa,
                const typename Beam<Lane>::Shape &shape) {
  SearchTables<Lane> tables(problem, isa);
  Beam<Lane> beam(tables);
  Outcome outcome;
  if (!tables.start())
    return outcome;
  beam.begin(shape);
  while (!outcome.packed && !beam.isOver())
    outcome.packed = beam.step();
  outcome.nodes = beam.nodesSpent();
  if (outcome.packed)
    outcome.offsets = tables.offsets();
  return outcome;
}

TEST(ArenaBeam, EqualStatesAreMerged) {
  // Sizes 1, 2, 3 in one section of 6: three first ones, then two each, of which {1, 2}, {1, 3} and
  // {2, 3} are met twice. The three that remain have one child each: 3 + 6 + 3.
  SearchProblem problem{{{0, 1, 1, 0, 5, 1}, {0, 1, 2, 0, 4, 1}, {0, 1, 3, 0, 3, 1}}, 1, 6};
  EXPECT_EQ(runBeam<int16_t>(problem, SearchIsa::Baseline, {8, BeamRule::LowestFloor, 1}).nodes,
            12);
  // One state a depth: 3 + 2 + 1.
  EXPECT_EQ(runBeam<int16_t>(problem, SearchIsa::Baseline, {1, BeamRule::LowestFloor, 1}).nodes, 6);
}

TEST(ArenaBeam, WasteIsWhatMustBePlacedOverWhatMayBeLost) {
  // Capacity 4; a [0, 2) of 2, b [0, 1) of 2, c [1, 2) of 1. Section 0 may lose nothing, section 1
  // one unit. Both have two candidates at 0, so the first is branched on. With margin 1:
  //   a at 0: b lies on 2, 2 / (0 + 1); c lies on 2, of the room up to 4 one may be lost,
  //           1 / (1 + 1): together 2.5.
  //   b at 0: a lies on 2, 2 / (0 + 1); c may lie on 0, 3 / (1 + 1): together 3.5.
  SearchProblem problem{{{0, 2, 2, 0, 2, 1}, {0, 1, 2, 0, 2, 1}, {1, 2, 1, 0, 3, 1}}, 2, 4};
  SearchTables<int16_t> tables(problem, SearchIsa::Baseline);
  ASSERT_TRUE(tables.start());
  std::vector<Child> children(3);
  ASSERT_EQ(tables.kernel.expand(tables.context, tables.context.states, BeamRule::LowestFloor, 1,
                                 children.data()),
            2);
  for (const Child &child : {children[0], children[1]})
    EXPECT_EQ(child.waste, tables.items[child.item].last == 2 ? 2.5 : 3.5);
  EXPECT_NE(children[0].item, children[1].item);
}

TEST(ArenaBeam, EndsWhereNothingFits) {
  // Three of 2 in 6, but one is fixed at 1: of the others neither fits beneath it, nor both above.
  SearchProblem problem{{{0, 1, 2, 1, 1, 1}, {0, 1, 2, 0, 4, 1}, {0, 1, 2, 0, 4, 1}}, 1, 6};
  for (BeamRule rule : {BeamRule::LowestFloor, BeamRule::FewestCandidates})
    EXPECT_FALSE(runBeam<int16_t>(problem, SearchIsa::Baseline, {64, rule, 1}).packed);
}

/// Of 40 rectangles cut into 150 pieces or more, and each piece shrunk by a unit.
int packedByBeam(int64_t width) {
  std::mt19937 random(3);
  int packed = 0;
  for (int round = 0; round < 40; ++round) {
    SearchProblem problem = cutUp(random, 150 + round, 16, 400);
    for (SearchItem &item : problem.items)
      if (item.size > 3) {
        --item.size;
        ++item.highest;
      }
    Outcome outcome = runBeam<int16_t>(problem, bestIsa(), {width, BeamRule::LowestFloor, 2});
    packed += outcome.packed;
    if (outcome.packed) {
      EXPECT_TRUE(isPacking(problem, outcome.offsets)) << "round " << round;
    }
  }
  return packed;
}

TEST(ArenaBeam, PacksRectanglesThatWereCutUp) {
  // A beam may miss a packing: these pack 37 and 36. Where the states that lost the most are
  // kept it is 22 and 19.
  EXPECT_GE(packedByBeam(1), 32);
  EXPECT_GE(packedByBeam(4), 32);
}

template <typename Lane> void expectOneBeamForAllSets(int64_t scale) {
  std::mt19937 random(4);
  for (int round = 0; round < 8; ++round) {
    SearchProblem problem = cutUp(random, 30 + 10 * round, 20, 600);
    problem.capacity *= scale;
    for (SearchItem &item : problem.items) {
      item.size *= scale;
      item.highest *= scale;
    }
    for (BeamRule rule : {BeamRule::LowestFloor, BeamRule::FewestCandidates}) {
      typename Beam<Lane>::Shape shape = {16, rule, double(problem.capacity) / 128};
      Outcome expected = runBeam<Lane>(problem, SearchIsa::Baseline, shape);
      EXPECT_GT(expected.nodes, 0);
      for (SearchIsa isa : kIsas)
        if (supported(isa)) {
          EXPECT_EQ(runBeam<Lane>(problem, isa, shape), expected) << "round " << round;
        }
    }
  }
}

TEST(ArenaBeam, InstructionSetsAndLaneWidthsGiveTheSameBeam) {
  expectOneBeamForAllSets<int16_t>(1);
  expectOneBeamForAllSets<int32_t>(int64_t(1) << 16);
  expectOneBeamForAllSets<int64_t>(int64_t(1) << 40);
}

} // namespace
