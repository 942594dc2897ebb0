//===- Update.cpp - norm and optimizer ------------------------------------------===//

#include "Symbols.h"

#include "zero/Dialect/Zero/Config.h"

#include "llvm/ADT/SmallPtrSet.h"

using namespace mlir;

namespace zero::ir {

LogicalResult NormOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto cell = lookup<CellOp>(*this, getCellAttr(), symbols); // (C1)
  if (!cell)
    return failure();
  if (!cell.getTensorType().getElementType().isF64() || cell.getTensorType().getRank() != 0)
    return emitOpError() << "expects a cell of tensor<f64>, got " << cell.getTensorType();
  llvm::DenseSet<Attribute> seen;
  for (auto bucket : getBuckets().getAsRange<FlatSymbolRefAttr>()) {
    if (!lookup<BucketOp>(*this, bucket, symbols))
      return failure();
    if (!seen.insert(bucket).second) // (C2)
      return emitOpError() << "expects each bucket at most once, got " << bucket << " twice";
  }
  return success();
}

/// Of the module's zero.config; what else is wrong with that, the passes say that read it.
static int64_t countGroups(Operation *op) {
  auto module = op->getParentOfType<ModuleOp>();
  auto config = module ? module->getAttrOfType<DictionaryAttr>(Config::kAttrName) : nullptr;
  auto groups = config ? config.getAs<ArrayAttr>("groups") : nullptr;
  return groups ? groups.size() : 0;
}

LogicalResult UpdateOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto bucket = lookup<BucketOp>(*this, getBucketAttr(), symbols); // (C2)
  if (!bucket || !lookup<CellOp>(*this, getNormAttr(), symbols))
    return failure();
  auto slots = llvm::to_vector(bucket.getSlots().front().getOps<SlotOp>());
  if (slots.size() != getRanges().size()) // (C1)
    return emitOpError() << "expects one range for each of " << slots.size() << " slots, got "
                         << getRanges().size();
  int64_t groups = countGroups(*this);
  for (auto range : getRanges().getAsRange<RangeAttr>())
    if (range.getGroup() >= groups) // (C3)
      return emitOpError() << "expects a group of zero.config, which has " << groups << ", got "
                           << range.getGroup();
  for (auto [slot, range] : llvm::zip(slots, getRanges().getAsRange<RangeAttr>())) {
    int64_t begin = slot.getOffset();
    int64_t end = begin + countElements(slot.getTensorType()).value_or(0);
    if (range.getBegin() == begin && range.getEnd() == end)
      continue;
    InFlightDiagnostic error = emitOpError();
    error << "expects the range [" << begin << ", " << end << ") of " << slot.getParamAttr()
          << ", got [" << range.getBegin() << ", " << range.getEnd() << ")";
    error.attachNote(slot.getLoc()) << "the slot is here";
    return error;
  }
  return success();
}

} // namespace zero::ir
