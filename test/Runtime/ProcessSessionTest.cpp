//===- ProcessSessionTest.cpp - one rank a session -------------------------===//
//
// As processes hold them, each session has one rank and a communicator that was
// given; here each runs on a thread of its own.
//
//===----------------------------------------------------------------------===//

#include "TinySession.h"

#include <gtest/gtest.h>
#include <thread>

using namespace zrt;
using namespace zrt::test;

namespace {

/// fn(communicator of the rank) on one thread a rank.
template <typename Fn> void onAllRanks(int64_t ranks, Fn &&fn) {
  std::vector<std::shared_ptr<Communicator>> communicators;
  for (auto &communicator : createInProcessCommunicators(ranks, false))
    communicators.push_back(std::move(communicator));
  std::vector<std::thread> threads;
  for (auto &communicator : communicators)
    threads.emplace_back([&fn, communicator] { fn(communicator); });
  for (std::thread &thread : threads)
    thread.join();
}

TEST(ProcessSession, N1_TrainsToTheSameBytes) {
  for (ElementType type : {ElementType::f32, ElementType::bf16})
    for (int64_t ranks : {1, 2, 3})
      for (int64_t stage : {0, 1, 2, 3}) {
        TinyOptions options{.ranks = ranks,
                            .stage = stage,
                            .microSteps = 2,
                            .optimizer = kAdamW,
                            .type = type,
                            .evaluates = true};
        auto together = start(options);
        together->initialize(9);
        TinyBatch batch(options);
        batch.fill(1);
        StepResult expected;
        EvalResult expectedEval;
        std::string error;
        for (int step = 0; step < 3; ++step)
          ASSERT_TRUE(together->step(batch.input(0.1, step), expected, error)) << error;
        ASSERT_TRUE(together->evaluate(batch.evaluation(), expectedEval, error)) << error;
        std::vector<float> w = state(*together, "w", kFeatures);
        std::vector<float> moments = state(*together, "w", kFeatures, StateKind::Moment2);
        std::vector<float> gradients = state(*together, "w", kFeatures, StateKind::GradAccum);

        onAllRanks(ranks, [&](const std::shared_ptr<Communicator> &communicator) {
          int64_t rank = communicator->rank();
          auto session = start(options, {.communicator = communicator});
          ASSERT_TRUE(session);
          EXPECT_EQ(session->localRanks().first, rank);
          EXPECT_EQ(session->localRanks().count, 1);
          session->initialize(9);
          TinyBatch own = batch;
          StepResult result;
          EvalResult eval;
          std::string fault;
          for (int step = 0; step < 3; ++step)
            ASSERT_TRUE(session->step(own.input(0.1, step), result, fault)) << fault;
          EXPECT_EQ(result.loss, expected.loss);
          EXPECT_EQ(result.gradNorm, expected.gradNorm);
          EXPECT_EQ(result.labelCount, expected.labelCount);
          ASSERT_TRUE(session->evaluate(own.evaluation(), eval, fault)) << fault;
          EXPECT_EQ(eval.lossSum, expectedEval.lossSum);
          EXPECT_EQ(eval.labelCount, expectedEval.labelCount);
          // Every process gets the whole, also where it holds a piece.
          EXPECT_EQ(state(*session, "w", kFeatures), w);
          EXPECT_EQ(state(*session, "w", kFeatures, StateKind::Moment2), moments);
          EXPECT_EQ(state(*session, "w", kFeatures, StateKind::GradAccum), gradients);
          EXPECT_EQ(session->traffic().allGatherElements, together->traffic().allGatherElements);
          EXPECT_EQ(session->traffic(rank).controlBytes, together->traffic(rank).controlBytes);
          EXPECT_EQ(session->arena(rank + 1), nullptr);
          EXPECT_EQ(session->traffic(rank + 1).controlBytes, 0);
        });
      }
}

TEST(ProcessSession, WeightsGoInAndPiecesOutWithoutOthers) {
  onAllRanks(3, [](const std::shared_ptr<Communicator> &communicator) {
    auto session = start({.ranks = 3, .stage = 3, .chunk = 3, .type = ElementType::bf16},
                         {.communicator = communicator});
    ASSERT_TRUE(session);
    // Chunks of 3, a piece of one element each: w has 5, rank 2 owns the third of them alone.
    std::vector<float> values = {1, 2, 3, 4, 5};
    std::string error;
    ASSERT_TRUE(session->setParameter("w", values.data(), 5, error)) << error;
    std::vector<int64_t> begins;
    session->forEachOwnedPiece([&](const StatePiece &piece) {
      EXPECT_EQ(piece.rank, communicator->rank());
      if (piece.parameter == "w" && piece.kind == StateKind::Master) {
        EXPECT_EQ(*static_cast<const float *>(piece.data), float(piece.beginElement + 1));
        begins.push_back(piece.beginElement);
      }
    });
    const std::vector<int64_t> expected[] = {{0, 3}, {1, 4}, {2}};
    EXPECT_EQ(begins, expected[communicator->rank()]);
  });
}

TEST(ProcessSession, S3_RanksWithOtherProgramsDoNotStart) {
  onAllRanks(3, [](const std::shared_ptr<Communicator> &communicator) {
    TinyOptions options{.ranks = 3, .stage = 3};
    Program program = tinyProgram(options);
    if (communicator->rank() == 2)
      program.optimizer.eps = 1e-7;
    std::string error;
    EXPECT_FALSE(Session::create(program, tinyKernels(), {.communicator = communicator}, error));
    EXPECT_EQ(error, "rank 2: expects the program of rank 0, got another");
  });
}

TEST(ProcessSession, F2_ARankThatCannotStartEndsTheOthers) {
  onAllRanks(3, [](const std::shared_ptr<Communicator> &communicator) {
    TinyOptions options{.ranks = 3, .stage = 3};
    bool lacks = communicator->rank() == 1;
    std::string error;
    EXPECT_FALSE(Session::create(tinyProgram(options),
                                 lacks ? std::vector<GeneratedKernel>() : tinyKernels(),
                                 {.communicator = communicator}, error));
    EXPECT_EQ(error, lacks ? "kernel 'regression': expects one of 0 generated kernels"
                           : "rank 1: expects to start, got a failure there");
  });
}

TEST(ProcessSession, RanksThatAreNotTheProgramsAreNamed) {
  onAllRanks(2, [](const std::shared_ptr<Communicator> &communicator) {
    std::string error;
    EXPECT_FALSE(Session::create(tinyProgram({.ranks = 3}), tinyKernels(),
                                 {.communicator = communicator}, error));
    EXPECT_EQ(error, "expects a program of 2 ranks, got one of 3");
  });
}

TEST(ProcessSession, F2_AnAbortEndsAllWithItsCause) {
  onAllRanks(2, [](const std::shared_ptr<Communicator> &communicator) {
    TinyOptions options{.ranks = 2, .stage = 3};
    auto session = start(options, {.communicator = communicator});
    ASSERT_TRUE(session);
    session->initialize(1);
    // Rank 1 has met every rank before it aborts; another may hear of the abort still in there.
    bool met = communicator->barrier();
    ASSERT_TRUE(met || communicator->rank() != 1);
    if (communicator->rank() == 1)
      communicator->abort("rank 1: expects luck, got none");
    TinyBatch batch(options);
    StepResult result;
    std::string error;
    EXPECT_FALSE(session->step(batch.input(0.1, 0), result, error));
    EXPECT_EQ(error, "rank 1: expects luck, got none");
    std::vector<float> w(kFeatures);
    EXPECT_FALSE(session->getParameter("w", w.data(), kFeatures, error));
    EXPECT_EQ(error, "rank 1: expects luck, got none");
  });
}

} // namespace
