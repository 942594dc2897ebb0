//===- ArenaPlanFuzz.cpp - any small arena problem, and its plan broken ----===//
//
// The plan of every problem that `check` accepts passes `verify`; where one offset is moved,
// `verify` refuses exactly what comparing all pairs refuses.
//
//===----------------------------------------------------------------------===//
#include "Require.h"
#include "zero/Planning/Arena.h"

#include <algorithm>
#include <fuzzer/FuzzedDataProvider.h>

using namespace zero::fuzz;
using namespace zero::planning::arena;

namespace {

/// Small numbers most of the time, so that buffers meet; any number now and then.
int64_t number(FuzzedDataProvider &from, int64_t least, int64_t most) {
  return from.ConsumeIntegralInRange<int>(0, 31) ? from.ConsumeIntegralInRange<int64_t>(least, most)
                                                 : from.ConsumeIntegral<int64_t>();
}

Buffer bufferFrom(FuzzedDataProvider &from, int64_t id) {
  Buffer buffer;
  buffer.id = id;
  buffer.lower = number(from, 0, 20);
  buffer.upper = number(from, 1, 24);
  buffer.sizeBytes = number(from, 1, 64);
  const int kind = from.ConsumeIntegralInRange<int>(0, 15);
  if (kind == 0 || kind == 7 || kind == 8)
    buffer.alignmentBytes = number(from, 1, 16);
  if (kind == 1)
    buffer.fixedOffset = number(from, 0, 256);
  if (kind == 2)
    buffer.lower = kTimeBegin, buffer.upper = kTimeEnd;
  if (kind == 3)
    buffer.gaps.push_back({number(from, 1, 20), number(from, 2, 22)});
  if (kind == 4 || kind == 7)
    buffer.adjacentTo = number(from, 0, 12);
  if (kind == 5 || kind == 8)
    buffer.sharesWith = number(from, 0, 12);
  if (kind == 6)
    buffer.space = number(from, 0, 2);
  return buffer;
}

bool plain(const Problem &problem) {
  return std::all_of(problem.buffers.begin(), problem.buffers.end(), [](const Buffer &buffer) {
    return buffer.alignmentBytes == 1 && !buffer.fixedOffset && !buffer.isPersistent() &&
           buffer.gaps.empty() && !buffer.adjacentTo && !buffer.sharesWith && buffer.space == 0;
  });
}

bool anyOverlap(const Problem &problem, const std::vector<int64_t> &offsets) {
  for (size_t i = 0; i < offsets.size(); ++i)
    for (size_t j = 0; j < i; ++j) {
      const Buffer &a = problem.buffers[i], &b = problem.buffers[j];
      if (a.lower < b.upper && b.lower < a.upper && offsets[i] < offsets[j] + b.sizeBytes &&
          offsets[j] < offsets[i] + a.sizeBytes)
        return true;
    }
  return false;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  FuzzedDataProvider from(data, size);
  Problem problem;
  if (from.ConsumeBool())
    problem.capacityBytes = number(from, 0, 512);
  const int move = from.ConsumeIntegralInRange<int>(-8, 8);
  const size_t which = from.ConsumeIntegral<uint8_t>();
  while (from.remaining_bytes() && problem.buffers.size() < 24)
    problem.buffers.push_back(bufferFrom(from, int64_t(problem.buffers.size())));
  if (check(problem))
    return 0;
  Plan made = plan(problem, {.iterations = 8, .work = 20'000});
  if (auto wrong = verify(problem, made))
    require(false, "a plan that passes, got " + *wrong);
  require(made.heightBytes >= lowerBound(problem), "no height below the bound");

  if (problem.buffers.empty() || move == 0 || !plain(problem))
    return 0;
  made.offsets[which % made.offsets.size()] += move;
  const int64_t moved = made.offsets[which % made.offsets.size()];
  int64_t height = 0;
  for (size_t i = 0; i < made.offsets.size(); ++i)
    height = std::max(height, made.offsets[i] + problem.buffers[i].sizeBytes);
  const bool sound = moved >= 0 && height == made.heightBytes && !anyOverlap(problem, made.offsets);
  require(sound == !verify(problem, made),
          sound ? "a sound plan to pass" : "a broken plan to be refused");
  return 0;
}
