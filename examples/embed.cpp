//===- embed.cpp - the compiler inside another program -----------------------===//
//
// Compiles a training graph for 2 ranks at stage 3, and trains it on numbers that
// this program makes: zero-run without files.
//
//   example-embed examples/mlp3.mlir
//
//===----------------------------------------------------------------------===//

#include "zero/Compiler/Compiler.h"

#include <cmath>
#include <cstdio>
#include <random>

static constexpr int64_t kRanks = 2, kRowsPerRank = 8, kRows = kRanks * kRowsPerRank;
static constexpr int64_t kInputs = 42, kClasses = 10;

/// Points around one centre a class, with the class as the label.
struct Batch {
  std::vector<float> x = std::vector<float>(kRows * kInputs);
  std::vector<int32_t> labels = std::vector<int32_t>(kRows);

  void draw(std::mt19937 &random) {
    std::normal_distribution<float> noise(0.0f, 0.5f);
    for (int64_t row = 0; row < kRows; ++row) {
      labels[row] = int32_t(random() % kClasses);
      for (int64_t i = 0; i < kInputs; ++i)
        x[row * kInputs + i] = std::sin(float(labels[row] * (i + 1))) + noise(random);
    }
  }

  /// The batch of all ranks, one after the other, for every argument of every segment.
  void pointAt(const zrt::Program &program, zrt::StepInput &input) const {
    input.data.clear();
    for (const zrt::Segment &segment : program.segments) {
      auto &pointers = input.data.emplace_back();
      for (const zrt::Input &argument : segment.inputs)
        pointers.push_back(argument.name == "x" ? static_cast<const void *>(x.data())
                                                : static_cast<const void *>(labels.data()));
    }
  }
};

static int fail(const std::string &message) {
  std::fprintf(stderr, "%s\n", message.c_str());
  return 1;
}

int main(int argc, char **argv) {
  if (argc != 2)
    return fail("usage: example-embed examples/mlp3.mlir");

  // Compile: text in, table and machine code out.
  zero::Compiler compiler;
  zero::CompileOptions options;
  options.until = zero::Level::Executable;
  options.ranks = kRanks;
  options.stage = 3;
  options.microBatch = kRowsPerRank;
  auto module = compiler.parseFile(argv[1]);
  if (!module || !compiler.run(*module, options))
    return fail(compiler.takeDiagnostics());
  std::optional<zero::Executable> executable = compiler.load(*module);
  if (!executable)
    return fail(compiler.takeDiagnostics());

  // Run: one arena and one thread a rank; a step allocates nothing.
  std::string error;
  auto session = zrt::Session::create(executable->program, executable->kernels, {}, error);
  if (!session)
    return fail(error);
  session->initialize(/*seed=*/0);

  std::mt19937 random(1);
  Batch batch;
  zrt::StepInput input;
  batch.pointAt(session->program(), input);
  input.lr = 3e-3;
  for (; input.stepsTaken < 50; ++input.stepsTaken) {
    batch.draw(random);
    zrt::StepResult result;
    if (!session->step(input, result, error))
      return fail(error);
    if (input.stepsTaken % 10 == 0)
      std::printf("step %2lld  loss %.4f\n", static_cast<long long>(input.stepsTaken + 1),
                  result.loss);
  }
  std::printf("arena %lld bytes a rank\n", static_cast<long long>(session->allocatedArenaBytes()));
  return 0;
}
