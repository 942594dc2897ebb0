//===- TestSupport.h - modules from text, and what their evaluation says ----===//
#ifndef ZERO_TEST_REFERENCE_TESTSUPPORT_H
#define ZERO_TEST_REFERENCE_TESTSUPPORT_H

#include "zero/Dialect/NN/NN.h"
#include "zero/Dialect/Zero/Zero.h"
#include "zero/Reference/Interpreter.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

namespace zero::reference {

class ReferenceTest : public ::testing::Test {
protected:
  ReferenceTest() : context(mlir::MLIRContext::Threading::DISABLED) {
    context.loadDialect<nn::NNDialect, ir::ZeroDialect, mlir::func::FuncDialect>();
    context.getDiagEngine().registerHandler([this](mlir::Diagnostic &diagnostic) {
      messages += diagnostic.str() + "\n";
      return mlir::success();
    });
  }

  mlir::OwningOpRef<mlir::ModuleOp> parse(llvm::StringRef text) {
    mlir::OwningOpRef<mlir::ModuleOp> module =
        mlir::parseSourceString<mlir::ModuleOp>(text, &context);
    EXPECT_TRUE(module) << messages;
    return module;
  }

  /// The results of `@f`; none where it fails, with the reason in `messages`.
  Results run(llvm::StringRef text, llvm::ArrayRef<Array> arguments = {},
              const Parameters &parameters = {}) {
    mlir::OwningOpRef<mlir::ModuleOp> module = parse(text);
    if (!module)
      return {};
    auto function = module->lookupSymbol<mlir::func::FuncOp>("f");
    mlir::FailureOr<Results> results = evaluate(function, arguments, parameters);
    return mlir::succeeded(results) ? *results : Results();
  }

  mlir::MLIRContext context;
  std::string messages;
};

inline void expectNear(const Array &array, llvm::ArrayRef<int64_t> shape,
                       llvm::ArrayRef<double> values, double tolerance = 1e-12) {
  EXPECT_EQ(llvm::ArrayRef<int64_t>(array.shape), shape);
  ASSERT_EQ(array.f.size(), values.size());
  for (size_t k = 0; k < values.size(); ++k)
    EXPECT_NEAR(array.f[k], values[k], tolerance) << "element " << k;
}

} // namespace zero::reference

#endif // ZERO_TEST_REFERENCE_TESTSUPPORT_H
