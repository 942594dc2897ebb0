//===- StepTable.cpp - segments become rows -----------------------------------===//
//
// Everything a rank needs at run time stands in constants: offsets of operands,
// bucket descriptors, waits. What depends on the rank follows from the rank's
// number, so the table is the same for all of them.
//
//===----------------------------------------------------------------------===//

#include "zero/Compiler/StepTable.h"

#include "IndexRanges.h"
#include "zero/Dialect/NN/NN.h"
#include "zero/Dialect/Zero/Config.h"
#include "zero/Passes/ForwardFunction.h"
#include "zero/Passes/KernelDescriptors.h"
#include "zero/Passes/Lifetimes.h"
#include "zero/Passes/Views.h"

using namespace mlir;

namespace zero {

namespace {

std::optional<zrt::ElementType> elementType(Type type) {
  if (type.isF32())
    return zrt::ElementType::f32;
  if (type.isBF16())
    return zrt::ElementType::bf16;
  if (type.isF16())
    return zrt::ElementType::f16;
  if (type.isF64())
    return zrt::ElementType::f64;
  if (type.isInteger(32))
    return zrt::ElementType::i32;
  if (type.isInteger(64))
    return zrt::ElementType::i64;
  return std::nullopt;
}

/// Where a value lies; `perRunBytes` is how far it moves each run of its segment.
struct Address {
  int64_t offset = -1;
  int64_t perRunBytes = 0;
};

class Translator {
public:
  Translator(ModuleOp module, std::vector<std::string> &generated)
      : module(module), index(module), generated(generated) {}

  LogicalResult run() {
    std::optional<ir::Config> found = ir::Config::get(module);
    if (!found)
      return failure();
    config = *found;
    auto arenas = module.getOps<ir::ArenaOp>();
    if (arenas.empty())
      return emitError(module.getLoc(),
                       "expects a module at level arena: run zero-plan-arena first");
    program.ranks = config.ranks;
    program.stage = config.stage;
    program.microSteps = config.microSteps;
    program.threadsPerRank = config.threadsPerRank;
    program.arenaBytes = (*arenas.begin()).getBytes();
    program.persistentBytes = (*arenas.begin()).getPersistent();
    setOptimizer();
    if (failed(addBuckets()) || failed(addCells()) || failed(addKernels()))
      return failure();
    for (auto segment : module.getOps<ir::SegmentOp>())
      if (failed(addSegment(segment)))
        return failure();
    return success();
  }

  zrt::Program program;

private:
  void setOptimizer() {
    auto &optimizer = program.optimizer;
    optimizer.kind = config.optimizer == "sgd"    ? zrt::OptimizerKind::Sgd
                     : config.optimizer == "adam" ? zrt::OptimizerKind::Adam
                     : config.optimizer == "lion" ? zrt::OptimizerKind::Lion
                                                  : zrt::OptimizerKind::AdamW;
    optimizer.beta1 = config.beta1;
    optimizer.beta2 = config.beta2;
    optimizer.eps = config.eps;
    optimizer.weightDecay = config.weightDecay;
    optimizer.momentum = config.momentum;
    optimizer.clip = config.clip;
    for (const ir::ParameterGroup &group : config.groups)
      optimizer.groups.push_back({group.lrScale, group.weightDecay});
    program.lossMean = config.lossMean == "rank"         ? zrt::LossMean::Rank
                       : config.lossMean == "micro-step" ? zrt::LossMean::MicroStep
                                                         : zrt::LossMean::Step;
    program.lossIsTokenMean = false; // until a count says otherwise
  }

  LogicalResult addBuckets() {
    SymbolTable symbols(module);
    // Decay and group of a slot are the update's word: its ranges are the schedule's text.
    llvm::DenseMap<std::pair<StringRef, int64_t>, ir::RangeAttr> rangeOf;
    module.walk([&](ir::UpdateOp update) {
      for (auto range : update.getRanges().getAsRange<ir::RangeAttr>())
        rangeOf[{update.getBucket(), range.getBegin()}] = range;
    });
    for (ir::BucketOp op : index.bucketOrder) {
      zrt::Bucket bucket;
      bucket.name = op.getSymName().str();
      bucket.bucketClass = static_cast<zrt::BucketClass>(op.getBucketClass());
      std::optional<zrt::ElementType> type = elementType(op.getElementType());
      if (!type)
        return op.emitOpError() << "expects elements of f32, bf16 or f16 on CPU ranks, got "
                                << op.getElementType();
      bucket.type = *type;
      bucket.lengthElements = op.getLength();
      bucket.chunkElements = op.getChunk();
      for (auto slot : op.getSlots().front().getOps<ir::SlotOp>()) {
        auto param = symbols.lookup<nn::ParamOp>(slot.getParam());
        if (!param)
          return slot.emitOpError() << "expects a parameter named @" << slot.getParam();
        zrt::Slot out;
        out.parameter = slot.getParam().str();
        out.shape.assign(slot.getTensorType().getShape().begin(),
                         slot.getTensorType().getShape().end());
        out.beginElement = slot.getOffset();
        out.elements = slot.getTensorType().getNumElements();
        if (ir::RangeAttr range = rangeOf.lookup({op.getSymName(), out.beginElement})) {
          out.decay = range.getDecay();
          out.group = static_cast<int32_t>(range.getGroup());
        }
        out.init = static_cast<zrt::InitKind>(param.getInit());
        out.initScale = param.getInitValue().convertToDouble();
        out.zeroRow = param.zeroRowOr(-1);
        bucket.slots.push_back(std::move(out));
      }
      ir::StateOp state = index.states.lookup(op.getSymName());
      if (!state)
        return op.emitOpError("expects a zero.state");
      for (Attribute attr : state.getHeld()) {
        auto held = cast<ir::HeldAttr>(attr);
        std::optional<zrt::ElementType> heldType = elementType(held.getType());
        if (!heldType)
          return state.emitOpError()
                 << "expects states of f32, bf16 or f16 on CPU ranks, got " << held.getType();
        bucket.state[static_cast<int>(held.getKind())] = {true, held.getSharded(), held.getOffset(),
                                                          *heldType};
      }
      bucketNumber[op.getSymName()] = program.buckets.size();
      program.buckets.push_back(std::move(bucket));
    }
    return success();
  }

  LogicalResult addCells() {
    for (auto cell : module.getOps<ir::CellOp>()) {
      auto type = cast<RankedTensorType>(cell.getType());
      std::optional<zrt::ElementType> element = elementType(type.getElementType());
      if (!element || !cell.getOffset())
        return cell.emitOpError("expects a placed cell of f32, f64, i32 or i64");
      program.scalars.push_back({cell.getSymName().str(), *element, type.getNumElements(),
                                 static_cast<int64_t>(*cell.getOffset())});
    }
    return success();
  }

  LogicalResult addKernels() {
    for (auto op : module.getOps<ir::KernelOp>()) {
      std::string why;
      std::optional<KernelCall> call = describeKernel(op, config.threadsPerRank, why);
      if (!call)
        return op.emitOpError() << "expects a kernel that can be computed: " << why;
      calls[op.getSymName()] = std::move(*call);
    }
    return success();
  }

  /// The number of a kernel in the table. A generated kernel that adds some of its results to what
  /// they hold is another function: `first` are the results added in a step's first run of the
  /// segment, `later` in the others.
  int32_t kernelNumberOf(StringRef name, ArrayRef<int64_t> first, ArrayRef<int64_t> later) {
    const KernelCall &call = calls.find(name)->second;
    bool isGenerated = call.kernel.kind == zrt::KernelKind::Generated;
    std::string key = isGenerated
                          ? generatedSymbol(name, first) + "/" + generatedSymbol(name, later)
                          : name.str();
    auto [found, isNew] = kernelNumber.try_emplace(key, program.kernels.size());
    if (isNew) {
      zrt::Kernel kernel = call.kernel;
      kernel.name = name.str();
      if (isGenerated) {
        kernel.generated.index = functionNumberOf(generatedSymbol(name, first));
        if (first != later)
          kernel.generated.addIndex = functionNumberOf(generatedSymbol(name, later));
      }
      program.kernels.push_back(std::move(kernel));
    }
    return found->second;
  }

  int64_t functionNumberOf(const std::string &symbol) {
    auto [found, isNew] = functionNumber.try_emplace(symbol, generated.size());
    if (isNew)
      generated.push_back(symbol);
    return found->second;
  }

  LogicalResult addSegment(ir::SegmentOp op) {
    FailureOr<Lifetimes> computed = Lifetimes::compute(op, index, config.threadsPerRank);
    if (failed(computed))
      return failure();
    zrt::Segment segment;
    segment.name = op.getSymName().str();
    segment.times = op.getTimes();
    segment.role =
        op.getSymName() == kEvalName ? zrt::SegmentRole::Evaluation : zrt::SegmentRole::Step;
    for (BlockArgument arg : op.getBody().front().getArguments()) {
      auto type = cast<RankedTensorType>(arg.getType());
      zrt::Input input;
      input.name = cast<StringAttr>(op.getNames()[arg.getArgNumber()]).str();
      std::optional<zrt::ElementType> element = elementType(type.getElementType());
      if (!element || *element == zrt::ElementType::bf16 || *element == zrt::ElementType::f16)
        return op.emitOpError() << "expects arguments of f32, i32 or i64, got " << type;
      input.type = *element;
      input.shape.assign(type.getShape().begin(), type.getShape().end());
      if (!op.getOffsets())
        return op.emitOpError("expects places of the arguments: run zero-plan-arena first");
      input.offset = (*op.getOffsets())[arg.getArgNumber()];
      IndexRange range = indexRangeOf(arg, index);
      input.bound = range.bound;
      input.ignore = range.ignore;
      segment.inputs.push_back(std::move(input));
    }
    rowOf.clear();
    std::vector<int64_t> rowTime;
    for (Operation &inner : op.getBody().front()) {
      zrt::Row row;
      FailureOr<bool> made = makeRow(inner, op, row);
      if (failed(made))
        return failure();
      if (!*made)
        continue;
      rowOf[&inner] = segment.rows.size();
      rowTime.push_back(computed->timeOf(&inner));
      segment.rows.push_back(std::move(row));
    }
    addLifetimes(*computed, rowTime, segment);
    program.segments.push_back(std::move(segment));
    return success();
  }

  /// Poison mode fills ranges as they come to life and as they die.
  void addLifetimes(const Lifetimes &lifetimes, ArrayRef<int64_t> rowTime, zrt::Segment &segment) {
    for (const LiveBuffer &buffer : lifetimes.buffers) {
      if (buffer.kind != BufferKind::Input) {
        auto first = llvm::lower_bound(rowTime, buffer.lower);
        if (first != rowTime.end())
          segment.rows[first - rowTime.begin()].allocates.push_back({buffer.offset, buffer.bytes});
      }
      auto behind = llvm::lower_bound(rowTime, buffer.upper);
      if (behind != rowTime.begin())
        segment.rows[behind - rowTime.begin() - 1].frees.push_back({buffer.offset, buffer.bytes});
    }
  }

  /// False where the op leaves no row: it only names values.
  FailureOr<bool> makeRow(Operation &op, ir::SegmentOp segment, zrt::Row &row) {
    if (auto launch = dyn_cast<ir::LaunchOp>(op))
      return makeLaunch(launch, segment, row);
    if (auto start = dyn_cast<ir::AllGatherStartOp>(op)) {
      row.opcode = zrt::Opcode::AllGather;
      row.stream = zrt::Stream::Gather;
      row.bucket = bucketNumber.lookup(start.getBucket());
      row.inPlace = start.getInPlace();
      row.operands = {start.getInPlace() ? stateOffset(start.getBucket(), ir::StateKind::Param)
                                         : static_cast<int64_t>(start.getOffset().value_or(-1))};
      return true;
    }
    if (isa<ir::ReduceScatterStartOp, ir::AllReduceStartOp>(op))
      return makeReduction(op, segment, row), true;
    if (auto wait = dyn_cast<ir::WaitOp>(op)) {
      row.opcode = zrt::Opcode::Wait;
      row.waits = {static_cast<int32_t>(rowOf.lookup(wait.getFuture().getDefiningOp()))};
      return true;
    }
    if (auto count = dyn_cast<ir::CountOp>(op)) {
      row.opcode = zrt::Opcode::Count;
      program.lossIsTokenMean = true;
      program.lossIgnore = count.getIgnore();
      row.operands = {addressOf(count.getLabels(), segment).offset, cellOffset(count.getCell())};
      return true;
    }
    if (auto seed = dyn_cast<ir::SeedOp>(op)) {
      row.opcode = zrt::Opcode::SetSeed;
      row.operands = {cellOffset(seed.getCount()), cellOffset(seed.getSeed())};
      return true;
    }
    if (auto random = dyn_cast<ir::RandomOp>(op)) {
      row.opcode = zrt::Opcode::SetRandom;
      program.microBatch = random.getSamples();
      row.operands = {cellOffset(random.getCell())};
      return true;
    }
    if (auto norm = dyn_cast<ir::NormOp>(op)) {
      row.opcode = zrt::Opcode::Norm;
      row.operands = {cellOffset(norm.getCell())};
      row.sumOverRanks = !norm.getReplicated();
      for (auto bucket : norm.getBuckets().getAsRange<FlatSymbolRefAttr>())
        row.buckets.push_back(bucketNumber.lookup(bucket.getValue()));
      return true;
    }
    if (auto update = dyn_cast<ir::UpdateOp>(op)) {
      row.opcode = zrt::Opcode::Update;
      row.bucket = bucketNumber.lookup(update.getBucket());
      row.sumOverRanks = !update.getReplicated();
      return true;
    }
    return false;
  }

  void makeReduction(Operation &op, ir::SegmentOp segment, zrt::Row &row) {
    bool scatter = isa<ir::ReduceScatterStartOp>(op);
    StringRef bucket = cast<ir::GradsType>(op.getOperand(0).getType()).getBucket().getValue();
    row.opcode = scatter ? zrt::Opcode::ReduceScatter : zrt::Opcode::AllReduce;
    row.stream = zrt::Stream::Reduce;
    row.bucket = bucketNumber.lookup(bucket);
    ir::HeldAttr held = index.states.lookup(bucket).findGradient();
    row.operands = {gradsOffset(op.getOperand(0))};
    row.inPlace = !held.getSharded();
    if (scatter)
      row.operands.push_back(held.getSharded() ? held.getOffset() : -1);
    if (held.getSharded() && segment.getTimes() > 1)
      row.mode = zrt::WriteMode::WriteFirst;
  }

  FailureOr<bool> makeLaunch(ir::LaunchOp launch, ir::SegmentOp segment, zrt::Row &row) {
    row.opcode = zrt::Opcode::Launch;
    const KernelCall &call = calls.find(launch.getKernel())->second;
    bool moves = false;
    for (const KernelCall::Operand &operand : call.operands) {
      Address address;
      switch (operand.source) {
      case KernelCall::Operand::Argument:
        address = addressOf(launch.getArgs()[operand.index], segment);
        break;
      case KernelCall::Operand::Result:
        address = addressOfResult(launch, operand.index, segment);
        break;
      case KernelCall::Operand::Workspace:
        address.offset = launch.getWorkspace().value_or(-1);
        break;
      }
      if (address.offset < 0)
        return launch.emitOpError() << "expects a place for every operand of @"
                                    << launch.getKernel() << ": run zero-plan-arena first";
      row.operands.push_back(address.offset + operand.byteOffset);
      row.perRunBytes.push_back(address.perRunBytes);
      moves |= address.perRunBytes != 0;
    }
    if (!moves)
      row.perRunBytes.clear();

    auto [first, later] = addedResults(launch);
    row.kernel = kernelNumberOf(launch.getKernel(), first, later);
    if (first != later)
      row.mode = zrt::WriteMode::WriteFirst;
    else if (!first.empty() && call.kernel.kind != zrt::KernelKind::Generated)
      row.mode = zrt::WriteMode::Add;
    return true;
  }

  Address addressOfResult(ir::LaunchOp launch, int64_t i, ir::SegmentOp segment) {
    if (!launch.getPlaces())
      return {};
    auto place = cast<ir::PlaceAttr>((*launch.getPlaces())[i]);
    switch (place.getKind()) {
    case ir::PlaceKind::At:
      return {place.getValue(), 0};
    case ir::PlaceKind::Inout:
      return addressOf(launch.getArgs()[place.getValue()], segment);
    case ir::PlaceKind::Slot:
      return slotAddress(dyn_cast_or_null<ir::AccumulateOp>(sinkOf(launch.getResult(i))));
    case ir::PlaceKind::Cell:
      if (auto set = dyn_cast_or_null<ir::SetOp>(sinkOf(launch.getResult(i))))
        return cellAddress(set.getCell(), set.getValue().getType(), segment);
    }
    return {};
  }

  Address slotAddress(ir::AccumulateOp accumulate) {
    if (!accumulate || !accumulate.getMode())
      return {};
    StringRef bucket = cast<ir::GradsType>(accumulate.getGrads().getType()).getBucket().getValue();
    ir::SlotOp slot = index.slot(bucket, accumulate.getParam());
    int64_t base = gradsOffset(accumulate.getGrads());
    if (!slot || base < 0)
      return {};
    return {base + static_cast<int64_t>(slot.getOffset()) * index.gradientElementBytes(bucket), 0};
  }

  int64_t gradsOffset(Value grads) {
    while (auto accumulate = grads.getDefiningOp<ir::AccumulateOp>())
      grads = accumulate.getGrads();
    auto begin = grads.getDefiningOp<ir::GradsOp>();
    if (!begin)
      return -1;
    if (index.gradsAllocate(begin.getBucket()))
      return begin.getOffset().value_or(-1);
    return index.states.lookup(begin.getBucket()).findGradient().getOffset();
  }

  int64_t stateOffset(StringRef bucket, ir::StateKind kind) {
    ir::HeldAttr held = index.states.lookup(bucket).find(kind);
    return held ? held.getOffset() : -1;
  }

  int64_t cellOffset(StringRef cell) {
    ir::CellOp op = index.cells.lookup(cell);
    return op ? static_cast<int64_t>(op.getOffset().value_or(-1)) : -1;
  }

  /// A cell that holds a value, or one such value a run, in which case it moves from run to run.
  Address cellAddress(StringRef cell, Type value, ir::SegmentOp segment) {
    bool perRun = index.cells.lookup(cell).getType() != value && segment.getTimes() > 1;
    return {cellOffset(cell), perRun ? bytesOf(value) : 0};
  }

  Address addressOf(Value value, ir::SegmentOp segment) {
    View view = traceView(value);
    auto type = cast<RankedTensorType>(view.root.getType());
    int64_t width = (type.getElementTypeBitWidth() + 7) / 8;
    Address base = addressOfRoot(view.root, segment);
    if (base.offset >= 0)
      base.offset += view.offset * width;
    return base;
  }

  Address addressOfRoot(Value root, ir::SegmentOp segment) {
    if (auto arg = dyn_cast<BlockArgument>(root))
      return {segment.getOffsets() ? (*segment.getOffsets())[arg.getArgNumber()] : -1, 0};
    Operation *op = root.getDefiningOp();
    if (auto launch = dyn_cast<ir::LaunchOp>(op))
      return addressOfResult(launch, cast<OpResult>(root).getResultNumber(), segment);
    if (auto scalar = dyn_cast<ir::ScalarOp>(op))
      return cellAddress(scalar.getCell(), scalar.getType(), segment);
    if (auto view = dyn_cast<ir::ViewOp>(op)) {
      StringRef bucket = cast<ir::FullType>(view.getFull().getType()).getBucket().getValue();
      ir::SlotOp slot = index.slot(bucket, view.getParam());
      int64_t base = fullOffset(view.getFull());
      if (!slot || base < 0)
        return {};
      return {base + static_cast<int64_t>(slot.getOffset()) *
                         index.buckets.lookup(bucket).getElementBytes(),
              0};
    }
    return {};
  }

  int64_t fullOffset(Value full) {
    if (auto resident = full.getDefiningOp<ir::ResidentOp>())
      return stateOffset(resident.getBucket(), ir::StateKind::Param);
    if (auto wait = full.getDefiningOp<ir::WaitOp>())
      if (auto start = wait.getFuture().getDefiningOp<ir::AllGatherStartOp>())
        return start.getOffset().value_or(-1);
    return -1;
  }

  ModuleOp module;
  ModuleIndex index;
  ir::Config config;
  std::vector<std::string> &generated;
  llvm::StringMap<int32_t> bucketNumber, kernelNumber;
  llvm::StringMap<int64_t> functionNumber;
  llvm::StringMap<KernelCall> calls;
  llvm::DenseMap<Operation *, int64_t> rowOf;
};

} // namespace

std::optional<zrt::Program> makeProgram(ModuleOp module, std::vector<std::string> &generated) {
  Translator translator(module, generated);
  if (failed(translator.run()))
    return std::nullopt;
  return std::move(translator.program);
}

} // namespace zero
