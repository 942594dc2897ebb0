//===- MinCut.h - what recomputation saves for nothing ---------------------===//
//
// Backward needs values of forward: each either is saved or is computed again from
// saved ones. Where only cheap nodes (elementwise ones, fused into their readers
// anyway) may be computed again, recomputation is as good as free, and what is left
// is to save the fewest bytes:
//
//   a 4 bytes, fixed; b = f(a) 4 bytes, c = g(b) 1 byte, d = h(c) 4 bytes, all three
//   cheap; backward reads b and d
//   saving a: 4 bytes, b, c and d come from it. Saving b, or b and d, is no less.
//
// That is a minimum cut between what must be given and what backward reads, every
// node split in two with its bytes as the capacity in between, as in PyTorch's
// partitioner (min_cut_rematerialization_partition) and Checkmate's successors.
//
//===----------------------------------------------------------------------===//
#ifndef ZERO_PLANNING_MINCUT_H
#define ZERO_PLANNING_MINCUT_H

#include "zero/Planning/Checkpoint.h"

namespace zero::planning::checkpoint {

struct SavedValues {
  std::vector<int64_t> nodes; ///< indices of forward nodes, ascending
  int64_t bytes = 0;          ///< of them together: no other choice takes less
};

/// The values to save, so that each backward node finds its forward inputs: saved, or computed again
/// through nodes with `mayRecompute` from saved values alone. Among cuts of equal bytes the one
/// nearest to backward, which computes least again. Needs a problem that `check` accepts, whose
/// forward nodes read forward nodes alone, and one flag a node. Boykov and Kolmogorov's maximum flow
/// ("An Experimental Comparison of Min-Cut/Max-Flow Algorithms", 2004) by Boost.Graph.
SavedValues leastSaved(const Problem &problem, const std::vector<bool> &mayRecompute);

} // namespace zero::planning::checkpoint

#endif // ZERO_PLANNING_MINCUT_H
