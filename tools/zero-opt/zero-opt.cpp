//===- zero-opt.cpp - IR in, IR out -------------------------------------------===//
//
// Runs any of Zero's passes alone, or all of them up to a level:
//   zero-opt model.mlir --zero-pipeline="stage=3 ranks=4 micro-batch=2 until=scheduled"
//
//===----------------------------------------------------------------------===//

#include "zero/Passes/Register.h"

#include "mlir/IR/DialectRegistry.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  zero::registerAllDialects(registry);
  zero::registerAllPasses();
  return mlir::asMainReturnCode(mlir::MlirOptMain(
      argc, argv, "Zero: passes over training graphs and their schedules\n", registry));
}
