//===- FailureTest.cpp - a step that can't be taken leaves the weights (F1) ---===//

#include "Cases.h"

#include <cmath>
#include <gtest/gtest.h>

using namespace zero;
using namespace zero::test;

namespace {

// Names the step, counted from 1, and a parameter; no weight has moved.
TEST(Failure, F1_NonFiniteStepIsNamedAndChangesNothing) {
  for (int64_t stage : {0, 1, 2, 3}) {
    SCOPED_TRACE(stage);
    std::string error;
    auto trainer = makeTrainer(goldenCase("tiny"), {.ranks = 3, .stage = stage}, error);
    ASSERT_TRUE(trainer) << error;
    ASSERT_FALSE(llvm::errorToBool(trainer->step().takeError()));
    std::vector<float> bias(6, 0.0f);
    bias[3] = NAN;
    ASSERT_TRUE(trainer->session().setParameter("fc.b", bias.data(), 6, error)) << error;
    Weights before = weightsOf(*trainer);
    auto record = trainer->step();
    ASSERT_FALSE(bool(record));
    std::string text = llvm::toString(record.takeError());
    EXPECT_NE(text.find("step 2 of 20"), std::string::npos) << text;
    EXPECT_NE(text.find("first of parameter '"), std::string::npos) << text;
    EXPECT_EQ(firstDifference(weightsOf(*trainer), before), "");
    EXPECT_EQ(trainer->stepsTaken(), 1);
  }
}

// A model at level A or X goes on where it is, to the same weights.
TEST(Failure, ModulesOfAnyLevelTrain) {
  const GoldenCase &golden = goldenCase("tiny");
  Weights first;
  for (Level level : {Level::Graph, Level::Joint, Level::Launches, Level::Sharded, Level::Scheduled,
                      Level::Arena, Level::Executable}) {
    SCOPED_TRACE(nameOf(level).str());
    auto module = readModel(sharedCompiler(), golden.model(3));
    ASSERT_TRUE(bool(module));
    TrainOptions options = golden.options;
    options.compile.ranks = 3;
    options.compile.stage = 3;
    options.compile.microBatch = 2;
    options.compile.until = level;
    ASSERT_TRUE(sharedCompiler().run(**module, options.compile))
        << sharedCompiler().takeDiagnostics();
    std::string text;
    llvm::raw_string_ostream os(text);
    (*module)->print(os);
    auto again = parseModel(text);
    ASSERT_TRUE(bool(again)) << llvm::toString(again.takeError());
    auto trainer = Trainer::create(sharedCompiler(), **again, options);
    ASSERT_TRUE(bool(trainer)) << llvm::toString(trainer.takeError());
    for (int step = 0; step < 3; ++step)
      ASSERT_FALSE(llvm::errorToBool((*trainer)->step().takeError()));
    Weights weights = weightsOf(**trainer);
    if (first.empty())
      first = weights;
    EXPECT_EQ(firstDifference(weights, first), "");
  }
}

} // namespace
