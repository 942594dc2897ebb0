//===- LaneMemory.cpp - loads, stores and constants of lanes -----------------------===//

#include "BodyViews.h"
#include "Evaluator.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace zero {

Type Evaluator::lanesOf(Type elementType) const { return VectorType::get(kLanes, elementType); }

Value Evaluator::toLanes(Value value) {
  if (isa<VectorType>(value.getType()))
    return value;
  return vector::BroadcastOp::create(b, lanesOf(value.getType()), value);
}

Value Evaluator::firstLanes(int64_t count) {
  SmallVector<bool> bits;
  for (int64_t lane = 0; lane < kLanes; ++lane)
    bits.push_back(lane < count);
  auto type = cast<VectorType>(lanesOf(b.getI1Type()));
  return arith::ConstantOp::create(b, DenseElementsAttr::get(type, ArrayRef<bool>(bits)));
}

Value Evaluator::number(double value, Type type) {
  TypedAttr attr = b.getFloatAttr(getElementTypeOrSelf(type), value);
  if (auto vector = dyn_cast<VectorType>(type))
    attr = DenseElementsAttr::get(vector, attr);
  return arith::ConstantOp::create(b, attr);
}

Value Evaluator::load(Value pointer, Type elementType, const Index &element, Value mask) {
  Type stored = elementType.isInteger(1) ? b.getI8Type() : elementType;
  Type pointerType = pointer.getType();
  unsigned alignment = storedBytes(elementType);
  Value loaded;
  if (element.isUniform()) {
    Value address =
        LLVM::GEPOp::create(b, pointerType, stored, pointer, ValueRange{math.scalar(element)});
    loaded = LLVM::LoadOp::create(b, stored, address, alignment);
  } else if (!element.lanes && element.step == 1) {
    Index first = element;
    first.step = 0;
    Value address =
        LLVM::GEPOp::create(b, pointerType, stored, pointer, ValueRange{math.scalar(first)});
    Type type = lanesOf(stored);
    Value none = arith::ConstantOp::create(b, b.getZeroAttr(type));
    loaded = mask ? LLVM::MaskedLoadOp::create(b, type, address, mask, none, alignment).getResult()
                  : LLVM::LoadOp::create(b, type, address, alignment).getResult();
  } else {
    Type type = lanesOf(stored);
    Value addresses = LLVM::GEPOp::create(b, VectorType::get(kLanes, pointerType), stored, pointer,
                                          ValueRange{math.vector(element)});
    Value none = arith::ConstantOp::create(b, b.getZeroAttr(type));
    loaded = LLVM::masked_gather::create(b, type, addresses, mask ? mask : firstLanes(kLanes), none,
                                         alignment);
  }
  if (stored == elementType)
    return loaded;
  Value zero = arith::ConstantOp::create(b, b.getZeroAttr(loaded.getType()));
  return arith::CmpIOp::create(b, arith::CmpIPredicate::ne, loaded, zero);
}

void Evaluator::store(Value pointer, const Index &element, Value value, Value mask, bool adds) {
  Type elementType = getElementTypeOrSelf(value.getType());
  if (adds)
    value = arith::AddFOp::create(b, load(pointer, elementType, element, mask), value);
  unsigned alignment = storedBytes(elementType);
  if (elementType.isInteger(1)) {
    Type bytes = isa<VectorType>(value.getType()) ? lanesOf(b.getI8Type()) : b.getI8Type();
    value = arith::ExtUIOp::create(b, bytes, value);
    elementType = b.getI8Type();
  }
  Index first = element;
  first.step = 0;
  Value address = LLVM::GEPOp::create(b, pointer.getType(), elementType, pointer,
                                      ValueRange{math.scalar(first)});
  if (mask)
    LLVM::MaskedStoreOp::create(b, value, address, mask, alignment);
  else
    LLVM::StoreOp::create(b, value, address, alignment);
}

} // namespace zero
