//===- Graph.h - a parsed function for tests of the nn dialect --------------===//
#ifndef ZERO_TEST_DIALECT_NN_GRAPH_H
#define ZERO_TEST_DIALECT_NN_GRAPH_H

#include "zero/Dialect/NN/NN.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

/// A module with one function `(arguments) { op; return }`, and the errors reported on it.
class Graph {
public:
  Graph(const std::string &arguments, const std::string &op)
      : handler(&context, [this](mlir::Diagnostic &diagnostic) {
          errors += diagnostic.str() + "\n";
          return mlir::success();
        }) {
    context.loadDialect<zero::nn::NNDialect, mlir::func::FuncDialect>();
    std::string text = "func.func @f(" + arguments + ") {\n" + op + "\nreturn\n}";
    module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
    EXPECT_TRUE(module) << errors << text;
  }

  mlir::func::FuncOp function() { return *module->getOps<mlir::func::FuncOp>().begin(); }
  mlir::Block &block() { return function().front(); }
  mlir::Operation *first() { return &block().front(); }

  mlir::MLIRContext context;
  std::string errors;
  mlir::ScopedDiagnosticHandler handler;
  mlir::OwningOpRef<mlir::ModuleOp> module;
};

#endif // ZERO_TEST_DIALECT_NN_GRAPH_H
