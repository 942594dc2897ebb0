//===- DropoutTest.cpp - one mask wherever a sample lies (N1, N2) -------------===//
//
// models/dropout.mlir trains on twelve rows a step, split over ranks and micro-steps:
// each row's masks are functions of seed, step and the row's number, so all ways give
// the curve of one rank, and of the f64 reference.
//
//===----------------------------------------------------------------------===//

#include "Cases.h"

#include "zero/Trainer/ReferenceRun.h"
#include "zero/Training/Safetensors.h"

#include <gtest/gtest.h>
#include <random>

using namespace zero;
using namespace zero::test;
using namespace zero::training;

namespace {

constexpr int64_t kRows = 12, kTokens = 7, kVocabulary = 37, kSteps = 6;

/// Random rows, with one label in eight ignored; every step the same ones where `repeat`.
std::string writeData(int64_t microSteps, bool repeat) {
  std::mt19937 random(11);
  std::vector<int32_t> tokens(kSteps * kRows * kTokens), labels(tokens.size());
  for (size_t i = 0; i < tokens.size(); ++i) {
    tokens[i] = static_cast<int32_t>(random() % kVocabulary);
    labels[i] = random() % 8 == 0 ? -100 : static_cast<int32_t>(random() % kVocabulary);
  }
  for (size_t i = kRows * kTokens; repeat && i < tokens.size(); ++i) {
    tokens[i] = tokens[i - kRows * kTokens];
    labels[i] = labels[i - kRows * kTokens];
  }
  std::string path = testing::TempDir() + "dropout-" + std::to_string(microSteps) +
                     (repeat ? "-repeat" : "") + ".safetensors";
  std::vector<int64_t> shape = {kSteps, microSteps, kRows / microSteps, kTokens};
  TensorSpec specs[] = {{"tokens", DType::I32, shape}, {"labels", DType::I32, shape}};
  auto fill = [&](size_t index, llvm::MutableArrayRef<uint8_t> bytes) {
    memcpy(bytes.data(), (index == 0 ? tokens : labels).data(), bytes.size());
    return llvm::Error::success();
  };
  llvm::cantFail(writeSafetensors(path, specs, fill));
  return path;
}

struct Way {
  int64_t ranks = 1, microSteps = 1, stage = 0, bucketBytes = 4096, threads = 1;
  bool clean = false, poison = false, repeat = false, reference = false;
  double lr = 3e-3;
  std::string dtype = "f32";
};

struct Curve {
  std::vector<double> losses;
  Weights weights;
};

Curve trainBy(const Way &way) {
  ModelOptions model;
  model.path = std::string(ZERO_TEST_DATA_DIR) + "/Integration/models/dropout.mlir";
  model.microBatch = kRows / (way.ranks * way.microSteps);
  TrainOptions options;
  options.compile.ranks = way.ranks;
  options.compile.microSteps = way.microSteps;
  options.compile.stage = way.stage;
  options.compile.bucketBytes = way.bucketBytes;
  options.compile.threadsPerRank = way.threads;
  options.compile.microBatch = model.microBatch;
  options.compile.clip = 1.0;
  options.compile.dtype = way.dtype;
  options.compile.clean = way.clean;
  options.poison = way.poison;
  options.seed = 5;
  options.schedule = {ScheduleKind::Constant, way.lr, 0, kSteps};
  options.data = writeData(way.microSteps, way.repeat);
  auto module = readModel(sharedCompiler(), model);
  if (!module) {
    ADD_FAILURE() << llvm::toString(module.takeError());
    return {};
  }
  std::unique_ptr<TrainingRun> run;
  auto take = [&](auto made) {
    if (made)
      run = std::move(*made);
    else
      ADD_FAILURE() << llvm::toString(made.takeError());
  };
  if (way.reference)
    take(ReferenceRun::create(sharedCompiler(), **module, options));
  else
    take(Trainer::create(sharedCompiler(), **module, options));
  Curve curve;
  for (int64_t step = 0; run && step < kSteps; ++step) {
    auto record = run->step();
    if (!record) {
      ADD_FAILURE() << llvm::toString(record.takeError());
      return {};
    }
    curve.losses.push_back(record->loss.value());
  }
  if (run)
    curve.weights = weightsOf(*run);
  return curve;
}

void expectNear(const Curve &curve, const Curve &truth) {
  ASSERT_EQ(curve.losses.size(), truth.losses.size());
  for (size_t i = 0; i < truth.losses.size(); ++i)
    EXPECT_NEAR(curve.losses[i], truth.losses[i], 1e-6) << "step " << i;
  EXPECT_LE(weightDistance(curve.weights, truth.weights), 3e-6);
}

void expectSame(const Curve &curve, const Curve &first) {
  EXPECT_EQ(curve.losses, first.losses);
  EXPECT_EQ(firstDifference(curve.weights, first.weights), "");
}

// Ways to split twelve rows against the reference's twelve micro-steps of one row.
TEST(Dropout, N2_AllSplitsFollowTheReference) {
  Curve truth = trainBy({.ranks = 1, .microSteps = 12, .reference = true});
  for (auto [ranks, microSteps] : {std::pair(1, 1), {1, 12}, {2, 3}, {3, 1}}) {
    SCOPED_TRACE(std::to_string(ranks) + " ranks, " + std::to_string(microSteps) + " micro-steps");
    expectNear(trainBy({.ranks = ranks, .microSteps = microSteps, .stage = ranks == 1 ? 0 : 3}),
               truth);
  }
}

// The reference numbers samples alike, however they are split.
TEST(Dropout, N2_TheReferenceAgreesWithItself) {
  Curve one = trainBy({.reference = true});
  for (auto [ranks, microSteps] : {std::pair(2, 3), {3, 1}})
    expectNear(trainBy({.ranks = ranks, .microSteps = microSteps, .reference = true}), one);
}

TEST(Dropout, N1_SameBitsAtAllStagesBucketsAndThreads) {
  Curve first = trainBy({.ranks = 3, .stage = 0});
  for (int64_t stage : {0, 1, 2, 3})
    for (int64_t bytes : {64, 1 << 30}) {
      SCOPED_TRACE("stage " + std::to_string(stage) + ", buckets of " + std::to_string(bytes));
      expectSame(trainBy({.ranks = 3, .stage = stage, .bucketBytes = bytes}), first);
    }
  expectSame(trainBy({.ranks = 3, .stage = 3, .threads = 2}), first);
  expectSame(trainBy({.ranks = 3, .stage = 2, .clean = true}), first);
  expectSame(trainBy({.ranks = 3, .stage = 3, .poison = true}), first);
}

// In bf16 the masks are the same, so the curves are near each other, and the bits do not depend on
// stages.
TEST(Dropout, N1_SameBitsIn16Bits) {
  Curve first = trainBy({.ranks = 2, .microSteps = 2, .stage = 2, .dtype = "bf16"});
  expectSame(trainBy({.ranks = 2, .microSteps = 2, .stage = 3, .dtype = "bf16"}), first);
  Curve wide = trainBy({.ranks = 2, .microSteps = 2, .stage = 2});
  ASSERT_EQ(first.losses.size(), wide.losses.size());
  for (size_t i = 0; i < wide.losses.size(); ++i)
    EXPECT_NEAR(first.losses[i], wide.losses[i], 2e-3 * wide.losses[i]) << "step " << i;
}

// With four micro-steps the key's four words are still one key, not one a run.
TEST(Dropout, N1_SameBitsInFourMicroSteps) {
  Curve first = trainBy({.ranks = 3, .microSteps = 4, .stage = 2});
  expectSame(trainBy({.ranks = 3, .microSteps = 4, .stage = 3}), first);
  expectSame(trainBy({.ranks = 3, .microSteps = 4, .stage = 3, .poison = true}), first);
}

// With no learning and the same rows at every step, the masks alone move the loss.
TEST(Dropout, MasksChangeWithStep) {
  Curve run = trainBy({.ranks = 2, .stage = 1, .repeat = true, .lr = 0.0});
  std::vector<double> losses = run.losses;
  std::sort(losses.begin(), losses.end());
  EXPECT_EQ(std::unique(losses.begin(), losses.end()), losses.end());
  expectSame(trainBy({.ranks = 2, .stage = 1, .repeat = true, .lr = 0.0}), run);
}

} // namespace
