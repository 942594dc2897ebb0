#include "zero/Training/Schedule.h"
#include "TestFiles.h"

#include "llvm/Support/JSON.h"

namespace zero::training {
namespace {

TEST(Schedule, Kinds) {
  EXPECT_EQ(parseScheduleKind("constant"), ScheduleKind::Constant);
  EXPECT_EQ(parseScheduleKind("linear"), ScheduleKind::Linear);
  EXPECT_EQ(parseScheduleKind("cosine"), ScheduleKind::Cosine);
  EXPECT_EQ(parseScheduleKind("Cosine"), std::nullopt);
}

// Peak 8, four steps of warm-up: 8·1/4, 8·2/4, 8·3/4, 8·4/4; then 8.
TEST(Schedule, Constant) {
  Schedule schedule{ScheduleKind::Constant, 8.0, 4, 12};
  std::vector<double> rates;
  for (int64_t step = 0; step < 6; ++step)
    rates.push_back(schedule.rateAt(step));
  EXPECT_EQ(rates, (std::vector<double>{2, 4, 6, 8, 8, 8}));
  EXPECT_EQ(schedule.rateAt(1000), 8.0);
}

// The eight steps after warm-up lose 1 each: 8 at step 4, 7 at step 5, …, 1 at step 11, 0 at 12.
TEST(Schedule, Linear) {
  Schedule schedule{ScheduleKind::Linear, 8.0, 4, 12};
  EXPECT_EQ(schedule.rateAt(3), 8.0);
  EXPECT_EQ(schedule.rateAt(4), 8.0);
  EXPECT_EQ(schedule.rateAt(5), 7.0);
  EXPECT_EQ(schedule.rateAt(11), 1.0);
  EXPECT_EQ(schedule.rateAt(12), 0.0);
  EXPECT_EQ(schedule.rateAt(13), 0.0);
}

// Half-way, cos(pi/2) = 0 leaves half the peak; a quarter of the way, (1 + cos(pi/4))/2 =
// 0.85355339.
TEST(Schedule, Cosine) {
  Schedule schedule{ScheduleKind::Cosine, 8.0, 4, 12};
  EXPECT_EQ(schedule.rateAt(4), 8.0);
  EXPECT_NEAR(schedule.rateAt(6), 8.0 * 0.85355339, 1e-7);
  EXPECT_NEAR(schedule.rateAt(8), 4.0, 1e-15);
  EXPECT_EQ(schedule.rateAt(12), 0.0);
}

TEST(Schedule, NoWarmupAndNothingButWarmup) {
  EXPECT_EQ((Schedule{ScheduleKind::Cosine, 8.0, 0, 4}.rateAt(0)), 8.0);
  Schedule all{ScheduleKind::Linear, 8.0, 4, 4};
  EXPECT_EQ(all.rateAt(3), 8.0);
  EXPECT_EQ(all.rateAt(4), 0.0);
  EXPECT_EQ((Schedule{ScheduleKind::Cosine, 8.0, 16, 4}.rateAt(3)), 2.0);
}

// The recorded rates are f64 in full, so equality is to the last bit.
TEST(Schedule, EqualsTheGoldenRuns) {
  for (const char *name : {"tiny", "mlp", "gpt2", "gpt2-accum4"}) {
    std::string folder = std::string(ZERO_TEST_DATA_DIR "/Integration/golden/") + name;
    llvm::json::Value recipe = unwrap(llvm::json::parse(readAll(folder + "/training.json")));
    llvm::json::Value trace = unwrap(llvm::json::parse(readAll(folder + "/trace_f64.json")));
    const llvm::json::Object &object = *recipe.getAsObject();
    Schedule schedule{ScheduleKind::Cosine, *object.getNumber("lr"), *object.getInteger("warmup"),
                      *object.getInteger("steps")};
    ASSERT_EQ(static_cast<int64_t>(trace.getAsArray()->size()), schedule.totalSteps);
    for (const llvm::json::Value &row : *trace.getAsArray())
      EXPECT_EQ(schedule.rateAt(*row.getAsObject()->getInteger("step")),
                *row.getAsObject()->getNumber("lr"));
  }
}

} // namespace
} // namespace zero::training
