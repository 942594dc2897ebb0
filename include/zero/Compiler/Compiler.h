//===- Compiler.h - parse, compile, load: the one door ----------------------------===//
//
// What zero-run, the C interface and Python go through:
//
//   Compiler compiler;
//   auto module = compiler.parseFile("model.mlir");          // text or bytecode, any level
//   compiler.run(*module, options);                          // up to level arena or llvm
//   auto executable = compiler.load(*module);                // table and kernels, in memory
//   auto session = zrt::Session::create(executable->program, executable->kernels, …);
//
// Diagnostics are collected as `file:line:col: error: …` lines; nothing exits, throws or asserts on
// input.
//
//===----------------------------------------------------------------------===//
#ifndef ZERO_COMPILER_COMPILER_H
#define ZERO_COMPILER_COMPILER_H

#include "zero/Passes/Level.h"
#include "zero/Runtime/Session.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace zero {

/// The pipeline's options; the meaning of each stands with `zero-pipeline`.
struct CompileOptions {
  Level until = Level::Arena;
  int64_t microBatch = 0;
  std::string dtype = "f32", keepF32, gradDtype = "auto"; // read at level graph
  int64_t ranks = 1, stage = 0, microSteps = 1, bucketBytes = 25 << 20, threadsPerRank = 1;
  std::string reduceEvery = "micro-step", lossMean = "step", optimizer = "adamw";
  double beta1 = 0.9, beta2 = 0.999, eps = 1e-8, weightDecay = 0.0, momentum = 0.0, clip = 0.0;
  std::string recompute = "none"; // read before level sharded
  int64_t activationBudget = 0;   // bytes, with recompute=budget
  int64_t holdBytes = -1;         // activations and gathers that wait for a reader; -1: any number
  std::string groups;             // parameter groups: ir::parseGroups
  bool evaluate = false;          // make an evaluation's segment; read at level graph
  bool verify = true;
  bool clean = false;

  /// As `--zero-pipeline` takes them.
  std::string toPipeline() const;
};

/// A program with its kernels in memory. Keeps the code alive.
struct Executable {
  zrt::Program program;
  std::vector<zrt::GeneratedKernel> kernels;
  std::shared_ptr<void> code;
  double compileSeconds = 0.0;
};

class Compiler {
public:
  Compiler();
  ~Compiler();

  mlir::MLIRContext &context();

  /// Text or bytecode of any level. Names of the batch arguments that the text gives only as SSA
  /// names (`%tokens`) are kept as `nn.name`. Null with diagnostics.
  mlir::OwningOpRef<mlir::ModuleOp> parseFile(const std::string &path);
  mlir::OwningOpRef<mlir::ModuleOp> parseText(const std::string &text, const std::string &name);

  /// Runs the pipeline from the module's level on.
  bool run(mlir::ModuleOp module, const CompileOptions &options);

  /// The step table of a module at level A or X. Nothing with diagnostics.
  std::optional<zrt::Program> table(mlir::ModuleOp module);

  /// The object file of a level-X module, for this machine's processor: kernels, `zrt_kernels` and
  /// `zrt_program`. Equal modules give equal bytes. Empty with diagnostics.
  std::vector<char> emitObject(mlir::ModuleOp module);

  /// Table and kernels of a level-X module. Kernels that an earlier load of this compiler made from
  /// the same text are reused.
  std::optional<Executable> load(mlir::ModuleOp module);

  /// All diagnostics since the last call, one a line; warnings too.
  std::string takeDiagnostics();

private:
  struct Impl;
  std::unique_ptr<Impl> impl;
};

} // namespace zero

#endif // ZERO_COMPILER_COMPILER_H
