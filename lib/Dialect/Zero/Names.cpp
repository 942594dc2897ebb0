//===- Names.cpp - the names under which results are printed -----------------===//
//
// A value is called after what it holds, so that a schedule reads as prose:
//   %fc.w = zero.view @fc.w of %b2 : …
//   %fc = zero.launch @fc(%ln, %fc.w, %fc.b) on compute : …
//
//===----------------------------------------------------------------------===//

#include "zero/Dialect/Zero/Zero.h"

using namespace mlir;

namespace zero::ir {

void LaunchOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  if (!getOuts().empty())
    setName(getOuts().front(), getKernel());
}
void ScalarOp::getAsmResultNames(OpAsmSetValueNameFn setName) { setName(getResult(), getCell()); }
void ViewOp::getAsmResultNames(OpAsmSetValueNameFn setName) { setName(getResult(), getParam()); }

void AllGatherOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  setName(getFull(), getBucket());
}
void ResidentOp::getAsmResultNames(OpAsmSetValueNameFn setName) { setName(getFull(), getBucket()); }
void WaitOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  if (getFull())
    setName(getFull(), getFull().getType().getBucket().getValue());
}

namespace {
void setSuffixed(OpAsmSetValueNameFn setName, Value value, FlatSymbolRefAttr bucket,
                 StringRef suffix) {
  setName(value, (bucket.getValue() + suffix).str());
}
} // namespace

void AllGatherStartOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  setSuffixed(setName, getFuture(), getBucketAttr(), ".gather");
}
void GradsOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  setSuffixed(setName, getGrads(), getBucketAttr(), ".grads");
}
void AccumulateOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  setSuffixed(setName, getResult(), getResult().getType().getBucket(), ".grads");
}
void ReduceScatterStartOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  setSuffixed(setName, getFuture(), getFuture().getType().getBucket(), ".sum");
}
void AllReduceStartOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  setSuffixed(setName, getFuture(), getFuture().getType().getBucket(), ".sum");
}

} // namespace zero::ir
