//===- ArenaCheck.cpp - the arena's laws, apart from its planner ---------===//
//
// `check`, `lowerBound` and `verify` share a sweep over time and nothing with
// the planner. At equal times lifetimes end before others begin, as they are
// half-open. The bytes alive at one moment are kept by offset: a newcomer that
// meets nobody can only meet its neighbours.
//
//===----------------------------------------------------------------------===//
#include "ArenaGroups.h"
#include "ArenaIds.h"
#include "zero/Planning/Arena.h"

#include <algorithm>
#include <map>
#include <numeric>

namespace zero::planning::arena {
namespace {

std::string describe(const Problem &problem, const Buffer &buffer) {
  std::string text = "buffer " + problem.idText(buffer.id);
  return buffer.name.empty() ? text : text + " ('" + *buffer.name + "')";
}

std::string time(int64_t value) {
  return value == kTimeBegin ? "begin" : value == kTimeEnd ? "end" : std::to_string(value);
}

std::string bytes(int64_t begin, int64_t end) {
  return "[" + std::to_string(begin) + ", " + std::to_string(end) + ")";
}

std::vector<Interval> sortedGaps(const Buffer &buffer) {
  std::vector<Interval> gaps = buffer.gaps;
  std::sort(gaps.begin(), gaps.end(),
            [](const Interval &a, const Interval &b) { return a.lower < b.lower; });
  return gaps;
}

/// `visit(part)` for the parts of the lifetime in which the bytes are the buffer's own.
template <typename Visit> void eachLivePart(const Buffer &buffer, Visit visit) {
  int64_t from = buffer.lower;
  if (!buffer.gaps.empty())
    for (const Interval &gap : sortedGaps(buffer)) {
      if (gap.lower > from)
        visit(Interval{from, gap.lower});
      from = gap.upper;
    }
  if (from < buffer.upper)
    visit(Interval{from, buffer.upper});
}

/// The begins and the ends of all lives, or of those in fixed places, in the order of time.
class Sweep {
public:
  Sweep(const Problem &problem, bool fixedOnly);

  /// `visit(time, begins, buffer)`: ends before begins, then by index. Ends where it is false.
  template <typename Visit> void run(Visit visit) const {
    for (size_t begin = 0, end = 0; end < ends.size();) {
      bool begins = begin < begun.size() && begun[begin].time < ends[end].time;
      const Moment &moment = begins ? begun[begin++] : ends[end++];
      if (!visit(moment.time, begins, moment.buffer))
        return;
    }
  }

private:
  struct Moment {
    int64_t time;
    uint32_t buffer;
  };
  std::vector<Moment> begun, ends;
};

Sweep::Sweep(const Problem &problem, bool fixedOnly) {
  if (!fixedOnly) {
    begun.reserve(problem.buffers.size());
    ends.reserve(problem.buffers.size());
  }
  for (size_t i = 0; i < problem.buffers.size(); ++i)
    if (!fixedOnly || problem.buffers[i].fixedOffset)
      eachLivePart(problem.buffers[i], [&](const Interval &part) {
        begun.push_back({part.lower, uint32_t(i)});
        ends.push_back({part.upper, uint32_t(i)});
      });
  auto isEarlier = [](const Moment &a, const Moment &b) {
    return a.time != b.time ? a.time < b.time : a.buffer < b.buffer;
  };
  for (std::vector<Moment> *moments : {&begun, &ends})
    if (!std::is_sorted(moments->begin(), moments->end(), isEarlier))
      std::sort(moments->begin(), moments->end(), isEarlier);
}

/// Two buffers that share bytes at one time, said in words.
std::optional<std::string> findOverlap(const Problem &problem, const std::vector<int64_t> &offsets,
                                       const Sweep &sweep) {
  std::optional<std::string> found;
  std::map<int64_t, uint32_t> alive; // offset -> buffer
  sweep.run([&](int64_t at, bool begins, uint32_t index) {
    const Buffer &buffer = problem.buffers[index];
    int64_t begin = offsets[index], end = begin + buffer.sizeBytes;
    if (!begins) {
      alive.erase(begin);
      return true;
    }
    auto next = alive.lower_bound(begin);
    auto other = next != alive.end() && next->first < end ? next : alive.end();
    if (other == alive.end() && next != alive.begin()) {
      auto before = std::prev(next);
      if (before->first + problem.buffers[before->second].sizeBytes > begin)
        other = before;
    }
    if (other != alive.end()) {
      const Buffer &mate = problem.buffers[other->second];
      found = describe(problem, mate) + " at " +
              bytes(other->first, other->first + mate.sizeBytes) + " and " +
              describe(problem, buffer) + " at " + bytes(begin, end) + " overlap at time " +
              time(at);
      return false;
    }
    alive.emplace_hint(next, begin, index);
    return true;
  });
  return found;
}

int64_t unitBytes(const Problem &problem) {
  int64_t unit = 0;
  for (const Buffer &buffer : problem.buffers)
    unit = std::gcd(unit, buffer.alignmentBytes);
  return std::max<int64_t>(unit, 1);
}

int64_t roundUp(int64_t value, int64_t unit) { return (value + unit - 1) / unit * unit; }

/// What height, proved bound and capacity say.
Status statusOf(const Plan &plan, std::optional<int64_t> capacityBytes) {
  if (capacityBytes && plan.heightBytes > *capacityBytes)
    return plan.provedBytes > *capacityBytes ? Status::Infeasible : Status::Unknown;
  return plan.heightBytes == plan.provedBytes ? Status::Optimal : Status::Feasible;
}

std::optional<std::string> checkOne(const Problem &problem, const Buffer &buffer) {
  auto who = [&] { return describe(problem, buffer) + ": "; };
  if (buffer.lower >= buffer.upper)
    return who() + "expects lower below upper, got [" + time(buffer.lower) + ", " +
           time(buffer.upper) + ")";
  if (buffer.sizeBytes < 1)
    return who() + "expects a size of at least 1, got " + std::to_string(buffer.sizeBytes);
  if (buffer.alignmentBytes < 1)
    return who() + "expects an alignment of at least 1, got " +
           std::to_string(buffer.alignmentBytes);
  if (buffer.sizeBytes > kMaxTotalBytes || buffer.alignmentBytes > kMaxTotalBytes)
    return who() + "expects size and alignment of at most " + std::to_string(kMaxTotalBytes) +
           ", got " + std::to_string(std::max(buffer.sizeBytes, buffer.alignmentBytes));
  if (buffer.fixedOffset && *buffer.fixedOffset < 0)
    return who() + "expects a fixed offset of at least 0, got " +
           std::to_string(*buffer.fixedOffset);
  if (buffer.fixedOffset && *buffer.fixedOffset % buffer.alignmentBytes != 0)
    return who() + "expects a fixed offset that is a multiple of " +
           std::to_string(buffer.alignmentBytes) + ", got " + std::to_string(*buffer.fixedOffset);
  if (buffer.gaps.empty())
    return std::nullopt;
  int64_t from = buffer.lower;
  for (const Interval &gap : sortedGaps(buffer)) {
    if (gap.lower >= gap.upper || gap.lower < from || gap.upper > buffer.upper)
      return who() + "expects gaps apart from each other and inside [" + time(buffer.lower) + ", " +
             time(buffer.upper) + "), got [" + time(gap.lower) + ", " + time(gap.upper) + ")";
    from = gap.upper;
  }
  bool isAlive = false;
  eachLivePart(buffer, [&](const Interval &) { isAlive = true; });
  if (!isAlive)
    return who() + "expects a moment outside its gaps";
  return std::nullopt;
}

/// `message`, unless one of the first `count` buffers has an id that another has before it.
std::optional<std::string> idsFirst(const Problem &problem, size_t count,
                                    std::optional<std::string> message) {
  if (auto repeated = findRepeatedId(std::span(problem.buffers).first(count)))
    return describe(problem, problem.buffers[repeated->again]) +
           ": expects an id of its own, and another buffer has it too";
  return message;
}

} // namespace

std::optional<std::string> check(const Problem &problem) {
  const std::vector<Buffer> &buffers = problem.buffers;
  if (!isPlain(problem)) {
    for (size_t i = 0; i < buffers.size(); ++i)
      if (auto message = checkOne(problem, buffers[i]))
        return idsFirst(problem, i, message);
    if (auto message = idsFirst(problem, buffers.size(), std::nullopt))
      return message;
    if (auto message = checkLinks(problem))
      return message;
    for (const Blocks &blocks : splitIntoBlocks(problem)) {
      if (auto message = checkPlaces(problem, blocks))
        return message;
      if (auto message = check(blocks.problem))
        return message;
    }
    return std::nullopt;
  }
  if (problem.capacityBytes && *problem.capacityBytes < 0)
    return "expects a capacity of at least 0, got " + std::to_string(*problem.capacityBytes);
  std::vector<int64_t> fixedOffsets; // empty where there are none
  int64_t fixedTop = 0;
  for (size_t i = 0; i < buffers.size(); ++i) {
    const Buffer &buffer = buffers[i];
    if (auto message = checkOne(problem, buffer))
      return idsFirst(problem, i, message);
    int64_t top = 0, offset = buffer.fixedOffset.value_or(0);
    if (__builtin_add_overflow(offset, buffer.sizeBytes, &top) || top > kMaxTotalBytes)
      return idsFirst(problem, i + 1,
                      describe(problem, buffer) + ": expects to end at " +
                          std::to_string(kMaxTotalBytes) + " or below, got offset " +
                          std::to_string(offset));
    if (!buffer.fixedOffset)
      continue;
    fixedTop = std::max(fixedTop, top);
    fixedOffsets.resize(buffers.size());
    fixedOffsets[i] = offset;
  }
  if (auto message = idsFirst(problem, buffers.size(), std::nullopt))
    return message;
  // However badly they are stacked, all tops stay below this sum.
  int64_t total = fixedTop;
  for (const Buffer &buffer : buffers) {
    total += buffer.sizeBytes + buffer.alignmentBytes;
    if (total > kMaxTotalBytes)
      return describe(problem, buffer) + ": expects all buffers to take at most " +
             std::to_string(kMaxTotalBytes) + " bytes side by side, and this one with " +
             std::to_string(buffer.sizeBytes) + " bytes goes beyond";
  }
  return fixedOffsets.empty()
             ? std::nullopt
             : findOverlap(problem, fixedOffsets, Sweep(problem, /*fixedOnly=*/true));
}

namespace {

/// Of one space without groups.
int64_t boundOf(const Problem &problem, const Sweep &sweep) {
  int64_t unit = unitBytes(problem), bound = 0, alive = 0;
  sweep.run([&](int64_t, bool begins, uint32_t index) {
    int64_t size = roundUp(problem.buffers[index].sizeBytes, unit);
    alive += begins ? size : -size;
    bound = std::max(bound, alive);
    return true;
  });
  for (const Buffer &buffer : problem.buffers)
    if (buffer.fixedOffset)
      bound = std::max(bound, *buffer.fixedOffset + roundUp(buffer.sizeBytes, unit));
  return bound;
}

} // namespace

int64_t lowerBound(const Problem &problem) {
  if (!isPlain(problem)) {
    int64_t sum = 0;
    for (const Blocks &blocks : splitIntoBlocks(problem))
      sum += lowerBound(blocks.problem);
    return sum;
  }
  return boundOf(problem, Sweep(problem, /*fixedOnly=*/false));
}

namespace {

/// What alignments and links ask of the buffers one by one, without a thought of blocks.
std::optional<std::string> verifyLinks(const Problem &problem,
                                       const std::vector<int64_t> &offsets) {
  std::unordered_map<int64_t, int32_t> rowOfId = indexById(problem.buffers);
  for (size_t i = 0; i < problem.buffers.size(); ++i) {
    const Buffer &buffer = problem.buffers[i];
    if (offsets[i] % buffer.alignmentBytes != 0)
      return describe(problem, buffer) + ": expects an offset that is a multiple of " +
             std::to_string(buffer.alignmentBytes) + ", got " + std::to_string(offsets[i]);
    if (buffer.sharesWith && offsets[i] != offsets[rowOfId.at(*buffer.sharesWith)])
      return describe(problem, buffer) + ": expects the offset of buffer " +
             problem.idText(*buffer.sharesWith) + " in its group, got " +
             std::to_string(offsets[i]);
    if (!buffer.adjacentTo)
      continue;
    size_t before = rowOfId.at(*buffer.adjacentTo);
    if (int64_t room = 0; __builtin_sub_overflow(offsets[i], offsets[before], &room) ||
                          room < problem.buffers[before].sizeBytes)
      return describe(problem, buffer) + ": expects an offset behind buffer " +
             problem.idText(*buffer.adjacentTo) + " in its group, got " +
             std::to_string(offsets[i]);
  }
  return std::nullopt;
}

/// Groups keep together, and the blocks of each space are a plan for themselves.
std::optional<std::string> verifyBlocks(const Problem &problem, const Plan &plan) {
  if (auto message = verifyLinks(problem, plan.offsets))
    return message;
  std::vector<Blocks> spaces = splitIntoBlocks(problem);
  if (spaces.size() > 1 && plan.spaces.size() != spaces.size())
    return "expects " + std::to_string(spaces.size()) + " spaces, got " +
           std::to_string(plan.spaces.size());
  Plan sum;
  bool unknown = false, infeasible = false;
  for (size_t k = 0; k < spaces.size(); ++k) {
    const Blocks &blocks = spaces[k];
    Plan part;
    part.offsets.assign(blocks.problem.buffers.size(), 0);
    for (size_t i = 0; i < blocks.buffers.size(); ++i) {
      int64_t offset = plan.offsets[blocks.buffers[i]];
      const Buffer &buffer = problem.buffers[blocks.buffers[i]];
      if (__builtin_sub_overflow(offset, blocks.inBlock[i], &offset) || offset < 0)
        return describe(problem, buffer) + ": expects an offset of at least " +
               std::to_string(blocks.inBlock[i]) + " in its group, got " +
               std::to_string(plan.offsets[blocks.buffers[i]]);
      int64_t &block = part.offsets[blocks.blockOf[i]];
      if (blocks.problem.buffers[blocks.blockOf[i]].id == buffer.id)
        block = offset;
    }
    for (size_t i = 0; i < blocks.buffers.size(); ++i) {
      int64_t expected = part.offsets[blocks.blockOf[i]] + blocks.inBlock[i];
      if (plan.offsets[blocks.buffers[i]] != expected)
        return describe(problem, problem.buffers[blocks.buffers[i]]) + ": expects offset " +
               std::to_string(expected) + " in its group, got " +
               std::to_string(plan.offsets[blocks.buffers[i]]);
    }
    SpacePlan figures = {blocks.space, plan.heightBytes, plan.lowerBoundBytes, plan.provedBytes};
    if (spaces.size() > 1)
      figures = plan.spaces[k];
    if (figures.space != blocks.space)
      return "expects space " + std::to_string(blocks.space) + ", got " +
             std::to_string(figures.space);
    part.heightBytes = figures.heightBytes;
    part.lowerBoundBytes = figures.lowerBoundBytes;
    part.provedBytes = figures.provedBytes;
    part.status = statusOf(part, problem.capacityBytes);
    if (auto message = verify(blocks.problem, part))
      return message;
    unknown |= part.status == Status::Unknown;
    infeasible |= part.status == Status::Infeasible;
    sum.heightBytes += part.heightBytes;
    sum.lowerBoundBytes += part.lowerBoundBytes;
    sum.provedBytes += part.provedBytes;
  }
  if (plan.heightBytes != sum.heightBytes || plan.lowerBoundBytes != sum.lowerBoundBytes ||
      plan.provedBytes != sum.provedBytes)
    return "expects the sums over all spaces, a height of " + std::to_string(sum.heightBytes) +
           ", got " + std::to_string(plan.heightBytes);
  Status expected = infeasible                           ? Status::Infeasible
                    : unknown                            ? Status::Unknown
                    : sum.heightBytes == sum.provedBytes ? Status::Optimal
                                                         : Status::Feasible;
  if (plan.status != expected)
    return std::string("expects status ") + name(expected) + ", got " + name(plan.status);
  return std::nullopt;
}

} // namespace

std::optional<std::string> verify(const Problem &problem, const Plan &plan) {
  if (auto message = check(problem))
    return message;
  if (plan.offsets.size() != problem.buffers.size())
    return "expects " + std::to_string(problem.buffers.size()) + " offsets, got " +
           std::to_string(plan.offsets.size());
  if (!isPlain(problem))
    return verifyBlocks(problem, plan);
  int64_t unit = unitBytes(problem), height = 0;
  for (size_t i = 0; i < problem.buffers.size(); ++i) {
    const Buffer &buffer = problem.buffers[i];
    int64_t offset = plan.offsets[i], top = 0;
    auto who = [&] { return describe(problem, buffer) + ": "; };
    if (offset < 0)
      return who() + "expects an offset of at least 0, got " + std::to_string(offset);
    if (offset % buffer.alignmentBytes != 0)
      return who() + "expects an offset that is a multiple of " +
             std::to_string(buffer.alignmentBytes) + ", got " + std::to_string(offset);
    if (buffer.fixedOffset && offset != *buffer.fixedOffset)
      return who() + "expects its fixed offset " + std::to_string(*buffer.fixedOffset) + ", got " +
             std::to_string(offset);
    if (__builtin_add_overflow(offset, roundUp(buffer.sizeBytes, unit), &top))
      return who() + "expects to end below 2^63, got offset " + std::to_string(offset);
    height = std::max(height, top);
  }
  Sweep sweep(problem, /*fixedOnly=*/false);
  if (auto message = findOverlap(problem, plan.offsets, sweep))
    return message;
  if (plan.heightBytes != height)
    return "expects a height of " + std::to_string(height) + ", got " +
           std::to_string(plan.heightBytes);
  int64_t bound = boundOf(problem, sweep);
  if (plan.lowerBoundBytes != bound)
    return "expects a lower bound of " + std::to_string(bound) + ", got " +
           std::to_string(plan.lowerBoundBytes);
  if (plan.provedBytes < bound || plan.provedBytes > height)
    return "expects a proved bound between " + std::to_string(bound) + " and " +
           std::to_string(height) + ", got " + std::to_string(plan.provedBytes);
  Status expected = statusOf(plan, problem.capacityBytes);
  if (plan.status != expected)
    return std::string("expects status ") + name(expected) + ", got " + name(plan.status);
  return std::nullopt;
}

} // namespace zero::planning::arena
