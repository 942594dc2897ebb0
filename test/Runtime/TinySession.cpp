//===- TinySession.cpp - sessions of the hand-written program -------------===//

#include "TinySession.h"

#include <gtest/gtest.h>

namespace zrt::test {

std::unique_ptr<Session> start(const TinyOptions &options, SessionOptions session) {
  std::string error;
  auto made =
      Session::create(tinyProgram(options), tinyKernels(options), std::move(session), error);
  EXPECT_TRUE(made) << error;
  return made;
}

std::vector<float> state(const Session &session, const char *name, int64_t elements,
                         StateKind kind) {
  std::vector<float> values(static_cast<size_t>(elements));
  std::string error;
  EXPECT_TRUE(session.getParameter(name, values.data(), elements, error, kind)) << error;
  return values;
}

std::vector<char> stored(Session &session, std::string_view name, StateKind kind) {
  std::vector<char> bytes;
  const Bucket &bucket = session.program().buckets[0];
  const StatePlace &place = bucket.state[int(kind)];
  int64_t width = elementBytes(place.type);
  for (const Slot &slot : bucket.slots) {
    if (slot.parameter != name)
      continue;
    bytes.resize(size_t(slot.elements * width));
    for (int64_t rank = 0; rank < session.program().ranks; ++rank)
      BucketLayout(bucket, session.program().ranks)
          .forEachOwned(
              rank, slot.beginElement, slot.beginElement + slot.elements, [&](const Piece &piece) {
                const char *from = session.arena(rank) + place.offset +
                                   (place.sharded ? piece.shardBegin : piece.begin) * width;
                std::copy_n(from, piece.count * width,
                            &bytes[size_t((piece.begin - slot.beginElement) * width)]);
              });
  }
  return bytes;
}

std::vector<char> everyByte(Session &session) {
  std::vector<char> bytes;
  const Bucket &bucket = session.program().buckets[0];
  BucketLayout layout(bucket, session.program().ranks);
  RankRange local = session.localRanks();
  for (int64_t rank = local.first; rank < local.first + local.count; ++rank)
    for (StateKind kind :
         {StateKind::Param, StateKind::Master, StateKind::Moment1, StateKind::Moment2}) {
      const StatePlace &place = bucket.state[int(kind)];
      if (!place.present)
        continue;
      int64_t width = elementBytes(place.type);
      auto add = [&](int64_t element, int64_t count) {
        const char *from = session.arena(rank) + place.offset + element * width;
        bytes.insert(bytes.end(), from, from + count * width);
      };
      for (const Slot &slot : bucket.slots)
        if (!place.sharded)
          add(slot.beginElement, slot.elements);
        else
          layout.forEachOwned(rank, slot.beginElement, slot.beginElement + slot.elements,
                              [&](const Piece &piece) { add(piece.shardBegin, piece.count); });
    }
  return bytes;
}

Trace train(const TinyOptions &options, int steps, SessionOptions session, double lossScale) {
  auto made = start(options, std::move(session));
  made->initialize(11);
  Trace trace;
  for (int step = 0; step < steps; ++step) {
    TinyBatch batch(options);
    batch.fill(uint32_t(step));
    StepInput input = batch.input(0.05, step);
    input.lossScale = lossScale;
    StepResult result;
    std::string error;
    EXPECT_TRUE(made->step(input, result, error)) << error;
    EXPECT_TRUE(result.finite);
    trace.losses.push_back(result.loss);
    trace.norms.push_back(result.gradNorm);
  }
  trace.w = state(*made, "w", kFeatures);
  trace.b = state(*made, "b", 1);
  trace.moments = state(*made, "w", kFeatures, StateKind::Moment1);
  for (const char *name : {"w", "b"})
    for (char byte : stored(*made, name, StateKind::Param))
      trace.weights.push_back(byte);
  return trace;
}

} // namespace zrt::test
