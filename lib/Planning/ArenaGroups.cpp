//===- ArenaGroups.cpp - groups as blocks, spaces apart ------------------===//
//
// A buffer has at most one link, to the buffer that it shares with or lies behind;
// the one at the end of the links is the block's first member, at its begin.
//
//===----------------------------------------------------------------------===//
#include "ArenaGroups.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <unordered_map>

namespace zero::planning::arena {
namespace {

OptionalNumber linkOf(const Buffer &buffer) {
  return buffer.adjacentTo ? buffer.adjacentTo : buffer.sharesWith;
}

std::unordered_map<int64_t, int32_t> indexById(const Problem &problem) {
  std::unordered_map<int64_t, int32_t> index;
  for (size_t i = 0; i < problem.buffers.size(); ++i)
    index.emplace(problem.buffers[i].id, int32_t(i));
  return index;
}

int64_t roundUp(int64_t value, int64_t unit) { return (value + unit - 1) / unit * unit; }

} // namespace

bool isPlain(const Problem &problem) {
  return std::none_of(problem.buffers.begin(), problem.buffers.end(), [&](const Buffer &buffer) {
    return linkOf(buffer) || buffer.space != problem.buffers.front().space;
  });
}

std::optional<std::string> checkLinks(const Problem &problem) {
  std::unordered_map<int64_t, int32_t> index = indexById(problem);
  std::unordered_map<int64_t, int64_t> follower;
  std::vector<bool> isLinked(problem.buffers.size(), false);
  for (const Buffer &buffer : problem.buffers) {
    OptionalNumber link = linkOf(buffer);
    if (!link)
      continue;
    std::string who = "buffer " + std::to_string(buffer.id) + ": ";
    if (buffer.adjacentTo && buffer.sharesWith)
      return who + "expects to be adjacent to a buffer or to share with one, got both";
    auto target = index.find(*link);
    if (target == index.end() || problem.buffers[target->second].space != buffer.space)
      return who + "expects a group in its own space, got buffer " + std::to_string(*link);
    if (buffer.fixedOffset)
      return who + "expects only the first of a group to have a fixed offset, got one of its own";
    if (buffer.adjacentTo) {
      auto [known, isNew] = follower.try_emplace(*link, buffer.id);
      if (!isNew)
        return who + "expects to be alone behind buffer " + std::to_string(*link) +
               ", got buffer " + std::to_string(known->second) + " there";
    }
    isLinked[index.at(buffer.id)] = isLinked[target->second] = true;
  }
  for (size_t i = 0; i < problem.buffers.size(); ++i) {
    const Buffer &buffer = problem.buffers[i];
    if (isLinked[i] && !buffer.gaps.empty())
      return "buffer " + std::to_string(buffer.id) + ": expects a group without gaps, got " +
             std::to_string(buffer.gaps.size());
  }
  // From each buffer to the first of its group: a walk that meets itself is a circle.
  std::vector<int32_t> walkOf(problem.buffers.size(), -1);
  for (size_t i = 0; i < problem.buffers.size(); ++i)
    for (int32_t at = int32_t(i); walkOf[at] != int32_t(i);) {
      if (walkOf[at] >= 0)
        break; // an earlier walk came to an end from here
      walkOf[at] = int32_t(i);
      OptionalNumber link = linkOf(problem.buffers[at]);
      if (!link)
        break;
      at = index.at(*link);
      if (walkOf[at] == int32_t(i))
        return "buffer " + std::to_string(problem.buffers[at].id) +
               ": expects a group with a first member, got a circle";
    }
  // Blocks that are too large are refused before anything is added up.
  int64_t total = 0;
  for (const Buffer &buffer : problem.buffers)
    if (__builtin_add_overflow(total, buffer.sizeBytes + buffer.alignmentBytes, &total) ||
        total > kMaxTotalBytes)
      return "buffer " + std::to_string(buffer.id) + ": expects all buffers to take at most " +
             std::to_string(kMaxTotalBytes) + " bytes side by side, and this one goes beyond";
  return std::nullopt;
}

std::vector<Blocks> splitIntoBlocks(const Problem &problem) {
  std::unordered_map<int64_t, int32_t> index = indexById(problem);
  const int64_t count = problem.buffers.size();
  // The first of each group, and bytes from it, along the links; each is walked once.
  std::vector<int32_t> first(count, -1);
  std::vector<int64_t> offset(count, 0);
  for (int64_t i = 0; i < count; ++i) {
    std::vector<int32_t> path;
    int32_t at = int32_t(i);
    for (; first[at] < 0 && linkOf(problem.buffers[at]);
         at = index.at(*linkOf(problem.buffers[at])))
      path.push_back(at);
    if (first[at] < 0)
      first[at] = at;
    for (; !path.empty(); path.pop_back()) {
      const Buffer &buffer = problem.buffers[path.back()], &before = problem.buffers[at];
      first[path.back()] = first[at];
      offset[path.back()] = offset[at];
      if (buffer.adjacentTo)
        offset[path.back()] = roundUp(offset[at] + before.sizeBytes, buffer.alignmentBytes);
      at = path.back();
    }
  }

  std::map<int64_t, Blocks> spaces;
  std::vector<int32_t> blockOfFirst(count, -1);
  for (int64_t i = 0; i < count; ++i) { // the first members make the blocks
    if (first[i] != i)
      continue;
    Blocks &blocks = spaces[problem.buffers[i].space];
    blockOfFirst[i] = int32_t(blocks.problem.buffers.size());
    blocks.problem.buffers.push_back(problem.buffers[i]);
  }
  for (int64_t i = 0; i < count; ++i) {
    const Buffer &buffer = problem.buffers[i];
    Blocks &blocks = spaces[buffer.space];
    Buffer &block = blocks.problem.buffers[blockOfFirst[first[i]]];
    block.lower = std::min(block.lower, buffer.lower);
    block.upper = std::max(block.upper, buffer.upper);
    block.sizeBytes = std::max(block.sizeBytes, offset[i] + buffer.sizeBytes);
    // A common multiple beyond all sizes is left to `check`, which refuses it.
    if (__builtin_mul_overflow(block.alignmentBytes /
                                   std::gcd(block.alignmentBytes, buffer.alignmentBytes),
                               buffer.alignmentBytes, &block.alignmentBytes))
      block.alignmentBytes = kMaxTotalBytes + 1;
    blocks.buffers.push_back(int32_t(i));
    blocks.blockOf.push_back(blockOfFirst[first[i]]);
    blocks.inBlock.push_back(offset[i]);
  }
  std::vector<Blocks> result;
  for (auto &[space, blocks] : spaces) {
    blocks.space = space;
    blocks.problem.capacityBytes = problem.capacityBytes;
    for (Buffer &block : blocks.problem.buffers)
      block.space = 0;
    result.push_back(std::move(blocks));
  }
  return result;
}

} // namespace zero::planning::arena
