//===- PlotPlans.h - pictures of the planners' plans -----------------------===//
//
// What zero-plan draws: an arena with each buffer where its plan puts it, and the
// bytes live over the computations of a checkpoint plan.
//
//===----------------------------------------------------------------------===//
#ifndef ZERO_PLANNING_PLOTPLANS_H
#define ZERO_PLANNING_PLOTPLANS_H

#include "zero/Planning/Arena.h"
#include "zero/Planning/Checkpoint.h"
#include "zero/Planning/Plot.h"

namespace zero::planning {

/// A rectangle a buffer (several where its lifetime has gaps), coloured by how large a part of the
/// height it takes. Lines: lower bound, height, and the capacity where there is one. Several spaces
/// lie on top of each other: lines for the top of all but the last, if they are few, and for the
/// capacity of those that are higher. Needs a plan that `arena::verify` accepts.
plot::Picture pictureOf(const arena::Problem &problem, const arena::Plan &plan);

/// A bar a computation, as high as the bytes that are live while it runs; second and later
/// computations of a node in a colour of their own. Beyond 2000 computations a bar stands for
/// several: as high as the highest, and coloured in proportion. Lines: peak and budget. Needs a
/// plan that `checkpoint::verify` accepts.
plot::Picture pictureOf(const checkpoint::Problem &problem, const checkpoint::Plan &plan);

} // namespace zero::planning

#endif // ZERO_PLANNING_PLOTPLANS_H
