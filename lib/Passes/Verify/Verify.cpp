//===- Verify.cpp - the laws, proved on the IR ------------------------------------===//
//
// Independent of the passes: everything is read off the IR again. Levels Z and up
// are asked whether each gradient is formed, reduced, measured and updated exactly
// once (S4, N4); levels S and A are turned into an abstract schedule whose order,
// frees and waits the planning library's checker proves (S1 to S3), with the
// arena's bytes where there are places.
//
//===----------------------------------------------------------------------===//

#include "BuildSchedule.h"
#include "Structure.h"

#include "zero/Dialect/NN/NN.h"
#include "zero/Dialect/Zero/Config.h"
#include "zero/Passes/Level.h"
#include "zero/Passes/Passes.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

namespace zero {
#define GEN_PASS_DEF_VERIFYPASS
#include "zero/Passes/Passes.h.inc"

using namespace mlir;

namespace {

class Verify : public impl::VerifyPassBase<Verify> {
public:
  using Base::Base;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    Level level = levelOf(module);
    if (failed(verifyKernels(module)))
      return signalPassFailure();
    if (level < Level::Sharded)
      return;                    // pure SSA: MLIR's own verifier says the rest
    SymbolTable symbols(module); // a lookup without one is linear in the module
    if (failed(verifyModule(module)) || failed(verifyGradients(module, symbols)) ||
        failed(verifyUpdate(module, symbols)))
      return signalPassFailure();
    if (level >= Level::Scheduled)
      for (auto segment : module.getOps<ir::SegmentOp>())
        if (failed(verifySegment(segment, module, level)) || failed(verifySchedule(segment)))
          return signalPassFailure();
  }

private:
  /// (S4) Linear grads values; each slot gets its contributions; each bucket is reduced once a
  /// step.
  LogicalResult verifyGradients(ModuleOp module, const SymbolTable &symbols) {
    struct Owed {
      ir::BucketOp bucket;
      Type gradientType;
      llvm::StringMap<int64_t> contributions;
      int64_t reductions = 0, keeps = 0;
    };
    llvm::StringMap<Owed> owed;
    for (auto state : module.getOps<ir::StateOp>())
      if (state.findGradient()) {
        auto bucket = symbols.lookup<ir::BucketOp>(state.getBucket());
        owed[state.getBucket()].bucket = bucket;
        owed[state.getBucket()].gradientType = state.findGradient().getType();
        for (auto slot : bucket.getSlots().front().getOps<ir::SlotOp>())
          owed[state.getBucket()].contributions[slot.getParam()] = 0;
      }
    for (auto segment : module.getOps<ir::SegmentOp>()) {
      for (Operation &op : segment.getBody().front()) {
        for (Value result : op.getResults())
          if (isa<ir::GradsType>(result.getType()) && !result.hasOneUse())
            return op.emitOpError("(S4) expects the grads value to be used exactly once");
        if (op.getNumOperands() == 0)
          continue;
        auto grads =
            dyn_cast<ir::GradsType>(op.getOperand(op.getNumOperands() == 2 ? 1 : 0).getType());
        if (!grads)
          continue;
        auto found = owed.find(grads.getBucket().getValue());
        if (found == owed.end())
          return op.emitOpError("(S4) expects a bucket that holds gradients");
        if (auto accumulate = dyn_cast<ir::AccumulateOp>(op)) {
          auto slot = found->second.contributions.find(accumulate.getParam());
          if (slot == found->second.contributions.end())
            return op.emitOpError() << "(S4) expects a slot of @" << grads.getBucket().getValue();
          if (Type type = getElementTypeOrSelf(accumulate.getGradient().getType());
              type != found->second.gradientType)
            return op.emitOpError() << "(S4) expects a gradient of " << found->second.gradientType
                                    << ", as its bucket keeps them, got " << type;
          ++slot->second;
        } else if (isa<ir::KeepOp>(op)) {
          ++found->second.keeps;
        } else {
          ++found->second.reductions;
        }
      }
    }
    for (auto state : module.getOps<ir::StateOp>()) {
      auto found = owed.find(state.getBucket());
      if (found == owed.end())
        continue;
      Owed &bucket = found->second;
      for (auto slot : bucket.bucket.getSlots().front().getOps<ir::SlotOp>())
        if (bucket.contributions.lookup(slot.getParam()) !=
            static_cast<int64_t>(slot.getContributions()))
          return slot.emitOpError() << "(S4) expects " << slot.getContributions()
                                    << " contributions in a micro-step, got "
                                    << bucket.contributions.lookup(slot.getParam());
      bool sharded = state.findGradient().getSharded();
      if (bucket.reductions != 1 || bucket.keeps != (sharded ? 0 : 1))
        return bucket.bucket.emitOpError()
               << "(S4) expects its gradients to be reduced exactly once, got " << bucket.reductions
               << " reductions and " << bucket.keeps << " keeps";
    }
    return success();
  }

  /// The norm covers every bucket of gradients once (N4), and each is updated once, slot by slot;
  /// what a rank updated alone, and others hold too, is gathered in place behind the update.
  LogicalResult verifyUpdate(ModuleOp module, const SymbolTable &symbols) {
    llvm::StringMap<int64_t> norms, updates, gathers;
    llvm::StringMap<bool>
        replicated; // updated by all ranks, from gradients that all of them reduced
    for (auto segment : module.getOps<ir::SegmentOp>())
      for (Operation &op : segment.getBody().front()) {
        if (isa<ir::AllReduceOp, ir::AllReduceStartOp>(op))
          replicated[cast<ir::GradsType>(op.getOperand(0).getType()).getBucket().getValue()] = true;
        if (auto norm = dyn_cast<ir::NormOp>(op))
          for (auto bucket : norm.getBuckets().getAsRange<FlatSymbolRefAttr>()) {
            ++norms[bucket.getValue()];
            if (norm.getReplicated() != replicated.lookup(bucket.getValue()))
              return norm.emitOpError("(N4) expects to be summed over ranks exactly where each of "
                                      "them holds pieces of the gradients");
          }
        if (auto update = dyn_cast<ir::UpdateOp>(op)) {
          ++updates[update.getBucket()];
          if (update.getReplicated() != replicated.lookup(update.getBucket()))
            return update.emitOpError("(S4) expects every rank to update what it holds reduced "
                                      "gradients of");
          if (failed(verifyRanges(update, symbols)))
            return failure();
        }
        StringRef gathered;
        if (auto gather = dyn_cast<ir::AllGatherInPlaceOp>(op))
          gathered = gather.getBucket();
        if (auto start = dyn_cast<ir::AllGatherStartOp>(op); start && start.getInPlace())
          gathered = start.getBucket();
        if (gathered.empty())
          continue;
        ++gathers[gathered];
        if (!updates.lookup(gathered))
          return op.emitOpError("(S1) expects to gather parameters behind their update");
      }
    for (auto state : module.getOps<ir::StateOp>()) {
      bool trained = static_cast<bool>(state.findGradient());
      bool everywhere = replicated.lookup(state.getBucket());
      for (auto held : state.getHeld().getAsRange<ir::HeldAttr>()) {
        bool isMoment = held.getKind() == ir::StateKind::Master ||
                        held.getKind() == ir::StateKind::Moment1 ||
                        held.getKind() == ir::StateKind::Moment2;
        if (trained && isMoment && held.getSharded() == everywhere)
          return state.emitOpError()
                 << "(S4) expects to hold " << stringifyStateKind(held.getKind())
                 << (everywhere ? " full" : " sharded") << ", as it is updated";
      }
      ir::HeldAttr param = state.find(ir::StateKind::Param);
      int64_t gathersDue = trained && param && !param.getSharded() && !everywhere;
      if (gathers.lookup(state.getBucket()) != gathersDue)
        return state.emitOpError()
               << "(C1) expects " << gathersDue << " gathers in place behind the update, got "
               << gathers.lookup(state.getBucket());
      int64_t want = state.findGradient() ? 1 : 0;
      if (norms.lookup(state.getBucket()) != want)
        return state.emitOpError()
               << "(N4) expects the norm to cover the bucket " << (want ? "once" : "never")
               << ", got " << norms.lookup(state.getBucket()) << " times";
      if (updates.lookup(state.getBucket()) != want)
        return state.emitOpError()
               << "(S4) expects the bucket to be updated " << (want ? "once" : "never") << ", got "
               << updates.lookup(state.getBucket()) << " times";
    }
    return success();
  }

  LogicalResult verifyRanges(ir::UpdateOp update, const SymbolTable &symbols) {
    auto bucket = symbols.lookup<ir::BucketOp>(update.getBucket());
    auto ranges = update.getRanges().getAsRange<ir::RangeAttr>();
    auto range = ranges.begin();
    for (auto slot : bucket.getSlots().front().getOps<ir::SlotOp>()) {
      int64_t begin = slot.getOffset(), end = begin + slot.getTensorType().getNumElements();
      if (range == ranges.end() || (*range).getBegin() != begin || (*range).getEnd() != end)
        return update.emitOpError()
               << "(S4) expects a range [" << begin << ", " << end << ") for @" << slot.getParam();
      ++range;
    }
    if (range != ranges.end())
      return update.emitOpError("(S4) expects no range outside the bucket's slots");
    return success();
  }

  LogicalResult verifySchedule(ir::SegmentOp segment) {
    FailureOr<SegmentSchedule> built = buildSchedule(segment, getOperation());
    if (failed(built))
      return failure();
    if (built->schedule.arenaBytes)
      for (const planning::schedule::Buffer &buffer : built->schedule.buffers)
        if (!buffer.offset)
          return segment.emitOpError() << "(M1) expects a place for '" << buffer.name << "'";
    if (std::optional<std::string> wrong = planning::schedule::check(built->schedule))
      return segment.emitOpError() << "expects a schedule that can be checked: " << *wrong;
    std::vector<planning::schedule::Violation> violations =
        planning::schedule::verify(built->schedule, 10);
    for (const auto &violation : violations) {
      Operation *at = violation.row >= 0 ? built->ops[violation.row] : segment.getOperation();
      at->emitError() << "(" << planning::schedule::name(violation.law) << ") "
                      << violation.message;
    }
    return success(violations.empty());
  }
};

} // namespace
} // namespace zero
