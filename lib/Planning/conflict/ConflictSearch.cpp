//===- ConflictSearch.cpp - restarts and beams in turns ------------------===//
//
// The kernels search one tree in one order until they run out of nodes; here the
// trees follow one another. Limits are short, so that a bad first choice costs
// little; a third of all nodes goes to restarts of doubling length, so that a
// small problem's tree is exhausted in the end. Half of the nodes, after the
// first restarts, go to beams of doubling width.
//
//===----------------------------------------------------------------------===//
#include "ConflictSearch.h"
#include "Beam.h"
#include "SearchOrders.h"

#include <cassert>

namespace zero::planning::arena {
namespace {

constexpr int64_t kFreeNodes = 400;     // a restart gets one node an item, and these
constexpr int64_t kLongShare = 2;       // long restarts take at most 1 / (1 + this) of the nodes
constexpr int64_t kBeamAfter = 16;      // restarts, which solve most at once
constexpr int64_t kBeamMin = 8;         // states of a depth
constexpr int64_t kBeamBytes = 1 << 24; // for them, at most

template <typename Lane> class Search final : public ConflictSearch {
public:
  Search(const SearchProblem &problem, SearchIsa isa)
      : tables(problem, isa), orders(tables.items, problem.sections), beam(tables),
        longLimit(8 * shortLimit()) {}

  Verdict run(int64_t nodes, const std::function<bool()> &interrupted) override;
  std::vector<int64_t> offsets() const override { return tables.offsets(); }
  int64_t nodesSpent() const override { return treeSpent + beam.nodesSpent(); }
  int64_t stepsPerNode() const override {
    return 4 * tables.context.groups + tables.context.sections;
  }
  int64_t stepsPerRestart() const override { return shortLimit() * stepsPerNode(); }

private:
  int64_t shortLimit() const { return tables.count + kFreeNodes; }
  typename Beam<Lane>::Shape beamShape() const;
  Verdict stepBeam();
  Verdict restart();

  SearchTables<Lane> tables;
  SearchOrders orders;
  Beam<Lane> beam;
  int64_t beamsOver = 0, treeSpent = 0;
  int64_t longSpent = 0, longLimit; // of the restarts whose length doubles
};

/// Each width, as far as memory goes, is tried with both rules and two margins.
template <typename Lane> typename Beam<Lane>::Shape Search<Lane>::beamShape() const {
  int64_t most = std::max(kBeamBytes / int64_t(tables.context.stateLanes * sizeof(Lane)), kBeamMin);
  int64_t turn = beamsOver % 3;
  return {std::min(kBeamMin << std::min<int64_t>(beamsOver / 3, 20), most),
          turn == 1 ? BeamRule::FewestCandidates : BeamRule::LowestFloor,
          double(tables.context.capacity) / (turn == 2 ? 512 : 128)};
}

template <typename Lane> Verdict Search<Lane>::stepBeam() {
  if (beam.isOver()) {
    if (!tables.start())
      return Verdict::Impossible;
    beam.begin(beamShape());
  }
  if (beam.step())
    return Verdict::Packed;
  beamsOver += beam.isOver();
  return Verdict::Unknown;
}

template <typename Lane> Verdict Search<Lane>::restart() {
  Context<Lane> &context = tables.context;
  SearchOrders::Choice choice = orders.next(tables.weight);
  context.rule = choice.rule;
  context.firstBy = choice.firstBy;
  context.weighted = choice.weighted;
  for (int64_t i = 0; i < tables.count; ++i) {
    tables.byRank[i] = choice.order[i];
    tables.rank[choice.order[i]] = Lane(i);
  }
  for (int32_t section = 0; section < context.sections; ++section)
    tables.inverseWeight[section] = int32_t((int64_t(1) << 30) / tables.weight[section]);

  context.nodes = 0;
  bool isLong = treeSpent - longSpent >= kLongShare * (longSpent + longLimit);
  context.nodeLimit = isLong ? longLimit : shortLimit();
  tables.growTable();
  if (!tables.start())
    return Verdict::Impossible;
  RunResult result = tables.kernel.search(context);
  treeSpent += context.nodes;
  if (isLong) {
    longSpent += context.nodes;
    longLimit *= 2;
  }
  return result == RunResult::Packed   ? Verdict::Packed
         : result == RunResult::Failed ? Verdict::Impossible
                                       : Verdict::Unknown;
}

template <typename Lane>
Verdict Search<Lane>::run(int64_t nodes, const std::function<bool()> &interrupted) {
  for (int64_t end = nodesSpent() + nodes; nodesSpent() < end;) {
    if (interrupted && interrupted())
      return Verdict::Unknown;
    bool beamsTurn = beam.nodesSpent() + kBeamAfter * shortLimit() < treeSpent;
    Verdict verdict = beamsTurn ? stepBeam() : restart();
    if (verdict != Verdict::Unknown)
      return verdict;
  }
  return Verdict::Unknown;
}

} // namespace

std::unique_ptr<ConflictSearch> makeConflictSearch(const SearchProblem &problem, SearchIsa isa) {
  assert(int64_t(problem.items.size()) <= kMaxSearchItems);
  // Sums of a lower bound and a size, and sections, must fit in a lane.
  int64_t most = std::max<int64_t>(problem.capacity, problem.sections);
  for (const SearchItem &item : problem.items)
    most = std::max(most, problem.capacity + item.alignment);
  if (most < std::numeric_limits<int16_t>::max())
    return std::make_unique<Search<int16_t>>(problem, isa);
  if (most < std::numeric_limits<int32_t>::max())
    return std::make_unique<Search<int32_t>>(problem, isa);
  return std::make_unique<Search<int64_t>>(problem, isa);
}

} // namespace zero::planning::arena
