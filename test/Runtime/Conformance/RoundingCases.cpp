//===- RoundingCases.cpp - in which order, and rounded when ---------------===//
//
// Around 256 bf16 steps by 2, as f16 does around 2048 and f32 around 2^24; these
// numbers are `edge` below.
//
//===----------------------------------------------------------------------===//

#include "Checks.h"

#include <limits>

namespace zrt::test {

static constexpr float kInf = std::numeric_limits<float>::infinity();

static float edge(ElementType type) {
  return type == ElementType::bf16 ? 256.0f : type == ElementType::f16 ? 2048.0f : 0x1p24f;
}

/// An element a rank; the term of each rank, and what all must get.
static void expectSum(Communicator &c, Checks &checks, ElementType type, const Floats &terms,
                      float expected, const std::string &what) {
  BucketLayout layout(c.ranks(), c.ranks(), c.ranks());
  float mine = terms[size_t(c.rank()) % terms.size()];
  Array reduced(type, c.ranks(), mine), whole(type, c.ranks(), mine), shard(type, 1, 0.0f);
  reduceScatter(c, checks, layout, reduced, shard, false);
  allReduce(c, checks, layout, whole);
  checks.equal(shard, {expected}, what + ", reduce-scatter");
  checks.equal(whole, Floats(size_t(c.ranks()), expected), what + ", all-reduce");
}

/// (1 + 2^24) − 2^24 = 0 in f32, since 1 is lost; 1 + (2^24 − 2^24) would be 1. All are bf16, too;
/// in f16, where 2^24 is infinite, the same shows with 2^-14 and 2^11: 2^11 + 2^-14 is 2^11 in f32.
static std::string rankOrder(Communicator &c) {
  Checks checks(c);
  expectSum(c, checks, ElementType::f32, {1.0f, 0x1p24f, -0x1p24f}, 0.0f, "rank order");
  expectSum(c, checks, ElementType::bf16, {1.0f, 0x1p24f, -0x1p24f}, 0.0f, "rank order");
  expectSum(c, checks, ElementType::f16, {0x1p-14f, 0x1p11f, -0x1p11f}, 0.0f, "rank order");
  return checks.fault;
}

/// edge + 1 + 1 = edge + 2 where the sum is f32 and rounded once; rounded after each term it would
/// stay at edge. In f32, where each term is rounded, it does: in rank order.
static std::string roundedOnce(Communicator &c) {
  Checks checks(c);
  for (ElementType type : kTypes) {
    float first = edge(type);
    expectSum(c, checks, type, {first, 1.0f, 1.0f}, type == ElementType::f32 ? first : first + 2,
              "rounded once");
  }
  return checks.fault;
}

/// edge + 1 lies between edge and edge + 2, whose last bit is odd; edge + 3 between that and the
/// even edge + 4. The same in negative.
static std::string tiesToEven(Communicator &c) {
  Checks checks(c);
  for (ElementType type : kTypes)
    for (float sign : {1.0f, -1.0f}) {
      expectSum(c, checks, type, {sign * edge(type), sign}, sign * edge(type), "a tie down");
      expectSum(c, checks, type, {sign * (edge(type) + 2), sign}, sign * (edge(type) + 4),
                "a tie up");
    }
  return checks.fault;
}

/// 1 + (edge + 1) = edge + 2 where the f32 sum of the ranks is added before it is rounded; rounded
/// before, it would be edge + 0 and, with 1 added, a tie down to edge. In f32, edge + (1 + 1) shows
/// that the ranks' sum comes first: (edge + 1) + 1 would be edge.
static std::string addsTheFinishedSum(Communicator &c) {
  Checks checks(c);
  BucketLayout layout(2, 2, 2);
  for (ElementType type : kTypes) {
    bool wide = type == ElementType::f32;
    Array full(type, 2, wide || c.rank() == 1 ? 1.0f : edge(type));
    Array shard(type, 1, wide ? edge(type) : 1.0f);
    reduceScatter(c, checks, layout, full, shard, true);
    checks.equal(shard, {edge(type) + 2}, "shard");
  }
  return checks.fault;
}

/// No sum begins with +0, so -0 + -0 + … stays -0; and 1 − 1 is +0.
static std::string zeros(Communicator &c) {
  Checks checks(c);
  for (ElementType type : kTypes) {
    expectSum(c, checks, type, {-0.0f}, -0.0f, "negative zeros");
    if (c.ranks() == 2)
      expectSum(c, checks, type, {1.0f, -1.0f}, 0.0f, "a difference");
  }
  return checks.fault;
}

/// Overflow is infinite where the sum is rounded; infinities of two signs are NaN; what is not
/// finite on one rank is not finite on all.
static std::string notFinite(Communicator &c) {
  Checks checks(c);
  constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
  for (ElementType type : kTypes) {
    float largest = type == ElementType::f16    ? 65504.0f
                    : type == ElementType::bf16 ? 0x1.fep127f
                                                : std::numeric_limits<float>::max();
    expectSum(c, checks, type, {largest, largest}, kInf, "an overflow");
    expectSum(c, checks, type, {kInf, -kInf}, kNaN, "two infinities");
    expectSum(c, checks, type, {1.0f, -kInf}, -kInf, "an infinity");
    expectSum(c, checks, type, {kNaN, 1.0f}, kNaN, "a NaN");
  }
  return checks.fault;
}

/// 65504 + 65504 − 65504: no overflow, since f16 meets the finished sum only.
static std::string overflowOnTheWay(Communicator &c) {
  Checks checks(c);
  expectSum(c, checks, ElementType::f16, {65504.0f, 65504.0f, -65504.0f}, 65504.0f, "on the way");
  return checks.fault;
}

/// Denormal values are kept: 2^-24 + 2^-24 in f16, 2^-133 + 2^-133 in bf16, 2^-149 + 2^-149 in f32.
static std::string denormals(Communicator &c) {
  Checks checks(c);
  for (auto [type, least] : {std::pair(ElementType::f32, 0x1p-149f),
                             {ElementType::bf16, 0x1p-133f},
                             {ElementType::f16, 0x1p-24f}})
    expectSum(c, checks, type, {least, least}, 2 * least, "denormals");
  return checks.fault;
}

const std::vector<ConformanceCase> kRoundingCases = {
    {"N1_SumsInRankOrder", 3, rankOrder},
    {"N1_RoundsOnce", 3, roundedOnce},
    {"RoundsTiesToEven", 2, tiesToEven},
    {"AddsTheFinishedSum", 2, addsTheFinishedSum},
    {"KeepsTheSignOfZero", 0, zeros},
    {"WhatIsNotFiniteStays", 2, notFinite},
    {"OverflowsOnlyAtTheEnd", 3, overflowOnTheWay},
    {"KeepsDenormals", 2, denormals},
};

} // namespace zrt::test
