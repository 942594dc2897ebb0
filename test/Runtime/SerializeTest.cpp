//===- SerializeTest.cpp - a step table as bytes --------------------------===//

#include "TinyProgram.h"

#include <gtest/gtest.h>
#include <random>

using namespace zrt;
using namespace zrt::test;

namespace {

/// Every kernel kind and every opcode, over an arena of 4096 bytes.
Program everything() {
  Program p = tinyProgram({.ranks = 3, .stage = 3, .microSteps = 2});
  p.arenaBytes = 4096;
  p.optimizer = {.kind = OptimizerKind::Lion, .groups = {{0.5, 0.25}, {2.0, {}}}};
  p.microBatch = 2;
  p.buckets[0].slots[1].group = 1;
  p.buckets[0].slots[1].zeroRow = 0;
  p.scalars.push_back({"random", ElementType::i32, 4, 3072});
  Kernel gemm{"fc", KernelKind::Gemm, {}, {}, {}, {}, {}, 0};
  gemm.gemm = {.type = ElementType::bf16,
               .resultType = ElementType::f32,
               .batch = 1,
               .m = 2,
               .n = 3,
               .k = 4,
               .aRow = 4,
               .aCol = 1,
               .bRow = 3,
               .bCol = 1,
               .cRow = 3,
               .hasBias = true,
               .activation = Activation::GeluTanh};
  Kernel attention{"attend", KernelKind::Attention, {}, {}, {}, {}, {}, 0};
  AttentionDesc &a = attention.attention;
  a.type = ElementType::f16;
  a.dropoutRate = 0.125;
  a.dropoutSite = 7;
  a.batch = 1;
  a.queryLen = a.keyLen = a.heads = 2;
  a.kvHeads = 1;
  a.headDim = 4;
  a.scale = 0.5f;
  a.causal = true;
  a.q = a.out = {16, 8, 4};
  a.k = a.v = {8, 4, 4};
  Kernel loss{"ce", KernelKind::CrossEntropy, {}, {}, {}, {}, {}, 0};
  loss.crossEntropy = {.type = ElementType::bf16, .withGradient = false, .rows = 2, .classes = 5};
  Kernel scatter{"scatter", KernelKind::Scatter, {}, {}, {}, {}, {}, 0};
  scatter.scatter = {.type = ElementType::f16,
                     .resultType = ElementType::f32,
                     .rows = 6,
                     .width = 4,
                     .tableRows = 5};
  p.kernels.insert(p.kernels.end(), {gemm, attention, loss, scatter});
  auto launch = [](int32_t kernel, std::vector<int64_t> operands) {
    Row row;
    row.kernel = kernel;
    row.operands = std::move(operands);
    return row;
  };
  Segment &segment = p.segments[1];
  segment.rows.push_back(launch(1, {1024, 1088, 1152, 1216, -1}));
  segment.rows.push_back(launch(2, {1024, 1088, 1152, 1216, 1280, 3072}));
  segment.rows.push_back(launch(3, {1024, 1088, 1152, 1216, 1280}));
  segment.rows.push_back(launch(4, {1024, 1088, 1216, 2048}));
  Row wait;
  wait.opcode = Opcode::Wait;
  wait.waits = {0, 3};
  segment.rows.push_back(wait);
  Row random;
  random.opcode = Opcode::SetRandom;
  random.operands = {3072};
  segment.rows.push_back(random);
  p.segments.push_back({"eval", SegmentRole::Evaluation, 1, {}, {wait}});
  p.segments.back().rows[0].waits.clear();
  return p;
}

/// What the trailer holds, worked out here once more: FNV-1a of all bytes before it.
void seal(std::vector<uint8_t> &bytes) {
  uint64_t size = bytes.size(), hash = 14695981039346656037u;
  for (int i = 0; i < 8; ++i)
    bytes[8 + size_t(i)] = uint8_t(size >> (8 * i));
  for (size_t i = 0; i + 8 < bytes.size(); ++i)
    hash = (hash ^ bytes[i]) * 1099511628211u;
  for (int i = 0; i < 8; ++i)
    bytes[bytes.size() - 8 + size_t(i)] = uint8_t(hash >> (8 * i));
}

TEST(Serialize, RoundTripGivesTheSameBytes) {
  for (int64_t stage = 0; stage <= 3; ++stage) {
    Program program = tinyProgram({.ranks = 4, .stage = stage, .microSteps = 3});
    std::vector<uint8_t> bytes = serialize(program);
    std::string error;
    std::optional<Program> read = deserialize(bytes.data(), bytes.size(), error);
    ASSERT_TRUE(read) << error;
    EXPECT_EQ(serialize(*read), bytes);
    EXPECT_EQ(print(*read), print(program));
    EXPECT_EQ(hash(*read), hash(program));
  }
}

TEST(Serialize, RoundTripOfEveryKindOfKernelAndRow) {
  Program program = everything();
  ASSERT_EQ(check(program), "");
  std::vector<uint8_t> bytes = serialize(program);
  std::string error;
  std::optional<Program> read = deserialize(bytes.data(), bytes.size(), error);
  ASSERT_TRUE(read) << error;
  EXPECT_EQ(serialize(*read), bytes);
  EXPECT_EQ(read->kernels[1].gemm.activation, Activation::GeluTanh);
  EXPECT_EQ(read->kernels[1].gemm.type, ElementType::bf16);
  EXPECT_EQ(read->kernels[1].gemm.resultType, ElementType::f32);
  EXPECT_EQ(read->kernels[2].attention.type, ElementType::f16);
  EXPECT_EQ(read->kernels[2].attention.dropoutRate, 0.125);
  EXPECT_EQ(read->kernels[2].attention.dropoutSite, 7);
  EXPECT_FALSE(read->kernels[3].crossEntropy.withGradient);
  EXPECT_EQ(read->kernels[4].scatter.type, ElementType::f16);
  EXPECT_EQ(read->optimizer.kind, OptimizerKind::Lion);
  EXPECT_EQ(read->optimizer.groups[0].lrScale, 0.5);
  EXPECT_EQ(read->optimizer.groups[0].weightDecay, std::optional<double>(0.25));
  EXPECT_FALSE(read->optimizer.groups[1].weightDecay.has_value());
  EXPECT_EQ(read->buckets[0].slots[1].group, 1);
  EXPECT_EQ(read->buckets[0].slots[1].zeroRow, 0);
  EXPECT_EQ(read->microBatch, 2);
  EXPECT_EQ(read->segments[3].role, SegmentRole::Evaluation);
  EXPECT_EQ(read->kernels[2].attention.scale, 0.5f);
  EXPECT_EQ(read->kernels[2].attention.out.time, 8);
  EXPECT_EQ(read->kernels[3].crossEntropy.ignore, -100);
  EXPECT_EQ(read->kernels[4].scatter.tableRows, 5);
  EXPECT_EQ(read->buckets[0].slots[1].parameter, "b");
  EXPECT_EQ(read->buckets[0].slots[1].initScale, 0.25);
  EXPECT_EQ(read->segments[1].inputs[1].ignore, std::optional<int64_t>(kIgnored));
  EXPECT_FALSE(read->segments[1].inputs[0].bound.has_value());
  EXPECT_EQ(read->segments[1].rows[7].waits, (std::vector<int32_t>{0, 3}));
  EXPECT_EQ(read->segments[1].rows[8].opcode, Opcode::SetRandom);
}

TEST(Serialize, StatesKeepTheirTypes) {
  Program program = tinyProgram({.ranks = 2, .stage = 1, .type = ElementType::bf16});
  ASSERT_EQ(check(program), "");
  std::vector<uint8_t> bytes = serialize(program);
  std::string error;
  std::optional<Program> read = deserialize(bytes.data(), bytes.size(), error);
  ASSERT_TRUE(read) << error;
  const Bucket &bucket = read->buckets[0];
  EXPECT_EQ(bucket.state[int(StateKind::Param)].type, ElementType::bf16);
  EXPECT_EQ(bucket.state[int(StateKind::GradAccum)].type, ElementType::bf16);
  EXPECT_EQ(bucket.state[int(StateKind::Master)].type, ElementType::f32);
  EXPECT_NE(hash(program), hash(tinyProgram({.ranks = 2, .stage = 1, .type = ElementType::f16})));
}

TEST(Serialize, TheHashSeesEveryField) {
  Program program = everything(), other = program;
  other.segments[1].rows[0].frees = {{0, 4}};
  EXPECT_NE(hash(program), hash(other));
  other = program;
  other.optimizer.eps = 1e-9;
  EXPECT_NE(hash(program), hash(other));
}

TEST(Serialize, RefusesForeignBytesVersionsAndDamage) {
  std::vector<uint8_t> bytes = serialize(everything());
  std::string error;
  auto refused = [&](std::vector<uint8_t> changed) {
    return deserialize(changed.data(), changed.size(), error) ? "accepted" : error;
  };
  std::vector<uint8_t> foreign = bytes;
  foreign[0] = 'E';
  EXPECT_NE(refused(foreign).find("begins with 'ZRTP'"), std::string::npos) << error;
  std::vector<uint8_t> newer = bytes;
  newer[4] = 200;
  EXPECT_NE(refused(newer).find("got version 200"), std::string::npos) << error;
  std::vector<uint8_t> damaged = bytes;
  damaged[40] ^= 1;
  EXPECT_NE(refused(damaged).find("checksum"), std::string::npos) << error;
  std::vector<uint8_t> longer = bytes;
  longer.push_back(0);
  EXPECT_NE(refused(longer).find("bytes, got"), std::string::npos) << error;
  EXPECT_FALSE(deserialize(nullptr, 0, error));
}

TEST(Serialize, RefusesEveryTruncation) {
  std::vector<uint8_t> bytes = serialize(everything());
  for (size_t size = 0; size < bytes.size(); ++size) {
    std::string error;
    EXPECT_FALSE(deserialize(bytes.data(), size, error)) << size;
    EXPECT_FALSE(error.empty());
  }
  // The same with size and checksum made to fit, so that the fields themselves run out.
  for (size_t size = 24; size < bytes.size(); ++size) {
    std::vector<uint8_t> cut(bytes.begin(), bytes.begin() + long(size));
    seal(cut);
    std::string error;
    EXPECT_FALSE(deserialize(cut.data(), cut.size(), error)) << size;
  }
}

TEST(Serialize, FlippedBitsNeverCrash) {
  std::vector<uint8_t> bytes = serialize(everything());
  std::mt19937 random(1);
  int accepted = 0, rejected = 0;
  for (int turn = 0; turn < 20000; ++turn) {
    std::vector<uint8_t> flipped = bytes;
    for (int flips = 1 + int(random() % 3); flips > 0; --flips)
      flipped[16 + random() % (bytes.size() - 24)] ^= uint8_t(1u << random() % 8);
    seal(flipped);
    std::string error;
    if (std::optional<Program> read = deserialize(flipped.data(), flipped.size(), error)) {
      ++accepted;
      EXPECT_EQ(check(*read), "");
      EXPECT_FALSE(print(*read).empty());
    } else {
      ++rejected;
      EXPECT_FALSE(error.empty());
    }
  }
  EXPECT_GT(accepted, 0); // names, learning rates and the like may hold anything
  EXPECT_GT(rejected, accepted / 4);
}

TEST(Print, RowsReadAsASchedule) {
  std::string text = print(tinyProgram({.ranks = 3, .stage = 3, .microSteps = 2}));
  auto has = [&](const char *part) {
    EXPECT_NE(text.find(part), std::string::npos) << part << text;
  };
  has("program: stage 3, ranks 3, micro-steps 2");
  has("bucket b0 length 18 chunk 6: w [0, 5) 5xf32 decay b [16, 17) 1xf32; sharded param@0");
  has("segment micro_step times 2");
  has("argument labels@");
  has("in [0, 1073741824) or -100");
  has("0 all_gather b0 → ");
  has("1 launch regression ");
  has("2 reduce_scatter b0 ");
  has(" → grad_accum b0@64 write first, then add on reduce frees 72 at ");
  has("norm b0 over ranks → norm@");
  has("update b0 on compute");
}

TEST(Print, TypesGroupsAndRolesStandWhereTheySayMoreThanF32) {
  std::string text = print(everything()) + print(tinyProgram({.type = ElementType::bf16}));
  auto has = [&](const char *part) {
    EXPECT_NE(text.find(part), std::string::npos) << part << text;
  };
  has("micro-batch 2\ngroup 0: rate times 0.5, weight decay 0.25\ngroup 1: rate times 2\n");
  has("b [16, 17) 1xf32 group 1;");
  has("launch fc bf16 to f32 a 1024");
  has("launch attend f16 q 1024");
  has("launch ce bf16 logits 1024");
  has("launch scatter f16 to f32 indices 1024");
  has("set_random → random@3072 on compute");
  has("segment eval times 1 of an evaluation");
  has("w [0, 5) 5xbf16 decay b [32, 33) 1xbf16; full param@0 bf16; full grad_accum@");
}

} // namespace
