#include "zero/Training/Schedule.h"
#include "TestFiles.h"

#include "llvm/Support/JSON.h"

namespace zero::training {
namespace {

TEST(Schedule, Kinds) {
  EXPECT_EQ(parseScheduleKind("constant"), ScheduleKind::Constant);
  EXPECT_EQ(parseScheduleKind("linear"), ScheduleKind::Linear);
  EXPECT_EQ(parseScheduleKind("cosine"), ScheduleKind::Cosine);
  EXPECT_EQ(parseScheduleKind("inverse-sqrt"), ScheduleKind::InverseSqrt);
  EXPECT_EQ(parseScheduleKind("Cosine"), std::nullopt);
  for (ScheduleKind kind : {ScheduleKind::Constant, ScheduleKind::Linear, ScheduleKind::Cosine,
                            ScheduleKind::InverseSqrt})
    EXPECT_EQ(parseScheduleKind(name(kind)), kind);
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

// Peak 8, floor 4: the line loses half of the 8 steps' 1 each; the cosine lies half-way between
// both at half the way. Neither begins its warm-up at the floor.
TEST(Schedule, Floor) {
  Schedule schedule{ScheduleKind::Linear, 8.0, 4, 12, 4.0};
  EXPECT_EQ(schedule.rateAt(0), 2.0);
  EXPECT_EQ(schedule.rateAt(4), 8.0);
  EXPECT_EQ(schedule.rateAt(5), 7.5);
  EXPECT_EQ(schedule.rateAt(11), 4.5);
  EXPECT_EQ(schedule.rateAt(12), 4.0);
  schedule.kind = ScheduleKind::Cosine;
  EXPECT_EQ(schedule.rateAt(4), 8.0);
  EXPECT_NEAR(schedule.rateAt(8), 6.0, 1e-15);
  EXPECT_EQ(schedule.rateAt(12), 4.0);
  EXPECT_EQ(schedule.rateAt(1000), 4.0);
}

// Step s counts from 1: four of warm-up, then 8·√(4/s): 16 ÷ √5 at s = 5, 4 at s = 16, 2 at s = 64,
// and no less than the floor. The number of steps doesn't matter.
TEST(Schedule, InverseSqrt) {
  Schedule schedule{ScheduleKind::InverseSqrt, 8.0, 4, 12, 1.5};
  EXPECT_EQ(schedule.rateAt(2), 6.0);
  EXPECT_EQ(schedule.rateAt(3), 8.0);
  EXPECT_NEAR(schedule.rateAt(4), 7.15541753, 1e-8);
  EXPECT_EQ(schedule.rateAt(15), 4.0);
  EXPECT_EQ(schedule.rateAt(63), 2.0);
  EXPECT_EQ(schedule.rateAt(1000), 1.5);
  schedule.warmup = 0;
  EXPECT_EQ(schedule.rateAt(0), 8.0);
  EXPECT_EQ(schedule.rateAt(3), 4.0);
}

std::vector<double> ratesOf(const Schedule &schedule, int64_t count) {
  std::vector<double> rates;
  for (int64_t step = 0; step < count; ++step)
    rates.push_back(schedule.rateAt(step));
  return rates;
}

// warmup_min_lr 2, warmup_max_lr 10, warmup_num_steps 4: the scheduler's own count lags by one, and
// a quarter of 8 is gained a step.
TEST(Schedule, DeepSpeedWarmupLR) {
  Schedule schedule{.kind = ScheduleKind::Constant,
                    .peak = 10.0,
                    .warmup = 4,
                    .warmupKind = WarmupKind::DeepSpeedLinear,
                    .start = 2.0};
  EXPECT_EQ(ratesOf(schedule, 7), (std::vector<double>{2, 2, 4, 6, 8, 10, 10}));
  // log 1, log 2, log 3 and log 4, each over log 4: 0, 1/2, 0.79248125, 1.
  schedule.warmupKind = WarmupKind::DeepSpeedLog;
  EXPECT_EQ(schedule.rateAt(0), 2.0);
  EXPECT_EQ(schedule.rateAt(1), 2.0);
  EXPECT_EQ(schedule.rateAt(2), 6.0);
  EXPECT_NEAR(schedule.rateAt(3), 8.33985000, 1e-8);
  EXPECT_EQ(schedule.rateAt(4), 10.0);
  // Fewer steps than two are taken for two.
  schedule.warmup = 0;
  EXPECT_EQ(ratesOf(schedule, 5), (std::vector<double>{2, 2, 10, 10, 10}));
}

// Behind the warm-up of 4, of total_num_steps 8 are left 8 − 4, 8 − 5, …, each over 4.
TEST(Schedule, DeepSpeedWarmupDecayLR) {
  Schedule schedule{.kind = ScheduleKind::Linear,
                    .peak = 10.0,
                    .warmup = 4,
                    .totalSteps = 8,
                    .floor = 2.0,
                    .warmupKind = WarmupKind::DeepSpeedLinear,
                    .start = 2.0};
  EXPECT_EQ(ratesOf(schedule, 11), (std::vector<double>{2, 2, 4, 6, 8, 10, 8, 6, 4, 2, 2}));
}

// lr 8, warmup_min_ratio 1/4, cos_min_ratio 1/2, warm-up of 2 and 6 in all. Steps 3 to 6 are at
// 1/4, 2/4, 3/4 and 4/4 of the cosine from 8 to 4: 4 + 4·0.85355339, 6, 4 + 4·0.14644661, 4.
TEST(Schedule, DeepSpeedWarmupCosineLR) {
  Schedule schedule{.kind = ScheduleKind::Cosine,
                    .peak = 8.0,
                    .warmup = 2,
                    .totalSteps = 6,
                    .floor = 4.0,
                    .warmupKind = WarmupKind::DeepSpeedLinear,
                    .start = 2.0};
  EXPECT_EQ(schedule.rateAt(0), 0.0);
  EXPECT_EQ(schedule.rateAt(1), 2.0);
  EXPECT_EQ(schedule.rateAt(2), 5.0);
  EXPECT_NEAR(schedule.rateAt(3), 7.41421356, 1e-8);
  EXPECT_NEAR(schedule.rateAt(4), 6.0, 1e-12);
  EXPECT_NEAR(schedule.rateAt(5), 4.58578644, 1e-8);
  EXPECT_NEAR(schedule.rateAt(6), 4.0, 1e-12);
  EXPECT_EQ(schedule.rateAt(100), 4.0);
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
