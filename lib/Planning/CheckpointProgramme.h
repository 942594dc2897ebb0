//===- CheckpointProgramme.h - what memory asks of any plan ----------------===//
//
// A column is a window of a value: it is computed again there. Base order keeps a
// value from each of its uses to the next, its gaps; a gap has one window or, split in
// time, several, and so has what follows the last use. Any plan satisfies a row for
// each of these moments (t_k: when node k is computed for the first time):
//
//   step j           at t_j the inputs of j and its value are live;
//   recomputation    while v is computed again between t_i and t_{i+1}, v and its
//                    inputs are. Needed only of plans whose column (v, i) is taken.
//
// Let F be these values, and W those of the gaps that lead from before the moment to
// behind it. One of W that is not live is computed again in what is left of its gap.
// Just then each of its inputs is there: live at the moment already, or computed again
// after it too, and then its own inputs are, and so on. So along any path from w in W
// over an input, that input's input, … to u, where all but w have had their last use
// in base order before the moment and none is in F,
//
//   live(w) + … + live(u) ≥ 1 − X,    X: columns of u that end after the moment.
//
// Where paths p of weight λ_p take no value for more than its bytes in all, adding up
// gives the row
//
//   Σ λ_p · X_p  ≥  Σ λ_p − (budget − bytes of F).
//
// Paths of one value each, of all its bytes, give Σ bytes · X ≥ bytes live in base
// order − budget. Going on to an input pays where the input isn't computed again.
//
// A path may also go on from w to an input x in W that is next used later than w, at
// w's use T: it is then computed again before T if it isn't live, so X is the columns
// of x that end after the moment and by T.
//
//===----------------------------------------------------------------------===//
#ifndef ZERO_LIB_PLANNING_CHECKPOINTPROGRAMME_H
#define ZERO_LIB_PLANNING_CHECKPOINTPROGRAMME_H

#include "CheckpointBound.h"

#include <optional>

namespace zero::planning::checkpoint {

/// A moment between first computations, in halves: 2 j is t_j, 2 i + 1 between t_i and t_{i+1}.
using Moment = int32_t;

/// Σ coefficient · column ≥ least, or where `given` is a column: ≥ least · given.
struct Row {
  std::vector<std::pair<int32_t, int64_t>> terms;
  int64_t least = 0;
  int32_t given = -1;
  Moment moment = 0;

  /// Σ coefficient · value / least − the right side: negative by how much it is violated.
  double surplus(const std::vector<double> &values) const;
};

class Programme {
public:
  explicit Programme(const Graph &graph);

  int32_t columns() const { return int32_t(gaps.size()); }
  const Gap &gap(int32_t column) const { return gaps[column]; }
  int64_t cost(int32_t column) const { return graph.cost[gaps[column].node]; }
  int64_t bytes(int32_t column) const { return graph.bytes[gaps[column].node]; }

  /// By step: bytes above the budget in base order.
  const std::vector<int64_t> &missing() const { return missingAt; }
  /// A step that no eviction makes room for.
  bool isImpossible() const;

  /// Small enough for paths and recomputations; larger ones have the plain rows of steps alone.
  bool isRefinable() const { return refinable; }
  Row stepRow(int32_t step) const;
  /// Near the strongest row of the moment against `values`, by column: paths are found greedily.
  /// With a column of one step as `given`, of its recomputation. May add columns; none in older
  /// rows. Empty where the moment asks nothing.
  Row rowAt(Moment moment, int32_t given, const std::vector<double> &values);
  /// Of all rows so far, in nanoseconds of a usual machine.
  int64_t rowWork() const { return workOfRows; }
  /// Whether the column is of one step, and a recomputation there lacks bytes.
  bool isTight(int32_t column) const;
  /// Bytes above the budget while `node` is computed again between two steps.
  int64_t missingWhile(int32_t node, int32_t step) const;

  /// `column` keeps what is behind `at`, a step inside it; what comes before is a new column, which
  /// costs the same. In rows whose moment lies before `at` both have the old one's coefficient.
  int32_t split(int32_t column, int32_t at);

  /// Whether `better` will do wherever `worse` is taken: at least as useful in any row, no dearer.
  bool dominates(int32_t better, int32_t worse) const;
  /// Of columns that follow one another in a gap the last, which relieves all of it.
  bool isLastOfGap(int32_t column) const;
  /// The steps that a last column relieves: behind the first, before the second.
  std::pair<int32_t, int32_t> reliefOf(int32_t column) const;
  /// What is evicted where these columns are taken.
  std::vector<Gap> evictionsOf(const std::vector<bool> &taken) const;
  /// Windows that rows wanted shorter: a column, and where to split it. Emptied by the call.
  std::vector<std::pair<int32_t, int32_t>> takeWanted();

private:
  struct Span { // a gap, or what follows the last use
    int32_t node, from, to;
    int32_t firstMissing, lastMissing; // steps inside it that miss bytes; crossed where none does
    bool isTrailing;
    std::vector<int32_t> columns; // in their order of time
  };
  struct Source {
    int32_t span;
    double evicted;
    int64_t left;
  };
  int32_t addColumn(int32_t span, Gap gap);
  void addTrailing();
  double valueOf(int32_t span, Moment moment, int32_t until, const std::vector<double> &values);
  void addTerms(int32_t span, Moment moment, int32_t until, int64_t bytes);
  bool goesOn(int32_t node, Moment moment) const;
  void pairSources(Moment moment, const std::vector<double> &values, Row &row);
  void followInputs(Source &source, Moment moment, const std::vector<double> &values);

  const Graph &graph;
  bool refinable = false;
  std::vector<int64_t> missingAt, crossingBytes; // by step; of the values kept from it to the next
  std::vector<int32_t> lastUse;
  std::vector<Gap> gaps; // by column
  std::vector<int32_t> spanOf;
  std::vector<Span> spans;
  std::vector<int32_t> trailing;              // by node: its span behind the last use, or −1
  std::vector<std::vector<int32_t>> crossing; // by step: spans of gaps from it or before to behind

  // Of the row that is being made.
  std::vector<Source> sources;
  std::vector<int32_t> sourceOf;  // by node, or −1
  std::vector<char> isFixed;      // by node: in F
  std::vector<int64_t> roomOf;    // by node with its last use behind it: bytes that paths may take
  std::vector<double> recomputed; // by such a node: how much of it is computed again
  std::vector<int64_t> coefficient;
  int64_t workOfRows = 0;
  size_t nodesReached = 0; // by the paths of this row
  std::vector<int32_t> touched, touchedNodes, parent, reached;
  std::vector<char> isSplit; // by node
  std::vector<std::pair<int32_t, int32_t>> wanted;
};

} // namespace zero::planning::checkpoint

#endif // ZERO_LIB_PLANNING_CHECKPOINTPROGRAMME_H
