//===- CheckpointBound.cpp - what any plan must cost -----------------------===//
//
// Rows of the covering programme are made where a solution violates them, with
// coefficients cut at the right side. Where none is violated, cuts follow: columns C
// of a row set aside, whether taken or not (the knapsack covers of Carr, Fleischer,
// Leung and Phillips, 2000), and what is left divided by one of its sizes and rounded
// up (Chvátal and Gomory), strong here as the values of a layer have few sizes:
//
//   Σ ⌈min(a, r)/δ⌉ y ≥ ⌈r/δ⌉ over the columns not in C, where r = d − Σ a over C.
//
//===----------------------------------------------------------------------===//
#include "CheckpointBound.h"

#include "CheckpointSimplex.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <queue>

#pragma STDC FP_CONTRACT OFF // the same bits with and without fused multiply-add

namespace zero::planning::checkpoint {
namespace {

using Wide = __int128;
constexpr double kViolated = 1e-6, kIntegral = 1e-6;
constexpr int64_t kTableCells = 3'000'000; // of the tableau
constexpr double kWorthCutting = 1e-3;
constexpr size_t kMostDivisors = 24;
constexpr int64_t kMostToRound = 20'000'000;
constexpr int32_t kMostRows = 250;
constexpr int64_t kWork = 4'000'000'000; // cells touched by pivots

struct Row {
  std::vector<std::pair<int32_t, int64_t>> terms;
  int64_t least;
};

/// A lower bound in fixed point: value / 2^shift.
struct Exact {
  Wide value = 0;
  int shift = 0;
};

class Cover {
public:
  Cover(const Graph &graph, int64_t branches, int64_t knownCost);
  Bound run();

private:
  struct Branch {
    int64_t bound; // extra cost, rounded up
    int64_t parent;
    int32_t column;
    bool taken;
  };

  struct Cut {
    double violation;
    size_t of;
    Row row;
  };

  Row rowAt(int32_t step) const;
  void add(Row row, bool ofStep);
  bool addViolated();
  Cut cutOf(size_t of) const;
  bool addCuts();
  bool solve();
  bool isImpossible() const;
  Exact evaluate(std::vector<Wide> *reduced) const;
  int64_t roundUp(const Exact &bound) const;
  void fixByCost();
  void compareColumns();
  void roundSolution();
  void accept(const std::vector<bool> &taken);
  void apply(int64_t branch);
  double activity(const Row &row) const;

  const Graph &graph;
  int64_t branchLimit;
  int64_t known; // extra cost of the best plan or cover known, this is what to beat
  int64_t costUnit = 0;
  std::vector<Gap> gaps;
  std::vector<int64_t> missing; // by step: bytes above the budget in base order
  std::vector<char> hasRow;     // by step
  std::vector<Row> rows;
  std::vector<char> isStep; // by row: of a step, not a cut
  Simplex simplex;
  std::vector<char> lower, upper;
  std::vector<char> rootUpper;
  /// Of a column those that are no worse in any row and no dearer, and the other way round.
  std::vector<std::vector<int32_t>> better, worse;
  std::vector<Branch> tree;
  std::vector<int32_t> fixed; // columns that the current branch fixes
  double costScale = 1;
  int64_t work = 0;
  Bound bound;
};

std::vector<Gap> gapsOf(const Graph &graph, const std::vector<int64_t> &missing) {
  // Only gaps around a step that misses bytes matter.
  std::vector<int32_t> nextMissing(graph.size + 1, graph.size);
  for (int32_t step = graph.size - 1; step >= 0; --step)
    nextMissing[step] = missing[step] > 0 ? step : nextMissing[step + 1];
  std::vector<Gap> gaps;
  for (int32_t node = 0; node < graph.size; ++node) {
    int32_t from = node;
    for (int32_t to : graph.readers(node)) {
      if (graph.bytes[node] > 0 && nextMissing[std::min(from + 1, graph.size)] < to)
        gaps.push_back({node, from, to});
      from = to;
    }
  }
  return gaps;
}

std::vector<int64_t> missingOf(const Graph &graph) {
  std::vector<int64_t> missing(graph.size + 1, 0);
  for (int32_t node = 0; node < graph.size; ++node) {
    int32_t last = graph.readers(node).empty() ? node : graph.readers(node).back();
    missing[node] += graph.bytes[node];
    missing[last + 1] -= graph.bytes[node];
  }
  std::partial_sum(missing.begin(), missing.end(), missing.begin());
  for (int64_t &bytes : missing)
    bytes -= graph.budget;
  missing.resize(graph.size);
  return missing;
}

std::vector<double> costsOf(const Graph &graph, const std::vector<Gap> &gaps, double scale) {
  std::vector<double> costs;
  for (const Gap &gap : gaps)
    costs.push_back(double(graph.cost[gap.node]) / scale);
  return costs;
}

double scaleOf(const Graph &graph) {
  return double(std::max<int64_t>(1, *std::max_element(graph.cost.begin(), graph.cost.end())));
}

Cover::Cover(const Graph &graph, int64_t branches, int64_t knownCost)
    : graph(graph), branchLimit(branches), known(knownCost - graph.baseCost),
      missing(missingOf(graph)), hasRow(graph.size, 0), simplex({}) {
  gaps = gapsOf(graph, missing);
  costScale = scaleOf(graph);
  simplex = Simplex(costsOf(graph, gaps, costScale));
  for (const Gap &gap : gaps)
    costUnit = std::gcd(costUnit, graph.cost[gap.node]);
  costUnit = std::max<int64_t>(costUnit, 1);
  lower.assign(gaps.size(), 0);
  upper.assign(gaps.size(), 1);
  rootUpper = upper;
}

Row Cover::rowAt(int32_t step) const {
  Row row{{}, missing[step]};
  for (size_t k = 0; k < gaps.size(); ++k)
    if (gaps[k].from < step && step < gaps[k].to)
      row.terms.push_back({int32_t(k), std::min(graph.bytes[gaps[k].node], row.least)});
  return row;
}

void Cover::add(Row row, bool ofStep) {
  std::vector<std::pair<int32_t, double>> scaled;
  for (auto [column, bytes] : row.terms)
    scaled.push_back({column, double(bytes) / double(row.least)});
  simplex.addRow(scaled);
  rows.push_back(std::move(row));
  isStep.push_back(ofStep);
}

double Cover::activity(const Row &row) const {
  double sum = 0;
  for (auto [column, bytes] : row.terms)
    sum += double(bytes) * simplex.value(column);
  return sum / double(row.least);
}

/// Adds the rows that the solution violates most, a few steps apart.
bool Cover::addViolated() {
  int64_t room = kTableCells / int64_t(gaps.size() + 1) + 1 - simplex.rows();
  std::vector<double> evicted(graph.size + 1, 0);
  for (size_t k = 0; k < gaps.size(); ++k) {
    double bytes = double(graph.bytes[gaps[k].node]) * simplex.value(int32_t(k));
    evicted[gaps[k].from + 1] += bytes;
    evicted[gaps[k].to] -= bytes;
  }
  std::partial_sum(evicted.begin(), evicted.end(), evicted.begin());
  std::vector<std::pair<double, int32_t>> violated;
  for (int32_t step = 0; step < graph.size; ++step)
    if (missing[step] > 0 && !hasRow[step])
      if (double lacking = 1 - evicted[step] / double(missing[step]); lacking > kViolated)
        violated.push_back({-lacking * double(missing[step]), step});
  std::sort(violated.begin(), violated.end());
  std::vector<int32_t> chosen;
  for (auto [lacking, step] : violated) {
    if (int64_t(chosen.size()) >= std::min<int64_t>(room, 6))
      break;
    if (std::any_of(chosen.begin(), chosen.end(),
                    [&](int32_t other) { return std::abs(other - step) < 3; }))
      continue;
    chosen.push_back(step);
    hasRow[step] = 1;
    add(rowAt(step), true);
  }
  return !chosen.empty();
}

/// The most violated of the cuts that one row gives: the columns that the solution takes mostly are
/// set aside, for growing shares of "mostly", and what is left is divided by one of its sizes.
Cover::Cut Cover::cutOf(size_t of) const {
  Cut cut{kWorthCutting, of, {}};
  const Row &row = rows[of];
  auto offer = [&](const Row &candidate) {
    double lacking = 1 - activity(candidate);
    if (lacking > cut.violation) {
      cut.violation = lacking;
      cut.row = candidate;
    }
  };
  for (double share : {2.0, 0.999, 0.8, 0.6, 0.4, 0.2}) {
    Row left{{}, row.least};
    for (auto [column, bytes] : row.terms)
      if (simplex.value(column) < share)
        left.terms.push_back({column, bytes});
      else
        left.least -= bytes;
    if (left.least <= 0)
      break;
    if (share <= 1 && left.terms.size() == row.terms.size())
      continue;
    std::vector<int64_t> sizes;
    for (auto &term : left.terms)
      sizes.push_back(term.second = std::min(term.second, left.least));
    offer(left);
    std::sort(sizes.begin(), sizes.end());
    sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
    if (sizes.size() < 2)
      continue;
    if (size_t step = sizes.size() / kMostDivisors; step > 1) { // evenly, a few
      for (size_t k = 0; k < kMostDivisors; ++k)
        sizes[k] = sizes[k * step];
      sizes.resize(kMostDivisors);
    }
    for (int64_t size : sizes) {
      Row divided = left;
      divided.least = (left.least + size - 1) / size;
      for (auto &term : divided.terms)
        term.second = std::min(divided.least, (term.second + size - 1) / size);
      offer(divided);
    }
  }
  return cut;
}

/// Of the rows of steps only: cuts of cuts grow without end.
bool Cover::addCuts() {
  if (int64_t(gaps.size()) * (simplex.rows() + 8) > kTableCells || simplex.rows() > kMostRows)
    return false;
  std::vector<Cut> cuts;
  for (size_t of = 0; of < rows.size(); ++of)
    if (isStep[of])
      if (Cut cut = cutOf(of); !cut.row.terms.empty())
        cuts.push_back(std::move(cut));
  std::sort(cuts.begin(), cuts.end(), [](const Cut &a, const Cut &b) {
    return a.violation != b.violation ? a.violation > b.violation : a.of < b.of;
  });
  for (size_t k = 0; k < std::min<size_t>(cuts.size(), 4); ++k)
    add(std::move(cuts[k].row), false);
  return !cuts.empty();
}

bool Cover::solve() {
  int64_t pivots = simplex.solve(4000);
  work += (std::abs(pivots) + 8) * int64_t(gaps.size() + 1) * simplex.rows();
  return pivots >= 0;
}

/// Whether some row is out of reach with all that is not fixed.
bool Cover::isImpossible() const {
  return std::any_of(rows.begin(), rows.end(), [&](const Row &row) {
    Wide most = 0;
    for (auto [column, bytes] : row.terms)
      most += upper[column] ? bytes : 0;
    return most < row.least;
  });
}

/// The multipliers' bound in integers: Σ m · least + Σ min over y of (cost − Σ m · a) y.
Exact Cover::evaluate(std::vector<Wide> *reduced) const {
  std::vector<double> multipliers;
  double most = 0;
  for (size_t r = 0; r < rows.size(); ++r) {
    multipliers.push_back(simplex.multiplier(int32_t(r)) * costScale / double(rows[r].least));
    most = std::max(most, multipliers.back());
  }
  int exponent = 0;
  std::frexp(most, &exponent);
  Exact exact;
  exact.shift = std::clamp(48 - exponent, 0, 56);
  std::vector<Wide> costs;
  for (const Gap &gap : gaps)
    costs.push_back(Wide(graph.cost[gap.node]) << exact.shift);
  for (size_t r = 0; r < rows.size(); ++r) {
    auto multiplier = int64_t(std::min(std::ldexp(multipliers[r], exact.shift), 0x1p56));
    if (multiplier == 0)
      continue;
    exact.value += Wide(multiplier) * rows[r].least;
    for (auto [column, bytes] : rows[r].terms)
      costs[column] -= Wide(multiplier) * bytes;
  }
  for (size_t k = 0; k < gaps.size(); ++k)
    exact.value += costs[k] < 0 ? costs[k] * upper[k] : costs[k] * lower[k];
  if (reduced)
    *reduced = std::move(costs);
  return exact;
}

int64_t Cover::roundUp(const Exact &exact) const {
  Wide unit = Wide(costUnit) << exact.shift;
  Wide units = exact.value <= 0 ? 0 : (exact.value + unit - 1) / unit;
  return int64_t(std::min<Wide>(units * costUnit, kMaxTotal));
}

/// Columns that would bring the root's bound up to what is known stay at 0.
void Cover::fixByCost() {
  std::vector<Wide> reduced;
  Exact exact = evaluate(&reduced);
  for (size_t k = 0; k < gaps.size(); ++k)
    if (upper[k] && reduced[k] > 0 && roundUp({exact.value + reduced[k], exact.shift}) >= known) {
      upper[k] = rootUpper[k] = 0;
      simplex.setBounds(int32_t(k), 0, 0);
    }
}

/// Where a cover takes a worse column and leaves a better one, the better will do in its place; so
/// only covers that take the better first need be looked at.
void Cover::compareColumns() {
  constexpr size_t kMost = 3000;
  better.assign(gaps.size(), {});
  worse.assign(gaps.size(), {});
  if (gaps.size() > kMost)
    return;
  // A gap reaches from its first to its last step that misses bytes.
  std::vector<std::pair<int32_t, int32_t>> reach;
  for (const Gap &gap : gaps) {
    int32_t first = gap.from + 1, last = gap.to - 1;
    while (missing[first] <= 0)
      ++first;
    while (missing[last] <= 0)
      --last;
    reach.push_back({first, last});
  }
  for (size_t a = 0; a < gaps.size(); ++a)
    for (size_t b = 0; b < gaps.size(); ++b) {
      if (a == b || !upper[a] || !upper[b] || reach[a].first > reach[b].first ||
          reach[a].second < reach[b].second)
        continue;
      int64_t bytesA = graph.bytes[gaps[a].node], bytesB = graph.bytes[gaps[b].node];
      int64_t costA = graph.cost[gaps[a].node], costB = graph.cost[gaps[b].node];
      bool equal = reach[a] == reach[b] && bytesA == bytesB && costA == costB;
      if (bytesA < bytesB || costA > costB || (equal && a > b))
        continue;
      better[b].push_back(int32_t(a));
      worse[a].push_back(int32_t(b));
    }
}

/// Takes what a solution takes, then what it takes in part, until every step fits; then gives back
/// what isn't needed, the dearest first.
void Cover::roundSolution() {
  int64_t lengths = 0;
  for (const Gap &gap : gaps)
    lengths += gap.to - gap.from;
  if (lengths > kMostToRound)
    return;
  std::vector<std::pair<double, int32_t>> order;
  for (size_t k = 0; k < gaps.size(); ++k)
    order.push_back({-simplex.value(int32_t(k)), int32_t(k)});
  std::sort(order.begin(), order.end());
  std::vector<int64_t> lacking = missing;
  std::vector<bool> taken(gaps.size(), false);
  for (auto [value, k] : order) {
    bool needed = false;
    for (int32_t step = gaps[k].from + 1; step < gaps[k].to && !needed; ++step)
      needed = lacking[step] > 0;
    if (!needed)
      continue;
    taken[k] = true;
    for (int32_t step = gaps[k].from + 1; step < gaps[k].to; ++step)
      lacking[step] -= graph.bytes[gaps[k].node];
  }
  std::sort(order.begin(), order.end(), [&](const auto &a, const auto &b) {
    int64_t costA = graph.cost[gaps[a.second].node], costB = graph.cost[gaps[b.second].node];
    return costA != costB ? costA > costB : a < b;
  });
  for (auto [value, k] : order) {
    if (!taken[k])
      continue;
    int64_t bytes = graph.bytes[gaps[k].node];
    bool idle = true;
    for (int32_t step = gaps[k].from + 1; step < gaps[k].to && idle; ++step)
      idle = missing[step] <= 0 || lacking[step] + bytes <= 0;
    if (!idle)
      continue;
    taken[k] = false;
    for (int32_t step = gaps[k].from + 1; step < gaps[k].to; ++step)
      lacking[step] += bytes;
  }
  for (int32_t step = 0; step < graph.size; ++step)
    if (lacking[step] > 0)
      return;
  accept(taken);
}

void Cover::accept(const std::vector<bool> &taken) {
  int64_t cost = 0;
  for (size_t k = 0; k < gaps.size(); ++k)
    cost += taken[k] ? graph.cost[gaps[k].node] : 0;
  if (cost >= known && bound.found)
    return;
  known = std::min(known, cost);
  bound.found = true;
  bound.evicted.clear();
  for (size_t k = 0; k < gaps.size(); ++k)
    if (taken[k])
      bound.evicted.push_back(gaps[k]);
}

void Cover::apply(int64_t branch) {
  for (int32_t column : fixed) {
    lower[column] = 0;
    upper[column] = rootUpper[column];
  }
  std::vector<int32_t> before = std::move(fixed);
  fixed.clear();
  for (; branch >= 0 && tree[branch].column >= 0; branch = tree[branch].parent) {
    const Branch &at = tree[branch];
    auto fix = [&](int32_t column) {
      if (lower[column] == upper[column])
        return;
      (at.taken ? lower : upper)[column] = at.taken;
      fixed.push_back(column);
    };
    fix(at.column);
    for (int32_t column : at.taken ? better[at.column] : worse[at.column])
      fix(column);
  }
  for (const auto *list : {&before, &fixed})
    for (int32_t column : *list)
      simplex.setBounds(column, lower[column], upper[column]);
}

Bound Cover::run() {
  bound.cost = graph.baseCost;
  if (*std::max_element(missing.begin(), missing.end()) <= 0) {
    bound.found = true;
    return bound;
  }
  std::vector<int64_t> all = missing;
  std::vector<int64_t> relief(graph.size + 1, 0);
  for (const Gap &gap : gaps) {
    relief[gap.from + 1] -= graph.bytes[gap.node];
    relief[gap.to] += graph.bytes[gap.node];
  }
  std::partial_sum(relief.begin(), relief.end(), relief.begin());
  for (int32_t step = 0; step < graph.size; ++step)
    if (missing[step] > 0 && missing[step] + relief[step] > 0) {
      bound.infeasible = true;
      return bound;
    }

  int64_t least = 0;
  bool solved = true;
  for (int32_t round = 0; solved && work < kWork; ++round) {
    if (round > 0 && !addViolated() && !(round < 80 && addCuts()))
      break;
    if (round == 0)
      addViolated();
    solved = solve();
    least = std::max(least, roundUp(evaluate(nullptr)));
    if (least >= known)
      break;
  }
  roundSolution();

  auto later = [this](int64_t a, int64_t b) {
    return tree[a].bound != tree[b].bound ? tree[a].bound > tree[b].bound : a < b;
  };
  std::priority_queue<int64_t, std::vector<int64_t>, decltype(later)> open(later);
  if (solved && least < known) {
    fixByCost();
    compareColumns();
    tree.push_back({least, -1, -1, false});
    open.push(0);
  }
  int64_t count = 0;
  while (!open.empty()) {
    int64_t branch = open.top();
    int64_t inherited = tree[branch].bound;
    if (inherited >= known)
      break;
    if (count++ >= branchLimit || work > kWork)
      break;
    open.pop();
    apply(branch);
    if (isImpossible())
      continue;
    bool possible = solve();
    for (int32_t round = 0; possible && round < 20 && (addViolated() || (round < 2 && addCuts()));
         ++round)
      possible = solve();
    int64_t here = std::max(inherited, roundUp(evaluate(nullptr)));
    if (here >= known)
      continue;
    if (count % 8 == 1)
      roundSolution();
    // The dearest of the undecided.
    int32_t column = -1;
    double most = 0;
    for (size_t k = 0; k < gaps.size(); ++k) {
      double value = simplex.value(int32_t(k)), parts = std::min(value, 1 - value);
      if (lower[k] == upper[k] || parts < kIntegral)
        continue;
      double weight = parts * (double(graph.cost[gaps[k].node]) / costScale + 1e-3);
      if (weight > most) {
        most = weight;
        column = int32_t(k);
      }
    }
    if (column < 0) {
      // A whole solution: in integers, it is a cover, or rounding misled us and all below stays
      // open.
      std::vector<bool> taken(gaps.size(), false);
      std::vector<int64_t> lacking = missing;
      for (size_t k = 0; k < gaps.size(); ++k)
        if ((taken[k] = simplex.value(int32_t(k)) > 0.5))
          for (int32_t step = gaps[k].from + 1; step < gaps[k].to; ++step)
            lacking[step] -= graph.bytes[gaps[k].node];
      if (possible && *std::max_element(lacking.begin(), lacking.end()) <= 0) {
        accept(taken);
        if (known <= here)
          continue;
      }
      for (size_t k = 0; k < gaps.size() && column < 0; ++k)
        if (lower[k] != upper[k])
          column = int32_t(k);
      if (column < 0)
        continue;
    }
    for (bool taken : {false, true}) {
      tree.push_back({here, branch, column, taken});
      open.push(int64_t(tree.size()) - 1);
    }
  }
  if (solved || least >= known)
    least = open.empty() ? std::max(least, known)
                         : std::max(least, std::min(known, tree[open.top()].bound));
  bound.cost = graph.baseCost + std::min(least, known);
  return bound;
}

} // namespace

Bound coveringBound(const Graph &graph, int64_t branches, int64_t knownCost) {
  return Cover(graph, branches, knownCost).run();
}

std::vector<int32_t> sequenceOf(const Graph &graph, const std::vector<Gap> &evicted) {
  std::vector<std::vector<int32_t>> due(graph.size), gapsOfNode(graph.size);
  for (size_t k = 0; k < evicted.size(); ++k) {
    due[evicted[k].to].push_back(evicted[k].node);
    gapsOfNode[evicted[k].node].push_back(int32_t(k));
  }
  std::vector<int32_t> sequence, computedFor(graph.size, -1), stack;
  for (int32_t step = 0; step < graph.size; ++step) {
    std::sort(due[step].begin(), due[step].end());
    for (int32_t first : due[step]) {
      // A node stays on the stack until its inputs are there.
      stack.assign(1, first);
      while (!stack.empty()) {
        int32_t node = stack.back();
        if (computedFor[node] == step) {
          stack.pop_back();
          continue;
        }
        bool ready = true;
        for (int32_t input : graph.inputs(node)) {
          bool gone =
              std::any_of(gapsOfNode[input].begin(), gapsOfNode[input].end(), [&](int32_t k) {
                return evicted[k].from < step && step <= evicted[k].to;
              });
          if (gone && computedFor[input] != step) {
            stack.push_back(input);
            ready = false;
          }
        }
        if (!ready)
          continue;
        stack.pop_back();
        computedFor[node] = step;
        sequence.push_back(node);
      }
    }
    sequence.push_back(step);
  }
  return sequence;
}

} // namespace zero::planning::checkpoint
