//===- ConflictSearch.cpp - restarts over orders -------------------------===//
//
// The kernels search one tree in one order until they run out of nodes; here the
// trees follow one another. Limits are short, so that a bad first choice costs
// little; a third of all nodes goes to restarts of doubling length, so that a
// small problem's tree is exhausted in the end.
//
// Half of the nodes, after the first restarts, go to beams of doubling width: from
// all states of one depth to the best of the next, those that have lost the fewest
// bytes for what is still to be placed. A beam finds packings and proves nothing.
//
//===----------------------------------------------------------------------===//
#include "ConflictSearch.h"
#include "Kernel.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <limits>
#include <new>
#include <numeric>
#include <random>
#include <utility>

namespace zero::planning::arena {
namespace {

constexpr int64_t kFreeNodes = 400; // a restart gets one node an item, and these
constexpr int64_t kLongShare = 2;   // long restarts take at most 1 / (1 + this) of the nodes
constexpr int64_t kTrail = 1 << 15; // failed states kept while their tree is open
constexpr int64_t kTableMin = 1 << 12, kTableMax = 1 << 22; // slots of 16 bytes
constexpr int64_t kBeamAfter = 16;                          // restarts, which solve most at once
constexpr int64_t kBeamMin = 8;                             // states of a depth
constexpr int64_t kBeamBytes = 1 << 24;                     // for them, at most
constexpr std::align_val_t kVectorBytes{64};

/// Zeroed memory that starts at a whole vector.
template <typename T> class Aligned {
public:
  explicit Aligned(int64_t count, bool zeroed = true)
      : data(
            static_cast<T *>(operator new(std::max<int64_t>(count, 1) * sizeof(T), kVectorBytes))) {
    if (zeroed)
      std::fill_n(data, count, T());
  }
  Aligned(Aligned &&other) noexcept : data(std::exchange(other.data, nullptr)) {}
  Aligned &operator=(Aligned &&other) noexcept {
    std::swap(data, other.data);
    return *this;
  }
  Aligned(const Aligned &) = delete;
  Aligned &operator=(const Aligned &) = delete;
  ~Aligned() { operator delete(data, kVectorBytes); }
  T *get() const { return data; }
  T &operator[](int64_t i) const { return data[i]; }

private:
  T *data;
};

template <typename Lane> class Search final : public ConflictSearch {
  static constexpr int64_t kLanes = 64 / sizeof(Lane);
  static constexpr Lane kPlaced = std::numeric_limits<Lane>::max();

public:
  Search(const SearchProblem &problem, SearchIsa isa);
  Verdict run(int64_t nodes, const std::function<bool()> &interrupted) override;
  std::vector<int64_t> offsets() const override;
  int64_t nodesSpent() const override { return spent; }
  int64_t stepsPerNode() const override { return 4 * context.groups + context.sections; }
  int64_t stepsPerRestart() const override { return (count + kFreeNodes) * stepsPerNode(); }

private:
  void sortItems(const SearchProblem &problem);
  void link(const SearchProblem &problem);
  void makeOrders();
  void chooseOrder();
  void growTable();
  bool start();
  RunResult search();
  int64_t beamWidth() const;
  void beginBeam();
  bool stepBeam();

  SearchIsa isa;
  int64_t count, laneCount; // items, and those padded to whole groups
  std::vector<SearchItem> items;
  std::vector<int32_t> inputIndex; // of an item in the problem
  Context<Lane> context = {};

  Aligned<Lane> first, last, size, highest, alignmentMask, rank, offset, lowest;
  std::vector<int32_t> sectionGroupsBegin, itemGroupsBegin, nextTwin, byRank, weight, inverseWeight,
      ranges;
  std::vector<uint16_t> sectionGroups, itemGroups;
  std::vector<uint64_t> dirty;
  std::vector<FailedState> trail, table;
  Aligned<Lane> states;

  std::vector<std::vector<int32_t>> orders;
  std::vector<int64_t> logLength, logSize, logLoad;
  std::mt19937_64 random{1};
  int64_t restart = 0, spent = 0;
  int64_t longSpent = 0, longLimit = 0; // of the restarts whose length doubles

  // The beam: all states of one depth, and how each came about.
  struct Step {
    int32_t parent, item;
    Lane offset;
  };
  Aligned<Lane> level{0}, nextLevel{0};
  int64_t levelCount = 0, levelCapacity = 0; // states
  std::vector<std::vector<Step>> history;
  std::vector<Child> children;
  int64_t beam = 0, beamSpent = 0;
};

/// 64 log₂, straight between powers of two: the same on every machine.
int64_t logarithm(int64_t value) {
  int64_t whole = std::bit_width(uint64_t(value)) - 1;
  return 64 * whole + (whole > 6 ? (value >> (whole - 6)) - 64 : (value << (6 - whole)) - 64);
}

int64_t groupsOf(const SearchProblem &problem, int64_t lanes) {
  return (int64_t(problem.items.size()) + lanes - 1) / lanes;
}
int64_t sectionLanesOf(const SearchProblem &problem) { return (problem.sections + 63) / 64 * 64; }

template <typename Lane>
Search<Lane>::Search(const SearchProblem &problem, SearchIsa isa)
    : isa(isa), count(problem.items.size()), laneCount(groupsOf(problem, kLanes) * kLanes),
      first(laneCount), last(laneCount), size(laneCount), highest(laneCount),
      alignmentMask(laneCount), rank(laneCount), offset(laneCount), lowest(laneCount),
      states(stateLanes<Lane>(groupsOf(problem, kLanes), sectionLanesOf(problem)) * (count + 2),
             /*zeroed=*/false) {
  context.groups = groupsOf(problem, kLanes);
  context.sections = problem.sections;
  context.sectionLanes = sectionLanesOf(problem);
  context.capacity = Lane(problem.capacity);
  context.stateLanes = stateLanes<Lane>(context.groups, context.sectionLanes);
  sortItems(problem);
  link(problem);
  makeOrders();
  longLimit = 8 * (count + kFreeNodes);
}

/// Long-lived items first, the others by time, so that few groups meet a section.
template <typename Lane> void Search<Lane>::sortItems(const SearchProblem &problem) {
  inputIndex.resize(count);
  std::iota(inputIndex.begin(), inputIndex.end(), 0);
  auto key = [&](int32_t i) {
    const SearchItem &item = problem.items[i];
    bool isShort = item.last - item.first < problem.sections / 4;
    return std::tuple(isShort, item.first + item.last, item.first, -item.size, item.lowest,
                      item.highest, item.alignment, i);
  };
  std::sort(inputIndex.begin(), inputIndex.end(),
            [&](int32_t a, int32_t b) { return key(a) < key(b); });
  for (int32_t i : inputIndex)
    items.push_back(problem.items[i]);
}

template <typename Lane> void Search<Lane>::link(const SearchProblem &problem) {
  nextTwin.assign(laneCount, -1);
  std::fill_n(lowest.get(), laneCount, kPlaced);
  for (int64_t i = 0; i < count; ++i) {
    const SearchItem &item = items[i];
    first[i] = Lane(item.first);
    last[i] = Lane(item.last);
    size[i] = Lane(item.size);
    lowest[i] = Lane(item.lowest);
    highest[i] = Lane(item.highest);
    alignmentMask[i] = Lane(item.alignment - 1);
    if (i > 0 && item.lowest != item.highest) {
      const SearchItem &other = items[i - 1];
      if (std::tuple(item.first, item.last, item.size, item.lowest, item.highest, item.alignment) ==
          std::tuple(other.first, other.last, other.size, other.lowest, other.highest,
                     other.alignment))
        nextTwin[i - 1] = int32_t(i);
    }
  }
  // The groups that have a member in each section; bit sets first, then lists.
  int64_t words = (context.groups + 63) / 64;
  std::vector<uint64_t> members(problem.sections * words, 0);
  for (int64_t i = 0; i < count; ++i)
    for (int32_t section = items[i].first; section < items[i].last; ++section)
      members[section * words + i / kLanes / 64] |= uint64_t(1) << i / kLanes % 64;
  auto list = [&](const uint64_t *set, std::vector<uint16_t> &into) {
    for (int64_t word = 0; word < words; ++word)
      for (uint64_t left = set[word]; left; left &= left - 1)
        into.push_back(uint16_t(word * 64 + std::countr_zero(left)));
  };
  for (int64_t section = 0; section < problem.sections; ++section) {
    sectionGroupsBegin.push_back(int32_t(sectionGroups.size()));
    list(&members[section * words], sectionGroups);
  }
  sectionGroupsBegin.push_back(int32_t(sectionGroups.size()));
  for (const SearchItem &item : items) {
    std::vector<uint64_t> set(words, 0);
    for (int32_t section = item.first; section < item.last; ++section)
      for (int64_t word = 0; word < words; ++word)
        set[word] |= members[section * words + word];
    itemGroupsBegin.push_back(int32_t(itemGroups.size()));
    list(set.data(), itemGroups);
  }
  itemGroupsBegin.push_back(int32_t(itemGroups.size()));

  weight.assign(context.sectionLanes, 1);
  inverseWeight.assign(context.sectionLanes, 0);
  byRank.assign(count, 0);
  dirty.assign(context.sectionLanes / 64 + 1, 0);
  trail.resize(kTrail);
  ranges.assign(4 * context.sections + 4 * count + 4, 0);
  table.assign(kTableMin, {0, 0});

  context.first = first.get();
  context.last = last.get();
  context.size = size.get();
  context.highest = highest.get();
  context.alignmentMask = alignmentMask.get();
  context.sectionGroupsBegin = sectionGroupsBegin.data();
  context.sectionGroups = sectionGroups.data();
  context.itemGroupsBegin = itemGroupsBegin.data();
  context.itemGroups = itemGroups.data();
  context.nextTwin = nextTwin.data();
  context.rank = rank.get();
  context.byRank = byRank.data();
  context.inverseWeight = inverseWeight.data();
  context.states = states.get();
  context.weight = weight.data();
  context.offset = offset.get();
  context.dirty = dirty.data();
  context.trail = trail.data();
  context.trailCapacity = kTrail;
  context.ranges = ranges.data();
}

template <typename Lane> void Search<Lane>::makeOrders() {
  std::vector<int64_t> load(context.sections, 0), fullest(count, 0);
  for (const SearchItem &item : items)
    for (int32_t section = item.first; section < item.last; ++section)
      load[section] += item.size;
  for (int64_t i = 0; i < count; ++i)
    for (int32_t section = items[i].first; section < items[i].last; ++section)
      fullest[i] = std::max(fullest[i], load[section]);
  auto add = [&](auto key) {
    std::vector<int32_t> order(count);
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(),
                     [&](int32_t a, int32_t b) { return key(a) < key(b); });
    orders.push_back(std::move(order));
  };
  auto length = [&](int32_t i) { return int64_t(items[i].last - items[i].first); };
  auto bytes = [&](int32_t i) { return items[i].size; };
  auto area = [&](int32_t i) { return double(length(i)) * double(bytes(i)); };
  add([&](int32_t i) { return std::pair(-fullest[i], -area(i)); });
  add([&](int32_t i) { return std::tuple(-fullest[i], -length(i), -bytes(i)); });
  add([&](int32_t i) { return std::pair(-length(i), -bytes(i)); });
  add([&](int32_t i) { return -area(i); });
  add([&](int32_t i) { return -area(i) * double(length(i)); });
  add([&](int32_t i) { return -area(i) * double(bytes(i)); });
  add([&](int32_t i) { return std::pair(-fullest[i], -bytes(i)); });
  add([&](int32_t i) { return std::pair(-bytes(i), -length(i)); });
  add([&](int32_t i) { return i; });
  add([&](int32_t i) { return -i; });
  add([&](int32_t i) { return std::pair(length(i), bytes(i)); });
  add([&](int32_t i) { return std::pair(bytes(i), length(i)); });
  add([&](int32_t i) { return area(i); });
  add([&](int32_t i) { return items[i].last; });
  for (int64_t i = 0; i < count; ++i) {
    logLength.push_back(logarithm(length(i)));
    logSize.push_back(logarithm(bytes(i)));
    logLoad.push_back(logarithm(fullest[i]));
  }
}

/// First every order with every rule and key, those that solve most first. Then mixtures of
/// length, size and load by chance, or the items of sections that failed often first.
template <typename Lane> void Search<Lane>::chooseOrder() {
  const int64_t orderCount = orders.size();
  std::vector<int32_t> order;
  context.rule = restart % 2 ? Rule::FewestCandidates : Rule::BottomUp;
  context.weighted = restart / 2 % 8 == 7;
  if (restart < 4 * orderCount) {
    order = orders[restart / 4];
    context.firstBy = restart % 4 < 2 ? First::Rank : First::LowestBottom;
  } else if (restart < 6 * orderCount) {
    order = orders[(restart - 4 * orderCount) / 2];
    context.firstBy = First::LowestTop;
  } else {
    uint64_t draw = random();
    auto take = [&](uint64_t below) {
      uint64_t value = draw % below;
      draw /= below;
      return int64_t(value);
    };
    bool learned = take(4) == 0;
    int64_t byLength = take(4), bySize = take(4), byLoad = 8 * take(3), spread = 64 << take(4);
    context.rule = take(2) ? Rule::FewestCandidates : Rule::BottomUp;
    context.firstBy = std::array{First::Rank, First::LowestBottom, First::LowestTop}[take(3)];
    std::vector<int64_t> key(count);
    for (int64_t i = 0; i < count; ++i) {
      const SearchItem &item = items[i];
      int32_t heaviest = *std::max_element(weight.begin() + item.first, weight.begin() + item.last);
      int64_t jitter = int64_t(random() % (2 * spread));
      key[i] =
          learned ? -(heaviest * (512 + jitter))
                  : -(byLength * logLength[i] + bySize * logSize[i] + byLoad * logLoad[i] + jitter);
    }
    order.resize(count);
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(),
                     [&](int32_t a, int32_t b) { return key[a] < key[b]; });
  }
  for (int64_t i = 0; i < count; ++i) {
    byRank[i] = order[i];
    rank[order[i]] = Lane(i);
  }
  for (int32_t section = 0; section < context.sections; ++section)
    inverseWeight[section] = int32_t((int64_t(1) << 30) / weight[section]);
}

/// Room for what one more restart can add, up to the limit; there it begins anew.
template <typename Lane> void Search<Lane>::growTable() {
  int64_t needed = 2 * (context.tableCount + context.nodeLimit);
  if (int64_t(table.size()) < needed) {
    if (int64_t(table.size()) < kTableMax) {
      std::vector<FailedState> old(std::min<int64_t>(std::bit_ceil(uint64_t(needed)), kTableMax),
                                   {0, 0});
      old.swap(table);
      for (const FailedState &entry : old)
        if (entry.low) {
          uint64_t slot = entry.high & (table.size() - 1);
          while (table[slot].low)
            slot = (slot + 1) & (table.size() - 1);
          table[slot] = entry;
        }
    } else if (context.tableCount * 3 > kTableMax * 2) {
      std::fill(table.begin(), table.end(), FailedState{0, 0});
      context.tableCount = 0;
    }
  }
  context.table = table.data();
  context.tableMask = table.size() - 1;
  context.tableLimit = int64_t(table.size()) / 4 * 3;
}

template <typename Lane> bool Search<Lane>::start() {
  std::copy_n(lowest.get(), laneCount, states.get());
  return isa == SearchIsa::Avx512 ? avx512::start(context)
         : isa == SearchIsa::Avx2 ? avx2::start(context)
                                  : baseline::start(context);
}

template <typename Lane> RunResult Search<Lane>::search() {
  return isa == SearchIsa::Avx512 ? avx512::search(context)
         : isa == SearchIsa::Avx2 ? avx2::search(context)
                                  : baseline::search(context);
}

/// States of a depth that the beam keeps: double as many every third time, within kBeamBytes.
template <typename Lane> int64_t Search<Lane>::beamWidth() const {
  int64_t most = std::max(kBeamBytes / int64_t(context.stateLanes * sizeof(Lane)), kBeamMin);
  return std::min(kBeamMin << std::min<int64_t>(beam / 3, 20), most);
}

/// The state at the root. Each width is tried with both rules and two margins.
template <typename Lane> void Search<Lane>::beginBeam() {
  int64_t width = beamWidth();
  if (width > levelCapacity) {
    levelCapacity = width;
    level = Aligned<Lane>(width * context.stateLanes, /*zeroed=*/false);
    nextLevel = Aligned<Lane>(width * context.stateLanes, /*zeroed=*/false);
  }
  std::copy_n(states.get(), context.stateLanes, level.get());
  levelCount = 1;
  history.clear();
}

/// From all states of one depth to the best of the next; true where one is a packing.
template <typename Lane> bool Search<Lane>::stepBeam() {
  BeamRule rule = beam % 3 == 1 ? BeamRule::FewestCandidates : BeamRule::LowestFloor;
  double margin = double(context.capacity) / (beam % 3 == 2 ? 512 : 128);
  int64_t width = beamWidth();
  context.nodes = 0;
  children.clear();
  for (int32_t parent = 0; parent < levelCount; ++parent) {
    size_t begin = children.size();
    children.resize(begin + count);
    Lane *state = level.get() + parent * context.stateLanes;
    int32_t found =
        isa == SearchIsa::Avx512 ? avx512::expand(context, state, rule, margin, &children[begin])
        : isa == SearchIsa::Avx2 ? avx2::expand(context, state, rule, margin, &children[begin])
                                 : baseline::expand(context, state, rule, margin, &children[begin]);
    if (found < 0) {
      for (int64_t depth = int64_t(history.size()) - 1, at = parent; depth >= 0; --depth) {
        const Step &step = history[depth][at];
        offset[step.item] = step.offset;
        at = step.parent;
      }
      return true;
    }
    children.resize(begin + found);
    for (size_t i = begin; i < children.size(); ++i)
      children[i].parent = parent;
  }
  spent += context.nodes;
  beamSpent += context.nodes;
  auto key = [](const Child &child) {
    return std::tuple(child.waste, child.low, child.high, child.parent, child.item);
  };
  std::sort(children.begin(), children.end(),
            [&](const Child &a, const Child &b) { return key(a) < key(b); });
  children.erase(std::unique(children.begin(), children.end(),
                             [](const Child &a, const Child &b) {
                               return a.low == b.low && a.high == b.high;
                             }),
                 children.end());
  if (int64_t(children.size()) > width)
    children.resize(width);
  std::vector<Step> steps;
  for (size_t i = 0; i < children.size(); ++i) {
    const Child &child = children[i];
    const Lane *parent = level.get() + child.parent * context.stateLanes;
    Lane *state = nextLevel.get() + int64_t(i) * context.stateLanes;
    steps.push_back({child.parent, child.item, parent[child.item]});
    std::copy_n(parent, context.stateLanes, state);
    isa == SearchIsa::Avx512 ? avx512::advance(context, state, child.item)
    : isa == SearchIsa::Avx2 ? avx2::advance(context, state, child.item)
                             : baseline::advance(context, state, child.item);
  }
  history.push_back(std::move(steps));
  std::swap(level, nextLevel);
  levelCount = int64_t(children.size());
  beam += levelCount == 0;
  return false;
}

template <typename Lane>
Verdict Search<Lane>::run(int64_t nodes, const std::function<bool()> &interrupted) {
  int64_t end = spent + nodes;
  while (spent < end) {
    if (interrupted && interrupted())
      return Verdict::Unknown;
    if (beamSpent + kBeamAfter * (count + kFreeNodes) < spent - beamSpent) {
      if (levelCount == 0) {
        if (!start())
          return Verdict::Impossible;
        beginBeam();
      }
      if (stepBeam())
        return Verdict::Packed;
      continue;
    }
    chooseOrder();
    ++restart;
    context.nodes = 0;
    context.nodeLimit = count + kFreeNodes;
    bool isLong = spent - beamSpent - longSpent >= kLongShare * (longSpent + longLimit);
    if (isLong)
      context.nodeLimit = longLimit;
    growTable();
    if (!start())
      return Verdict::Impossible;
    RunResult result = search();
    spent += context.nodes;
    if (isLong) {
      longSpent += context.nodes;
      longLimit *= 2;
    }
    if (result == RunResult::Packed)
      return Verdict::Packed;
    if (result == RunResult::Failed)
      return Verdict::Impossible;
  }
  return Verdict::Unknown;
}

template <typename Lane> std::vector<int64_t> Search<Lane>::offsets() const {
  std::vector<int64_t> result(count);
  for (int64_t i = 0; i < count; ++i)
    result[inputIndex[i]] = offset[i];
  return result;
}

} // namespace

bool supported(SearchIsa isa) {
  __builtin_cpu_init();
  switch (isa) {
  case SearchIsa::Avx512:
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  case SearchIsa::Avx2:
    return __builtin_cpu_supports("avx2");
  case SearchIsa::Baseline:
    break;
  }
  return true;
}

SearchIsa bestIsa() {
  static const SearchIsa best = supported(SearchIsa::Avx512) ? SearchIsa::Avx512
                                : supported(SearchIsa::Avx2) ? SearchIsa::Avx2
                                                             : SearchIsa::Baseline;
  return best;
}

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
