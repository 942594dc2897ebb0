//===- ArenaPicture.cpp - the arena over a step, drawn from level A ----------===//

#include "zero/Trainer/ArenaPicture.h"

#include "zero/Dialect/Zero/Config.h"
#include "zero/Passes/Lifetimes.h"
#include "zero/Planning/Arena.h"
#include "zero/Runtime/Layout.h"
#include "zero/Runtime/Program.h"

using namespace mlir;

namespace zero {

using planning::plot::kColours;
using planning::plot::Picture;
using planning::plot::Rectangle;

namespace {

constexpr int64_t kState = 0, kControl = 1, kFirstBuffer = 2;

/// A rectangle across the whole picture.
Rectangle lasting(int64_t kind, std::string name, int64_t offset, int64_t end) {
  return {planning::arena::kTimeBegin,
          planning::arena::kTimeEnd,
          offset,
          end - offset,
          kind,
          std::move(name)};
}

/// One rectangle a kind of state: what all buckets hold of it lies in one row.
void addStates(ModuleOp module, const ModuleIndex &index, int64_t ranks, Picture &picture) {
  for (uint32_t k = 0; k <= ir::getMaxEnumValForStateKind(); ++k) {
    auto kind = static_cast<ir::StateKind>(k);
    int64_t begin = -1, end = 0;
    for (ir::BucketOp bucket : index.bucketOrder) {
      ir::StateOp state = index.states.lookup(bucket.getSymName());
      ir::HeldAttr held = state ? state.find(kind) : ir::HeldAttr();
      if (!held)
        continue;
      int64_t length = held.getSharded() ? bucket.getLength() / ranks : bucket.getLength();
      if (begin < 0 || held.getOffset() < begin)
        begin = held.getOffset();
      end = std::max<int64_t>(end, held.getOffset() +
                                       length * (held.getType().getIntOrFloatBitWidth() / 8));
    }
    if (begin >= 0 && end > begin)
      picture.rectangles.push_back(lasting(kState, ir::stringifyStateKind(kind).str(), begin, end));
  }
}

void addControl(ModuleOp module, Picture &picture) {
  int64_t begin = -1, end = 0;
  for (auto cell : module.getOps<ir::CellOp>()) {
    auto offset = static_cast<int64_t>(cell.getOffset().value_or(0));
    begin = begin < 0 ? offset : std::min(begin, offset);
    end = std::max(end, offset + bytesOf(cell.getType()));
  }
  if (end > begin && begin >= 0)
    picture.rectangles.push_back(lasting(kControl, "control cells", begin, end));
}

} // namespace

FailureOr<Picture> makePicture(ModuleOp module, std::string title,
                               std::optional<int64_t> budgetBytes) {
  auto arenas = module.getOps<ir::ArenaOp>();
  if (arenas.empty())
    return module.emitError("expects a module at level arena: run zero-plan-arena first");
  std::optional<ir::Config> config = ir::Config::get(module);
  if (!config)
    return failure();
  ir::ArenaOp arena = *arenas.begin();
  Picture picture;
  picture.title = std::move(title);
  picture.timeLabel = "operations, in the order in which they are issued";
  picture.liveUnitBytes = zrt::kAlignmentBytes;
  picture.kinds = {{"states", kColours[7]},    {"control", kColours[6]},
                   {"inputs", kColours[4]},    {"gathered weights", kColours[0]},
                   {"gradients", kColours[5]}, {"activations", kColours[2]},
                   {"workspace", kColours[1]}};
  picture.lines = {{"arena", static_cast<int64_t>(arena.getBytes())},
                   {"lower bound", static_cast<int64_t>(arena.getLowerBound())}};
  if (budgetBytes)
    picture.lines.push_back({"budget", *budgetBytes});

  ModuleIndex index(module);
  addStates(module, index, config->ranks, picture);
  addControl(module, picture);
  for (auto segment : module.getOps<ir::SegmentOp>()) {
    FailureOr<Lifetimes> lifetimes = Lifetimes::compute(segment, index, config->threadsPerRank);
    if (failed(lifetimes))
      return failure();
    if (lifetimes->timeCount == 0)
      continue;
    int64_t begin = picture.timeEnd;
    std::string name = segment.getSymName().str();
    if (segment.getTimes() > 1)
      name += " \u00D7 " + std::to_string(segment.getTimes());
    picture.segments.push_back({std::move(name), begin});
    picture.timeEnd += lifetimes->timeCount;
    for (const LiveBuffer &buffer : lifetimes->buffers)
      if (buffer.offset >= 0 && buffer.lower < buffer.upper)
        picture.rectangles.push_back(
            {begin + buffer.lower, begin + buffer.upper, buffer.offset, buffer.bytes,
             kFirstBuffer + static_cast<int64_t>(buffer.kind), buffer.name});
  }
  if (std::optional<std::string> wrong = planning::plot::check(picture))
    return arena.emitOpError() << "cannot be drawn: " << *wrong;
  return picture;
}

} // namespace zero
