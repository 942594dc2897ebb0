//===- ControlCases.cpp - bytes, barriers, traffic, reuse -----------------===//

#include "Checks.h"

namespace zrt::test {

/// Rank r gives r²; three bytes r, r + 1, r + 2 as well.
static std::string exchangeCase(Communicator &c) {
  Checks checks(c);
  int64_t mine = c.rank() * c.rank();
  std::vector<int64_t> all(size_t(c.ranks()), -1);
  checks.returned(c.exchange(&mine, sizeof mine, all.data()), "exchange");
  for (int64_t rank = 0; rank < c.ranks(); ++rank)
    checks.equal(all[size_t(rank)], rank * rank, "the number of rank " + std::to_string(rank));
  Bytes three, bytes(size_t(3 * c.ranks()), 255), expected;
  for (int64_t i = 0; i < 3; ++i)
    three.push_back(uint8_t(c.rank() + i));
  for (int64_t i = 0; i < 3 * c.ranks(); ++i)
    expected.push_back(uint8_t(i / 3 + i % 3));
  checks.returned(c.exchange(three.data(), 3, bytes.data()), "exchange");
  checks.equal(bytes, expected, "three bytes a rank");
  return checks.fault;
}

/// From each root in turn, an odd number of bytes and more than one message: byte i is i + root.
static std::string broadcastCase(Communicator &c) {
  Checks checks(c);
  for (int64_t root = 0; root < c.ranks(); ++root)
    for (int64_t length : {1, 7, 300001}) {
      Bytes expected;
      for (int64_t i = 0; i < length; ++i)
        expected.push_back(uint8_t(i + root));
      Bytes data = c.rank() == root ? expected : Bytes(size_t(length), 0);
      checks.returned(c.broadcast(data.data(), length, root), "broadcast");
      checks.equal(data, expected, "from rank " + std::to_string(root));
    }
  return checks.fault;
}

/// C1, in elements, whatever their type: with length 6N each gather or reduction sends 6(N-1), an
/// all-reduce twice that; control bytes are 8 to each peer for an exchange, and 5 from the root.
static std::string traffic(Communicator &c) {
  Checks checks(c);
  int64_t peers = c.ranks() - 1;
  BucketLayout layout(6 * c.ranks(), 4 * c.ranks(), c.ranks());
  for (ElementType type : kTypes) {
    Array full(type, 6 * c.ranks(), 1.0f), shard(type, 6, 1.0f);
    c.resetTraffic();
    allGather(c, checks, layout, shard, full);
    allGatherInPlace(c, checks, layout, full);
    reduceScatter(c, checks, layout, full, shard, true);
    allReduce(c, checks, layout, full);
    int64_t mine = 0;
    std::vector<int64_t> all(size_t(c.ranks()));
    checks.returned(c.exchange(&mine, sizeof mine, all.data()), "exchange");
    char text[5] = {};
    checks.returned(c.broadcast(text, 5, 0), "broadcast");
    checks.returned(c.barrier(), "barrier");
    checks.equal(c.traffic().allGatherElements, 2 * 6 * peers, "gathered elements");
    checks.equal(c.traffic().reduceScatterElements, 6 * peers, "reduced elements");
    checks.equal(c.traffic().allReduceElements, 2 * 6 * peers, "all-reduced elements");
    checks.equal(c.traffic().controlBytes, (8 + (c.rank() == 0 ? 5 : 0)) * peers, "control bytes");
  }
  c.resetTraffic();
  checks.equal(c.traffic().allGatherElements + c.traffic().controlBytes, 0,
               "traffic after a reset");
  return checks.fault;
}

/// A buffer may be written again as soon as a call returns, however far behind a peer is: turn t
/// sums t + r over ranks, Nt + N(N-1)/2.
static std::string buffersAreFree(Communicator &c) {
  Checks checks(c);
  BucketLayout layout(2 * c.ranks(), 2 * c.ranks(), c.ranks());
  for (int64_t turn = 0; turn < 20; ++turn)
    for (ElementType type : kTypes) {
      Array full(type, 2 * c.ranks(), float(turn + c.rank())), shard(type, 2, 0.0f);
      reduceScatter(c, checks, layout, full, shard, false);
      float sum = float(c.ranks() * turn + c.ranks() * (c.ranks() - 1) / 2);
      fromFloats(type, Floats(size_t(2 * c.ranks()), -1.0f).data(), 2 * c.ranks(), full.data());
      checks.equal(shard, {sum, sum}, "turn " + std::to_string(turn));
      allGather(c, checks, layout, shard, full);
      fromFloats(type, Floats(2, -1.0f).data(), 2, shard.data());
      checks.equal(full, Floats(size_t(2 * c.ranks()), sum), "turn " + std::to_string(turn));
    }
  return checks.fault;
}

const std::vector<ConformanceCase> kControlCases = {
    {"Exchange", 0, exchangeCase},
    {"Broadcast", 0, broadcastCase},
    {"C1_Traffic", 0, traffic},
    {"BuffersAreFreeAfterACall", 0, buffersAreFree},
};

} // namespace zrt::test
