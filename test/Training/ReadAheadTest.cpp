#include "Allocations.h"
#include "TestFiles.h"
#include "zero/Training/Data.h"
#include "zero/Training/Permutation.h"

#include <atomic>
#include <thread>

#include <fcntl.h>
#include <unistd.h>

namespace zero::training {
namespace {

std::vector<BatchArgument> lmArguments(int64_t rows, int64_t length) {
  return {{"input_ids", BatchType::I32, {rows, length}, BatchRole::Tokens, std::nullopt, {}},
          {"labels", BatchType::I32, {rows, length}, BatchRole::Labels, std::nullopt, -100}};
}

std::string letters(size_t count) {
  std::string text;
  for (size_t i = 0; i < count; ++i)
    text.push_back(static_cast<char>('a' + i * i % 26));
  return text;
}

/// Tokens and labels of the current step: two ranks of two rows, two micro-steps.
std::vector<int32_t> contentOf(const DataSet &data, int64_t length) {
  std::vector<int32_t> all;
  auto take = [&](const void *values, int64_t count) {
    const int32_t *begin = static_cast<const int32_t *>(values);
    all.insert(all.end(), begin, begin + count);
  };
  for (int64_t micro = 0; micro < 2; ++micro)
    for (int64_t argument = 0; argument < 2; ++argument)
      take(data.batch(micro, argument), 4 * length);
  take(data.stepLabels(1), 8 * length);
  return all;
}

class ReadAheadTest : public testing::Test {
protected:
  TestFolder folder;
  DataOptions options{.ranks = 2, .microSteps = 2, .seed = 7};
  std::string path = folder.write("d.txt", letters(500));

  std::unique_ptr<DataSet> plain() { return unwrap(openData(path, lmArguments(2, 5), options)); }
};

// In order, again, back and far ahead: each step is what it is without a thread.
TEST_F(ReadAheadTest, GivesTheSameBatchesInAnyOrder) {
  auto data = plain(), ahead = readAhead(plain());
  EXPECT_EQ(ahead->steps(), data->steps());
  EXPECT_EQ(ahead->tokensPerStep(), data->tokensPerStep());
  for (int64_t step : {0, 1, 2, 2, 3, 4, 1, 2, 90, 91, 0}) {
    expectSuccess(data->load(step));
    expectSuccess(ahead->load(step));
    EXPECT_EQ(contentOf(*ahead, 5), contentOf(*data, 5)) << step;
  }
}

// What is read while the next step is loaded stays as it is until that is asked for.
TEST_F(ReadAheadTest, BatchesStayUntilTheNextLoad) {
  auto ahead = readAhead(plain());
  for (int64_t step = 0; step < 50; ++step) {
    expectSuccess(ahead->load(step));
    std::vector<int32_t> before = contentOf(*ahead, 5);
    std::this_thread::yield();
    EXPECT_EQ(contentOf(*ahead, 5), before);
  }
}

TEST_F(ReadAheadTest, ClonesShareNoBatch) {
  auto data = plain();
  auto other = data->clone();
  expectSuccess(data->load(3));
  std::vector<int32_t> third = contentOf(*data, 5);
  expectSuccess(other->load(4));
  EXPECT_EQ(contentOf(*data, 5), third);
  expectSuccess(other->load(3));
  EXPECT_EQ(contentOf(*other, 5), third);
}

TEST_F(ReadAheadTest, AllocatesNothing) {
  auto ahead = readAhead(plain());
  expectSuccess(ahead->load(0));
  int64_t before = allocationCount();
  bool ok = true;
  for (int64_t step = 1; step < 20; ++step)
    ok &= !llvm::errorToBool(ahead->load(step));
  EXPECT_EQ(allocationCount(), before);
  EXPECT_TRUE(ok);
}

/// Counts loads, and fails at one step.
class Failing final : public DataSet {
public:
  Failing(std::atomic<int> &loads, int64_t bad) : loads(loads), bad(bad) {}
  std::unique_ptr<DataSet> clone() const override { return std::make_unique<Failing>(loads, bad); }
  std::optional<int64_t> steps() const override { return 10; }
  llvm::Error load(int64_t step) override {
    ++loads;
    if (step == bad)
      return inputError("d", "step " + llvm::Twine(step));
    loaded = step;
    return llvm::Error::success();
  }
  const void *batch(int64_t, int64_t) const override { return &loaded; }
  const void *stepLabels(int64_t) const override { return nullptr; }

private:
  std::atomic<int> &loads;
  int64_t bad, loaded = -1;
};

int64_t current(const DataSet &data) { return *static_cast<const int64_t *>(data.batch(0, 0)); }

// Step 3 was loaded ahead while 2 ran; its error waits for it, comes again, and leaves 2 current.
TEST(ReadAhead, ErrorsAreThoseOfTheirStep) {
  std::atomic<int> loads = 0;
  auto ahead = readAhead(std::make_unique<Failing>(loads, 3));
  for (int64_t step = 0; step < 3; ++step)
    expectSuccess(ahead->load(step));
  EXPECT_EQ(errorOf(ahead->load(3)), "d: error: step 3");
  EXPECT_EQ(errorOf(ahead->load(3)), "d: error: step 3");
  EXPECT_EQ(current(*ahead), 2);
  expectSuccess(ahead->load(4));
  EXPECT_EQ(current(*ahead), 4);
}

// An error that nobody came for is dropped with the data, and behind the last step nothing is read.
TEST(ReadAhead, EndsWithoutWhatNobodyAskedFor) {
  std::atomic<int> loads = 0;
  {
    readAhead(std::make_unique<Failing>(loads, 3));
  }
  EXPECT_EQ(loads, 0);
  {
    auto ahead = readAhead(std::make_unique<Failing>(loads, 3));
    expectSuccess(ahead->load(2));
  }
  EXPECT_GE(loads, 1); // 3 may or may not have begun
  loads = 0;
  {
    auto ahead = readAhead(std::make_unique<Failing>(loads, 3));
    expectSuccess(ahead->load(8));
    expectSuccess(ahead->load(9));
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    EXPECT_EQ(loads, 2);
  }
}

// A file of 9 GiB, a hole but for one window: 4.8e9 uint16 tokens lie beyond 32 bits, of bytes and
// of tokens. W = (count − T) ÷ T windows of T = 2^22 tokens; the last one, W − 1, is step s with
// permutation(s) = W − 1, and begins at shift + (W − 1)·T.
TEST(ReadAhead, FilesBeyondFourGiB) {
  constexpr int64_t count = (int64_t(9) << 30) / 2, length = int64_t(1) << 22;
  TestFolder folder;
  std::string path = folder.path("big.bin");
  int fd = ::open(path.c_str(), O_WRONLY | O_CREAT, 0600);
  ASSERT_EQ(::ftruncate(fd, count * 2), 0);
  constexpr int64_t windows = (count - length) / length, maxShift = count - 1 - windows * length;
  uint64_t key = mix(5, 0);
  int64_t shift = static_cast<int64_t>(mix(key, 1) % uint64_t(std::min(length - 1, maxShift) + 1));
  int64_t begin = shift + (windows - 1) * length;
  ASSERT_GT(begin, int64_t(1) << 32);
  uint16_t marks[2] = {51234, 41234};
  ASSERT_EQ(::pwrite(fd, marks, 4, 2 * (begin + length - 1)), 4);
  ::close(fd);
  Permutation order(windows, key);
  int64_t step = 0;
  while (order(static_cast<uint64_t>(step)) != windows - 1)
    ++step;

  auto data = readAhead(unwrap(openData(path, lmArguments(1, length), {.seed = 5})));
  expectSuccess(data->load(step));
  const int32_t *tokens = static_cast<const int32_t *>(data->batch(0, 0)),
                *labels = static_cast<const int32_t *>(data->batch(0, 1));
  EXPECT_EQ(tokens[0], 0);
  EXPECT_EQ(tokens[length - 1], 51234);
  EXPECT_EQ(labels[length - 2], 51234);
  EXPECT_EQ(labels[length - 1], 41234);
}

} // namespace
} // namespace zero::training
