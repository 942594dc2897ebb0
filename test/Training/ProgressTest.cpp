#include "zero/Training/Progress.h"
#include "TestFiles.h"

#include <cmath>
#include <fcntl.h>
#include <functional>
#include <unistd.h>

namespace zero::training {
namespace {

/// What `body` writes to a file descriptor.
std::string captured(llvm::function_ref<void(int)> body) {
  TestFolder folder;
  std::string path = folder.path("out");
  int fd = ::open(path.c_str(), O_WRONLY | O_CREAT, 0600);
  body(fd);
  ::close(fd);
  return readAll(path);
}

StepRecord at(int64_t step) {
  StepRecord record;
  record.step = step;
  record.loss = 2.5;
  record.tokensPerSecond = 15300.0;
  return record;
}

TEST(Progress, Durations) {
  EXPECT_EQ(formatDuration(0.4), "0s");
  EXPECT_EQ(formatDuration(59.4), "59s");
  EXPECT_EQ(formatDuration(65), "1m05s");
  EXPECT_EQ(formatDuration(2 * 3600 + 3 * 60 + 59), "2h03m");
  EXPECT_EQ(formatDuration(3 * 86400 + 4 * 3600), "3d04h");
  EXPECT_EQ(formatDuration(-1), "0s");
  EXPECT_EQ(formatDuration(HUGE_VAL), "370d08h"); // 3.2e7 s are 370 days and 8.9 hours
}

TEST(Progress, Line) {
  EXPECT_EQ(formatProgress(at(11), 300, 65.0),
            "step 12/300  loss 2.5000  15.3k tokens/s  1m05s left");
  StepRecord bare;
  bare.skipped = true;
  EXPECT_EQ(formatProgress(bare, 300, std::nullopt), "step 1/300  skipped");
}

TEST(Progress, Rates) {
  auto rate = [](double value) {
    StepRecord record;
    record.tokensPerSecond = value;
    return formatProgress(record, 1, std::nullopt).substr(10); // after "step 1/1  "
  };
  EXPECT_EQ(rate(981), "981 tokens/s");
  EXPECT_EQ(rate(999.6), "1.00k tokens/s");
  EXPECT_EQ(rate(99960), "100k tokens/s");
  EXPECT_EQ(rate(2.04e6), "2.04M tokens/s");
}

// 300 steps are a line every ⌈300/100⌉ = 3 steps, and one for the first.
TEST(Progress, PipedIsPlainLines) {
  std::string out = captured([](int fd) {
    Progress progress(fd, 300);
    for (int64_t step = 0; step < 300; ++step)
      progress.step(at(step), 0.001 * static_cast<double>(step + 1));
  });
  EXPECT_EQ(std::count(out.begin(), out.end(), '\n'), 101);
  EXPECT_EQ(out.find('\r'), std::string::npos);
  EXPECT_EQ(out.find('\x1b'), std::string::npos);
  EXPECT_NE(out.find("step 3/300"), std::string::npos);
  EXPECT_EQ(out.substr(out.rfind("step")), "step 300/300  loss 2.5000  15.3k tokens/s\n");
}

// A slow run isn't silent: at 6 s a step, every second step is due.
TEST(Progress, PipedSlowRun) {
  std::string out = captured([](int fd) {
    Progress progress(fd, 100000);
    for (int64_t step = 0; step < 5; ++step)
      progress.step(at(step), 6.0 * static_cast<double>(step + 1));
  });
  // Steps 1, 3 and 5; 6 s a step and 99999 steps are 599994 s: 6 days and 22 hours.
  EXPECT_EQ(out.find("step 1/100000  loss 2.5000  15.3k tokens/s  6d22h left\n"), 0u);
  EXPECT_NE(out.find("step 3/100000"), std::string::npos);
  EXPECT_NE(out.find("step 5/100000"), std::string::npos);
  EXPECT_EQ(std::count(out.begin(), out.end(), '\n'), 3);
}

// Redrawn at most ten times a second, cut to 19 of 20 columns, ended by one newline.
TEST(Progress, TerminalIsOneLine) {
  std::string out = captured([](int fd) {
    Progress progress(fd, 100, 0, /*terminal=*/true, /*width=*/20);
    progress.step(at(0), 1.0);
    progress.step(at(1), 1.05); // too soon
    progress.step(at(2), 1.2);
  });
  EXPECT_EQ(out, "\rstep 1/100  loss 2.\x1b[K\rstep 3/100  loss 2.\x1b[K\n");
}

TEST(Progress, TerminalDrawsTheLastStep) {
  std::string out = captured([](int fd) {
    Progress progress(fd, 100, 0, true, 12);
    progress.step(at(0), 1.0);
    progress.step(at(1), 1.01);
    progress.finish();
    progress.finish();
  });
  EXPECT_EQ(out, "\rstep 1/100 \x1b[K\rstep 2/100 \x1b[K\n");
}

TEST(Progress, NotesStandAboveTheLine) {
  std::string out = captured([](int fd) {
    Progress progress(fd, 100, 0, true, 12);
    progress.note("before");
    progress.step(at(0), 1.0);
    progress.note("careful");
  });
  EXPECT_EQ(out, "before\n\rstep 1/100 \x1b[K\r\x1b[Kcareful\n\rstep 1/100 \x1b[K\n");
}

// Resumed at step 50: 2 of 50 steps took 2 s, so 48 steps are 48 s.
TEST(Progress, ResumedRun) {
  std::string out = captured([](int fd) {
    Progress progress(fd, 100, 50);
    progress.step(at(50), 1.0);
    progress.step(at(51), 2.0);
  });
  EXPECT_NE(out.find("step 52/100  loss 2.5000  15.3k tokens/s  48s left"), std::string::npos);
}

} // namespace
} // namespace zero::training
