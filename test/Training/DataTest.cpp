#include "zero/Training/Data.h"
#include "Allocations.h"
#include "TestFiles.h"
#include "zero/Training/Safetensors.h"

#include <algorithm>
#include <map>
#include <set>

namespace zero::training {
namespace {

/// tokens and labels [rows, length] in i32.
std::vector<BatchArgument> lmArguments(int64_t rows, int64_t length,
                                       std::optional<int64_t> bound = 256) {
  return {{"input_ids", BatchType::I32, {rows, length}, BatchRole::Tokens, bound, std::nullopt},
          {"labels", BatchType::I32, {rows, length}, BatchRole::Labels, bound, -100}};
}

template <typename T> std::vector<T> values(const void *data, int64_t count) {
  return {static_cast<const T *>(data), static_cast<const T *>(data) + count};
}

class DataTest : public testing::Test {
protected:
  TestFolder folder;
  std::string path;

  std::unique_ptr<DataSet> open(llvm::StringRef name, const std::string &content,
                                const std::vector<BatchArgument> &arguments,
                                DataOptions options = {}) {
    path = folder.write(name, content);
    return unwrap(openData(path, arguments, options));
  }
  std::string refused(llvm::StringRef name, const std::string &content,
                      const std::vector<BatchArgument> &arguments, DataOptions options = {}) {
    path = folder.write(name, content);
    std::string message = errorOf(openData(path, arguments, options));
    EXPECT_EQ(message.find(path + ": error: "), 0u) << message;
    return message.substr(std::min(message.size(), path.size() + 9));
  }

  /// All global rows of a step's argument, micro-step after micro-step.
  static std::vector<int32_t> rows(DataSet &data, int64_t step, int64_t argument,
                                   int64_t microSteps, int64_t elements) {
    expectSuccess(data.load(step));
    std::vector<int32_t> all;
    for (int64_t micro = 0; micro < microSteps; ++micro)
      for (int32_t value : values<int32_t>(data.batch(micro, argument), elements))
        all.push_back(value);
    return all;
  }

  static std::string counting(int n) {
    std::string text;
    for (int i = 0; i < n; ++i)
      text.push_back(static_cast<char>(i));
    return text;
  }
};

// Six tokens and T = 4 are one window, (6 - 4)/4 rounded down but at least 1, shifted by at most
// 6 - 1 - 4 = 1.
TEST_F(DataTest, LabelsAreTheNextTokens) {
  auto data = open("d.txt", "abcdef", lmArguments(1, 4));
  EXPECT_EQ(data->steps(), std::nullopt);
  EXPECT_EQ(data->tokensPerStep(), 4);
  std::set<int32_t> starts;
  for (int64_t step = 0; step < 20; ++step) {
    expectSuccess(data->load(step));
    std::vector<int32_t> x = values<int32_t>(data->batch(0, 0), 4),
                         y = values<int32_t>(data->batch(0, 1), 4);
    for (int i = 0; i < 4; ++i) {
      EXPECT_EQ(x[i], x[0] + i);
      EXPECT_EQ(y[i], x[i] + 1);
    }
    starts.insert(x[0]);
  }
  EXPECT_EQ(starts, (std::set<int32_t>{'a', 'b'}));
}

// 101 tokens that count up, T = 10: W = (101 - 10)/10 = 9 windows. An epoch of nine samples has
// nine starts that are equal modulo 10 (the epoch's shift) and all different, so no token twice.
TEST_F(DataTest, AnEpochHasNoRepeats) {
  auto data = open("d.txt", counting(101), lmArguments(1, 10));
  std::vector<std::vector<int32_t>> orders;
  std::set<int32_t> shifts;
  for (int64_t epoch = 0; epoch < 20; ++epoch) {
    std::vector<int32_t> starts;
    for (int64_t i = 0; i < 9; ++i)
      starts.push_back(rows(*data, epoch * 9 + i, 0, 1, 1)[0]);
    shifts.insert(starts[0] % 10);
    for (int32_t &start : starts) {
      EXPECT_EQ(start % 10, starts.back() % 10);
    }
    EXPECT_EQ(std::set<int32_t>(starts.begin(), starts.end()).size(), 9u);
    orders.push_back(starts);
  }
  std::sort(orders.begin(), orders.end());
  EXPECT_EQ(std::unique(orders.begin(), orders.end()), orders.end())
      << "each epoch has an order of its own";
  EXPECT_GE(shifts.size(), 5u);
}

TEST_F(DataTest, OrderIsAFunctionOfTheSeed) {
  auto starts = [&](uint64_t seed) {
    DataOptions options;
    options.seed = seed;
    auto data = open("d.txt", counting(101), lmArguments(1, 10), options);
    std::vector<int32_t> all;
    for (int64_t step = 0; step < 9; ++step)
      all.push_back(rows(*data, step, 0, 1, 1)[0]);
    return all;
  };
  EXPECT_EQ(starts(1), starts(1));
  EXPECT_NE(starts(1), starts(2));
}

// A resumed run loads step 7 first, and sees what the first run saw then.
TEST_F(DataTest, StepsMayBeLoadedInAnyOrder) {
  auto one = open("d.txt", counting(101), lmArguments(2, 10));
  std::vector<int32_t> before = rows(*one, 3, 0, 1, 20), wanted = rows(*one, 7, 0, 1, 20);
  auto other = open("d.txt", counting(101), lmArguments(2, 10));
  EXPECT_EQ(rows(*other, 7, 0, 1, 20), wanted);
  EXPECT_EQ(rows(*other, 3, 0, 1, 20), before);
}

// (N2) 12 rows a step, cut as 1×1×12, 3×1×4, 2×3×2 and 1×4×3 (ranks × micro-steps × rows): one
// order.
TEST_F(DataTest, OrderIsIndependentOfRanks) {
  std::map<int64_t, std::vector<int32_t>> expected;
  struct Cut {
    int64_t ranks, microSteps, rows;
  };
  for (Cut cut : {Cut{1, 1, 12}, Cut{3, 1, 4}, Cut{2, 3, 2}, Cut{1, 4, 3}}) {
    DataOptions options{cut.ranks, cut.microSteps, 5};
    auto data = open("d.txt", counting(101), lmArguments(cut.rows, 10), options);
    EXPECT_EQ(data->tokensPerStep(), 120);
    for (int64_t step = 0; step < 3; ++step) {
      std::vector<int32_t> all = rows(*data, step, 0, cut.microSteps, cut.ranks * cut.rows * 10);
      if (!expected.count(step))
        expected[step] = all;
      EXPECT_EQ(all, expected[step]);
    }
  }
}

// 2 ranks × 2 micro-steps × 1 row: rank 0's labels are row 0 of both micro-steps, then rank 1's
// row 1.
TEST_F(DataTest, StepLabelsAreOrderedByRank) {
  auto data = open("d.txt", counting(101), lmArguments(1, 10), {2, 2, 5});
  expectSuccess(data->load(0));
  std::vector<int32_t> expected;
  for (int64_t rank = 0; rank < 2; ++rank)
    for (int64_t micro = 0; micro < 2; ++micro)
      for (int64_t i = 0; i < 10; ++i)
        expected.push_back(static_cast<const int32_t *>(data->batch(micro, 1))[rank * 10 + i]);
  EXPECT_EQ(values<int32_t>(data->stepLabels(1), 40), expected);
  EXPECT_EQ(data->stepLabels(0), nullptr);
}

TEST_F(DataTest, Uint16Tokens) {
  std::vector<uint16_t> tokens = {50256, 1, 2, 300, 65535};
  auto arguments = lmArguments(1, 4, 65536);
  arguments[1].type = BatchType::I64;
  auto data = open("d.bin", bytesOf(tokens), arguments);
  expectSuccess(data->load(0));
  EXPECT_EQ(values<int32_t>(data->batch(0, 0), 4), (std::vector<int32_t>{50256, 1, 2, 300}));
  EXPECT_EQ(values<int64_t>(data->batch(0, 1), 4), (std::vector<int64_t>{1, 2, 300, 65535}));
}

std::string llmcHeader(uint32_t magic, uint32_t version, uint32_t count) {
  std::vector<uint32_t> header(256);
  header[0] = magic, header[1] = version, header[2] = count;
  return bytesOf(header);
}

TEST_F(DataTest, LlmcHeaderIsSkipped) {
  std::string tokens = bytesOf<uint16_t>({7, 8, 9});
  auto data = open("d.bin", llmcHeader(20240520, 1, 3) + tokens, lmArguments(1, 2));
  expectSuccess(data->load(0));
  EXPECT_EQ(values<int32_t>(data->batch(0, 0), 2), (std::vector<int32_t>{7, 8}));
  EXPECT_EQ(refused("d.bin", llmcHeader(20240520, 2, 3) + tokens, lmArguments(1, 2)),
            "expects version 1 in llm.c's header, got 2");
  EXPECT_EQ(refused("d.bin", llmcHeader(20240520, 1, 4) + tokens, lmArguments(1, 2)),
            "expects 8 bytes of tokens, as llm.c's header says, got 6 (was it cut off?)");
  EXPECT_EQ(refused("d.bin", llmcHeader(20240801, 7, 3) + tokens, lmArguments(1, 2)),
            "expects uint16 tokens, got llm.c's file of uint32 tokens");
}

TEST_F(DataTest, TokenFileErrors) {
  EXPECT_EQ(errorOf(openData(folder.path("none.txt"), lmArguments(1, 4), {})),
            folder.path("none.txt") + ": error: cannot read the file: No such file or directory");
  EXPECT_EQ(refused("d.txt", "", lmArguments(1, 4)), "expects tokens, got an empty file");
  EXPECT_EQ(refused("d.txt", "abcd", lmArguments(1, 4)),
            "expects more than 4 tokens, a sequence and the label of its last token, got 4");
  EXPECT_EQ(refused("d.bin", "abc", lmArguments(1, 1)),
            "expects uint16 tokens, got an odd number of bytes, 3");
  EXPECT_EQ(refused("d.txt", "abc\x80z", lmArguments(1, 2, 128)),
            "expects tokens in [0, 128), the model's vocabulary, got 128 at position 3");
  EXPECT_EQ(refused("d.bin", bytesOf<uint16_t>({1, 2, 50257}), lmArguments(1, 2, 50257)),
            "expects tokens in [0, 50257), the model's vocabulary, got 50257 at position 2");
  EXPECT_EQ(refused("d.csv", "abc", lmArguments(1, 2)),
            "expects data in a file named .txt, .bin or .safetensors, got '.csv'");
  EXPECT_EQ(refused("data", "abc", lmArguments(1, 2)),
            "expects data in a file named .txt, .bin or .safetensors, got no extension");
}

TEST_F(DataTest, ArgumentsThatTokensCannotFeed) {
  std::string expected =
      "expects a model of integer tokens and labels [batch, sequence] to feed from a token file, "
      "got argument ";
  auto arguments = lmArguments(1, 2);
  arguments.push_back({"x", BatchType::F32, {1, 7}, BatchRole::Other, std::nullopt, std::nullopt});
  EXPECT_EQ(refused("d.txt", "abc", arguments),
            expected + "'x' of f32 [1, 7]; a .safetensors file can feed it");
  arguments = lmArguments(1, 2);
  arguments[1].shape = {1};
  EXPECT_EQ(refused("d.txt", "abc", arguments),
            expected + "'labels' of i32 [1]; a .safetensors file can feed it");
  arguments.assign(1, lmArguments(1, 2)[1]);
  EXPECT_EQ(refused("d.txt", "abc", arguments),
            "expects a model with an argument of tokens to feed from a token file, got none");
  arguments[0].shape = {};
  EXPECT_EQ(refused("d.txt", "abc", arguments),
            "expects argument 'labels' to have a micro-batch as its first dimension, and less than "
            "2^63 bytes a step, "
            "got shape []");
}

TEST_F(DataTest, StepsBeyondCounting) {
  auto data = open("d.txt", "abcdef", lmArguments(1, 4));
  EXPECT_EQ(errorOf(data->load(INT64_MAX)), path + ": error: expects a step whose samples can be "
                                                   "counted in 63 bits, got 9223372036854775807");
}

//===-- Tensor files --------------------------------------------------------===//

/// The file's tensors: name, type, shape, bytes. Its data are in the given order.
struct Tensor {
  std::string name, type, shape, bytes;
};
std::string tensorFile(const std::vector<Tensor> &tensors) {
  std::string header = "{", data;
  for (const Tensor &tensor : tensors) {
    header += (data.empty() && header.size() == 1 ? "\"" : ",\"") + tensor.name +
              "\":{\"dtype\":\"" + tensor.type + "\",\"shape\":" + tensor.shape +
              ",\"data_offsets\":[" + std::to_string(data.size()) + ",";
    data += tensor.bytes;
    header += std::to_string(data.size()) + "]}";
  }
  header += "}";
  header.resize((header.size() + 7) / 8 * 8, ' ');
  return safetensors(header, data);
}

/// x [1, 2] in f32 and labels [1] in i32, in [0, 5) or -100.
std::vector<BatchArgument> mlpArguments() {
  return {{"x", BatchType::F32, {1, 2}, BatchRole::Other, std::nullopt, std::nullopt},
          {"labels", BatchType::I32, {1}, BatchRole::Labels, 5, -100}};
}
const Tensor kX = {"x", "F32", "[2,1,2,2]", bytesOf<float>({0, 1, 2, 3, 4, 5, 6, 7})};
const Tensor kLabels = {"labels", "I32", "[2,1,2]", bytesOf<int32_t>({0, -100, 2, 4})};

// Two steps, one micro-step, two ranks with a row each.
TEST_F(DataTest, TensorsAreBatches) {
  auto data = open("d.safetensors", tensorFile({kX, kLabels}), mlpArguments(), {2, 1, 0});
  EXPECT_EQ(data->steps(), 2);
  EXPECT_EQ(data->tokensPerStep(), std::nullopt);
  EXPECT_TRUE(data->warnings().empty());
  expectSuccess(data->load(1));
  EXPECT_EQ(values<float>(data->batch(0, 0), 4), (std::vector<float>{4, 5, 6, 7}));
  EXPECT_EQ(values<int32_t>(data->batch(0, 1), 2), (std::vector<int32_t>{2, 4}));
  EXPECT_EQ(values<int32_t>(data->stepLabels(1), 2), (std::vector<int32_t>{2, 4}));
  expectSuccess(data->load(0));
  EXPECT_EQ(values<float>(data->batch(0, 0), 4), (std::vector<float>{0, 1, 2, 3}));
  EXPECT_EQ(errorOf(data->load(2)),
            path + ": error: expects a step below 2, the number of steps in the file, got 2");
}

// One step, two micro-steps, two ranks: labels 0 1 | 2 3 in the file; rank 0 has 0 and 2.
TEST_F(DataTest, MicroSteps) {
  Tensor labels = {"labels", "I32", "[1,2,2]", bytesOf<int32_t>({0, 1, 2, 3})};
  auto data = open("d.safetensors", tensorFile({labels}), {mlpArguments()[1]}, {2, 2, 0});
  expectSuccess(data->load(0));
  EXPECT_EQ(values<int32_t>(data->batch(1, 0), 2), (std::vector<int32_t>{2, 3}));
  EXPECT_EQ(values<int32_t>(data->stepLabels(0), 4), (std::vector<int32_t>{0, 2, 1, 3}));
}

// An odd byte before them leaves the tensors unaligned: they are copied.
TEST_F(DataTest, UnalignedAndUnusedTensors) {
  Tensor odd = {"a", "U8", "[1]", "x"};
  auto data = open("d.safetensors", tensorFile({odd, kX, kLabels}), mlpArguments(), {2, 1, 0});
  ASSERT_EQ(data->warnings().size(), 1u);
  EXPECT_EQ(data->warnings()[0],
            path + ": no argument of the model is named 'a', which is not read");
  expectSuccess(data->load(1));
  EXPECT_EQ(reinterpret_cast<uintptr_t>(data->batch(0, 0)) % 4, 0u);
  EXPECT_EQ(values<float>(data->batch(0, 0), 4), (std::vector<float>{4, 5, 6, 7}));
  EXPECT_EQ(values<int32_t>(data->batch(0, 1), 2), (std::vector<int32_t>{2, 4}));
}

TEST_F(DataTest, ExactConversions) {
  Tensor x = {"x", "BF16", "[1,1,2,2]", bytesOf<uint16_t>({0x3f80, 0, 0xc040, 0})};
  Tensor labels = {"labels", "I64", "[1,1,2]", bytesOf<int64_t>({-100, 3})};
  auto data = open("d.safetensors", tensorFile({labels, x}), mlpArguments(), {2, 1, 0});
  expectSuccess(data->load(0));
  EXPECT_EQ(values<float>(data->batch(0, 0), 4), (std::vector<float>{1, 0, -3, 0}));
  EXPECT_EQ(values<int32_t>(data->batch(0, 1), 2), (std::vector<int32_t>{-100, 3}));
}

TEST_F(DataTest, TensorFileErrors) {
  DataOptions two{2, 1, 0};
  EXPECT_EQ(refused("d.safetensors", tensorFile({kX}), mlpArguments(), two),
            "expects a tensor named 'labels' after the model's argument, got none");
  EXPECT_EQ(refused("d.safetensors", tensorFile({kX, kLabels}), mlpArguments(), {3, 1, 0}),
            "expects tensor 'x' of [step, micro-step, global batch, …] to have shape [steps, 1, 3, "
            "2], got [2, 1, 2, 2]");
  EXPECT_EQ(refused("d.safetensors", tensorFile({kX, kLabels}), mlpArguments(), {1, 2, 0}),
            "expects tensor 'x' of [step, micro-step, global batch, …] to have shape [steps, 2, 1, "
            "2], got [2, 1, 2, 2]");
  Tensor doubles = {"x", "F64", "[1,1,2,2]", bytesOf<double>({0, 1, 2, 3})};
  EXPECT_EQ(refused("d.safetensors", tensorFile({doubles, kLabels}), mlpArguments(), two),
            "expects tensor 'x' to hold f32, or a type that f32 can hold, got F64");
  Tensor floats = {"labels", "F32", "[2,1,2]", bytesOf<float>({0, 1, 2, 3})};
  EXPECT_EQ(refused("d.safetensors", tensorFile({kX, floats}), mlpArguments(), two),
            "expects tensor 'labels' to hold i32, or a type that i32 can hold, got F32");
  Tensor fewer = {"labels", "I32", "[1,1,2]", bytesOf<int32_t>({0, 1})};
  EXPECT_EQ(
      refused("d.safetensors", tensorFile({kX, fewer}), mlpArguments(), two),
      "expects all arguments to have the same number of steps, got 2 of 'x' and 1 of 'labels'");
  Tensor none = {"labels", "I32", "[0,1,2]", ""};
  EXPECT_EQ(refused("d.safetensors", tensorFile({none}), {mlpArguments()[1]}, two),
            "expects at least one step, got tensor 'labels' of shape [0, 1, 2]");
  EXPECT_EQ(refused("d.safetensors", tensorFile({kX}), {}),
            "expects a model with at least one batch argument to feed, got none");
}

TEST_F(DataTest, ValuesOutOfRange) {
  DataOptions two{2, 1, 0};
  for (int32_t bad : {5, -1, -101}) {
    Tensor labels = {"labels", "I32", "[2,1,2]", bytesOf<int32_t>({0, 1, 2, bad})};
    EXPECT_EQ(refused("d.safetensors", tensorFile({kX, labels}), mlpArguments(), two),
              "expects values of 'labels' in [0, 5) or -100, got " + std::to_string(bad) +
                  " at [1, 0, 1]");
  }
  std::vector<BatchArgument> unbounded = mlpArguments();
  unbounded[1].bound = std::nullopt;
  Tensor wide = {"labels", "I64", "[2,1,2]", bytesOf<int64_t>({0, int64_t(1) << 31, 2, 3})};
  EXPECT_EQ(refused("d.safetensors", tensorFile({kX, wide}), unbounded, two),
            "expects values of 'labels' that fit i32, got 2147483648 at [0, 0, 1]");
}

// (M1) with an epoch's end, both orders of labels, and a conversion among the steps.
TEST_F(DataTest, LoadingAllocatesNothing) {
  auto text = open("d.txt", counting(101), lmArguments(2, 10), {2, 2, 5});
  Tensor labels = {"labels", "I64", "[3,2,2]",
                   bytesOf<int64_t>({0, 1, 2, 3, 4, -100, 0, 1, 2, 3, 4, 0})};
  auto tensors = open("d.safetensors", tensorFile({labels}), {mlpArguments()[1]}, {2, 2, 0});
  int64_t before = allocationCount();
  bool failed = false;
  for (int64_t step = 0; step < 3; ++step)
    failed |= static_cast<bool>(text->load(step)) || static_cast<bool>(tensors->load(step));
  int64_t after = allocationCount();
  EXPECT_FALSE(failed);
  EXPECT_EQ(after, before);
}

TEST_F(DataTest, GoldenBatches) {
  std::vector<BatchArgument> arguments = {
      {"tokens", BatchType::I32, {2, 3}, BatchRole::Tokens, 5, std::nullopt},
      {"labels", BatchType::I32, {2, 3}, BatchRole::Labels, 5, -100}};
  auto data = unwrap(openData(ZERO_TEST_DATA_DIR "/Integration/golden/tiny/batches.safetensors",
                              arguments, {3, 2, 0}));
  EXPECT_EQ(data->steps(), 20);
  EXPECT_EQ(data->tokensPerStep(), 36); // 3 ranks × 2 micro-steps × 2 rows × 3 tokens
  // By its recipe a label is its token plus the next in the row (cyclic) modulo 5, or ignored.
  for (int64_t step = 0; step < 20; ++step) {
    std::vector<int32_t> x = rows(*data, step, 0, 2, 18), y = rows(*data, step, 1, 2, 18);
    for (size_t i = 0; i < 36; ++i)
      EXPECT_TRUE(y[i] == -100 || y[i] == (x[i] + x[i / 3 * 3 + (i + 2) % 3]) % 5) << i;
  }
}

} // namespace
} // namespace zero::training
