#include "zero/Training/Safetensors.h"
#include "TestFiles.h"

#include <algorithm>
#include <cmath>
#include <csignal>
#include <random>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

namespace zero::training {
namespace {

class SafetensorsTest : public testing::Test {
protected:
  TestFolder folder;

  std::string errorFor(const std::string &content) {
    std::string path = folder.write("t.safetensors", content);
    llvm::StringRef message = kept = errorOf(Safetensors::open(path));
    EXPECT_TRUE(message.consume_front(path + ": error: ")) << kept;
    return message.str();
  }
  std::string headerError(const std::string &header, size_t dataBytes) {
    return errorFor(safetensors(header, std::string(dataBytes, '\1')));
  }
  std::unique_ptr<Safetensors> load(const std::string &content) {
    return unwrap(Safetensors::open(folder.write("t.safetensors", content)));
  }
  std::vector<float> floats(const std::string &type, const std::string &data, int64_t elements) {
    auto file = load(safetensors("{\"x\":{\"dtype\":\"" + type + "\",\"shape\":[" +
                                     std::to_string(elements) + "],\"data_offsets\":[0," +
                                     std::to_string(data.size()) + "]}}",
                                 data));
    std::vector<float> values(static_cast<size_t>(elements), -77.0f);
    expectSuccess(file->readF32(file->tensors()[0], values));
    return values;
  }

  std::string kept; // what messages refer to
};

TEST_F(SafetensorsTest, Reads) {
  // Two floats are 8 bytes, then b; the order in the header is of no matter.
  auto file = load(safetensors(R"({"__metadata__":{"format":"pt"},)"
                               R"("b":{"dtype":"I64","shape":[],"data_offsets":[8,16]},)"
                               R"("a":{"dtype":"F32","shape":[2,1],"data_offsets":[0,8]},)"
                               R"("none":{"dtype":"F32","shape":[0,3],"data_offsets":[16,16]}})",
                               bytesOf<float>({1.5f, -2.0f}) + bytesOf<int64_t>({42})));
  ASSERT_EQ(file->tensors().size(), 3u);
  const TensorInfo *a = file->find("a"), *b = file->find("b"), *none = file->find("none");
  ASSERT_TRUE(a && b && none);
  EXPECT_EQ(&file->tensors()[0], a); // in the order of names
  EXPECT_EQ(a->shape, (std::vector<int64_t>{2, 1}));
  EXPECT_EQ(a->type, DType::F32);
  EXPECT_EQ(a->byteLength, 8);
  EXPECT_TRUE(b->shape.empty());
  EXPECT_EQ(b->elements, 1);
  EXPECT_EQ(b->fileOffset, a->fileOffset + 8);
  EXPECT_EQ(none->elements, 0);
  EXPECT_EQ(file->bytes(*b).vec(), (std::vector<uint8_t>{42, 0, 0, 0, 0, 0, 0, 0}));
  EXPECT_TRUE(file->bytes(*none).empty());
  EXPECT_EQ(file->find("c"), nullptr);
  EXPECT_EQ(file->metadata().at("format"), "pt");
}

TEST_F(SafetensorsTest, ConvertsToF32) {
  using V = std::vector<float>;
  EXPECT_EQ(floats("F32", bytesOf<float>({1.5f, -3.0f}), 2), (V{1.5f, -3.0f}));
  EXPECT_EQ(floats("F64", bytesOf<double>({0.1, 1e300}), 2), (V{0.1f, HUGE_VALF}));
  // bf16 is the upper half of f32: 0x3f80 is 1, 0xc040 is -3.
  EXPECT_EQ(floats("BF16", bytesOf<uint16_t>({0x3f80, 0xc040}), 2), (V{1.0f, -3.0f}));
  // f16: 1, -2, the largest (65504), the smallest subnormal (2^-24), the largest subnormal
  // (1023·2^-24), the smallest normal (2^-14), infinity.
  EXPECT_EQ(floats("F16", bytesOf<uint16_t>({0x3c00, 0xc000, 0x7bff, 1, 0x3ff, 0x400, 0xfc00}), 7),
            (V{1.0f, -2.0f, 65504.0f, 0x1p-24f, 0x1p-14f - 0x1p-24f, 0x1p-14f, -HUGE_VALF}));
  EXPECT_TRUE(std::isnan(floats("F16", bytesOf<uint16_t>({0x7e00}), 1)[0]));
  EXPECT_TRUE(std::signbit(floats("F16", bytesOf<uint16_t>({0x8000}), 1)[0]));
  EXPECT_EQ(floats("I64", bytesOf<int64_t>({-5, int64_t(1) << 40}), 2), (V{-5.0f, 0x1p40f}));
  EXPECT_EQ(floats("U64", bytesOf<uint64_t>({UINT64_MAX}), 1), (V{0x1p64f}));
  EXPECT_EQ(floats("I32", bytesOf<int32_t>({-100}), 1), (V{-100.0f}));
  EXPECT_EQ(floats("U32", bytesOf<uint32_t>({UINT32_MAX}), 1), (V{0x1p32f}));
  EXPECT_EQ(floats("I16", bytesOf<int16_t>({-32768}), 1), (V{-32768.0f}));
  EXPECT_EQ(floats("U16", bytesOf<uint16_t>({50256}), 1), (V{50256.0f}));
  EXPECT_EQ(floats("I8", bytesOf<int8_t>({-1}), 1), (V{-1.0f}));
  EXPECT_EQ(floats("U8", bytesOf<uint8_t>({255}), 1), (V{255.0f}));
  EXPECT_EQ(floats("BOOL", bytesOf<uint8_t>({0, 1}), 2), (V{0.0f, 1.0f}));
}

TEST_F(SafetensorsTest, UnalignedTensors) {
  auto file = load(safetensors(R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},)"
                               R"("b":{"dtype":"F32","shape":[1],"data_offsets":[1,5]}})",
                               std::string("\7") + bytesOf<float>({2.5f})));
  float value = 0;
  expectSuccess(file->readF32(*file->find("b"), value));
  EXPECT_EQ(value, 2.5f);
}

TEST_F(SafetensorsTest, ConversionErrors) {
  auto file =
      load(safetensors(R"({"x":{"dtype":"F8_E4M3","shape":[1],"data_offsets":[0,1]}})", "a"));
  float value = 0;
  EXPECT_EQ(errorOf(file->readF32(file->tensors()[0], value)),
            file->path().str() + ": error: cannot convert tensor 'x' of type F8_E4M3 to F32");
  float two[2];
  EXPECT_EQ(errorOf(file->readF32(file->tensors()[0], two)),
            file->path().str() + ": error: expects room for the 1 elements of tensor 'x', got 2");
}

TEST_F(SafetensorsTest, FileErrors) {
  EXPECT_EQ(errorOf(Safetensors::open(folder.path("none"))),
            folder.path("none") + ": error: cannot read the file: No such file or directory");
  EXPECT_EQ(errorOf(Safetensors::open(folder.str())),
            folder.str() + ": error: cannot read the file: Is a directory");
  EXPECT_EQ(errorFor(""),
            "expects a safetensors file, got 0 bytes, which is shorter than its first field");
  EXPECT_EQ(errorFor("1234567"),
            "expects a safetensors file, got 7 bytes, which is shorter than its first field");
  EXPECT_EQ(
      errorFor(bytesOf<uint64_t>({3}) + "{}"),
      "expects a safetensors file, got a header of 3 bytes in a file of 10 (was it cut off?)");
  for (uint64_t length : {uint64_t(1) << 63, UINT64_MAX, UINT64_MAX - 7, (uint64_t(1) << 63) - 8})
    EXPECT_EQ(errorFor(bytesOf<uint64_t>({length}) + "{}"),
              "expects a safetensors file, got a header of " + std::to_string(length) +
                  " bytes in a file of 10 (was it cut off?)");
}

TEST_F(SafetensorsTest, HeaderErrors) {
  EXPECT_EQ(headerError("{\"a\":}", 0), "expects JSON: Invalid JSON value (header, column 6)");
  EXPECT_EQ(headerError("[]", 0), "expects the header to be a JSON object");
  EXPECT_EQ(headerError(R"({"a":1})", 0), "expects tensor 'a' to be a JSON object in the header");
  EXPECT_EQ(headerError(R"({"a":{}})", 0), "expects tensor 'a' to have a 'dtype'");
  EXPECT_EQ(headerError(R"({"a":{"dtype":"F33"}})", 0),
            "expects tensor 'a' to have a known element type, got 'F33'");
  EXPECT_EQ(headerError(R"({"a":{"dtype":"F32"}})", 0), "expects tensor 'a' to have a 'shape'");
  for (const char *shape : {"[-1]", "[1.5]", "[\"1\"]", "[9223372036854775808]"})
    EXPECT_EQ(headerError(std::string(R"({"a":{"dtype":"F32","shape":)") + shape +
                              R"(,"data_offsets":[0,4]}})",
                          4),
              "expects tensor 'a' to have a shape of non-negative integers");
  for (const char *offsets : {"[0]", "[0,4,8]", "[4,0]", "[-4,0]", "[0,1e30]", "4"})
    EXPECT_EQ(headerError(std::string(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":)") +
                              offsets + "}}",
                          4),
              "expects tensor 'a' to have 'data_offsets' [begin, end] with 0 <= begin <= end");
  EXPECT_EQ(headerError(R"({"__metadata__":[]})", 0), "expects '__metadata__' to be a JSON object");
  EXPECT_EQ(headerError(R"({"__metadata__":{"a":1}})", 0),
            "expects '__metadata__' to map text to text");
}

TEST_F(SafetensorsTest, NamesGivenTwice) {
  std::string entry = R"(":{"dtype":"F32","shape":[1],"data_offsets":[0,4]})";
  // Before the second key stand `{"a`, 50 bytes of its entry, and a comma.
  EXPECT_EQ(headerError("{\"a" + entry + ",\"a" + entry + "}", 4),
            "expects each key once, got 'a' twice (header, column 55)");
  EXPECT_EQ(headerError("{\"a" + entry + ",\"\\u0061" + entry + "}", 4),
            "expects each key once, got 'a' twice (header, column 55)");
  EXPECT_EQ(
      headerError(R"({"a":{"dtype":"F32","dtype":"F32","shape":[1],"data_offsets":[0,4]}})", 4),
      "expects each key once, got 'dtype' twice (header, column 21)");
}

TEST_F(SafetensorsTest, RangeErrors) {
  auto two = [&](const char *first, const char *second, size_t bytes) {
    return headerError(std::string(R"({"a":{"dtype":"U8","shape":[4],"data_offsets":)") + first +
                           R"(},"b":{"dtype":"U8","shape":[4],"data_offsets":)" + second + "}}",
                       bytes);
  };
  EXPECT_EQ(two("[0,4]", "[2,6]", 6),
            "expects tensors not to overlap, got 'b' at byte 2 and 'a' up to 4");
  EXPECT_EQ(two("[0,4]", "[0,4]", 4),
            "expects tensors not to overlap, got 'b' at byte 0 and 'a' up to 4");
  EXPECT_EQ(two("[0,4]", "[5,9]", 9), "expects tensor 'b' to begin at byte 4 of the data, got 5");
  EXPECT_EQ(two("[0,4]", "[4,8]", 9), "expects 8 bytes of data, got 9");
  EXPECT_EQ(two("[0,4]", "[4,8]", 7), "expects tensor 'b' to end inside the file, got bytes 4 to 8 "
                                      "where the file holds 7 (was it cut off?)");
  EXPECT_EQ(two("[0,4]", "[4,9]", 9),
            "expects tensor 'b' of shape [4] and type U8 to take 4 bytes, got 5");
}

TEST_F(SafetensorsTest, Overflow) {
  // 2^32 · 2^32 elements; 2^61 elements of 4 bytes; the end at the last 63-bit number.
  EXPECT_EQ(headerError(
                R"({"a":{"dtype":"U8","shape":[4294967296,4294967296],"data_offsets":[0,0]}})", 0),
            "expects tensor 'a' to have less than 2^63 bytes, got shape [4294967296, 4294967296]");
  EXPECT_EQ(
      headerError(R"({"a":{"dtype":"F32","shape":[2305843009213693952],"data_offsets":[0,0]}})", 0),
      "expects tensor 'a' to have less than 2^63 bytes, got shape [2305843009213693952]");
  EXPECT_EQ(
      headerError(
          R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[9223372036854775806,9223372036854775807]}})",
          1),
      "expects tensor 'a' to end inside the file, got bytes 9223372036854775806 to "
      "9223372036854775807 where "
      "the file holds 1 (was it cut off?)");
}

// A recursive parser would run out of stack.
TEST_F(SafetensorsTest, DeepNesting) {
  EXPECT_EQ(headerError(std::string(1 << 20, '['), 0),
            "expects JSON nested at most 64 deep (header, column 65)");
  EXPECT_EQ(headerError("{\"" + std::string(1000, '[') + "\":", 0).find("expects JSON: "), 0u);
}

TEST_F(SafetensorsTest, StrangeNames) {
  EXPECT_EQ(headerError("{\"a\\n\\u0000\":1}", 0),
            "expects tensor 'a\\x0A\\x00' to be a JSON object in the header");
  std::string message = headerError("{\"" + std::string(100000, 'a') + "\":1}", 0);
  EXPECT_LT(message.size(), 300u);
  EXPECT_EQ(headerError("{\"a\xff\":1}", 0).find("expects JSON: Invalid UTF-8 sequence"), 0u);
}

/// A file with two tensors, to be damaged.
std::string sample() {
  return safetensors(
      R"({"__metadata__":{"k":"v"},"ab":{"dtype":"F32","shape":[2,2],"data_offsets":[0,16]},)"
      R"("c":{"dtype":"I64","shape":[1],"data_offsets":[16,24]}})",
      std::string(24, 'x'));
}

TEST_F(SafetensorsTest, EveryTruncationIsRefused) {
  std::string whole = sample();
  for (size_t length = 0; length < whole.size(); ++length)
    EXPECT_FALSE(errorFor(whole.substr(0, length)).empty());
  load(whole);
}

// Whatever the header says after damage, opening refuses or all tensors lie inside the file.
TEST_F(SafetensorsTest, DamagedHeadersNeverLeadOutside) {
  std::string whole = sample();
  size_t headerEnd = whole.size() - 24;
  std::mt19937 random(1);
  int opened = 0;
  for (int trial = 0; trial < 20000; ++trial) {
    std::string damaged = whole;
    for (unsigned flips = 1 + random() % 4; flips-- > 0;) {
      size_t at = random() % headerEnd;
      // Bits, and characters that JSON has a meaning for.
      if (random() % 2)
        damaged[at] ^= static_cast<char>(1 << random() % 8);
      else
        damaged[at] = "{}[]\",:0123456789-.eE\\ u"[random() % 24];
    }
    auto file = Safetensors::open(folder.write("t.safetensors", damaged));
    if (!file) {
      llvm::consumeError(file.takeError());
      continue;
    }
    ++opened;
    for (const TensorInfo &tensor : (*file)->tensors()) {
      ASSERT_GE(tensor.fileOffset, 8);
      ASSERT_LE(tensor.fileOffset + tensor.byteLength, static_cast<int64_t>(damaged.size()));
      ASSERT_EQ(tensor.byteLength, tensor.elements * byteSize(tensor.type));
      std::vector<float> values(static_cast<size_t>(tensor.elements));
      llvm::consumeError((*file)->readF32(tensor, values));
    }
  }
  EXPECT_GT(opened, 100); // flips inside a name or the metadata do no harm
}

TEST_F(SafetensorsTest, GoldenWeights) {
  auto file =
      unwrap(Safetensors::open(ZERO_TEST_DATA_DIR "/Integration/golden/tiny/model.safetensors"));
  int64_t elements = 0;
  for (const TensorInfo &tensor : file->tensors())
    elements += tensor.elements;
  EXPECT_EQ(elements, 92); // wte 20, ln 4+4, fc 24+6, pr 24+4, extra 6
  std::vector<float> ones(4);
  expectSuccess(file->readF32(*file->find("ln.w"), ones));
  EXPECT_EQ(ones, (std::vector<float>{1, 1, 1, 1}));
}

//===-- Shards ------------------------------------------------------------===//

class Shards : public SafetensorsTest {
protected:
  void writeShard(const std::string &name, const std::string &tensor, float value) {
    write(name, {{tensor, DType::F32, {1}}}, value);
  }
  void writeTwo(const std::string &name, const std::string &first, const std::string &second) {
    write(name, {{first, DType::F32, {1}}, {second, DType::F32, {1}}}, 1.0f);
  }
  void write(const std::string &name, const std::vector<TensorSpec> &specs, float value) {
    expectSuccess(writeSafetensors(folder.path(name), specs,
                                   [&](size_t, llvm::MutableArrayRef<uint8_t> bytes) {
                                     std::memcpy(bytes.data(), &value, 4);
                                     return llvm::Error::success();
                                   }));
  }
  float valueOf(const Safetensors &file, llvm::StringRef tensor) {
    float value = 0;
    expectSuccess(file.readF32(*file.find(tensor), value));
    return value;
  }
  std::string index = "model.safetensors.index.json";
};

TEST_F(Shards, SeenAsOneSet) {
  writeShard("s1.safetensors", "z", 1.0f);
  writeShard("s2.safetensors", "a", 2.0f);
  std::string path = folder.write(
      index,
      R"({"metadata":{"total_size":8},"weight_map":{"z":"s1.safetensors","a":"s2.safetensors"}})");
  for (const std::string &given : {folder.str(), path}) {
    auto set = unwrap(openWeights(given));
    ASSERT_EQ(set->tensors().size(), 2u);
    EXPECT_EQ(set->tensors()[0].name, "a");
    EXPECT_EQ(valueOf(*set, "z"), 1.0f);
    EXPECT_EQ(valueOf(*set, "a"), 2.0f);
  }
}

TEST_F(Shards, WhatTheIndexDoesNotKnowIsNotRead) {
  writeShard("s2.safetensors", "a", 2.0f);
  writeTwo("s1.safetensors", "b", "extra");
  folder.write(index, R"({"weight_map":{"a":"s2.safetensors","b":"s1.safetensors"}})");
  auto set = unwrap(openWeights(folder.str()));
  ASSERT_EQ(set->tensors().size(), 2u);
  EXPECT_EQ(set->tensors()[1].name, "b");
}

TEST_F(Shards, Errors) {
  EXPECT_EQ(
      errorOf(openWeights(folder.str())),
      folder.str() +
          ": error: expects the folder to hold model.safetensors or model.safetensors.index.json");
  writeShard("s1.safetensors", "a", 1.0f);
  auto failure = [&](const std::string &json) {
    std::string path = folder.write(index, json);
    llvm::StringRef message = kept = errorOf(openWeights(folder.str()));
    return (message.consume_front(path + ":") ? message.ltrim().str() : kept);
  };
  EXPECT_EQ(failure("{\n\"weight_map\":{\"a\":\"s1.safetensors\",}}"),
            "2:36: error: expects JSON: Expected object key");
  EXPECT_EQ(failure("{}"), "error: expects an object 'weight_map' from tensor names to files");
  EXPECT_EQ(failure(R"({"weight_map":{"a":"../s1.safetensors"}})"),
            "error: expects tensor 'a' to name a file beside the index");
  EXPECT_EQ(failure(R"({"weight_map":{"a":1}})"),
            "error: expects tensor 'a' to name a file beside the index");
  EXPECT_EQ(failure(R"({"weight_map":{"b":"s1.safetensors"}})"),
            "error: expects tensor 'b' in s1.safetensors, which lacks it");
  EXPECT_EQ(failure(R"({"weight_map":{"b":"s9.safetensors"}})"),
            "error: expects file 's9.safetensors' beside it, which holds tensor 'b', got none of "
            "that name");
  writeShard("s2.safetensors", "b", 2.0f);
  EXPECT_EQ(failure(R"({"weight_map":{"a":"s2.safetensors","b":"s1.safetensors"}})"),
            "error: expects tensor 'a' in s2.safetensors, got it in s1.safetensors");
  writeTwo("s3.safetensors", "a", "c");
  EXPECT_EQ(failure(R"({"weight_map":{"a":"s1.safetensors","c":"s3.safetensors"}})"),
            "error: expects tensor 'a' in one file, got it in s1.safetensors and s3.safetensors");
}

TEST_F(Shards, FolderWithOneFile) {
  writeShard("model.safetensors", "a", 4.0f);
  EXPECT_EQ(valueOf(*unwrap(openWeights(folder.str())), "a"), 4.0f);
}

//===-- Writing -----------------------------------------------------------===//

class Writing : public SafetensorsTest {
protected:
  static llvm::Error fillWithIndex(size_t index, llvm::MutableArrayRef<uint8_t> bytes) {
    std::fill(bytes.begin(), bytes.end(), static_cast<uint8_t>(index + 1));
    return llvm::Error::success();
  }
};

TEST_F(Writing, BytesAreDetermined) {
  std::vector<TensorSpec> specs = {{"b", DType::F32, {1}},
                                   {"c", DType::U8, {2}},
                                   {"a", DType::F32, {1, 1}},
                                   {"d", DType::F64, {}}};
  std::string path = folder.path("out.safetensors");
  expectSuccess(writeSafetensors(path, specs, fillWithIndex));
  // The widest first, then by name; the header is filled up with spaces to a multiple of 8.
  std::string header = R"({"__metadata__":{"format":"pt"},)"
                       R"("d":{"dtype":"F64","shape":[],"data_offsets":[0,8]},)"
                       R"("a":{"dtype":"F32","shape":[1,1],"data_offsets":[8,12]},)"
                       R"("b":{"dtype":"F32","shape":[1],"data_offsets":[12,16]},)"
                       R"("c":{"dtype":"U8","shape":[2],"data_offsets":[16,18]}})";
  header.resize((header.size() + 7) / 8 * 8, ' ');
  EXPECT_EQ(readAll(path), safetensors(header, "\4\4\4\4\4\4\4\4\3\3\3\3\1\1\1\1\2\2"));
  EXPECT_EQ(unwrap(Safetensors::open(path))->tensors().size(), 4u);
}

TEST_F(Writing, NothingToWrite) {
  std::string path = folder.path("out.safetensors");
  expectSuccess(writeSafetensors(path, {}, fillWithIndex, {}));
  EXPECT_EQ(readAll(path), safetensors("{}      ", ""));
  EXPECT_TRUE(unwrap(Safetensors::open(path))->tensors().empty());
}

TEST_F(Writing, ReplacesAndLeavesNothingElse) {
  std::string path = folder.write("out.safetensors", "old");
  std::vector<TensorSpec> specs = {{"a", DType::U8, {1}}};
  expectSuccess(writeSafetensors(path, specs, fillWithIndex));
  EXPECT_EQ(unwrap(Safetensors::open(path))->tensors().size(), 1u);
  EXPECT_EQ(folder.list(), std::vector<std::string>{"out.safetensors"});
}

// (F2) until the rename the old file is what a reader sees, and a failure leaves it so.
TEST_F(Writing, AFailureLeavesTheOldFile) {
  std::string path = folder.write("out.safetensors", "old");
  std::vector<TensorSpec> specs = {{"a", DType::U8, {1}}, {"b", DType::U8, {1}}};
  auto fill = [&](size_t index, llvm::MutableArrayRef<uint8_t> bytes) -> llvm::Error {
    EXPECT_EQ(readAll(path), "old");
    return index == 0 ? llvm::Error::success() : llvm::createStringError("stop here");
  };
  EXPECT_EQ(errorOf(writeSafetensors(path, specs, fill)), "stop here");
  EXPECT_EQ(readAll(path), "old");
  EXPECT_EQ(folder.list(), std::vector<std::string>{"out.safetensors"});
}

// A file-size limit stands for a full disk: the write fails half-way.
TEST_F(Writing, AFullDiskLeavesTheOldFile) {
  std::string path = folder.write("out.safetensors", "old");
  std::vector<TensorSpec> specs = {{"a", DType::U8, {100000}}};
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  rlimit limited{4096, before.rlim_max};
  auto handler = std::signal(SIGXFSZ, SIG_IGN);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &limited), 0);
  llvm::Error error = writeSafetensors(path, specs, fillWithIndex);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  std::signal(SIGXFSZ, handler);
  EXPECT_EQ(errorOf(std::move(error)),
            path +
                ": error: cannot write the file (an earlier one stands unchanged): File too large");
  EXPECT_EQ(readAll(path), "old");
  EXPECT_EQ(folder.list(), std::vector<std::string>{"out.safetensors"});
}

TEST_F(Writing, ALinkStaysALink) {
  std::string target = folder.write("target", "old"), link = folder.path("link");
  ASSERT_EQ(::symlink(target.c_str(), link.c_str()), 0);
  expectSuccess(writeSafetensors(link, {}, fillWithIndex));
  EXPECT_TRUE(llvm::sys::fs::is_symlink_file(link));
  EXPECT_NE(readAll(target), "old");
}

TEST_F(Writing, BadTensors) {
  std::string path = folder.path("out.safetensors");
  auto failure = [&](std::vector<TensorSpec> specs) {
    return errorOf(writeSafetensors(path, specs, fillWithIndex));
  };
  std::string names = path + ": error: expects tensors with different names in UTF-8, got ";
  EXPECT_EQ(failure({{"a", DType::U8, {1}}, {"a", DType::U8, {1}}}), names + "'a'");
  EXPECT_EQ(failure({{"__metadata__", DType::U8, {1}}}), names + "'__metadata__'");
  EXPECT_EQ(failure({{"\xff", DType::U8, {1}}}), names + "'\xff'");
  std::string sizes = path + ": error: expects tensor 'a' to have less than 2^63 bytes, got shape ";
  EXPECT_EQ(failure({{"a", DType::U8, {-1}}}), sizes + "[-1]");
  EXPECT_EQ(failure({{"a", DType::F64, {int64_t(1) << 60}}}), sizes + "[1152921504606846976]");
  EXPECT_EQ(failure({{"a", DType::U8, {INT64_MAX}}, {"b", DType::U8, {1}}}),
            path + ": error: expects less than 2^63 bytes in all tensors together");
  EXPECT_TRUE(folder.list().empty());
}

TEST_F(Writing, CheckWritable) {
  std::string path = folder.path("out.safetensors");
  expectSuccess(checkWritable(path, 1));
  EXPECT_TRUE(folder.list().empty());
  folder.write("out.safetensors", "old");
  expectSuccess(checkWritable(path));
  EXPECT_EQ(readAll(path), "old");

  std::string nowhere = folder.path("none/out.safetensors");
  EXPECT_EQ(errorOf(checkWritable(nowhere)),
            nowhere + ": error: cannot create a file in this folder: No such file or directory");
  std::string through = path + "/out.safetensors";
  EXPECT_EQ(errorOf(checkWritable(through)),
            through + ": error: cannot write the file: Not a directory");
  EXPECT_EQ(errorOf(checkWritable(folder.str())),
            folder.str() + ": error: expects a file name to save to, got a folder");
  EXPECT_EQ(errorOf(checkWritable("/dev/null")),
            "/dev/null: error: expects a regular file to save to, got a device or pipe");
  EXPECT_EQ(errorOf(checkWritable("")), ": error: expects a file name to save to, got nothing");
  std::string message = errorOf(checkWritable(path, INT64_MAX));
  EXPECT_EQ(message.find(
                path + ": error: expects 9223372036854775807 bytes of free disk to save to, got "),
            0u);
  EXPECT_EQ(folder.list(), std::vector<std::string>{"out.safetensors"});
}

TEST_F(Writing, WriteProtection) {
  if (::geteuid() == 0)
    GTEST_SKIP() << "permissions do not bind the superuser";
  std::string path = folder.write("out.safetensors", "old");
  ::chmod(path.c_str(), 0400);
  EXPECT_EQ(errorOf(checkWritable(path)),
            path + ": error: cannot write the file: Permission denied");
}

} // namespace
} // namespace zero::training
