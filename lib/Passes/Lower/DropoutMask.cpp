//===- DropoutMask.cpp - the generator's words for lanes --------------------===//
//
// Philox4x32-10 (Salmon et al., SC 2011, section 4) in arith ops: a block of four
// words is ten rounds of two products of 32 by 32 bits. A vector whose 16 elements
// are consecutive is four blocks, made side by side and then woven together; any
// other vector makes a block a lane and keeps one word of it.
//
//===----------------------------------------------------------------------===//

#include "DropoutMask.h"
#include "GeneratedPlan.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <array>

using namespace mlir;

namespace zero {
namespace {

constexpr int64_t kBlockWords = 4;
using Block = std::array<Value, kBlockWords>;

/// Whether a value is a multiple of four, as far as its making shows.
bool isMultipleOfFour(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
    return loop && argument == loop.getInductionVar() && isMultipleOfFour(loop.getLowerBound()) &&
           isMultipleOfFour(loop.getStep());
  }
  Operation *op = value.getDefiningOp();
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    auto number = dyn_cast<IntegerAttr>(constant.getValue());
    return number && number.getInt() % kBlockWords == 0;
  }
  if (isa<arith::MulIOp>(op))
    return isMultipleOfFour(op->getOperand(0)) || isMultipleOfFour(op->getOperand(1));
  if (isa<arith::AddIOp, arith::MinSIOp, arith::RemUIOp>(op))
    return isMultipleOfFour(op->getOperand(0)) && isMultipleOfFour(op->getOperand(1));
  return false;
}

bool isMultipleOfFour(const Index &index) {
  return index.constant % kBlockWords == 0 && (!index.base || isMultipleOfFour(index.base));
}

class Philox {
public:
  /// Of `width` blocks side by side; 0 for a scalar.
  Philox(ImplicitLocOpBuilder &builder, int64_t width) : b(builder), width(width) {}

  Type typeOf(Type element) const {
    return width ? Type(VectorType::get(width, element)) : element;
  }
  Value spread(Value word) {
    Type type = typeOf(word.getType());
    return type == word.getType() ? word : vector::BroadcastOp::create(b, type, word).getResult();
  }

  /// Block `counter[0]` under the key; counters are as many words as there are blocks.
  Block blocks(Block counter, Value keyLow, Value keyHigh) {
    for (int round = 0; round < 10; ++round) {
      if (round > 0) {
        keyLow = arith::AddIOp::create(b, keyLow, word(0x9E3779B9u));
        keyHigh = arith::AddIOp::create(b, keyHigh, word(0xBB67AE85u));
      }
      auto [high0, low0] = product(counter[0], 0xD2511F53u);
      auto [high1, low1] = product(counter[2], 0xCD9E8D57u);
      counter = {mixed(high1, counter[1], keyLow), low1, mixed(high0, counter[3], keyHigh), low0};
    }
    return counter;
  }

private:
  Value word(uint32_t bits) {
    return arith::ConstantOp::create(b, b.getI32IntegerAttr(static_cast<int32_t>(bits)));
  }
  Value mixed(Value x, Value y, Value key) {
    return arith::XOrIOp::create(b, arith::XOrIOp::create(b, x, y), spread(key));
  }
  std::pair<Value, Value> product(Value x, uint32_t factor) {
    Type narrow = typeOf(b.getI32Type()), wide = typeOf(b.getI64Type());
    auto constant = [&](uint64_t value) {
      return spread(arith::ConstantIntOp::create(b, static_cast<int64_t>(value), 64));
    };
    Value both = arith::MulIOp::create(b, arith::ExtUIOp::create(b, wide, x), constant(factor));
    Value high = arith::ShRUIOp::create(b, both, constant(32));
    return {arith::TruncIOp::create(b, narrow, high), arith::TruncIOp::create(b, narrow, both)};
  }

  ImplicitLocOpBuilder &b;
  int64_t width;
};

/// Lane 4j + w is word w of block j.
Value woven(ImplicitLocOpBuilder &b, const Block &words) {
  auto joined = [&](Value x, Value y) {
    int64_t lanes = 2 * cast<VectorType>(x.getType()).getDimSize(0);
    return vector::ShuffleOp::create(b, x, y, llvm::to_vector(llvm::seq<int64_t>(0, lanes)));
  };
  SmallVector<int64_t> order;
  for (int64_t lane = 0; lane < kLanes; ++lane)
    order.push_back(lane % kBlockWords * (kLanes / kBlockWords) + lane / kBlockWords);
  return vector::ShuffleOp::create(b, joined(words[0], words[1]), joined(words[2], words[3]),
                                   order);
}

/// Of each lane's block the word that `element` names.
Value chosen(ImplicitLocOpBuilder &b, const Block &words, Value element) {
  Type type = element.getType();
  auto constant = [&](int64_t value) {
    TypedAttr number = b.getI64IntegerAttr(value);
    if (auto vector = dyn_cast<VectorType>(type))
      number = DenseElementsAttr::get(vector, number);
    return arith::ConstantOp::create(b, number);
  };
  Value which = arith::AndIOp::create(b, element, constant(kBlockWords - 1)), result = words[3];
  for (int64_t w = 0; w < kBlockWords - 1; ++w) {
    Value is = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, which, constant(w));
    result = arith::SelectOp::create(b, is, words[w], result);
  }
  return result;
}

} // namespace

Value dropoutWords(ImplicitLocOpBuilder &b, IndexMath &math, const MaskKey &key,
                   const Index &sample, const Index &element) {
  bool isUniform = sample.isUniform() && element.isUniform();
  bool inBlocks =
      sample.isUniform() && !element.lanes && element.step == 1 && isMultipleOfFour(element);
  int64_t width = isUniform ? 0 : inBlocks ? kLanes / kBlockWords : kLanes;
  Philox philox(b, width);
  Type narrow = philox.typeOf(b.getI32Type());
  auto narrowed = [&](const Index &index) -> Value {
    if (index.isUniform()) {
      Value value = arith::TruncIOp::create(b, b.getI32Type(), math.scalar(index));
      return value;
    }
    return arith::TruncIOp::create(b, narrow, math.vector(index));
  };
  auto spread = [&](Value value) {
    return isa<VectorType>(value.getType()) ? value : philox.spread(value);
  };

  Value first;
  if (inBlocks) {
    Index begin = element;
    begin.step = 0;
    SmallVector<int32_t> steps = llvm::to_vector(llvm::seq<int32_t>(0, width));
    Value offsets = arith::ConstantOp::create(
        b, DenseElementsAttr::get(cast<VectorType>(narrow), ArrayRef(steps)));
    first = arith::AddIOp::create(b, spread(narrowed(math.div(begin, kBlockWords))), offsets);
  } else {
    first = spread(narrowed(math.div(element, kBlockWords)));
  }
  Value samples = arith::AddIOp::create(b, spread(narrowed(sample)), spread(key.firstSample));
  Block words = philox.blocks({first, spread(key.site), samples, spread(key.step)}, key.seedLow,
                              key.seedHigh);
  if (inBlocks)
    return woven(b, words);
  return chosen(b, words, isUniform ? math.scalar(element) : math.vector(element));
}

} // namespace zero
