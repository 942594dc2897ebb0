//===- KernelHarness.h - run generated kernels in this process -----------------------===//
//
// Parses a module with zero.kernels, lowers and compiles it, and calls a kernel
// as the runtime does: addresses of arguments, results and workspace, and a range
// of units. The same call can be made with every buffer moved off its alignment,
// with a result written over an argument, with results added to what they hold,
// and cut into pieces, which must not change a bit of the results (law N0).
//
//===----------------------------------------------------------------------===//
#ifndef ZERO_TEST_PASSES_LOWER_KERNELHARNESS_H
#define ZERO_TEST_PASSES_LOWER_KERNELHARNESS_H

#include "zero/Passes/KernelDescriptors.h"
#include "zero/Reference/Array.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <memory>
#include <random>

namespace llvm::orc {
class LLJIT;
}

namespace zero::testing {

/// Bytes of a tensor, row-major, as the kernel sees them.
using Bytes = std::vector<char>;

struct CallOptions {
  int64_t offsetBytes = 0;    // of every buffer from a multiple of 64
  std::vector<int64_t> over;  // per result: the argument that it lies over, or -1
  std::vector<int64_t> added; // results that are added to `before`
  std::vector<Bytes> before;  // what the results hold before the call
  int64_t pieces = 1;         // the units are cut into so many calls
};

class Kernels {
public:
  /// Null, with a test failure, where the module does not parse, lower or compile.
  static std::unique_ptr<Kernels> compile(const std::string &module);
  ~Kernels();

  ir::KernelOp kernel(llvm::StringRef name);
  KernelCall describe(llvm::StringRef name);
  /// Arguments are given densely; the harness lays strided ones out.
  std::vector<Bytes> call(llvm::StringRef name, const std::vector<Bytes> &arguments,
                          const CallOptions &options = {});
  /// The f64 values of the reference interpreter.
  std::vector<reference::Array> judge(llvm::StringRef name, const std::vector<Bytes> &arguments);

private:
  Kernels();
  std::unique_ptr<mlir::MLIRContext> context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::unique_ptr<llvm::orc::LLJIT> jit;
};

/// Floats are normal with deviation `scale`, integers uniform in [0, bound), i1 either.
Bytes randomTensor(mlir::Type type, std::mt19937 &generator, double scale, int64_t bound);
Bytes bytesOf(llvm::ArrayRef<float> values);
/// The bits of a number rounded to bf16 or f16, and back.
uint16_t shortBits(double value, mlir::Type type);
double shortValue(uint16_t bits, mlir::Type type);
std::vector<float> floatsOf(const Bytes &bytes);
/// Elements as f64, or integers, of a tensor type.
reference::Array arrayOf(const Bytes &bytes, mlir::Type type);
double elementOf(const reference::Array &array, int64_t i);

} // namespace zero::testing

#endif // ZERO_TEST_PASSES_LOWER_KERNELHARNESS_H
