//===- CheckpointTest.cpp - runs that end and go on ---------------------------===//
//
// A run that was interrupted gives the bytes of one that was not (F2), and one that
// goes on at another stage, rank count, bucket size or type gives its curve (N2).
//
//===----------------------------------------------------------------------===//

#include "ExpectGolden.h"

#include "llvm/Support/FileSystem.h"

using namespace zero;
using namespace zero::test;
using training::StepRecord;

namespace {

/// A part of a run: from where the last one ended, if any, up to step `end`.
struct Part {
  Variant variant;
  int64_t end = 0;
};

class CheckpointRuns : public testing::Test {
protected:
  CheckpointRuns() { EXPECT_FALSE(llvm::sys::fs::createUniqueDirectory("zero-checkpoints", root)); }
  ~CheckpointRuns() override { llvm::sys::fs::remove_directories(root); }

  std::unique_ptr<Trainer> make(const GoldenCase &golden, Variant variant, std::string &error) {
    variant.checkpoints = {.folder = folder(), .keep = 1, .resume = "auto"};
    return makeTrainer(golden, variant, error);
  }

  /// Each part is a run of its own, which begins at the checkpoint that the one before left.
  Outcome trainInParts(const GoldenCase &golden, std::initializer_list<Part> parts) {
    Outcome outcome;
    for (const Part &part : parts) {
      std::unique_ptr<Trainer> trainer = make(golden, part.variant, outcome.error);
      if (!trainer)
        return outcome;
      EXPECT_EQ(trainer->stepsRun(), int64_t(outcome.records.size()));
      while (trainer->stepsRun() < part.end) {
        llvm::Expected<StepRecord> record = trainer->step();
        if (!record) {
          outcome.error = llvm::toString(record.takeError());
          return outcome;
        }
        outcome.records.push_back(*record);
      }
      if (llvm::Error error = trainer->writeCheckpoint())
        outcome.error = llvm::toString(std::move(error));
      outcome.weights = weightsOf(*trainer);
    }
    return outcome;
  }

  void expectSameInParts(const GoldenCase &golden, const Variant &variant,
                         std::initializer_list<Part> parts) {
    Variant whole = variant;
    whole.steps = std::prev(parts.end())->end;
    Outcome first = train(golden, whole), second = trainInParts(golden, parts);
    ASSERT_EQ(first.error + second.error, "");
    EXPECT_EQ(firstDifference(second.weights, first.weights), "");
    ASSERT_EQ(second.records.size(), first.records.size());
    for (size_t i = 0; i < first.records.size(); ++i) {
      EXPECT_EQ(second.records[i].loss, first.records[i].loss) << "step " << i;
      EXPECT_EQ(second.records[i].gradNorm, first.records[i].gradNorm) << "step " << i;
      EXPECT_EQ(second.records[i].lr, first.records[i].lr) << "step " << i;
      EXPECT_EQ(second.records[i].lossScale, first.records[i].lossScale) << "step " << i;
    }
    startOver();
  }

  std::string folder() const { return (root + "/D").str(); }
  void startOver() { llvm::sys::fs::remove_directories(folder()); }

  llvm::SmallString<128> root;
};

TEST_F(CheckpointRuns, N2_Gpt2GoesOnAtOtherStagesAndRanks) {
  const GoldenCase &golden = goldenCase("gpt2");
  Outcome outcome = trainInParts(
      golden, {{{.ranks = 4, .stage = 3}, 13}, {{.ranks = 3, .stage = 1}, 27}, {{}, golden.steps}});
  ASSERT_EQ(outcome.error, "");
  ASSERT_EQ(outcome.records.size(), golden.truth.size());
  for (size_t i = 0; i < golden.truth.size(); ++i) {
    const TruthStep &truth = golden.truth[i];
    EXPECT_NEAR(outcome.records[i].loss.value(), truth.loss, 1e-6 * truth.loss) << "step " << i;
    EXPECT_NEAR(outcome.records[i].gradNorm.value(), truth.gradNorm, 3e-6 * truth.gradNorm)
        << "step " << i;
    EXPECT_NEAR(outcome.records[i].lr, truth.lr, 1e-15) << "step " << i;
  }
  EXPECT_LE(weightDistance(outcome.weights, golden.final), 3e-6);
}

TEST_F(CheckpointRuns, F2_AnInterruptedRunGivesTheSameBytes) {
  for (int64_t ranks : {1, 2, 3})
    for (int64_t stage : {0, 1, 2, 3}) {
      SCOPED_TRACE("tiny at " + std::to_string(ranks) + " ranks, stage " + std::to_string(stage));
      Variant variant{.ranks = ranks, .stage = stage, .bucketBytes = 64, .poison = true};
      expectSameInParts(goldenCase("tiny"), variant, {{variant, 1}, {variant, 4}, {variant, 8}});
    }
}

// Some of the 24 ranks own nothing of a parameter, and the model has frozen and unused ones.
TEST_F(CheckpointRuns, F2_ManyRanks) {
  Variant variant{.ranks = 24, .stage = 3, .bucketBytes = 64};
  expectSameInParts(goldenCase("mlp"), variant, {{variant, 3}, {variant, 6}});
}

// With one micro-step all stages and bucket sizes give the same bytes (N1), also in turns.
TEST_F(CheckpointRuns, N1_StagesAndBucketsInTurns) {
  Variant whole{.ranks = 3, .stage = 0};
  expectSameInParts(goldenCase("gpt2"), whole,
                    {{{.ranks = 3, .stage = 3, .bucketBytes = 64}, 2},
                     {{.ranks = 3, .stage = 0, .bucketBytes = 1 << 20}, 3},
                     {{.ranks = 3, .stage = 2, .bucketBytes = 4096}, 5},
                     {{.ranks = 3, .stage = 1, .bucketBytes = 1 << 30}, 6}});
}

TEST_F(CheckpointRuns, F2_Bf16GivesTheSameBytes) {
  for (int64_t stage : {0, 3}) {
    Variant variant{.ranks = 2, .stage = stage};
    expectSameInParts(goldenCase("gpt2-bf16"), variant, {{variant, 3}, {variant, 6}});
  }
}

// The scale begins at 2^22, is halved at overflows and doubled after eight good steps: its state
// goes with the checkpoint, and a skipped step counts as run, not as taken.
TEST_F(CheckpointRuns, F2_F16GivesTheSameBytesAndScales) {
  const GoldenCase &golden = goldenCase("gpt2-f16");
  Variant variant{.ranks = 2, .stage = 3};
  Outcome whole = train(golden, variant);
  ASSERT_EQ(whole.error, "");
  int64_t skipped = llvm::count_if(whole.records, [](const StepRecord &r) { return r.skipped; });
  EXPECT_GT(skipped, 0);
  expectSameInParts(golden, variant,
                    {{variant, 1}, {variant, 3}, {variant, 11}, {variant, 20}, {variant, 30}});
}

// Masters become f32 weights and back, and moments stay, to the bit.
TEST_F(CheckpointRuns, TypesChangeThroughMasters) {
  const GoldenCase &golden = goldenCase("gpt2-bf16");
  Variant bf16{.ranks = 2, .stage = 3}, f32{.ranks = 3, .stage = 1, .dtype = "f32"};
  Outcome before = trainInParts(golden, {{bf16, 4}});
  ASSERT_EQ(before.error, "");
  auto momentsOf = [&](const Variant &variant) {
    std::string error;
    std::unique_ptr<Trainer> trainer = make(golden, variant, error);
    EXPECT_EQ(error, "");
    EXPECT_EQ(trainer->stepsRun(), 4);
    EXPECT_EQ(firstDifference(weightsOf(*trainer), before.weights), "");
    Weights moments;
    for (const training::ParameterSpec &spec : trainer->parameters())
      for (zrt::StateKind kind : {zrt::StateKind::Moment1, zrt::StateKind::Moment2}) {
        std::vector<float> &values = moments[spec.name + std::string(zrt::name(kind))];
        values.resize(before.weights[spec.name].size());
        EXPECT_TRUE(trainer->session().getParameter(spec.name, values.data(),
                                                    int64_t(values.size()), error, kind))
            << error;
      }
    return moments;
  };
  Weights moments = momentsOf(bf16);
  EXPECT_EQ(firstDifference(momentsOf(f32), moments), "");
  startOver();
  // The other way: a checkpoint of f32 gives masters.
  before = trainInParts(golden, {{f32, 4}});
  ASSERT_EQ(before.error, "");
  moments = momentsOf(f32);
  EXPECT_EQ(firstDifference(momentsOf(bf16), moments), "");
}

//===-- What is refused ---------------------------------------------------===//

class CheckpointRefusals : public CheckpointRuns {
protected:
  void SetUp() override {
    Outcome outcome = trainInParts(goldenCase("tiny"), {{{.ranks = 2, .stage = 3}, 2}});
    ASSERT_EQ(outcome.error, "");
  }
  std::string step2() const { return folder() + "/step-00000002"; }
  std::string failure(const GoldenCase &golden, const Variant &variant) {
    std::string error;
    EXPECT_EQ(make(golden, variant, error), nullptr);
    return error;
  }
};

TEST_F(CheckpointRefusals, AnotherModel) {
  EXPECT_EQ(failure(goldenCase("mlp"), {}),
            step2() + ": error: expects a checkpoint of this model, got one without parameter "
                      "'frozen.bias'");
}

// Six rows and two micro-steps a step: four ranks of one row would make eight.
TEST_F(CheckpointRefusals, AnotherGlobalBatch) {
  GoldenCase golden = goldenCase("tiny");
  golden.globalBatch = 4;
  EXPECT_EQ(failure(golden, {.ranks = 4}),
            step2() +
                ": error: expects the 12 samples a step of the checkpoint, got 8 (4 ranks x 2 "
                "micro-steps x 1 rows)");
}

TEST_F(CheckpointRefusals, AnotherOptimizer) {
  GoldenCase golden = goldenCase("tiny");
  golden.options.compile.optimizer = "adam";
  EXPECT_EQ(failure(golden, {}),
            step2() + ": error: expects the optimizer of the checkpoint, adamw, got adam");
}

TEST_F(CheckpointRefusals, AnotherSeed) {
  GoldenCase golden = goldenCase("tiny");
  golden.options.seed = 5;
  golden.options.seedIsGiven = true;
  EXPECT_EQ(failure(golden, {}),
            step2() + ": error: expects --seed to be absent, or the checkpoint's 0, got 5");
}

TEST_F(CheckpointRefusals, FewerStepsThanItHas) {
  GoldenCase golden = goldenCase("tiny");
  golden.options.steps = 1;
  EXPECT_EQ(failure(golden, {}), step2() + ": error: expects at least the 2 steps of the "
                                           "checkpoint, got 1 (--steps, or the data)");
}

TEST_F(CheckpointRefusals, TwoRunsAtOnce) {
  std::string error;
  std::unique_ptr<Trainer> first = make(goldenCase("tiny"), {}, error);
  ASSERT_EQ(error, "");
  EXPECT_TRUE(llvm::StringRef(failure(goldenCase("tiny"), {}))
                  .starts_with(folder() + ": error: expects a checkpoint folder for one run at a "
                                          "time, got one that process "));
}

TEST_F(CheckpointRefusals, TwoHistoriesInOneFolder) {
  std::string error, only = folder() +
                            ": error: expects --resume auto (or one of the checkpoints there, the "
                            "newest of which is " +
                            step2() + "), or a folder without, got ";
  Variant variant;
  variant.checkpoints = {.folder = folder()};
  EXPECT_EQ(makeTrainer(goldenCase("tiny"), variant, error), nullptr);
  EXPECT_EQ(error, only + "a new run");
  // Elsewhere, the older one may be gone on from.
  variant.checkpoints = {.folder = folder() + "2", .resume = step2()};
  std::unique_ptr<Trainer> other = makeTrainer(goldenCase("tiny"), variant, error = "");
  ASSERT_EQ(error, "");
  EXPECT_EQ(other->stepsRun(), 2);
  ASSERT_FALSE(bool(other->step().takeError()));
  ASSERT_FALSE(bool(other->writeCheckpoint()));
  other.reset();
  variant.checkpoints.folder = folder() + "2";
  EXPECT_EQ(makeTrainer(goldenCase("tiny"), variant, error), nullptr);
  EXPECT_EQ(error, folder() +
                       "2: error: expects --resume auto (or one of the checkpoints there, the "
                       "newest of which is " +
                       folder() + "2/step-00000003), or a folder without, got --resume " + step2());
}

} // namespace
