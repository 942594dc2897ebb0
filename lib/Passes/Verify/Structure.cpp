//===- Structure.cpp - what the text of a level promises --------------------===//
//
// The checker of schedules sees rows, streams and bytes. What makes text into
// rows is held against the level here: no op sits on another stream than the
// runtime gives it, nothing is left without a place, and what the text says of
// a result is what its reader makes of it.
//
//===----------------------------------------------------------------------===//

#include "Structure.h"

#include "zero/Dialect/NN/NN.h"
#include "zero/Dialect/Zero/Config.h"
#include "zero/Passes/KernelDescriptors.h"
#include "zero/Passes/Views.h"

#include "llvm/ADT/StringMap.h"

using namespace mlir;

namespace zero {

LogicalResult verifyKernels(ModuleOp module) {
  for (auto kernel : module.getOps<ir::KernelOp>()) {
    if (!kernel.getMayReuseAttr())
      continue;
    SmallVector<SmallVector<int64_t>> allowed = deriveMayReuse(kernel);
    for (unsigned i = 0; i < kernel.getNumResults(); ++i)
      for (int64_t operand : kernel.getMayReuseOf(i))
        if (i >= allowed.size() || !llvm::is_contained(allowed[i], operand))
          return kernel.emitOpError()
                 << "(S1) expects result " << i << " to reuse operands whose "
                 << "elements are read before they are written, got operand " << operand;
  }
  return success();
}

namespace {

/// Who writes and who reads each cell, in order of the text.
struct CellUse {
  SmallVector<Operation *> writers, readers;
};

llvm::StringMap<CellUse> collectCells(ModuleOp module) {
  llvm::StringMap<CellUse> cells;
  for (auto segment : module.getOps<ir::SegmentOp>())
    for (Operation &op : segment.getBody().front()) {
      if (auto count = dyn_cast<ir::CountOp>(op)) {
        cells[count.getCell()].writers.push_back(&op);
      } else if (auto seed = dyn_cast<ir::SeedOp>(op)) {
        cells[seed.getSeed()].writers.push_back(&op);
        if (!seed.getCount().empty())
          cells[seed.getCount()].readers.push_back(&op);
      } else if (auto random = dyn_cast<ir::RandomOp>(op)) {
        cells[random.getCell()].writers.push_back(&op);
      } else if (auto set = dyn_cast<ir::SetOp>(op)) {
        cells[set.getCell()].writers.push_back(&op);
      } else if (auto scalar = dyn_cast<ir::ScalarOp>(op)) {
        cells[scalar.getCell()].readers.push_back(&op);
      } else if (auto norm = dyn_cast<ir::NormOp>(op)) {
        cells[norm.getCell()].writers.push_back(&op);
      } else if (auto update = dyn_cast<ir::UpdateOp>(op)) {
        cells[update.getNorm()].readers.push_back(&op);
      }
    }
  return cells;
}

/// Whether `first` comes before `second`, in a segment or by the order of segments.
bool isBefore(Operation *first, Operation *second) {
  Operation *a = first->getParentOp(), *b = second->getParentOp();
  return a == b ? first->isBeforeInBlock(second) : a->isBeforeInBlock(b);
}

LogicalResult verifyStream(Operation &op) {
  auto expect = [&](std::optional<ir::Stream> got, ir::Stream want) -> LogicalResult {
    if (got == want)
      return success();
    InFlightDiagnostic error = op.emitOpError() << "(S1) expects to be on stream "
                                                << stringifyStream(want) << ", got ";
    error << (got ? stringifyStream(*got) : StringRef("none"));
    return error;
  };
  if (auto launch = dyn_cast<ir::LaunchOp>(op))
    return expect(launch.getStream(), ir::Stream::Compute);
  if (auto wait = dyn_cast<ir::WaitOp>(op))
    return expect(wait.getStream(), ir::Stream::Compute);
  if (auto start = dyn_cast<ir::AllGatherStartOp>(op))
    return expect(start.getStream(), ir::Stream::Gather);
  if (auto start = dyn_cast<ir::ReduceScatterStartOp>(op))
    return expect(start.getStream(), ir::Stream::Reduce);
  if (auto start = dyn_cast<ir::AllReduceStartOp>(op))
    return expect(start.getStream(), ir::Stream::Reduce);
  if (isa<ir::AllGatherOp, ir::AllGatherInPlaceOp, ir::ReduceScatterOp, ir::AllReduceOp>(op))
    return op.emitOpError(
        "(S3) expects collectives to be started and waited for from level scheduled "
        "on");
  return success();
}

LogicalResult verifyPlaces(ir::LaunchOp launch) {
  ArrayAttr places = launch.getPlacesAttr();
  if (!places)
    return launch.getOuts().empty()
               ? success()
               : launch.emitOpError("(M1) expects a place for each result at level arena");
  for (OpResult result : launch->getResults()) {
    Operation *sink = sinkOf(result);
    ir::PlaceKind kind = cast<ir::PlaceAttr>(places[result.getResultNumber()]).getKind();
    bool isSlot = kind == ir::PlaceKind::Slot, isCell = kind == ir::PlaceKind::Cell;
    if (isSlot != isa_and_nonnull<ir::AccumulateOp>(sink) ||
        isCell != isa_and_nonnull<ir::SetOp>(sink))
      return launch.emitOpError() << "(M1) expects result " << result.getResultNumber() << " to be "
                                  << (!sink                         ? "at a place or inout"
                                      : isa<ir::AccumulateOp>(sink) ? "in its slot"
                                                                    : "in its cell")
                                  << ", as its readers have it";
  }
  return success();
}

LogicalResult verifyMode(ir::AccumulateOp accumulate, ir::SegmentOp segment, bool isState) {
  if (!accumulate.getMode())
    return accumulate.emitOpError("(S4) expects to write or to add, at level arena");
  if (isState && segment.getTimes() > 1 && *accumulate.getMode() == ir::AccumulateMode::Write)
    return accumulate.emitOpError("(S4) expects gradients that are kept over ")
           << segment.getTimes() << " runs to be written in the first one only, got write";
  return success();
}

/// Weights have the bucket's type, gradients that or f32, and what the optimizer keeps is f32;
/// 16-bit weights are updated through a master.
LogicalResult verifyStateTypes(ir::StateOp state, ir::BucketOp bucket) {
  Type element = bucket.getElementType(), f32 = Float32Type::get(state.getContext());
  for (auto held : state.getHeld().getAsRange<ir::HeldAttr>()) {
    bool isParam = held.getKind() == ir::StateKind::Param;
    bool isGradient =
        held.getKind() == ir::StateKind::Grad || held.getKind() == ir::StateKind::GradAccum;
    if (held.getType() == (isParam ? element : f32) || (isGradient && held.getType() == element))
      continue;
    InFlightDiagnostic error = state.emitOpError() << "(M2) expects to hold "
                                                   << stringifyStateKind(held.getKind()) << " in ";
    error << (isParam ? element : f32);
    if (isGradient && element != f32)
      error << " or " << element;
    return error << ", got " << held.getType();
  }
  bool needed = element != f32 && state.findGradient();
  if (bool(state.find(ir::StateKind::Master)) == needed)
    return success();
  return state.emitOpError() << "(M2) expects " << (needed ? "a" : "no") << " master of weights in "
                             << element;
}

} // namespace

LogicalResult verifyModule(ModuleOp module) {
  std::optional<ir::Config> config = ir::Config::get(module);
  if (!config)
    return failure();
  for (auto bucket : module.getOps<ir::BucketOp>())
    if (static_cast<int64_t>(bucket.getRanks()) != config->ranks)
      return bucket.emitOpError() << "expects the " << config->ranks
                                  << " ranks of zero.config, got " << bucket.getRanks();
  SymbolTable symbols(module);
  for (auto state : module.getOps<ir::StateOp>())
    if (failed(verifyStateTypes(state, symbols.lookup<ir::BucketOp>(state.getBucket()))))
      return failure();
  for (auto segment : module.getOps<ir::SegmentOp>()) {
    int64_t want = segment.getSymName() == "micro_step" ? config->microSteps : 1;
    if (static_cast<int64_t>(segment.getTimes()) != want)
      return segment.emitOpError()
             << "(N2) expects to run " << want << " times a step, as in zero.config, got "
             << segment.getTimes();
  }
  llvm::StringMap<CellUse> uses = collectCells(module);
  for (auto cell : module.getOps<ir::CellOp>()) {
    const CellUse use = uses.lookup(cell.getSymName());
    bool isRead = !use.readers.empty() || cell.getSymName() == "loss"; // which the runtime reads
    if (use.writers.size() > 1 || (isRead && use.writers.empty()))
      return cell.emitOpError() << "(S1) expects to be set by one op, got " << use.writers.size();
    for (Operation *reader : use.readers)
      if (!isBefore(use.writers.front(), reader))
        return reader->emitOpError() << "(S1) reads @" << cell.getSymName() << " before it is set";
  }
  return success();
}

LogicalResult verifySegment(ir::SegmentOp segment, ModuleOp module, Level level) {
  llvm::StringMap<bool> keptInState;
  for (auto state : module.getOps<ir::StateOp>())
    if (ir::HeldAttr gradient = state.findGradient())
      keptInState[state.getBucket()] = !gradient.getSharded();
  for (Operation &op : segment.getBody().front()) {
    if (failed(verifyStream(op)))
      return failure();
    if (level < Level::Arena)
      continue;
    if (auto launch = dyn_cast<ir::LaunchOp>(op); launch && failed(verifyPlaces(launch)))
      return failure();
    if (auto accumulate = dyn_cast<ir::AccumulateOp>(op)) {
      StringRef bucket =
          cast<ir::GradsType>(accumulate.getGrads().getType()).getBucket().getValue();
      if (failed(verifyMode(accumulate, segment, keptInState.lookup(bucket))))
        return failure();
    }
  }
  return success();
}

} // namespace zero
