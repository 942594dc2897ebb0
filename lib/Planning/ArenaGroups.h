//===- ArenaGroups.h - groups as blocks, spaces apart --------------------===//
#ifndef ZERO_LIB_PLANNING_ARENAGROUPS_H
#define ZERO_LIB_PLANNING_ARENAGROUPS_H

#include "zero/Planning/Arena.h"

namespace zero::planning::arena {

/// The problem of one space, with a block in the place of each group.
struct Blocks {
  int64_t space = 0;
  Problem problem;
  std::vector<int32_t> buffers; ///< of this space, in the whole problem
  std::vector<int32_t> blockOf; ///< of each of these, in `problem`
  std::vector<int64_t> inBlock; ///< its bytes from the block's begin
  std::vector<int32_t> places;  ///< equal for those that share
};

/// True where there are neither groups nor several spaces: such a problem is its own block problem.
bool isPlain(const Problem &problem);

/// What is wrong with the links, or nothing. Needs buffers that are right one by one.
std::optional<std::string> checkLinks(const Problem &problem);

/// By rising space. Needs links that checkLinks accepts.
std::vector<Blocks> splitIntoBlocks(const Problem &problem);

/// Two members of one group that lie on the same bytes and do not share, said in words: one behind
/// a buffer that another, larger one shares with, or two behind sharers.
std::optional<std::string> checkPlaces(const Problem &problem, const Blocks &blocks);

} // namespace zero::planning::arena

#endif // ZERO_LIB_PLANNING_ARENAGROUPS_H
