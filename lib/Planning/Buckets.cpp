//===- Buckets.cpp - which parameters share a bucket, and who owns what --===//
//
// Greedy, in one pass: each (class, type) has at most one open bucket, and the
// next parameter of that sequence either fits behind its last slot or opens
// another. `verify` asks for the same laws from the outside.
//
//===----------------------------------------------------------------------===//
#include "zero/Planning/Buckets.h"

#include <algorithm>
#include <cassert>
#include <map>
#include <utility>

namespace zero::planning::buckets {
namespace {

int64_t roundUp(int64_t value, int64_t unit) { return (value + unit - 1) / unit * unit; }

int64_t slotStride(int64_t elementBytes) { return kSlotAlignmentBytes / elementBytes; }

/// Elements of the largest collective: at least one a rank, whole pieces only.
int64_t fullChunk(const Problem &problem, int64_t elementBytes) {
  int64_t ranks = problem.ranks;
  return std::max(ranks, problem.bucketBytes / elementBytes / ranks * ranks);
}

std::string quoted(const Problem &problem, int64_t parameter) {
  return "'" + problem.parameters[parameter].name + "'";
}

char letter(Class kind) {
  return kind == Class::Trainable ? 'b' : kind == Class::Frozen ? 'f' : 'u';
}

using Sequence = std::pair<Class, int64_t>;

} // namespace

std::optional<std::string> check(const Problem &problem) {
  if (problem.ranks < 1)
    return "expects at least 1 rank, got " + std::to_string(problem.ranks);
  if (problem.ranks > kMaxTotalBytes / kSlotAlignmentBytes)
    return "expects fewer ranks, got " + std::to_string(problem.ranks);
  if (problem.bucketBytes < 1)
    return "expects bucket-bytes of at least 1, got " + std::to_string(problem.bucketBytes);
  std::map<int64_t, int64_t> widthOfType;
  // Each parameter costs at most its bytes, the padding before its slot and, if
  // it ends a bucket, the padding up to a multiple of the ranks.
  int64_t total = 0;
  for (const Parameter &parameter : problem.parameters) {
    std::string who = "parameter '" + parameter.name + "'";
    if (parameter.elements < 1)
      return who + ": expects at least 1 element, got " + std::to_string(parameter.elements);
    int64_t bytes = parameter.elementBytes;
    if (bytes < 1 || kSlotAlignmentBytes % bytes != 0)
      return who + ": expects an element of 1 to 64 bytes, a power of two, got " +
             std::to_string(bytes);
    auto [width, isNew] = widthOfType.try_emplace(parameter.type, bytes);
    if (!isNew && width->second != bytes)
      return who + ": expects elements of type " + std::to_string(parameter.type) + " to have " +
             std::to_string(width->second) + " bytes, got " + std::to_string(bytes);
    int64_t padded = 0;
    if (__builtin_add_overflow(parameter.elements, problem.ranks, &padded) ||
        __builtin_mul_overflow(padded, bytes, &padded) ||
        __builtin_add_overflow(padded, kSlotAlignmentBytes, &padded) ||
        __builtin_add_overflow(total, padded, &total) || total > kMaxTotalBytes)
      return who + ": expects all parameters to stay below " + std::to_string(kMaxTotalBytes) +
             " bytes together, and this one with " + std::to_string(parameter.elements) +
             " elements goes beyond";
  }
  return std::nullopt;
}

Plan plan(const Problem &problem) {
  assert(!check(problem) && "plan needs a problem that check accepts");
  Plan plan;
  std::map<Sequence, size_t> open;
  for (size_t i = 0; i < problem.parameters.size(); ++i) {
    const Parameter &parameter = problem.parameters[i];
    int64_t begin = 0;
    auto [it, isNew] = open.try_emplace({parameter.kind, parameter.type}, plan.buckets.size());
    if (!isNew) {
      const Bucket &bucket = plan.buckets[it->second];
      begin = roundUp(bucket.slots.back().end(), slotStride(parameter.elementBytes));
      isNew = (begin + parameter.elements) * parameter.elementBytes > problem.bucketBytes;
    }
    if (isNew) {
      begin = 0;
      it->second = plan.buckets.size();
      Bucket bucket;
      bucket.kind = parameter.kind;
      bucket.type = parameter.type;
      bucket.elementBytes = parameter.elementBytes;
      plan.buckets.push_back(std::move(bucket));
    }
    plan.buckets[it->second].slots.push_back({int64_t(i), begin, parameter.elements});
  }
  std::stable_sort(plan.buckets.begin(), plan.buckets.end(),
                   [](const Bucket &a, const Bucket &b) { return a.kind < b.kind; });
  std::map<Class, int64_t> count;
  for (Bucket &bucket : plan.buckets) {
    bucket.name = letter(bucket.kind) + std::to_string(count[bucket.kind]++);
    bucket.length = roundUp(bucket.slots.back().end(), problem.ranks);
    bucket.chunk = std::min(fullChunk(problem, bucket.elementBytes), bucket.length);
  }
  return plan;
}

std::optional<std::string> verify(const Problem &problem, const Plan &plan) {
  std::vector<const Bucket *> home(problem.parameters.size(), nullptr);
  // The last bucket of each sequence, and where its last slot ends.
  std::map<Sequence, std::pair<const Bucket *, int64_t>> last;
  for (const Bucket &bucket : plan.buckets) {
    std::string who = "bucket '" + bucket.name + "'";
    if (bucket.slots.empty())
      return who + ": expects at least one slot";
    int64_t end = 0, previous = -1;
    for (const Slot &slot : bucket.slots) {
      if (slot.parameter < 0 || slot.parameter >= int64_t(home.size()))
        return who + ": expects a parameter below " + std::to_string(home.size()) + ", got " +
               std::to_string(slot.parameter);
      const Parameter &parameter = problem.parameters[slot.parameter];
      std::string slotName = who + ": slot " + quoted(problem, slot.parameter);
      if (home[slot.parameter])
        return slotName + " stands in bucket '" + home[slot.parameter]->name + "' already";
      home[slot.parameter] = &bucket;
      if (slot.elements != parameter.elements)
        return slotName + ": expects " + std::to_string(parameter.elements) + " elements, got " +
               std::to_string(slot.elements);
      if (parameter.kind != bucket.kind || parameter.type != bucket.type ||
          parameter.elementBytes != bucket.elementBytes)
        return slotName + ": expects the class and element type of its bucket";
      if (slot.begin < end)
        return slotName + ": expects to begin at " + std::to_string(end) + " or later, got " +
               std::to_string(slot.begin);
      if (slot.begin * bucket.elementBytes % kSlotAlignmentBytes != 0)
        return slotName + ": expects to begin at a multiple of " +
               std::to_string(kSlotAlignmentBytes) + " bytes, got element " +
               std::to_string(slot.begin);
      if (slot.begin - end >= slotStride(bucket.elementBytes))
        return slotName + ": leaves a hole from " + std::to_string(end) + " to " +
               std::to_string(slot.begin);
      if (slot.parameter <= previous)
        return slotName + ": expects parameters in order of first use";
      previous = slot.parameter;
      end = slot.end();
    }
    if (bucket.slots.size() > 1 && end * bucket.elementBytes > problem.bucketBytes)
      return who + ": expects at most " + std::to_string(problem.bucketBytes) + " bytes, got " +
             std::to_string(end * bucket.elementBytes) + " in " +
             std::to_string(bucket.slots.size()) + " slots";
    if (bucket.length % problem.ranks != 0 || bucket.length < end ||
        bucket.length - end >= problem.ranks)
      return who + ": expects the length to be " + std::to_string(end) +
             " rounded up to a multiple of " + std::to_string(problem.ranks) + ", got " +
             std::to_string(bucket.length);
    int64_t fit = problem.bucketBytes / bucket.elementBytes;
    fit = std::min(std::max(problem.ranks, fit - fit % problem.ranks), bucket.length);
    if (bucket.chunk != fit)
      return who + ": expects chunks of " + std::to_string(fit) + " elements, got " +
             std::to_string(bucket.chunk);
    auto &[before, beforeEnd] = last[{bucket.kind, bucket.type}];
    if (before) {
      const Slot &first = bucket.slots.front();
      if (before->slots.back().parameter > first.parameter)
        return who + ": expects to come before bucket '" + before->name + "'";
      int64_t begin = roundUp(beforeEnd, slotStride(bucket.elementBytes));
      if ((begin + first.elements) * bucket.elementBytes <= problem.bucketBytes)
        return who + ": expects slot " + quoted(problem, first.parameter) + " in bucket '" +
               before->name + "', where it fits";
    }
    before = &bucket;
    beforeEnd = end;
  }
  for (size_t i = 0; i < home.size(); ++i)
    if (!home[i])
      return "expects a slot for parameter " + quoted(problem, i) + ", got none";
  return std::nullopt;
}

std::vector<Piece> pieces(const Bucket &bucket, int64_t ranks, int64_t rank) {
  assert(rank >= 0 && rank < ranks && bucket.length % ranks == 0 && bucket.chunk > 0);
  std::vector<Piece> result;
  int64_t shard = 0;
  for (int64_t chunk = 0; chunk < bucket.length; chunk += bucket.chunk) {
    int64_t each = std::min(bucket.chunk, bucket.length - chunk) / ranks;
    int64_t begin = chunk + rank * each;
    result.push_back({begin, begin + each, shard});
    shard += each;
  }
  return result;
}

int64_t ownedElements(const Bucket &bucket, int64_t ranks, int64_t rank) {
  int64_t owned = 0;
  auto slot = bucket.slots.begin();
  for (const Piece &piece : pieces(bucket, ranks, rank)) {
    while (slot != bucket.slots.end() && slot->end() <= piece.begin)
      ++slot;
    for (auto it = slot; it != bucket.slots.end() && it->begin < piece.end; ++it)
      owned += std::min(it->end(), piece.end) - std::max(it->begin, piece.begin);
  }
  return owned;
}

} // namespace zero::planning::buckets
