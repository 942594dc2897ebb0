//===- Ledger.cpp - what a stage costs in memory and in traffic ----------===//
//
// Totals are formed over all ranks in 128 bits and divided once.
//
//===----------------------------------------------------------------------===//
#include "zero/Planning/Ledger.h"

#include <cassert>

namespace zero::planning::ledger {
namespace {

using Wide = __int128;

/// Bytes of `kind` over all ranks.
Wide totalBytes(const Problem &problem, Kind kind) {
  bool paramsSharded = problem.stage >= 3;
  bool gradsSharded = problem.stage >= 2 && !problem.reduceEveryStep;
  bool optimizerSharded = problem.stage >= 1;
  Wide full = 0, sharded = 0;
  for (const Group &group : problem.groups) {
    bool accumulates = problem.microSteps > 1;
    Wide trainable = group.trainable, rest = Wide(group.frozen) + group.unused;
    switch (kind) {
    case Kind::Param:
      (paramsSharded ? sharded : full) += (trainable + rest) * group.paramBytes;
      break;
    case Kind::Grad:
      (gradsSharded ? sharded : full) += accumulates ? 0 : trainable * group.gradBytes;
      break;
    case Kind::GradAccum:
      (gradsSharded ? sharded : full) += accumulates ? trainable * group.gradAccumBytes : 0;
      break;
    case Kind::Master:
      (optimizerSharded ? sharded : full) += trainable * group.masterBytes;
      break;
    case Kind::Moment1:
      (optimizerSharded ? sharded : full) += trainable * group.moment1Bytes;
      break;
    case Kind::Moment2:
      (optimizerSharded ? sharded : full) += trainable * group.moment2Bytes;
      break;
    }
  }
  return full * problem.ranks + sharded;
}

} // namespace

const char *name(Kind kind) {
  switch (kind) {
  case Kind::Param:
    return "param";
  case Kind::Grad:
    return "grad";
  case Kind::GradAccum:
    return "grad_accum";
  case Kind::Master:
    return "master";
  case Kind::Moment1:
    return "moment1";
  case Kind::Moment2:
    break;
  }
  return "moment2";
}

std::optional<std::string> check(const Problem &problem) {
  if (problem.stage < 0 || problem.stage > 3)
    return "expects a stage from 0 to 3, got " + std::to_string(problem.stage);
  if (problem.ranks < 1 || problem.ranks > INT32_MAX)
    return "expects 1 to 2^31 - 1 ranks, got " + std::to_string(problem.ranks);
  if (problem.microSteps < 1)
    return "expects at least 1 micro-step, got " + std::to_string(problem.microSteps);
  if (problem.reduceEveryStep && problem.stage != 2)
    return "expects stage 2 where gradients are reduced once a step by choice, got " +
           std::to_string(problem.stage);
  constexpr Wide limit = Wide(1) << 62;
  Wide all = 0;
  for (const Group &group : problem.groups) {
    for (int64_t elements : {group.trainable, group.frozen, group.unused})
      if (elements < 0)
        return "expects element counts of at least 0, got " + std::to_string(elements);
    for (int64_t width : {group.paramBytes, group.gradBytes, group.gradAccumBytes,
                          group.masterBytes, group.moment1Bytes, group.moment2Bytes})
      if (width < 0 || width > 64)
        return "expects element widths of 0 to 64 bytes, got " + std::to_string(width);
    Wide elements = Wide(group.trainable) + group.frozen + group.unused;
    Wide width = Wide(group.paramBytes) + group.gradBytes + group.gradAccumBytes +
                 group.masterBytes + group.moment1Bytes + group.moment2Bytes;
    all += elements * width; // at most 2^65 · 384: far from 2^127, even times 2^31
    if (all * problem.ranks >= limit)
      return "expects model states below 2^62 bytes over all ranks, got more";
  }
  return std::nullopt;
}

States states(const Problem &problem) {
  assert(!check(problem) && "states needs a problem that check accepts");
  States states;
  Wide all = 0;
  for (int kind = 0; kind < kKindCount; ++kind) {
    Wide total = totalBytes(problem, Kind(kind));
    all += total;
    states.bytes[kind] = int64_t(total / problem.ranks);
    states.rowsBytes += states.bytes[kind];
  }
  states.totalBytes = int64_t(all / problem.ranks);
  return states;
}

std::optional<Traffic> traffic(const std::vector<Moves> &buckets, int64_t ranks) {
  Traffic traffic;
  if (ranks < 1)
    return std::nullopt;
  for (const Moves &moves : buckets) {
    if (moves.length < 0 || moves.length % ranks != 0)
      return std::nullopt;
    // Exact, as N divides the length.
    int64_t sent = moves.length / ranks * (ranks - 1);
    auto add = [&](int64_t &sum, int64_t times, int64_t each) {
      int64_t product = 0;
      return times >= 0 && !__builtin_mul_overflow(sent, each, &product) &&
             !__builtin_mul_overflow(product, times, &product) &&
             !__builtin_add_overflow(sum, product, &sum);
    };
    if (!add(traffic.allReduce, moves.allReduces, 2) ||
        !add(traffic.reduceScatter, moves.reduceScatters, 1) ||
        !add(traffic.allGather, moves.allGathers, 1))
      return std::nullopt;
  }
  Traffic sum = traffic;
  if (__builtin_add_overflow(sum.allReduce, sum.reduceScatter, &sum.allReduce) ||
      __builtin_add_overflow(sum.allReduce, sum.allGather, &sum.allReduce))
    return std::nullopt;
  return traffic;
}

Moves plainMoves(int64_t length, int64_t stage, int64_t microSteps, bool reduceEveryStep) {
  if (stage == 0)
    return {length, 0, 0, 1};
  if (stage == 1 || (stage == 2 && reduceEveryStep))
    return {length, 1, 1, 0};
  if (stage == 2)
    return {length, 1, microSteps, 0};
  return {length, 2 * microSteps, microSteps, 0};
}

} // namespace zero::planning::ledger
