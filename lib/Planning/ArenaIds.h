//===- ArenaIds.h - buffers by their ids ---------------------------------===//
#ifndef ZERO_LIB_PLANNING_ARENAIDS_H
#define ZERO_LIB_PLANNING_ARENAIDS_H

#include "zero/Planning/Arena.h"

#include <span>
#include <unordered_map>

namespace zero::planning::arena {

/// Two buffers with one id, as indices.
struct RepeatedId {
  size_t first, again;
};

/// The first buffer whose id an earlier one has, or nothing. A table from ids to buffers would take
/// a third as much memory as the buffers themselves, so there is none as long as all is well: the
/// ids are looked through, and sorted if they do not rise. O(n log n).
std::optional<RepeatedId> findRepeatedId(std::span<const Buffer> buffers);

/// Of each id the buffer that has it, as an index; of several the first.
std::unordered_map<int64_t, int32_t> indexById(std::span<const Buffer> buffers);

} // namespace zero::planning::arena

#endif // ZERO_LIB_PLANNING_ARENAIDS_H
