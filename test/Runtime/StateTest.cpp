//===- StateTest.cpp - weights, masters and moments, in and out -----------===//

#include "TinySession.h"
#include "zero/Runtime/HalfFloat.h"

#include <gtest/gtest.h>
#include <map>

using namespace zrt;
using namespace zrt::test;

namespace {

/// 1 + 2^-9 lies between 1 and 1 + 2^-7 in bf16, nearer to 1; 3 is exact.
const std::vector<float> kValues = {1 + 0x1p-9f, 3, -(1 + 0x1p-9f), 0.5f, 256 + 0x1p-3f};
const std::vector<float> kRounded = {1, 3, -1, 0.5f, 256};

std::vector<float> weights(Session &session) {
  std::vector<char> bytes = stored(session, "w", StateKind::Param);
  std::vector<float> values(bytes.size() / 2);
  toFloats(ElementType::bf16, bytes.data(), int64_t(values.size()), values.data());
  return values;
}

TEST(State, WeightsAndMastersGoInTogether) {
  for (int64_t ranks : {1, 2, 3})
    for (int64_t stage : {0, 1, 2, 3})
      for (StateKind kind : {StateKind::Param, StateKind::Master}) {
        auto session =
            start({.ranks = ranks, .stage = stage, .chunk = ranks, .type = ElementType::bf16});
        std::string error;
        ASSERT_TRUE(session->setParameter("w", kValues.data(), 5, error, kind)) << error;
        EXPECT_EQ(state(*session, "w", 5), kValues);
        EXPECT_EQ(state(*session, "w", 5, StateKind::Master), kValues);
        EXPECT_EQ(weights(*session), kRounded);
      }
}

TEST(State, GradientsGoInRounded) {
  auto session = start({.ranks = 2, .stage = 2, .type = ElementType::bf16});
  std::string error;
  ASSERT_TRUE(session->setParameter("w", kValues.data(), 5, error, StateKind::GradAccum)) << error;
  EXPECT_EQ(state(*session, "w", 5, StateKind::GradAccum), kRounded);
}

TEST(State, RangesMeetWhateverIsHeld) {
  // Elements 1 to 3 of five, then the rest, in two calls.
  for (int64_t ranks : {1, 2, 3})
    for (int64_t stage : {0, 1, 2, 3}) {
      auto session =
          start({.ranks = ranks, .stage = stage, .chunk = ranks, .type = ElementType::bf16});
      session->initialize(1);
      std::vector<float> expected = state(*session, "w", 5);
      std::string error;
      ASSERT_TRUE(session->setStateRange("w", StateKind::Master, 1, 3, &kValues[1], error))
          << error;
      std::copy_n(&kValues[1], 3, &expected[1]);
      EXPECT_EQ(state(*session, "w", 5), expected);
      ASSERT_TRUE(session->setStateRange("w", StateKind::Master, 0, 1, &kValues[0], error));
      ASSERT_TRUE(session->setStateRange("w", StateKind::Master, 4, 1, &kValues[4], error));
      EXPECT_EQ(state(*session, "w", 5), kValues);
      EXPECT_EQ(weights(*session), kRounded);
      ASSERT_TRUE(session->setStateRange("w", StateKind::Moment2, 2, 3, &kValues[2], error));
      EXPECT_EQ(state(*session, "w", 5, StateKind::Moment2),
                (std::vector<float>{0, 0, kValues[2], kValues[3], kValues[4]}));
      EXPECT_TRUE(session->setStateRange("w", StateKind::Master, 5, 0, nullptr, error));
    }
}

TEST(State, RangesThatDoNotFitAreNamed) {
  auto session = start({.ranks = 2, .stage = 3, .type = ElementType::f16});
  auto plain = start({.ranks = 2, .stage = 3});
  std::string error;
  auto rejected = [&](Session &in, std::string_view name, StateKind kind, int64_t begin,
                      int64_t count) {
    return in.setStateRange(name, kind, begin, count, kValues.data(), error) ? "accepted" : error;
  };
  EXPECT_EQ(rejected(*session, "w", StateKind::Param, 0, 5),
            "parameter 'w': expects its master, which rounds to its weights, got param");
  EXPECT_EQ(rejected(*session, "w", StateKind::Master, 2, 4),
            "parameter 'w': expects a range within 5 elements, got 4 at 2");
  EXPECT_EQ(rejected(*session, "w", StateKind::Master, INT64_MAX, 2),
            "parameter 'w': expects a range within 5 elements, got 2 at 9223372036854775807");
  EXPECT_EQ(rejected(*session, "w", StateKind::Master, -1, 2),
            "parameter 'w': expects a range within 5 elements, got 2 at -1");
  EXPECT_EQ(rejected(*session, "v", StateKind::Master, 0, 1),
            "expects the name of a parameter, got 'v'");
  EXPECT_EQ(rejected(*plain, "w", StateKind::Master, 0, 1),
            "parameter 'w': expects a state that it has, got master");
  EXPECT_EQ(rejected(*plain, "w", StateKind::Param, 0, 5), "accepted");
}

TEST(State, PiecesHoldEachElementOnce) {
  for (ElementType type : {ElementType::f32, ElementType::bf16})
    for (int64_t ranks : {1, 2, 3, 5})
      for (int64_t stage : {0, 1, 2, 3}) {
        auto session = start({.ranks = ranks, .stage = stage, .chunk = 2 * ranks, .type = type});
        session->initialize(3);
        StateKind weightKind = type == ElementType::f32 ? StateKind::Param : StateKind::Master;
        std::map<std::pair<std::string, StateKind>, std::vector<float>> found;
        std::map<std::pair<std::string, StateKind>, int64_t> elements;
        BucketLayout layout(session->program().buckets[0], ranks);
        session->forEachOwnedPiece([&](const StatePiece &piece) {
          auto key = std::pair(std::string(piece.parameter), piece.kind);
          std::vector<float> &values = found[key];
          values.resize(piece.parameter == "w" ? 5 : 1);
          EXPECT_EQ(piece.type, ElementType::f32);
          std::copy_n(static_cast<const float *>(piece.data), piece.count,
                      values.begin() + piece.beginElement);
          elements[key] += piece.count;
          if (piece.parameter == "w") {
            EXPECT_EQ(layout.ownedElements(piece.rank, piece.beginElement,
                                           piece.beginElement + piece.count),
                      piece.count); // w stands at the begin of its bucket
          }
        });
        EXPECT_EQ(found.size(), 6u); // weights and two moments of w and of b
        for (auto &[key, values] : found) {
          EXPECT_EQ(elements[key], int64_t(values.size()));
          EXPECT_EQ(values, state(*session, key.first.c_str(), int64_t(values.size()), key.second));
        }
        EXPECT_TRUE(found.count({"w", weightKind}));
      }
}

} // namespace
