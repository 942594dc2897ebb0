//===- CheckTest.cpp - what makes a step table inconsistent ---------------===//

#include "TinyProgram.h"

#include <gtest/gtest.h>

using namespace zrt;
using namespace zrt::test;

namespace {

/// Two ranks, stage 3, two micro-steps: rows of micro_step are gather, launch, reduce; of update
/// norm and update.
Program program() { return tinyProgram({.ranks = 2, .stage = 3, .microSteps = 2}); }

void expectFault(const Program &faulty, const std::string &part) {
  std::string fault = check(faulty);
  EXPECT_NE(fault.find(part), std::string::npos) << "expected: " << part << "\ngot: " << fault;
  std::vector<uint8_t> bytes = serialize(faulty);
  std::string error;
  EXPECT_FALSE(deserialize(bytes.data(), bytes.size(), error));
}

template <typename Change> void expectFaultAfter(Change &&change, const std::string &part) {
  Program changed = program();
  change(changed);
  expectFault(changed, part);
}

TEST(Check, AcceptsEveryStage) {
  for (int64_t ranks : {1, 2, 3, 5, 24})
    for (int64_t stage = 0; stage <= 3; ++stage)
      EXPECT_EQ(check(tinyProgram({.ranks = ranks, .stage = stage, .microSteps = 2})), "");
}

TEST(Check, Head) {
  expectFaultAfter([](Program &p) { p.ranks = 0; }, "ranks, got 0");
  expectFaultAfter([](Program &p) { p.stage = 4; }, "expects stage 0, 1, 2 or 3, got 4");
  expectFaultAfter([](Program &p) { p.microSteps = 0; }, "expects at least one micro-step, got 0");
  expectFaultAfter([](Program &p) { p.threadsPerRank = 0; }, "threads per rank, got 0");
  expectFaultAfter([](Program &p) { p.persistentBytes = p.arenaBytes + 1; },
                   "persistent state within");
  expectFaultAfter([](Program &p) { p.optimizer.beta1 = 0.0 / 0.0; }, "finite optimizer settings");
}

TEST(Check, Buckets) {
  expectFaultAfter([](Program &p) { p.buckets[0].lengthElements = 17; },
                   "bucket 'b0': expects a positive multiple of 2 as length, got 17");
  expectFaultAfter([](Program &p) { p.buckets[0].chunkElements = 0; }, "as chunk, got 0");
  expectFaultAfter([](Program &p) { p.buckets[0].state[0].offset = p.persistentBytes - 4; },
                   "expects param within");
  expectFaultAfter([](Program &p) { p.buckets[0].state[0].offset = 2; },
                   "expects param at a multiple of 4");
  expectFaultAfter([](Program &p) { p.buckets[0].state[0].offset = INT64_MAX - 3; },
                   "expects param within");
  expectFaultAfter([](Program &p) { p.stage = 0; },
                   "expects full state at stage 0, got sharded param");
  expectFaultAfter([](Program &p) { p.buckets[0].bucketClass = BucketClass::Frozen; },
                   "expects only param in a bucket that is not trained, got grad_accum");
}

TEST(Check, TypesOfState) {
  auto mixed = [](auto change) {
    Program p = tinyProgram({.ranks = 2, .stage = 1, .type = ElementType::bf16});
    EXPECT_EQ(check(p), "");
    change(p.buckets[0]);
    return p;
  };
  auto as = [](StateKind kind, ElementType type) {
    return [=](Bucket &b) { b.state[int(kind)].type = type; };
  };
  expectFault(mixed([](Bucket &b) { b.type = ElementType::i32; }),
              "bucket 'b0': expects f32, bf16 or f16 as element type, got i32");
  expectFault(mixed(as(StateKind::Param, ElementType::f32)), "expects param in bf16, got f32");
  expectFault(mixed(as(StateKind::GradAccum, ElementType::f16)),
              "expects grad_accum in bf16 or f32, got f16");
  expectFault(mixed(as(StateKind::Master, ElementType::bf16)), "expects master in f32, got bf16");
  expectFault(mixed(as(StateKind::Moment2, ElementType::f16)), "expects moment2 in f32, got f16");
  expectFault(mixed([](Bucket &b) { b.state[int(StateKind::Master)].present = false; }),
              "expects a master of the 16-bit weights of bucket 'b0'");
  expectFaultAfter(
      [](Program &p) {
        p.buckets[0].state[int(StateKind::Master)] = p.buckets[0].state[int(StateKind::Moment1)];
      },
      "expects a master only of 16-bit weights");
  // 34 bf16 weights take 68 bytes, and not 136.
  Program fits = mixed([](Bucket &) {});
  fits.buckets[0].state[int(StateKind::Param)].offset = fits.persistentBytes - 68;
  EXPECT_EQ(check(fits), "");
  fits.buckets[0].state[int(StateKind::Param)].offset += 2;
  expectFault(fits, "expects param within");
}

TEST(Check, Slots) {
  expectFaultAfter([](Program &p) { p.buckets[0].slots[1].parameter = "w"; },
                   "expects one slot per parameter, got two of 'w'");
  expectFaultAfter([](Program &p) { p.buckets[0].slots[0].shape = {6}; },
                   "expects the slot of 'w' to hold the elements of its shape, got 5");
  expectFaultAfter([](Program &p) { p.buckets[0].slots[1].beginElement = 8; },
                   "expects the slot of 'b' at a multiple of 16");
  expectFaultAfter([](Program &p) { p.buckets[0].slots[1].beginElement = 32; },
                   "expects the slot of 'b' to end within 18 elements, got 1 at 32");
  expectFaultAfter(
      [](Program &p) { p.buckets[0].slots[0].shape = {int64_t(1) << 40, int64_t(1) << 40}; },
      "expects the slot of 'w'");
}

TEST(Check, Groups) {
  expectFaultAfter([](Program &p) { p.buckets[0].slots[1].group = 0; },
                   "expects a group in [-1, 0) of 'b', got 0");
  expectFaultAfter([](Program &p) { p.buckets[0].slots[1].group = -2; },
                   "expects a group in [-1, 0) of 'b', got -2");
  expectFaultAfter([](Program &p) { p.optimizer.groups = {{0.0 / 0.0, {}}}; },
                   "finite optimizer settings");
  expectFaultAfter([](Program &p) { p.optimizer.groups = {{1.0, 1.0 / 0.0}}; },
                   "finite optimizer settings");
}

TEST(Check, ZeroRows) {
  expectFaultAfter([](Program &p) { p.buckets[0].slots[1].zeroRow = 1; },
                   "expects a row of 'b' that starts at 0, or -1, got 1");
  expectFaultAfter([](Program &p) { p.buckets[0].slots[1].zeroRow = -2; },
                   "expects a row of 'b' that starts at 0, or -1, got -2");
}

TEST(Check, Launches) {
  auto launch = [](Program &p) -> Row & { return p.segments[1].rows[1]; };
  expectFaultAfter([&](Program &p) { launch(p).kernel = 1; },
                   "segment 'micro_step', row 1: expects a kernel in [0, 1), got 1");
  expectFaultAfter([&](Program &p) { launch(p).operands[2] = p.arenaBytes + 64; },
                   "expects an operand within");
  expectFaultAfter([&](Program &p) { launch(p).operands[2] = -1; }, "expects an operand within");
  expectFaultAfter([&](Program &p) { launch(p).perRunBytes[2] = p.arenaBytes; },
                   "expects an operand within"); // in the second run
  expectFaultAfter([&](Program &p) { launch(p).perRunBytes.pop_back(); },
                   "expects one move per operand, got 8 for 9");
  expectFaultAfter([&](Program &p) { launch(p).waits = {1}; },
                   "expects to wait for an earlier row, got 1");
  expectFaultAfter([&](Program &p) { launch(p).frees = {{0, p.arenaBytes + 1}}; },
                   "expects freed bytes within");
  expectFaultAfter(
      [&](Program &p) {
        launch(p).mode = WriteMode::WriteFirst;
        p.kernels[0].generated.addIndex = -1;
      },
      "expects a kernel that can add, got 'regression'");
}

TEST(Check, ABucketOnARowThatNeedsNone) {
  expectFaultAfter([](Program &p) { p.segments[1].rows[1].bucket = 7; },
                   "expects a bucket in [0, 1), got 7");
}

TEST(Check, LibraryKernels) {
  // C[2,3] = A[2,4]·B[4,3]: A ends 32 bytes, B 48, C 24 behind its offset.
  auto withGemm = [](Program &p, std::vector<int64_t> operands) -> GemmDesc & {
    p.kernels[0] = {"fc", KernelKind::Gemm, {}, {}, {}, {}, {}, 0};
    p.kernels[0].gemm = {
        .batch = 1, .m = 2, .n = 3, .k = 4, .aRow = 4, .aCol = 1, .bRow = 3, .bCol = 1, .cRow = 3};
    Row &row = p.segments[1].rows[1];
    row.operands = std::move(operands);
    row.perRunBytes.clear();
    return p.kernels[0].gemm;
  };
  Program fits = program();
  withGemm(fits, {fits.arenaBytes - 32, fits.arenaBytes - 48, fits.arenaBytes - 24});
  EXPECT_EQ(check(fits), "");
  expectFaultAfter([&](Program &p) { withGemm(p, {p.arenaBytes - 28, 0, 0}); }, "expects a within");
  expectFaultAfter([&](Program &p) { withGemm(p, {0, p.arenaBytes - 44, 0}); }, "expects b within");
  expectFaultAfter([&](Program &p) { withGemm(p, {0, 0, p.arenaBytes - 20}); }, "expects c within");
  expectFaultAfter([&](Program &p) { withGemm(p, {0, 0}); },
                   "expects 3 operands and a workspace for kernel 'fc', got 2");
  expectFaultAfter([&](Program &p) { withGemm(p, {0, 0, 0}).m = -1; },
                   "kernel 'fc': expects sizes and strides not to be negative");
  expectFaultAfter(
      [&](Program &p) {
        GemmDesc &desc = withGemm(p, {0, 0, 0});
        desc.m = desc.aRow = INT64_MAX; // a span of 2^126 elements
      },
      "expects a within");
  expectFaultAfter(
      [](Program &p) {
        p.kernels[0] = {"attend", KernelKind::Attention, {}, {}, {}, {}, {}, 0};
        p.kernels[0].attention.heads = 3;
        p.kernels[0].attention.kvHeads = 2;
      },
      "kernel 'attend': expects the key/value heads to divide the query heads");
}

TEST(Check, TypesOfLibraryKernels) {
  auto withKernel = [](auto change) {
    return [=](Program &p) {
      p.kernels[0] = {"k", KernelKind::Gemm, {}, {}, {}, {}, {}, 0};
      p.kernels[0].attention.heads = p.kernels[0].attention.kvHeads = 1;
      change(p.kernels[0]);
    };
  };
  expectFaultAfter(withKernel([](Kernel &k) { k.gemm.type = ElementType::i32; }),
                   "kernel 'k': expects operands in f32, bf16 or f16");
  expectFaultAfter(withKernel([](Kernel &k) { k.gemm.resultType = ElementType::bf16; }),
                   "expects a result of the operands' type or f32");
  expectFaultAfter(withKernel([](Kernel &k) {
                     k.kind = KernelKind::Scatter;
                     k.scatter.type = ElementType::bf16;
                     k.scatter.resultType = ElementType::f16;
                   }),
                   "expects a result of the operands' type or f32");
  expectFaultAfter(withKernel([](Kernel &k) {
                     k.kind = KernelKind::CrossEntropy;
                     k.crossEntropy.type = ElementType::f64;
                   }),
                   "expects operands in f32, bf16 or f16");
  auto attention = [&](auto change) {
    return withKernel([=](Kernel &k) {
      k.kind = KernelKind::Attention;
      change(k.attention);
    });
  };
  expectFaultAfter(attention([](AttentionDesc &d) { d.dropoutRate = 1.0; }),
                   "expects a dropout rate in [0, 1)");
  expectFaultAfter(attention([](AttentionDesc &d) { d.dropoutSite = int64_t(1) << 32; }),
                   "expects a dropout site of 32 bits");
  expectFaultAfter(attention([](AttentionDesc &d) {
                     d.dropoutRate = 0.5; // 2^17 · (2^17 + 1) is one row of keys too many
                     d.queryLen = 1 << 17;
                     d.keyLen = (1 << 17) + 1;
                   }),
                   "expects at most 2^34 probabilities a sample");
  // A bf16 operand of 2·4 elements takes 16 bytes, where one of f32 takes 32; a random adds one.
  Program fits = program();
  withKernel([](Kernel &k) {
    k.gemm = {.type = ElementType::bf16,
              .resultType = ElementType::f32,
              .batch = 1,
              .m = 2,
              .n = 3,
              .k = 4,
              .aRow = 4,
              .aCol = 1,
              .bRow = 3,
              .bCol = 1,
              .cRow = 3};
  })(fits);
  Row &row = fits.segments[1].rows[1];
  row.perRunBytes.clear();
  row.operands = {fits.arenaBytes - 16, fits.arenaBytes - 24, fits.arenaBytes - 24};
  EXPECT_EQ(check(fits), "");
  row.operands[0] += 2;
  expectFault(fits, "expects a within");
}

TEST(Check, Evaluation) {
  auto evaluating = [](Row row) {
    return
        [=](Program &p) { p.segments.push_back({"eval", SegmentRole::Evaluation, 1, {}, {row}}); };
  };
  Program gathers = program();
  evaluating(gathers.segments[1].rows[0])(gathers);
  EXPECT_EQ(check(gathers), "");
  for (const Row &row : {program().segments[1].rows[2], program().segments[2].rows[0],
                         program().segments[2].rows[1]})
    expectFaultAfter(evaluating(row), "segment 'eval', row 0: expects an evaluation to launch");
  expectFaultAfter(
      [](Program &p) {
        p.scalars.push_back({"eval_loss", ElementType::f64, 1, p.scalars.back().offset});
      },
      "expects an f32 scalar 'eval_loss'");
}

TEST(Check, WhatDropoutIsKeyedBy) {
  // Ranks 2, two micro-steps of 3 samples.
  auto keyed = [](auto change) {
    return [=](Program &p) {
      p.microBatch = 3;
      p.scalars.push_back({"random", ElementType::i32, 4, p.arenaBytes});
      p.arenaBytes += 64;
      Row row;
      row.opcode = Opcode::SetRandom;
      row.operands = {p.scalars.back().offset};
      p.segments[1].rows.push_back(row);
      change(p, p.segments[1].rows.back());
    };
  };
  Program fits = program();
  keyed([](Program &, Row &) {})(fits);
  EXPECT_EQ(check(fits), "");
  expectFaultAfter(keyed([](Program &p, Row &) { p.scalars.back().elements = 3; }),
                   "expects 4 elements in 'random', got 3");
  expectFaultAfter(keyed([](Program &, Row &row) { row.operands[0] += 4; }),
                   "expects what dropout is keyed by at the start of 'random'");
  expectFaultAfter(keyed([](Program &, Row &row) { row.operands.clear(); }),
                   "expects 1 operand, got 0");
  expectFaultAfter(keyed([](Program &, Row &row) { row.perRunBytes = {4}; }),
                   "expects what dropout is keyed by at one place in all runs");
  expectFaultAfter(keyed([](Program &p, Row &) { p.microBatch = 0; }), "expects a micro-batch");
  expectFaultAfter(keyed([](Program &p, Row &) { p.microBatch = (int64_t(1) << 30) + 1; }),
                   "expects at most 2^32 samples a step"); // times 2 ranks and 2 micro-steps
  expectFaultAfter([](Program &p) { p.microBatch = -1; }, "a micro-batch of at least 0");
}

TEST(Check, Collectives) {
  auto gather = [](Program &p) -> Row & { return p.segments[1].rows[0]; };
  auto reduce = [](Program &p) -> Row & { return p.segments[1].rows[2]; };
  expectFaultAfter([&](Program &p) { gather(p).bucket = 1; }, "expects a bucket in [0, 1), got 1");
  expectFaultAfter([&](Program &p) { gather(p).operands = {p.arenaBytes - 64}; },
                   "expects the full bucket within");
  expectFaultAfter([&](Program &p) { gather(p).inPlace = true; },
                   "expects a gather to be in place");
  expectFaultAfter([&](Program &p) { reduce(p).operands[1] = p.arenaBytes; },
                   "expects the shard within");
  expectFaultAfter([&](Program &p) { reduce(p).operands[1] = -1; },
                   "expects a reduction in place to write");
  expectFaultAfter([&](Program &p) { reduce(p).operands.pop_back(); }, "expects 2 operands, got 1");
}

TEST(Check, Control) {
  auto count = [](Program &p) -> Row & { return p.segments[0].rows[0]; };
  auto setSeed = [](Program &p) -> Row & { return p.segments[0].rows[1]; };
  expectFaultAfter([&](Program &p) { count(p).operands[0] = 0; },
                   "expects to count an integer argument of the segment, got offset 0");
  expectFaultAfter([&](Program &p) { count(p).operands[1] = p.scalars[2].offset; },
                   "expects the count to be a scalar of its type");
  expectFaultAfter([&](Program &p) { setSeed(p).operands[0] = -1; },
                   "expects a count, where the loss is a mean over labels");
  expectFaultAfter([&](Program &p) { p.lossMean = LossMean::Rank; },
                   "expects a count for each of 2 micro-steps, got 1");
  expectFaultAfter([&](Program &p) { p.scalars[0].elements = 3; },
                   "expects labels that fall into 3 equal parts, got 4");
  expectFaultAfter([&](Program &p) { p.segments[2].rows[0].sumOverRanks = false; },
                   "expects a norm of sharded gradients to be summed over ranks");
  expectFaultAfter([&](Program &p) { p.segments[2].rows[0].buckets = {2}; },
                   "expects buckets in [0, 1), got 2");
  expectFaultAfter(
      [&](Program &p) {
        p.optimizer.kind = OptimizerKind::AdamW;
        p.buckets[0].state[int(StateKind::Moment2)].present = false;
      },
      "expects both moments in bucket 'b0'");
  expectFaultAfter(
      [&](Program &p) {
        p.optimizer.kind = OptimizerKind::Lion;
        p.buckets[0].state[int(StateKind::Moment1)].present = false;
      },
      "expects moment1 in bucket 'b0'");
  expectFaultAfter(
      [&](Program &p) {
        p.optimizer.clip = 1.0;
        p.segments[2].rows.erase(p.segments[2].rows.begin());
      },
      "expects a norm before the first update, to clip by");
}

} // namespace
