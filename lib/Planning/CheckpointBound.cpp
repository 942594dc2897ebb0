//===- CheckpointBound.cpp - what any plan must cost -----------------------===//
//
// The root is solved with rows and cuts until neither is violated; branches fix the
// dearest column that is a fraction, and with it those that compare with it. Whole
// solutions come from rounding, and bound the search from above.
//
//===----------------------------------------------------------------------===//
#include "CheckpointRelaxation.h"

#include <algorithm>
#include <queue>

#pragma STDC FP_CONTRACT OFF // the same bits with and without fused multiply-add

namespace zero::planning::checkpoint {
namespace {

constexpr double kIntegral = 1e-6;
constexpr signed char kUndecided = -1;
constexpr int64_t kMostToRound = 20'000'000, kWork = 4'000'000'000;
constexpr int32_t kCutRounds = 80, kRoundsPerBranch = 20, kCutRoundsPerBranch = 2;

class Cover {
public:
  Cover(const Graph &graph, int64_t branches, int64_t knownCost)
      : graph(graph), relaxation(graph), programme(relaxation.programme), branchLimit(branches),
        known(knownCost - graph.baseCost), rootUpper(programme.columns(), 1),
        decision(programme.columns(), kUndecided) {}
  Bound run();

private:
  struct Branch {
    int64_t bound; // extra cost, rounded up
    int64_t parent;
    int32_t column;
    bool taken;
  };

  // Whole solutions.
  bool isCover(const std::vector<bool> &taken) const;
  void roundSolution();
  void accept(const std::vector<bool> &taken);

  // The search.
  int64_t boundHere() const { return relaxation.roundUp(relaxation.evaluate(nullptr)); }
  void solveRoot();
  void fixByCost();
  void compareColumns();
  void apply(int64_t branch);
  int32_t columnToBranch() const;
  void searchTree();

  const Graph &graph;
  Relaxation relaxation;
  const Programme &programme;
  const int64_t branchLimit;
  int64_t known; // extra cost of the best plan or cover known, this is what to beat
  int64_t least = 0;
  bool solved = true;
  std::vector<char> rootUpper;
  std::vector<signed char> decision; // by column
  /// Of a column those that are no worse in any row and no dearer, and the other way round.
  std::vector<std::vector<int32_t>> better, worse;
  std::vector<Branch> tree;
  std::vector<int32_t> fixed; // columns that the current branch fixes
  Bound bound;
};

bool Cover::isCover(const std::vector<bool> &taken) const {
  std::vector<int64_t> lacking = programme.missing();
  for (int32_t k = 0; k < programme.columns(); ++k)
    for (int32_t step = programme.gap(k).from + 1; taken[k] && step < programme.gap(k).to; ++step)
      lacking[step] -= programme.bytes(k);
  return *std::max_element(lacking.begin(), lacking.end()) <= 0;
}

/// Takes what a solution takes, then what it takes in part, until every step fits; then gives back
/// what isn't needed, the dearest first.
void Cover::roundSolution() {
  const std::vector<int64_t> &missing = programme.missing();
  std::vector<std::pair<double, int32_t>> order;
  int64_t lengths = 0;
  for (int32_t k = 0; k < programme.columns(); ++k) {
    order.push_back({-relaxation.solution()[k], k});
    lengths += programme.gap(k).to - programme.gap(k).from;
  }
  if (lengths > kMostToRound)
    return;
  std::sort(order.begin(), order.end());
  std::vector<int64_t> lacking = missing;
  std::vector<bool> taken(programme.columns(), false);
  for (auto [value, k] : order) {
    const Gap &gap = programme.gap(k);
    bool needed = false;
    for (int32_t step = gap.from + 1; step < gap.to && !needed; ++step)
      needed = lacking[step] > 0;
    if (!needed)
      continue;
    taken[k] = true;
    for (int32_t step = gap.from + 1; step < gap.to; ++step)
      lacking[step] -= programme.bytes(k);
  }
  std::sort(order.begin(), order.end(), [&](const auto &a, const auto &b) {
    int64_t costA = programme.cost(a.second), costB = programme.cost(b.second);
    return costA != costB ? costA > costB : a < b;
  });
  for (auto [value, k] : order) {
    if (!taken[k])
      continue;
    const Gap &gap = programme.gap(k);
    int64_t bytes = programme.bytes(k);
    bool idle = true;
    for (int32_t step = gap.from + 1; step < gap.to && idle; ++step)
      idle = missing[step] <= 0 || lacking[step] + bytes <= 0;
    if (!idle)
      continue;
    taken[k] = false;
    for (int32_t step = gap.from + 1; step < gap.to; ++step)
      lacking[step] += bytes;
  }
  if (*std::max_element(lacking.begin(), lacking.end()) <= 0)
    accept(taken);
}

void Cover::accept(const std::vector<bool> &taken) {
  int64_t cost = 0;
  for (int32_t k = 0; k < programme.columns(); ++k)
    cost += taken[k] ? programme.cost(k) : 0;
  if (cost >= known && bound.found)
    return;
  known = std::min(known, cost);
  bound.found = true;
  bound.evicted.clear();
  for (int32_t k = 0; k < programme.columns(); ++k)
    if (taken[k])
      bound.evicted.push_back(programme.gap(k));
}

void Cover::solveRoot() {
  for (int32_t round = 0; solved && relaxation.work() < kWork; ++round) {
    if (!relaxation.addRows() && round > 0 && !(round < kCutRounds && relaxation.addCuts()))
      break;
    solved = relaxation.solve();
    least = std::max(least, boundHere());
    if (least >= known)
      break;
  }
  roundSolution();
}

/// Columns that would bring the root's bound up to what is known stay at 0.
void Cover::fixByCost() {
  std::vector<__int128> reduced;
  Exact exact = relaxation.evaluate(&reduced);
  for (int32_t k = 0; k < programme.columns(); ++k)
    if (relaxation.upper(k) && reduced[k] > 0 &&
        relaxation.roundUp({exact.value + reduced[k], exact.shift}) >= known) {
      rootUpper[k] = 0;
      relaxation.setBounds(k, false, false);
    }
}

/// Where a cover takes a worse column and leaves a better one, the better will do in its place; so
/// only covers that take the better first need be looked at.
void Cover::compareColumns() {
  constexpr int32_t kMost = 3000;
  int32_t count = programme.columns();
  better.assign(count, {});
  worse.assign(count, {});
  if (count > kMost)
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

void Cover::searchTree() {
  auto later = [this](int64_t a, int64_t b) {
    return tree[a].bound != tree[b].bound ? tree[a].bound > tree[b].bound : a < b;
  };
  std::priority_queue<int64_t, std::vector<int64_t>, decltype(later)> open(later);
  tree.push_back({least, -1, -1, false});
  open.push(0);
  int64_t count = 0;
  while (!open.empty()) {
    int64_t branch = open.top();
    int64_t inherited = tree[branch].bound;
    if (inherited >= known || count++ >= branchLimit || relaxation.work() > kWork)
      break;
    open.pop();
    apply(branch);
    if (relaxation.isImpossible())
      continue;
    bool possible = relaxation.solve();
    for (int32_t round = 0;
         possible && round < kRoundsPerBranch &&
         (relaxation.addRows() || (round < kCutRoundsPerBranch && relaxation.addCuts()));
         ++round)
      possible = relaxation.solve();
    int64_t here = std::max(inherited, boundHere());
    if (here >= known)
      continue;
    if (count % 8 == 1)
      roundSolution();
    int32_t column = columnToBranch();
    if (column < 0) {
      // A whole solution: in integers, it is a cover, or rounding misled us and all below stays
      // open.
      std::vector<bool> taken(programme.columns(), false);
      for (int32_t k = 0; k < programme.columns(); ++k)
        taken[k] = relaxation.solution()[k] > 0.5;
      if (possible && isCover(taken)) {
        accept(taken);
        if (known <= here)
          continue;
      }
      for (int32_t k = 0; k < programme.columns() && column < 0; ++k)
        if (!relaxation.isFixed(k))
          column = k;
      if (column < 0)
        continue;
    }
    for (bool taken : {false, true}) {
      tree.push_back({here, branch, column, taken});
      open.push(int64_t(tree.size()) - 1);
    }
  }
  int64_t reached = open.empty() ? known : std::min(known, tree[open.top()].bound);
  least = std::max(least, reached);
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
  solveRoot();
  if (solved && least < known) {
    fixByCost();
    compareColumns();
    searchTree();
  }
  bound.cost = graph.baseCost + std::min(least, known);
  return bound;
}

} // namespace

Bound coveringBound(const Graph &graph, int64_t branches, int64_t knownCost) {
  return Cover(graph, branches, knownCost).run();
}

} // namespace zero::planning::checkpoint
