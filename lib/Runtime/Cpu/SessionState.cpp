//===- SessionState.cpp - weights, masters and moments, in and out --------===//
//
// A parameter's state is whole on every rank or lies in the owners' pieces. What
// goes in is written wherever it is held; what goes out is taken from the owner
// of each piece, also where all ranks hold the whole: after a reduction in place
// only the owner's piece is the sum.
//
//===----------------------------------------------------------------------===//

#include "SessionImpl.h"
#include "zero/Runtime/HalfFloat.h"

#include <cstring>

namespace zrt {

namespace {

/// One kind of state of one parameter.
struct StateRef {
  const Bucket *bucket = nullptr;
  const Slot *slot = nullptr;

  const StatePlace &place(StateKind kind) const { return bucket->state[int(kind)]; }
  bool hasMaster() const { return place(StateKind::Master).present; }
};

std::string quoted(std::string_view name) { return "parameter '" + std::string(name) + "'"; }

/// Where the parameter with this kind of state stands, or a message.
StateRef find(const Program &program, std::string_view name, StateKind kind, std::string &error) {
  for (const Bucket &bucket : program.buckets)
    for (const Slot &slot : bucket.slots) {
      if (slot.parameter != name)
        continue;
      if (bucket.state[int(kind)].present)
        return {&bucket, &slot};
      error = quoted(name) + ": expects a state that it has, got " + std::string(zrt::name(kind));
      return {};
    }
  error = "expects the name of a parameter, got '" + std::string(name) + "'";
  return {};
}

/// The whole parameter, or a message.
StateRef find(const Program &program, std::string_view name, StateKind kind, int64_t elements,
              std::string &error) {
  StateRef found = find(program, name, kind, error);
  if (!found.slot || found.slot->elements == elements)
    return found;
  error = quoted(name) + ": expects " + std::to_string(found.slot->elements) + " elements, got " +
          std::to_string(elements);
  return {};
}

/// Calls fn(element of the parameter, count, element of the rank's state) for what the rank holds
/// of [begin, begin + count) of the parameter.
template <typename Fn>
void forEachHeld(const StateRef &state, StateKind kind, int64_t ranks, int64_t rank, int64_t begin,
                 int64_t count, Fn &&fn) {
  int64_t slotBegin = state.slot->beginElement, from = slotBegin + begin;
  if (!state.place(kind).sharded)
    return fn(begin, count, from);
  BucketLayout(*state.bucket, ranks)
      .forEachOwned(rank, from, from + count, [&](const Piece &owned) {
        fn(owned.begin - slotBegin, owned.count, owned.shardBegin);
      });
}

/// The same for the part of the whole parameter that the rank owns, however it is held.
template <typename Fn>
void forEachOwned(const StateRef &state, StateKind kind, int64_t ranks, int64_t rank, Fn &&fn) {
  int64_t slotBegin = state.slot->beginElement;
  bool sharded = state.place(kind).sharded;
  BucketLayout(*state.bucket, ranks)
      .forEachOwned(rank, slotBegin, slotBegin + state.slot->elements, [&](const Piece &owned) {
        fn(owned.begin - slotBegin, owned.count, sharded ? owned.shardBegin : owned.begin);
      });
}

/// Weights and masters go in together.
void write(int64_t ranksInAll, const std::vector<std::unique_ptr<Rank>> &ranks,
           const StateRef &state, StateKind kind, int64_t begin, int64_t count,
           const float *values) {
  bool weights = kind == StateKind::Param || kind == StateKind::Master;
  if (kind == StateKind::Param && state.hasMaster())
    kind = StateKind::Master;
  auto writeKind = [&](StateKind written) {
    const StatePlace &place = state.place(written);
    for (const auto &rank : ranks)
      forEachHeld(state, written, ranksInAll, rank->communicator->rank(), begin, count,
                  [&](int64_t element, int64_t length, int64_t at) {
                    fromFloats(place.type, values + (element - begin), length,
                               rank->place(place, at));
                  });
  };
  writeKind(kind);
  if (weights && kind != StateKind::Param)
    writeKind(StateKind::Param);
}

} // namespace

bool Session::setParameter(std::string_view name, const float *values, int64_t elements,
                           std::string &error, StateKind kind) {
  StateRef state = find(impl->program, name, kind, elements, error);
  if (!state.slot)
    return false;
  write(impl->program.ranks, impl->ranks, state, kind, 0, elements, values);
  return true;
}

bool Session::setStateRange(std::string_view name, StateKind kind, int64_t beginElement,
                            int64_t count, const float *values, std::string &error) {
  StateRef state = find(impl->program, name, kind, error);
  if (!state.slot)
    return false;
  if (kind == StateKind::Param && state.hasMaster()) {
    error = quoted(name) + ": expects its master, which rounds to its weights, got param";
    return false;
  }
  int64_t elements = state.slot->elements;
  if (beginElement < 0 || count < 0 || beginElement > elements || count > elements - beginElement) {
    error = quoted(name) + ": expects a range within " + std::to_string(elements) +
            " elements, got " + std::to_string(count) + " at " + std::to_string(beginElement);
    return false;
  }
  if (count > 0)
    write(impl->program.ranks, impl->ranks, state, kind, beginElement, count, values);
  return true;
}

bool Session::getParameter(std::string_view name, float *values, int64_t elements,
                           std::string &error, StateKind kind) const {
  StateRef state = find(impl->program, name, kind, elements, error);
  if (!state.slot)
    return false;
  if (kind == StateKind::Param && state.hasMaster())
    kind = StateKind::Master;
  const StatePlace &place = state.place(kind);
  int64_t ranks = impl->program.ranks, width = elementBytes(place.type);
  std::vector<char> pieces; // of a rank, on their way between processes
  for (int64_t rank = 0; rank < ranks; ++rank) {
    const Rank *local = impl->localRank(rank);
    if (impl->overThreads()) {
      forEachOwned(state, kind, ranks, rank, [&](int64_t element, int64_t count, int64_t at) {
        toFloats(place.type, local->place(place, at), count, values + element);
      });
      continue;
    }
    pieces.clear();
    forEachOwned(state, kind, ranks, rank, [&](int64_t, int64_t count, int64_t at) {
      size_t end = pieces.size();
      pieces.resize(end + size_t(count * width));
      if (local)
        std::memcpy(&pieces[end], local->place(place, at), size_t(count * width));
    });
    Communicator &communicator = *impl->ranks[0]->communicator;
    if (!pieces.empty() && !communicator.broadcast(pieces.data(), int64_t(pieces.size()), rank)) {
      error = impl->broken = communicator.error();
      return false;
    }
    const char *next = pieces.data();
    forEachOwned(state, kind, ranks, rank, [&](int64_t element, int64_t count, int64_t) {
      toFloats(place.type, next, count, values + element);
      next += count * width;
    });
  }
  return true;
}

void Session::forEachOwnedPiece(const std::function<void(const StatePiece &)> &fn) const {
  constexpr StateKind kKinds[] = {StateKind::Param, StateKind::Master, StateKind::Moment1,
                                  StateKind::Moment2};
  for (const auto &rank : impl->ranks)
    for (const Bucket &bucket : impl->program.buckets)
      for (const Slot &slot : bucket.slots)
        for (StateKind kind : kKinds) {
          StateRef state = {&bucket, &slot};
          const StatePlace &place = state.place(kind);
          if (!place.present || (kind == StateKind::Param && state.hasMaster()))
            continue;
          int64_t number = rank->communicator->rank();
          forEachOwned(state, kind, impl->program.ranks, number,
                       [&](int64_t element, int64_t count, int64_t at) {
                         fn({number, slot.parameter, kind, element, count, place.type,
                             rank->place(place, at)});
                       });
        }
}

} // namespace zrt
