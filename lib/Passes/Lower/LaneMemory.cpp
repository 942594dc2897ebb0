//===- LaneMemory.cpp - loads, stores and constants of lanes -----------------------===//
//
// 16-bit floats are widened where they are read, exactly, and rounded to the
// nearest even where they are written. bf16 never shows as a float type of LLVM,
// whose conversions are slow on some processors and undefined on others: it is
// widened by a shift, and rounded by integer arithmetic.
//
//===----------------------------------------------------------------------===//

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

namespace {

Type memoryType(Type elementType) {
  MLIRContext *context = elementType.getContext();
  if (elementType.isInteger(1))
    return IntegerType::get(context, 8);
  return elementType.isBF16() ? IntegerType::get(context, 16) : elementType;
}

/// `value`'s type with other elements.
Type withElements(Value value, Type elementType) {
  auto vector = dyn_cast<VectorType>(value.getType());
  return vector ? Type(vector.cloneWith(std::nullopt, elementType)) : elementType;
}

/// The number as a constant of `like`'s type, an integer or a vector of such.
Value integerLike(ImplicitLocOpBuilder &b, Value like, int64_t number) {
  TypedAttr attr = b.getIntegerAttr(getElementTypeOrSelf(like.getType()), number);
  if (auto vector = dyn_cast<VectorType>(like.getType()))
    attr = DenseElementsAttr::get(vector, attr);
  return arith::ConstantOp::create(b, attr);
}

bool isFirstLaneAlone(Value mask) {
  auto constant = mask.getDefiningOp<arith::ConstantOp>();
  auto lanes = constant ? dyn_cast<DenseElementsAttr>(constant.getValue()) : DenseElementsAttr();
  if (!lanes)
    return false;
  auto values = llvm::to_vector(lanes.getValues<bool>());
  return values.front() && llvm::count(values, true) == 1;
}

/// The upper half of an f32, rounded to nearest even; a NaN stays one.
Value roundedToBF16(ImplicitLocOpBuilder &b, Value value) {
  Value bits = arith::BitcastOp::create(b, withElements(value, b.getI32Type()), value);
  Value sixteen = integerLike(b, bits, 16);
  Value upper = arith::ShRUIOp::create(b, bits, sixteen);
  Value odd = arith::AndIOp::create(b, upper, integerLike(b, bits, 1));
  Value half = arith::AddIOp::create(b, odd, integerLike(b, bits, 0x7fff));
  Value rounded = arith::ShRUIOp::create(b, arith::AddIOp::create(b, bits, half), sixteen);
  Value quiet = arith::OrIOp::create(b, upper, integerLike(b, bits, 0x40));
  Value isNaN = arith::CmpFOp::create(b, arith::CmpFPredicate::UNO, value, value);
  Value result = arith::SelectOp::create(b, isNaN, quiet, rounded);
  return arith::TruncIOp::create(b, withElements(value, b.getIntegerType(16)), result);
}

} // namespace

Value Evaluator::encoded(Value value, Type elementType) {
  if (elementType.isBF16())
    return roundedToBF16(b, value);
  if (elementType.isF16())
    return arith::TruncFOp::create(b, withElements(value, elementType), value);
  if (elementType.isInteger(1))
    return arith::ExtUIOp::create(b, withElements(value, b.getI8Type()), value);
  return value;
}

Value Evaluator::decoded(Value stored, Type elementType) {
  if (elementType.isBF16()) {
    Value wide = arith::ExtUIOp::create(b, withElements(stored, b.getI32Type()), stored);
    Value bits = arith::ShLIOp::create(b, wide, integerLike(b, wide, 16));
    return arith::BitcastOp::create(b, withElements(stored, b.getF32Type()), bits);
  }
  if (elementType.isF16())
    return arith::ExtFOp::create(b, withElements(stored, b.getF32Type()), stored);
  if (elementType.isInteger(1)) {
    Value zero = arith::ConstantOp::create(b, b.getZeroAttr(stored.getType()));
    return arith::CmpIOp::create(b, arith::CmpIPredicate::ne, stored, zero);
  }
  return stored;
}

Value Evaluator::load(Value pointer, Type elementType, const Index &element, Value mask) {
  Type stored = memoryType(elementType);
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
  return decoded(loaded, elementType);
}

void Evaluator::store(Value pointer, Type elementType, const Index &element, Value value,
                      Value mask, bool adds) {
  if (adds) {
    Value finished = decoded(encoded(value, elementType), elementType);
    value = arith::AddFOp::create(b, load(pointer, elementType, element, mask), finished);
  }
  value = encoded(value, elementType);
  unsigned alignment = storedBytes(elementType);
  Index first = element;
  first.step = 0;
  Value address = LLVM::GEPOp::create(b, pointer.getType(), memoryType(elementType), pointer,
                                      ValueRange{math.scalar(first)});
  if (mask && isFirstLaneAlone(mask) && alignment < 4) {
    // LLVM 22 stores 32 bits for a mask of the first of several lanes of 8 or 16.
    value = vector::ExtractOp::create(b, value, 0);
    mask = nullptr;
  }
  if (mask)
    LLVM::MaskedStoreOp::create(b, value, address, mask, alignment);
  else
    LLVM::StoreOp::create(b, value, address, alignment);
}

} // namespace zero
