//===- CheckpointRounding.h - whole solutions from fractions ---------------===//
#ifndef ZERO_LIB_PLANNING_CHECKPOINTROUNDING_H
#define ZERO_LIB_PLANNING_CHECKPOINTROUNDING_H

#include "CheckpointProgramme.h"

namespace zero::planning::checkpoint {

/// Takes what `values` take, then what they take in part, until the plain row of every step holds;
/// then gives back what isn't needed, the dearest first. By column; empty where that isn't enough,
/// or takes long.
std::vector<bool> rounded(const Programme &programme, const std::vector<double> &values);

} // namespace zero::planning::checkpoint

#endif // ZERO_LIB_PLANNING_CHECKPOINTROUNDING_H
