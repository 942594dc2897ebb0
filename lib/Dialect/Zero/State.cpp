//===- State.cpp - verifiers of buckets, slots, states, cells ----------------===//

#include "Symbols.h"

using namespace mlir;

namespace zero::ir {
namespace {
constexpr int64_t kSlotAlignmentBytes = 64;
} // namespace

LogicalResult SlotOp::verify() {
  if (!countElements(getTensorType()) || !elementBytes(getTensorType().getElementType())) // (C1)
    return emitOpError() << "expects a static type of numbers of whole bytes, with at most 2^60 "
                            "elements, got "
                         << getTensorType();
  int64_t offset = getOffset(), contributions = getContributions();
  if (offset < 0 || contributions < 0) // (C2)
    return emitOpError() << "expects a place and contributions of at least 0, got " << offset
                         << " and " << contributions;
  return success();
}

Type BucketOp::getElementType() {
  return cast<SlotOp>(getSlots().front().front()).getTensorType().getElementType();
}

int64_t BucketOp::getElementBytes() { return *elementBytes(getElementType()); }

LogicalResult BucketOp::verify() {
  int64_t ranks = getRanks(), length = getLength(), chunk = getChunk();
  if (ranks < 1) // (C1)
    return emitOpError() << "expects at least 1 rank, got " << ranks;
  for (auto [what, elements] : {std::pair("length", length), std::pair("chunk", chunk)})
    if (elements < 1 || elements % ranks != 0)
      return emitOpError() << "expects a " << what << " of a positive multiple of " << ranks
                           << " ranks, got " << elements;
  if (chunk > length)
    return emitOpError() << "expects a chunk of at most " << length << ", got " << chunk;
  return success();
}

LogicalResult BucketOp::verifyRegions() {
  int64_t length = getLength();
  Block &block = getSlots().front();
  if (block.empty()) // (C2)
    return emitOpError("expects at least one slot");
  Type element;
  int64_t end = 0;
  for (Operation &op : block) {
    auto slot = dyn_cast<SlotOp>(op);
    if (!slot)
      return op.emitOpError("expects zero.slot alone in a zero.bucket");
    RankedTensorType type = slot.getTensorType();
    int64_t offset = slot.getOffset();
    int64_t elements = *countElements(type);
    if (element && element != type.getElementType())
      return slot.emitOpError() << "expects the bucket's element type " << element << ", got "
                                << type.getElementType();
    element = type.getElementType();
    int64_t unit = std::max<int64_t>(1, kSlotAlignmentBytes / *elementBytes(element));
    if (offset < end)
      return slot.emitOpError() << "expects a place at " << end << " or behind, got " << offset;
    if (offset % unit != 0)
      return slot.emitOpError() << "expects a place at a multiple of " << kSlotAlignmentBytes
                                << " bytes (" << unit << " elements), got " << offset;
    if (offset > length || elements > length - offset) // (C3)
      return slot.emitOpError() << "expects an end at " << length << " or before, got " << offset
                                << " and " << elements << " elements";
    end = offset + elements;
  }
  return success();
}

HeldAttr StateOp::find(StateKind kind) {
  for (auto held : getHeld().getAsRange<HeldAttr>())
    if (held.getKind() == kind)
      return held;
  return {};
}

HeldAttr StateOp::findGradient() {
  HeldAttr grad = find(StateKind::Grad);
  return grad ? grad : find(StateKind::GradAccum);
}

LogicalResult StateOp::verifySymbolUses(SymbolTableCollection &symbols) {
  if (!lookup<BucketOp>(*this, getBucketAttr(), symbols)) // (C1)
    return failure();
  uint32_t seen = 0;
  for (auto held : getHeld().getAsRange<HeldAttr>()) {
    uint32_t bit = 1u << static_cast<uint32_t>(held.getKind());
    if (seen & bit) // (C2)
      return emitOpError() << "expects each kind at most once, got "
                           << stringifyStateKind(held.getKind()) << " twice";
    seen |= bit;
    if (!elementBytes(held.getType())) // (C3)
      return emitOpError() << "expects numbers of whole bytes, got " << held.getType();
  }
  return success();
}

LogicalResult CellOp::verify() {
  if (!countElements(getTensorType()) || !elementBytes(getTensorType().getElementType())) // (C1)
    return emitOpError() << "expects a static type of numbers of whole bytes, got "
                         << getTensorType();
  return success();
}

LogicalResult ArenaOp::verify() {
  int64_t bytes = getBytes(), persistent = getPersistent(), bound = getLowerBound();
  if (persistent < 0 || bound < persistent || bytes < bound) // (C1)
    return emitOpError() << "expects 0 <= persistent <= lower_bound <= bytes, got " << persistent
                         << ", " << bound << ", " << bytes;
  return success();
}

} // namespace zero::ir
