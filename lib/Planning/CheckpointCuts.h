//===- CheckpointCuts.h - what follows for whole solutions only ------------===//
//
// From one row that 0 and 1 satisfy, others that fractions violate: columns C of the
// row are set aside, whether taken or not (the knapsack covers of Carr, Fleischer,
// Leung and Phillips, 2000), and what is left is divided by one of its sizes and
// rounded up (Chvátal and Gomory), strong here as the values of a layer have few sizes:
//
//   Σ ⌈min(a, r)/δ⌉ y ≥ ⌈r/δ⌉ over the columns not in C, where r = d − Σ a over C.
//
// A row that holds where a column is taken gives cuts that hold there.
//
//===----------------------------------------------------------------------===//
#ifndef ZERO_LIB_PLANNING_CHECKPOINTCUTS_H
#define ZERO_LIB_PLANNING_CHECKPOINTCUTS_H

#include "CheckpointProgramme.h"

namespace zero::planning::checkpoint {

/// The cut of `row` that `values` violate most, for several C and δ; empty where none does by
/// enough to be worth a row.
Row cutOf(const Row &row, const std::vector<double> &values);

} // namespace zero::planning::checkpoint

#endif // ZERO_LIB_PLANNING_CHECKPOINTCUTS_H
