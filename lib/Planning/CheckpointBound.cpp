//===- CheckpointBound.cpp - what any plan must cost -----------------------===//
//
// The root is solved with rows and cuts until neither is violated; branches fix the
// dearest column that is a fraction, and with it those that compare with it. Whole
// solutions come from rounding, and bound the search from above. First with plain rows
// of steps; where these don't tell enough, with paths and recomputations. The cover
// that comes out may want columns split, and then all begins again, with the rows so
// far.
//
//===----------------------------------------------------------------------===//
#include "CheckpointRelaxation.h"
#include "CheckpointRounding.h"

#include <algorithm>
#include <queue>

#pragma STDC FP_CONTRACT OFF // the same bits with and without fused multiply-add

namespace zero::planning::checkpoint {
namespace {

constexpr double kIntegral = 1e-6;
constexpr signed char kUndecided = -1;
/// The rows of paths get as much work as this part of all.
constexpr int64_t kPartForPaths = 3;
/// The root is looked at whenever this work has doubled: it goes on while the bound rises by one
/// part in `kLeastGain`, and where a cost is known, not if as much again wouldn't get there.
constexpr int64_t kFirstLook = 20'000'000, kLeastGain = 50;
constexpr int32_t kMostPasses = 12;
constexpr int32_t kCutRounds = 80, kRoundsPerBranch = 20, kCutRoundsPerBranch = 2;

class Cover {
public:
  Cover(const Graph &graph, int64_t branches, int64_t knownCost, int64_t work)
      : graph(graph), relaxation(graph), programme(relaxation.programme()), branchLimit(branches),
        knownFromOutside(knownCost - graph.baseCost), work(work), known(knownFromOutside) {}
  Bound run();

private:
  struct Branch {
    int64_t bound; // extra cost, rounded up
    int64_t parent;
    int32_t column;
    bool taken;
  };

  // Whole solutions.
  void roundSolution();
  void accept(const std::vector<bool> &taken, bool isCover);

  // The search.
  int64_t boundHere() const { return relaxation.roundUp(relaxation.evaluate(nullptr)); }
  void solveRoot();
  void fixByCost();
  void compareColumns();
  void apply(int64_t branch);
  int32_t columnToBranch() const;
  bool searchTree();
  bool search();
  void release();
  bool splitForBest();
  void refine(bool isExhausted);

  const Graph &graph;
  Relaxation relaxation;
  const Programme &programme;
  const int64_t branchLimit, knownFromOutside, work;
  int64_t known; // extra cost of the best cover, or of a plan: this is what to beat
  int64_t least = 0;
  int64_t branches = 0;
  bool solved = true;
  bool isStalled = false; // the root's bound hardly rises
  std::vector<char> rootUpper;
  std::vector<signed char> decision; // by column
  /// Of a column those that are no worse in any row and no dearer, and the other way round.
  std::vector<std::vector<int32_t>> better, worse;
  std::vector<Branch> tree;
  std::vector<int32_t> fixed; // columns that the current branch fixes
  std::vector<bool> best;     // the cover that is known
  int64_t startCost = kMaxTotal;
  bool startIsCover = false;
  Bound bound;
};

void Cover::roundSolution() {
  std::vector<bool> taken = rounded(programme, relaxation.solution());
  if (!taken.empty())
    accept(taken, relaxation.isCover(taken));
}

/// A solution that satisfies the plain rows of the steps: a place to begin, and known if it
/// satisfies the others too.
void Cover::accept(const std::vector<bool> &taken, bool isCover) {
  int64_t cost = 0;
  for (size_t k = 0; k < taken.size(); ++k)
    cost += taken[k] ? programme.cost(int32_t(k)) : 0;
  if (isCover ? !startIsCover || cost < startCost : !startIsCover && cost < startCost) {
    startCost = cost;
    startIsCover = isCover;
    bound.found = true;
    bound.evicted = programme.evictionsOf(taken);
  }
  if (isCover && cost < known) {
    known = cost;
    best = taken;
  }
}

void Cover::solveRoot() {
  int64_t begin = relaxation.work(), look = kFirstLook, here = 0, before = 0;
  for (int32_t cuts = 0; !relaxation.isExhausted();) {
    solved = relaxation.solve();
    here = std::max(here, boundHere());
    least = std::max(least, here);
    if (relaxation.isRefined() && relaxation.work() - begin >= look) {
      int64_t gain = here - before;
      isStalled = gain < here / kLeastGain ||
                  (knownFromOutside < kMaxTotal - graph.baseCost && here + gain < knownFromOutside);
      if (isStalled)
        break;
      look = 2 * (relaxation.work() - begin);
      before = here;
    }
    if (!solved || least >= known ||
        !(relaxation.addRows(true) || (cuts++ < kCutRounds && relaxation.addCuts())))
      break;
  }
  roundSolution();
}

/// Columns that would bring the root's bound up to what is known stay at 0.
void Cover::fixByCost() {
  std::vector<__int128> reduced;
  Exact exact = relaxation.evaluate(&reduced);
  rootUpper.resize(programme.columns(), 1);
  for (int32_t k = 0; k < programme.columns(); ++k)
    if (relaxation.upper(k) && reduced[k] > 0 &&
        relaxation.roundUp({exact.value + reduced[k], exact.shift}) >= known) {
      rootUpper[k] = 0;
      relaxation.setBounds(k, false, false);
    }
}

/// Where a cover takes a worse column and leaves a better one, the better will do in its place; so
/// only covers that take the better first need be looked at. Not where taking a column has a price
/// in bytes.
void Cover::compareColumns() {
  constexpr int32_t kMost = 3000;
  int32_t count = programme.columns();
  better.assign(count, {});
  worse.assign(count, {});
  if (count > kMost)
    return;
  for (int32_t k = 0; relaxation.isRefined() && k < count; ++k)
    if (programme.isTight(k))
      return;
  for (int32_t a = 0; a < count; ++a)
    for (int32_t b = 0; b < count; ++b) {
      if (a == b || !relaxation.upper(a) || !relaxation.upper(b) || !programme.dominates(a, b) ||
          (a > b && programme.dominates(b, a)))
        continue;
      better[b].push_back(a);
      worse[a].push_back(b);
    }
}

void Cover::apply(int64_t branch) {
  rootUpper.resize(programme.columns(), 1); // some were made since
  decision.resize(programme.columns(), kUndecided);
  std::vector<int32_t> before = std::move(fixed);
  fixed.clear();
  for (int32_t column : before)
    decision[column] = kUndecided;
  for (; branch >= 0 && tree[branch].column >= 0; branch = tree[branch].parent) {
    const Branch &at = tree[branch];
    auto fix = [&](int32_t column) {
      if (!rootUpper[column] || decision[column] != kUndecided)
        return;
      decision[column] = at.taken;
      fixed.push_back(column);
    };
    fix(at.column);
    if (at.column < int32_t(better.size())) // made before they were compared
      for (int32_t column : at.taken ? better[at.column] : worse[at.column])
        fix(column);
  }
  for (const auto *list : {&before, &fixed})
    for (int32_t column : *list)
      if (decision[column] == kUndecided)
        relaxation.setBounds(column, false, rootUpper[column]);
      else
        relaxation.setBounds(column, decision[column], decision[column]);
}

/// The dearest of the undecided; -1 where the solution is whole.
int32_t Cover::columnToBranch() const {
  int32_t column = -1;
  double most = 0;
  for (int32_t k = 0; k < programme.columns(); ++k) {
    double value = relaxation.solution()[k], parts = std::min(value, 1 - value);
    if (relaxation.isFixed(k) || parts < kIntegral)
      continue;
    double weight = parts * (relaxation.relativeCost(k) + 1e-3);
    if (weight > most) {
      most = weight;
      column = k;
    }
  }
  return column;
}

/// Whether it came to its end: then nothing costs less than what is known.
bool Cover::searchTree() {
  auto later = [this](int64_t a, int64_t b) {
    return tree[a].bound != tree[b].bound ? tree[a].bound > tree[b].bound : a < b;
  };
  std::priority_queue<int64_t, std::vector<int64_t>, decltype(later)> open(later);
  tree.assign(1, {least, -1, -1, false});
  open.push(0);
  int64_t rest = kMaxTotal; // the least bound of what is left open for good
  while (!open.empty()) {
    int64_t branch = open.top();
    int64_t inherited = tree[branch].bound;
    if (inherited >= known || branches++ >= branchLimit || relaxation.isExhausted())
      break;
    open.pop();
    apply(branch);
    if (relaxation.isImpossible())
      continue;
    bool possible = relaxation.solve();
    for (int32_t round = 0;
         possible && round < kRoundsPerBranch &&
         (relaxation.addRows(false) || (round < kCutRoundsPerBranch && relaxation.addCuts()));
         ++round)
      possible = relaxation.solve();
    int64_t here = std::max(inherited, boundHere());
    if (here >= known)
      continue;
    if (branches % 8 == 1)
      roundSolution();
    int32_t column = columnToBranch();
    if (column < 0) {
      // A whole solution: it is a cover, or rounding misled us and all below stays open.
      std::vector<bool> taken(programme.columns(), false);
      for (int32_t k = 0; k < programme.columns(); ++k)
        taken[k] = relaxation.solution()[k] > 0.5;
      if (possible && relaxation.isCover(taken)) {
        accept(taken, true);
        if (known <= here)
          continue;
      }
      for (int32_t k = 0; k < programme.columns() && column < 0; ++k)
        if (!relaxation.isFixed(k))
          column = k;
      if (column < 0) {
        rest = std::min(rest, here);
        continue;
      }
    }
    for (bool taken : {false, true}) {
      tree.push_back({here, branch, column, taken});
      open.push(int64_t(tree.size()) - 1);
    }
  }
  int64_t reached = open.empty() ? known : std::min(known, tree[open.top()].bound);
  least = std::max(least, std::min(reached, rest));
  return least >= known;
}

void Cover::release() {
  apply(-1);
  for (int32_t column = 0; column < programme.columns(); ++column)
    relaxation.setBounds(column, false, true);
  rootUpper.assign(programme.columns(), 1);
  known = knownFromOutside;
  startIsCover = false;
}

/// Splits the columns of the cover that is known where rows want it; false where none does.
bool Cover::splitForBest() {
  release();
  relaxation.setSolution({best.begin(), best.end()});
  best.clear();
  return relaxation.addRows(true);
}

bool Cover::search() {
  fixByCost();
  compareColumns();
  return searchTree();
}

/// Goes on with paths and recomputations: from the cover that is known, where no plain row raises
/// the bound any more.
void Cover::refine(bool isExhausted) {
  relaxation.refine();
  relaxation.setMostWork(relaxation.work() + work / kPartForPaths);
  branches = 0;
  if (isExhausted && !best.empty()) {
    if (!splitForBest())
      return;
  } else {
    release();
  }
  int64_t before = least;
  solveRoot();
  if (!isExhausted && least == before)
    return;
  for (int32_t pass = 0; solved && !isStalled && least < known && pass < kMostPasses; ++pass) {
    if (!search() || best.empty() || !splitForBest())
      break;
    solveRoot();
  }
}

Bound Cover::run() {
  bound.cost = graph.baseCost;
  const std::vector<int64_t> &missing = programme.missing();
  if (*std::max_element(missing.begin(), missing.end()) <= 0) {
    bound.found = true;
    return bound;
  }
  if (programme.isImpossible()) {
    bound.infeasible = true;
    return bound;
  }
  relaxation.setMostWork(work - work / kPartForPaths);
  solveRoot();
  bool isExhausted = solved && (least >= known || search());
  if (solved && least < knownFromOutside && programme.isRefinable())
    refine(isExhausted);
  bound.cost = graph.baseCost + std::min(least, known);
  bound.work = relaxation.work();
  return bound;
}

} // namespace

Bound coveringBound(const Graph &graph, int64_t branches, int64_t knownCost, int64_t work) {
  return Cover(graph, branches, knownCost, work).run();
}

} // namespace zero::planning::checkpoint
