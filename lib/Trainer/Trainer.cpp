//===- Trainer.cpp - a session with its weights and data -------------------===//

#include "zero/Trainer/Trainer.h"

#include "zero/Passes/ForwardFunction.h"
#include "zero/Trainer/Agreement.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

#include <chrono>

using namespace mlir;

namespace zero {

using namespace training;

namespace {

constexpr llvm::StringLiteral kCountSegment = "count", kMicroStepSegment = "micro_step";

BatchType batchType(zrt::ElementType type) {
  return type == zrt::ElementType::i32   ? BatchType::I32
         : type == zrt::ElementType::i64 ? BatchType::I64
                                         : BatchType::F32;
}

/// The batch as the program takes it: the inputs of its micro-step. Labels are those that are
/// counted.
std::vector<BatchArgument> batchArguments(const zrt::Program &program) {
  std::vector<BatchArgument> arguments;
  const zrt::Segment *counted = program.findSegment(kCountSegment);
  const zrt::Segment *micro = program.findSegment(kMicroStepSegment);
  for (const zrt::Input &input : micro ? micro->inputs : std::vector<zrt::Input>()) {
    BatchArgument argument;
    argument.name = input.name;
    argument.type = batchType(input.type);
    argument.shape = input.shape;
    argument.bound = input.bound;
    argument.ignore = input.ignore;
    bool isLabels = counted && llvm::any_of(counted->inputs, [&](const zrt::Input &label) {
                      return label.name == input.name;
                    });
    argument.role = isLabels                          ? BatchRole::Labels
                    : argument.type == BatchType::F32 ? BatchRole::Other
                                                      : BatchRole::Tokens;
    arguments.push_back(std::move(argument));
  }
  return arguments;
}

llvm::Error plainError(const llvm::Twine &message) {
  return llvm::createStringError("error: " + message);
}

/// S3: ranks that walk different tables would wait for one another, or mix up buckets.
std::vector<Fact> programFacts(const zrt::Program &program) {
  return {{"compiled a schedule for",
           std::to_string(program.ranks) + " ranks at stage " + std::to_string(program.stage)},
          {"compiled a schedule with hash", llvm::utohexstr(zrt::hash(program), true)}};
}

/// Whether a token sees those behind it, as in masked language modelling.
bool looksAhead(const zrt::Program &program) {
  return llvm::any_of(program.kernels, [](const zrt::Kernel &kernel) {
    return kernel.kind == zrt::KernelKind::Attention && !kernel.attention.causal;
  });
}

} // namespace

Trainer::Trainer() = default;
Trainer::~Trainer() = default;

/// Up to the kernels' machine code: so far no rank needs another.
static llvm::Expected<Executable> compileAll(Compiler &compiler, ModuleOp module,
                                             const TrainOptions &options, Report &report) {
  llvm::Expected<Report> planned = planModule(compiler, module, options);
  if (!planned)
    return planned.takeError();
  report = std::move(*planned);
  auto begin = std::chrono::steady_clock::now();
  if (llvm::Error error = lowerModule(compiler, module, options))
    return std::move(error);
  std::optional<Executable> executable = compiler.load(module);
  if (!executable)
    return compilerError(compiler);
  report.compileSeconds +=
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return std::move(*executable);
}

llvm::Expected<std::unique_ptr<Trainer>> Trainer::create(Compiler &compiler, ModuleOp module,
                                                         const TrainOptions &asked) {
  std::unique_ptr<Trainer> trainer(new Trainer());
  llvm::Expected<std::unique_ptr<RunCheckpoints>> checkpoints = RunCheckpoints::open(asked);
  if (!checkpoints)
    return checkpoints.takeError();
  trainer->checkpoints = std::move(*checkpoints);
  TrainOptions options = asked;
  if (trainer->checkpoints)
    options.seed = trainer->checkpoints->seed();
  trainer->peers = options.communicator;
  zrt::Communicator *peers = options.communicator.get();
  llvm::Expected<Executable> executable = compileAll(compiler, module, options, trainer->planned);
  if (llvm::Error failure = settle(peers, executable.takeError()))
    return std::move(failure);
  if (llvm::Error difference = expectAlike(peers, programFacts(executable->program)))
    return std::move(difference);
  llvm::Expected<std::string> different = useCommonInstructionSet(peers);
  if (!different)
    return different.takeError();
  trainer->heard = takeLines(compiler);
  if (!different->empty())
    trainer->heard.push_back("warning: " + *different);
  trainer->planned.messageBytes = peers ? peers->scratchBytes() : 0;

  trainer->code = executable->code;
  std::string error;
  trainer->ranks =
      zrt::Session::create(std::move(executable->program), std::move(executable->kernels),
                           {options.poison, options.profile, options.communicator}, error);
  if (!trainer->ranks)
    return plainError(error);
  if (int64_t bytes = trainer->ranks->allocatedArenaBytes(); bytes != trainer->planned.arenaBytes)
    return plainError("expects an arena of the " + llvm::Twine(trainer->planned.arenaBytes) +
                      " bytes that were planned, got " + llvm::Twine(bytes));
  for (const zrt::Bucket &bucket : trainer->ranks->program().buckets)
    for (const zrt::Slot &slot : bucket.slots) {
      trainer->specs.push_back({slot.parameter, slot.shape});
      trainer->types.push_back(fileType(bucket.type));
    }
  if (llvm::Error failure = settle(peers, trainer->openFiles(options)))
    return std::move(failure);
  if (trainer->checkpoints) {
    if (llvm::Error failure = trainer->checkpoints->rewind(trainer->run))
      return std::move(failure);
    llvm::append_range(trainer->heard, trainer->checkpoints->lines());
  }
  return trainer;
}

/// What a run is set up with, each rank for itself.
llvm::Error Trainer::openFiles(const TrainOptions &options) {
  if (llvm::Error failure = setLossScale(options))
    return failure;
  ranks->initialize(options.seed);
  bool resumes = checkpoints && checkpoints->found();
  if (llvm::Error failure = resumes ? resume() : setWeights(options))
    return failure;
  if (llvm::Error failure = openHeldOut(options))
    return failure;
  return openInputs(options);
}

llvm::Error Trainer::resume() {
  llvm::Expected<RunPosition> position = checkpoints->resume(*ranks);
  if (!position)
    return position.takeError();
  run = position->step;
  taken = position->stepsTaken;
  // From another type the scale begins as in a new run, and one that is fixed stays.
  if (position->lossScale && lossScale.isDynamic())
    lossScale.restore(*position->lossScale);
  return llvm::Error::success();
}

llvm::Error Trainer::setLossScale(const TrainOptions &options) {
  bool isF16 = llvm::any_of(ranks->program().buckets, [](const zrt::Bucket &bucket) {
    return bucket.type == zrt::ElementType::f16;
  });
  if (isF16)
    lossScale = LossScale(options.lossScale.value_or(LossScaleOptions()));
  else if (options.lossScale)
    return plainError("expects a loss scale only in a run with weights of f16, got one without");
  return llvm::Error::success();
}

llvm::Error Trainer::setWeights(const TrainOptions &options) {
  if (options.weights.empty())
    return llvm::Error::success();
  return loadWeights(
      options.weights, specs,
      [&](size_t index, llvm::ArrayRef<float> values) {
        std::string error;
        bool done = ranks->setParameter(specs[index].name, values.data(),
                                        static_cast<int64_t>(values.size()), error);
        return done ? llvm::Error::success() : plainError(error);
      },
      heard);
}

llvm::Error Trainer::openInputs(const TrainOptions &options) {
  const zrt::Program &program = ranks->program();
  schedule = options.schedule;
  if (llvm::Error error =
          openBatches(options, batchArguments(program), program.ranks, program.microSteps))
    return error;
  if (!options.data.empty() && !llvm::StringRef(options.data).ends_with(".safetensors") &&
      looksAhead(program))
    heard.push_back(options.data +
                    ": warning: expects a model whose tokens see those before them only, got one "
                    "that sees its labels, the next tokens (masked ones come as .safetensors)");
  if (run > total)
    return inputError(checkpoints->sourcePath(), "expects at least the " + llvm::Twine(run) +
                                                     " steps of the checkpoint, got " +
                                                     llvm::Twine(total) +
                                                     " (--steps, or the data)");
  if (schedule.totalSteps == 0)
    schedule.totalSteps = total;
  input.seed = options.seed;
  for (const zrt::Segment &segment : program.segments)
    input.data.emplace_back(segment.inputs.size() * static_cast<size_t>(segment.times));
  return llvm::Error::success();
}

llvm::Error Trainer::openHeldOut(const TrainOptions &options) {
  if (options.evalData.empty())
    return llvm::Error::success();
  const zrt::Program &program = ranks->program();
  if (!program.findSegment(kEvalName))
    return inputError(options.evalData, "expects a model before level sharded, or with a segment "
                                        "@eval, to evaluate (--eval-data)");
  llvm::Expected<std::unique_ptr<DataSet>> opened =
      openData(options.evalData, batchArguments(program),
               {program.ranks, program.microSteps, options.seed, /*once=*/true});
  if (!opened)
    return opened.takeError();
  heldOut = readAhead(std::move(*opened));
  if (heldOut->steps() == 0)
    return inputError(options.evalData,
                      "expects at least one global batch of " +
                          llvm::Twine(program.microSteps * program.ranks) +
                          " micro-batches to evaluate, as this model's labels can't be ignored");
  for (const std::string &line : heldOut->warnings())
    heard.push_back("warning: " + line);
  for (const zrt::Segment &segment : program.segments)
    heldOutBatch.emplace_back(segment.inputs.size() * static_cast<size_t>(segment.times));
  return llvm::Error::success();
}

llvm::Expected<std::optional<double>> Trainer::evaluate() {
  if (!heldOut)
    return std::nullopt;
  const zrt::Program &program = ranks->program();
  const zrt::Segment *eval = program.findSegment(kEvalName);
  size_t segment = static_cast<size_t>(eval - program.segments.data());
  double lossSum = 0.0;
  int64_t labels = 0;
  for (int64_t step = 0; step < *heldOut->steps(); ++step) {
    if (llvm::Error error = settle(peers.get(), heldOut->load(step)))
      return std::move(error);
    for (int64_t micro = 0; micro < program.microSteps; ++micro) {
      // The segment has micro_step's arguments, in their order.
      for (size_t argument = 0; argument < eval->inputs.size(); ++argument)
        heldOutBatch[segment][argument] = heldOut->batch(micro, static_cast<int64_t>(argument));
      zrt::EvalResult part;
      std::string error;
      if (!ranks->evaluate(heldOutBatch, part, error))
        return plainError("evaluation behind step " + llvm::Twine(run) + ": " + error);
      lossSum += part.lossSum;
      labels += part.labelCount;
    }
  }
  return labels == 0 ? 0.0 : lossSum / static_cast<double>(labels);
}

/// The count takes the labels of all its runs at once, rank by rank; a micro-step its own batch.
void Trainer::pointAtBatches() {
  const zrt::Program &program = ranks->program();
  const zrt::Segment *micro = program.findSegment(kMicroStepSegment);
  for (size_t s = 0; s < program.segments.size(); ++s) {
    const zrt::Segment &segment = program.segments[s];
    for (size_t i = 0; i < segment.inputs.size(); ++i) {
      auto same = llvm::find_if(micro->inputs, [&](const zrt::Input &argument) {
        return argument.name == segment.inputs[i].name;
      });
      int64_t argument = same - micro->inputs.begin();
      for (int64_t run = 0; run < segment.times; ++run)
        input.data[s][static_cast<size_t>(run) * segment.inputs.size() + i] =
            &segment == micro                              ? data->batch(run, argument)
            : segment.role == zrt::SegmentRole::Evaluation ? nullptr
                                                           : data->stepLabels(argument);
    }
  }
}

llvm::Expected<StepRecord> Trainer::step() {
  auto begin = std::chrono::steady_clock::now();
  if (llvm::Error error = settle(peers.get(), data->load(run)))
    return std::move(error);
  pointAtBatches();
  input.lr = schedule.rateAt(taken);
  input.stepsTaken = taken;
  input.stepsRun = run;
  input.lossScale = lossScale.value();
  std::string error;
  if (!ranks->step(input, result, error))
    return plainError(stepText() + ": " + error);
  if (!result.finite)
    if (llvm::Error failure = sameEverywhere(peers.get(), skipStep()))
      return std::move(failure);
  if (taken == 0 && result.finite)
    if (llvm::Error mismatch = checkTraffic())
      return std::move(mismatch);
  if (ranks->program().lossIsTokenMean && result.labelCount == 0)
    notes.push_back(stepText() + ": no label in the whole step; its loss and gradients are 0");

  StepRecord record;
  record.step = run;
  record.loss = result.loss;
  record.lr = input.lr;
  if (result.finite)
    record.gradNorm = result.gradNorm;
  record.skipped = !result.finite;
  record.lossScale = input.lossScale;
  record.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  if (std::optional<int64_t> tokens = data->tokensPerStep())
    record.tokensPerSecond = static_cast<double>(*tokens) / record.seconds;
  ++run;
  if (result.finite) {
    ++taken;
    lossScale.stepTaken();
  }
  return record;
}

llvm::Error Trainer::skipStep() {
  if (lossScale.stepOverflowed())
    return llvm::Error::success();
  bool named = result.firstNonFinite != "loss";
  std::string scale;
  llvm::raw_string_ostream os(scale);
  if (lossScale.isDynamic())
    os << llvm::format(" at the smallest loss scale, %g", lossScale.value());
  else if (lossScale.value() != 1.0)
    os << llvm::format(" at the fixed loss scale, %g", lossScale.value());
  if (int64_t skipped = lossScale.skippedInARow())
    os << ", after " << skipped << " skipped steps in a row";
  return plainError(
      stepText() + ": expects a finite loss and finite gradients" + scale + ", got a loss of " +
      std::to_string(result.loss) + " and " +
      (named ? "a gradient that is not finite, first of parameter " + quoted(result.firstNonFinite)
             : std::string("finite gradients")) +
      "; the weights are as they were before this step");
}

/// What rank by rank went over the wire, against the plan (C1).
llvm::Error Trainer::checkTraffic() const {
  const Report::Communication &plan = planned.communication;
  zrt::RankRange local = ranks->localRanks();
  for (int64_t rank = local.first; rank < local.first + local.count; ++rank) {
    zrt::TrafficCount sent = ranks->traffic(rank);
    if (sent.allGatherElements == plan.allGather &&
        sent.reduceScatterElements == plan.reduceScatter &&
        sent.allReduceElements == plan.allReduce)
      continue;
    return plainError(
        "rank " + llvm::Twine(rank) +
        ": expects to send (all_gather, reduce_scatter, all_reduce) " +
        shapeText({plan.allGather, plan.reduceScatter, plan.allReduce}) +
        " elements in a step, as planned, got " +
        shapeText({sent.allGatherElements, sent.reduceScatterElements, sent.allReduceElements}));
  }
  return llvm::Error::success();
}

bool Trainer::isCheckpointDue() const { return checkpoints && checkpoints->isDue(run); }

llvm::Error Trainer::writeCheckpoint() {
  if (!checkpoints)
    return llvm::Error::success();
  return checkpoints->save(*ranks, {run, taken, lossScale.state()});
}

std::string Trainer::lastCheckpoint() const {
  return checkpoints ? checkpoints->lastWritten() : "";
}

llvm::Error Trainer::readParameter(size_t index, llvm::MutableArrayRef<float> values) const {
  std::string error;
  if (ranks->getParameter(specs[index].name, values.data(), static_cast<int64_t>(values.size()),
                          error))
    return llvm::Error::success();
  return plainError(error);
}

} // namespace zero
