//===- ArenaGroups.cpp - groups as blocks, spaces apart ------------------===//
//
// A buffer has at most one link, to the buffer that it shares with or lies behind;
// the one at the end of the links is the block's first member, at its begin. Those
// that share, directly or through others, are one place, at a multiple of all their
// alignments.
//
//===----------------------------------------------------------------------===//
#include "ArenaGroups.h"

#include "ArenaIds.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>
#include <unordered_map>

namespace zero::planning::arena {
namespace {

OptionalNumber linkOf(const Buffer &buffer) {
  return buffer.adjacentTo ? buffer.adjacentTo : buffer.sharesWith;
}

using Index = std::unordered_map<int64_t, int32_t>;

int64_t roundUp(int64_t value, int64_t unit) { return (value + unit - 1) / unit * unit; }

/// One beyond all sizes is kMaxTotalBytes + 1, which is refused everywhere.
int64_t commonMultiple(int64_t a, int64_t b) {
  int64_t common = 0;
  bool isBeyond = __builtin_mul_overflow(a / std::gcd(a, b), b, &common);
  return isBeyond ? kMaxTotalBytes + 1 : std::min(common, kMaxTotalBytes + 1);
}

/// Of each buffer the one that its place is named after: the end of the links that share.
std::vector<int32_t> placesOf(const Problem &problem, const Index &index) {
  std::vector<int32_t> place(problem.buffers.size(), -1), path;
  for (size_t i = 0; i < problem.buffers.size(); ++i) {
    int32_t at = int32_t(i);
    for (; place[at] < 0 && problem.buffers[at].sharesWith;
         at = index.at(*problem.buffers[at].sharesWith))
      path.push_back(at);
    if (place[at] < 0)
      place[at] = at;
    for (; !path.empty(); path.pop_back())
      place[path.back()] = place[at];
  }
  return place;
}

/// Of each buffer that a place is named after.
std::vector<int64_t> alignmentsOf(const Problem &problem, const std::vector<int32_t> &place) {
  std::vector<int64_t> alignments(problem.buffers.size(), 1);
  for (size_t i = 0; i < place.size(); ++i)
    alignments[place[i]] = commonMultiple(alignments[place[i]], problem.buffers[i].alignmentBytes);
  return alignments;
}

} // namespace

bool isPlain(const Problem &problem) {
  return std::none_of(problem.buffers.begin(), problem.buffers.end(), [&](const Buffer &buffer) {
    return linkOf(buffer) || buffer.space != problem.buffers.front().space;
  });
}

std::optional<std::string> checkLinks(const Problem &problem) {
  Index index = indexById(problem.buffers);
  std::unordered_map<int64_t, int64_t> follower;
  std::vector<bool> isLinked(problem.buffers.size(), false);
  for (const Buffer &buffer : problem.buffers) {
    OptionalNumber link = linkOf(buffer);
    if (!link)
      continue;
    std::string who = "buffer " + problem.idText(buffer.id) + ": ";
    if (buffer.adjacentTo && buffer.sharesWith)
      return who + "expects to be adjacent to a buffer or to share with one, got both";
    auto target = index.find(*link);
    if (target == index.end())
      return who + "expects the id of a buffer to lie by, got " + problem.idText(*link);
    if (problem.buffers[target->second].space != buffer.space)
      return who + "expects a group in its own space, got buffer " + problem.idText(*link);
    if (buffer.fixedOffset)
      return who + "expects only the first of a group to have a fixed offset, got one of its own";
    if (buffer.adjacentTo) {
      auto [known, isNew] = follower.try_emplace(*link, buffer.id);
      if (!isNew)
        return who + "expects to be alone behind buffer " + problem.idText(*link) +
               ", got buffer " + problem.idText(known->second) + " there";
    }
    isLinked[index.at(buffer.id)] = isLinked[target->second] = true;
  }
  for (size_t i = 0; i < problem.buffers.size(); ++i) {
    const Buffer &buffer = problem.buffers[i];
    if (isLinked[i] && !buffer.gaps.empty())
      return "buffer " + problem.idText(buffer.id) + ": expects a group without gaps, got " +
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
        return "buffer " + problem.idText(problem.buffers[at].id) +
               ": expects a group with a first member, got a circle";
    }
  // Blocks that are too large are refused before anything is added up.
  std::vector<int32_t> place = placesOf(problem, index);
  std::vector<int64_t> alignments = alignmentsOf(problem, place);
  int64_t total = 0;
  for (size_t i = 0; i < problem.buffers.size(); ++i)
    if (total += problem.buffers[i].sizeBytes + alignments[i]; total > kMaxTotalBytes)
      return "buffer " + problem.idText(problem.buffers[i].id) +
             ": expects all buffers to take at most " + std::to_string(kMaxTotalBytes) +
             " bytes side by side, and this one goes beyond";
  return std::nullopt;
}

std::vector<Blocks> splitIntoBlocks(const Problem &problem) {
  Index index = indexById(problem.buffers);
  const int64_t count = problem.buffers.size();
  // The first of each group, and bytes from it, along the links; each is walked once.
  std::vector<int32_t> first(count, -1), place = placesOf(problem, index);
  std::vector<int64_t> offset(count, 0), alignments = alignmentsOf(problem, place);
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
        offset[path.back()] = roundUp(offset[at] + before.sizeBytes, alignments[path.back()]);
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
    block.alignmentBytes = commonMultiple(block.alignmentBytes, buffer.alignmentBytes);
    blocks.buffers.push_back(int32_t(i));
    blocks.blockOf.push_back(blockOfFirst[first[i]]);
    blocks.inBlock.push_back(offset[i]);
    blocks.places.push_back(place[i]);
  }
  std::vector<Blocks> result;
  for (auto &[space, blocks] : spaces) {
    blocks.space = space;
    blocks.problem.capacityBytes = problem.capacityBytes;
    blocks.problem.idTexts = problem.idTexts;
    for (Buffer &block : blocks.problem.buffers)
      block.space = 0;
    result.push_back(std::move(blocks));
  }
  return result;
}

std::optional<std::string> checkPlaces(const Problem &problem, const Blocks &blocks) {
  struct Place {
    int32_t block, tallest;
    int64_t begin, end;
  };
  std::unordered_map<int32_t, Place> placeOf;
  for (size_t i = 0; i < blocks.buffers.size(); ++i) {
    Place here = {blocks.blockOf[i], blocks.buffers[i], blocks.inBlock[i],
                  blocks.inBlock[i] + problem.buffers[blocks.buffers[i]].sizeBytes};
    auto [known, isNew] = placeOf.try_emplace(blocks.places[i], here);
    if (!isNew && known->second.end < here.end)
      known->second = here;
  }
  std::vector<Place> places;
  for (const auto &[name, place] : placeOf)
    places.push_back(place);
  std::sort(places.begin(), places.end(), [](const Place &a, const Place &b) {
    return std::tie(a.block, a.begin, a.tallest) < std::tie(b.block, b.begin, b.tallest);
  });
  for (size_t i = 1; i < places.size(); ++i) {
    const Place &below = places[i - 1], &above = places[i];
    if (below.block == above.block && above.begin < below.end)
      return "buffer " + problem.idText(problem.buffers[above.tallest].id) +
             ": expects bytes of its own or to share in its group, got [" +
             std::to_string(above.begin) + ", " + std::to_string(above.end) + ") where buffer " +
             problem.idText(problem.buffers[below.tallest].id) + " takes [" +
             std::to_string(below.begin) + ", " + std::to_string(below.end) + ")";
  }
  return std::nullopt;
}

} // namespace zero::planning::arena
