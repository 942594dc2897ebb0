//===- Buckets.cpp - the planner's buckets as ops -----------------------------===//

#include "Sharded.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;

namespace zero {

namespace buckets = planning::buckets;

/// The type of what is held of a parameter's gradient, or null.
static Type gradientType(const SlotRequest &request) {
  for (auto held : request.held.getAsRange<ir::HeldAttr>())
    if (held.getKind() == ir::StateKind::Grad || held.getKind() == ir::StateKind::GradAccum)
      return held.getType();
  return {};
}

buckets::Problem makeProblem(ArrayRef<SlotRequest> requests, const ir::Config &config) {
  buckets::Problem problem;
  problem.ranks = config.ranks;
  problem.bucketBytes = config.bucketBytes;
  // A bucket keeps its weights in one type, and its gradients in one.
  llvm::MapVector<std::pair<Type, Type>, int64_t> typeNumber;
  for (const SlotRequest &request : requests) {
    Type element = request.type.getElementType();
    auto number =
        typeNumber.try_emplace({element, gradientType(request)}, typeNumber.size()).first->second;
    problem.parameters.push_back({request.param.getValue().str(), request.type.getNumElements(),
                                  element.getIntOrFloatBitWidth() / 8,
                                  static_cast<buckets::Class>(request.bucketClass), number});
  }
  return problem;
}

void writeBuckets(OpBuilder &builder, ModuleOp module, const buckets::Plan &plan,
                  ArrayRef<SlotRequest> requests, const ir::Config &config) {
  // A bucket yields its name to a symbol of the user's: a bias may well be called b0.
  llvm::StringSet<> taken;
  for (Operation &op : *module.getBody())
    if (auto name = op.getAttrOfType<StringAttr>(SymbolTable::getSymbolAttrName()))
      taken.insert(name.getValue());
  auto freeName = [&](const std::string &wanted) {
    std::string name = wanted;
    for (int64_t i = 0; !taken.insert(name).second; ++i)
      name = wanted + "_" + std::to_string(i);
    return name;
  };

  Location loc = module.getLoc();
  SmallVector<std::pair<std::string, ArrayAttr>> states;
  for (const buckets::Bucket &planned : plan.buckets) {
    std::string name = freeName(planned.name);
    auto bucket =
        ir::BucketOp::create(builder, loc, name, static_cast<ir::BucketClass>(planned.kind),
                             config.ranks, planned.length, planned.chunk);
    OpBuilder::InsertionGuard guard(builder);
    builder.createBlock(&bucket.getSlots());
    for (const buckets::Slot &slot : planned.slots) {
      const SlotRequest &request = requests[slot.parameter];
      ir::SlotOp::create(builder, loc, request.param.getValue(), slot.begin, request.type,
                         request.contributions);
    }
    states.push_back({name, requests[planned.slots.front().parameter].held});
  }
  for (auto &[name, held] : states)
    ir::StateOp::create(builder, loc, name, held);
}

} // namespace zero
