#include "zero/Training/Log.h"
#include "Allocations.h"
#include "TestFiles.h"

#include "llvm/Support/JSON.h"

#include <charconv>
#include <cmath>
#include <random>
#include <unistd.h>

namespace zero::training {
namespace {

std::string text(const StepRecord &record) {
  llvm::SmallString<512> out;
  formatRecord(record, out);
  return out.str().str();
}

TEST(Log, OneObjectAStep) {
  StepRecord record{3, 2.5, 0.003, 0.1, 1.0, false, 0.25, 4096.0};
  EXPECT_EQ(text(record),
            R"({"step":3,"loss":2.5,"lr":0.003,"grad_norm":0.1,"loss_scale":1,"skipped":false,)"
            R"("seconds":0.25,"tokens_per_second":4096})");
}

TEST(Log, WhatDoesNotExistIsNull) {
  StepRecord record;
  record.loss = std::nan("");
  record.gradNorm = HUGE_VAL;
  record.skipped = true;
  EXPECT_EQ(text(record),
            R"({"step":0,"loss":null,"lr":0,"grad_norm":null,"loss_scale":1,"skipped":true,)"
            R"("seconds":0,"tokens_per_second":null})");
}

// Any f64 must come back as it was; the extremes have the most digits.
TEST(Log, DigitsRoundTrip) {
  std::mt19937_64 random(1);
  std::vector<double> values = {0.1, 1.0 / 3.0, 5e-324, -2.2250738585072014e-308,
                                1.7976931348623157e308};
  while (values.size() < 1000) {
    uint64_t bits = random();
    double value;
    std::memcpy(&value, &bits, sizeof value);
    if (std::isfinite(value))
      values.push_back(value);
  }
  for (double value : values) {
    StepRecord record;
    record.loss = value;
    std::string line = text(record);
    size_t begin = line.find("\"loss\":") + 7;
    double back = 0;
    std::from_chars(line.data() + begin, line.data() + line.find(',', begin), back);
    EXPECT_EQ(back, value);
    EXPECT_LT(line.size(), 512u);
  }
}

// Whole lines are in the file before it is closed: what a killed run leaves.
TEST(Log, LinesAreWrittenAtOnce) {
  TestFolder folder;
  std::string path = folder.write("log.jsonl", "old\n");
  auto log = unwrap(JsonLog::open(path));
  for (int64_t step = 0; step < 2; ++step) {
    StepRecord record;
    record.step = step;
    expectSuccess(log->write(record));
  }
  std::string content = readAll(path);
  EXPECT_EQ(content.find("{\"step\":0,"), 0u);
  EXPECT_EQ(std::count(content.begin(), content.end(), '\n'), 2);
  EXPECT_EQ(content.back(), '\n');
  for (llvm::StringRef rest = content; !rest.empty();) {
    auto [line, tail] = rest.split('\n');
    EXPECT_EQ(unwrap(llvm::json::parse(line)).getAsObject()->size(), 8u);
    rest = tail;
  }
}

TEST(Log, WritingAllocatesNothing) {
  TestFolder folder;
  auto log = unwrap(JsonLog::open(folder.path("log.jsonl")));
  StepRecord record{INT64_MAX, -5e-324, 0.1, 0.1, 0.1, false, 1.0 / 3.0, 1e300 / 3.0};
  int64_t before = allocationCount();
  bool failed = static_cast<bool>(log->write(record));
  EXPECT_EQ(allocationCount(), before);
  EXPECT_FALSE(failed);
  EXPECT_GT(before, 0) << "the counter counts";
}

TEST(Log, Append) {
  TestFolder folder;
  std::string path = folder.write("log.jsonl", "old\n");
  expectSuccess(unwrap(JsonLog::open(path, /*append=*/true))->write({}));
  EXPECT_EQ(readAll(path).find("old\n{\"step\":0,"), 0u);
}

// Steps 0 to 3 and half a line, from a run that was killed; its checkpoint is that of two steps.
TEST(Log, ResumeKeepsTheStepsBefore) {
  TestFolder folder;
  std::string path = folder.path("log.jsonl"), lines[4];
  for (int64_t step : {0, 1, 2, 3}) {
    StepRecord record;
    record.step = step;
    lines[step] = text(record) + "\n";
  }
  auto resumed = [&](const std::string &before, int64_t from) {
    folder.write("log.jsonl", before);
    StepRecord record;
    record.step = from;
    expectSuccess(unwrap(JsonLog::resume(path, from))->write(record));
    return readAll(path);
  };
  std::string all = lines[0] + lines[1] + lines[2] + lines[3];
  EXPECT_EQ(resumed(all + "{\"step\":4,\"lo", 2), lines[0] + lines[1] + lines[2]);
  EXPECT_EQ(resumed(lines[0] + "{\"step\":1", 2), lines[0] + lines[2]);
  // A run whose log begins elsewhere, or is no log.
  EXPECT_EQ(resumed(lines[1] + lines[2] + lines[3], 2), lines[1] + lines[2]);
  EXPECT_EQ(resumed(lines[3] + lines[0], 2), lines[2]);
  EXPECT_EQ(resumed("text\n", 2), lines[2]);
  ::unlink(path.c_str());
  expectSuccess(unwrap(JsonLog::resume(path, 5))->write({}));
  EXPECT_EQ(readAll(path), lines[0]);
}

TEST(Log, Errors) {
  TestFolder folder;
  EXPECT_EQ(errorOf(JsonLog::open(folder.path("none/log"))),
            folder.path("none/log") + ": error: cannot write the file: No such file or directory");
  if (::access("/dev/full", W_OK) == 0)
    EXPECT_EQ(errorOf(unwrap(JsonLog::open("/dev/full"))->write({})),
              "/dev/full: error: cannot write the file: No space left on device");
}

} // namespace
} // namespace zero::training
