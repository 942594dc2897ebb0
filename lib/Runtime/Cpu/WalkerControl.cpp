//===- WalkerControl.cpp - counts, seeds and the loss ---------------------===//
//
// The control state is a handful of numbers. Every rank gathers those of all
// ranks and reduces them itself, in rank order, so that all ranks decide alike
// without a further agreement.
//
//===----------------------------------------------------------------------===//

#include "Walker.h"

#include <cmath>
#include <cstring>

namespace zrt {

template <typename Integer>
static int64_t countLabels(const char *labels, int64_t elements, int64_t ignored) {
  int64_t total = 0;
  for (int64_t i = 0; i < elements; ++i)
    total += reinterpret_cast<const Integer *>(labels)[i] != ignored;
  return total;
}

static const Scalar &scalarAt(const Program &program, int64_t offset) {
  size_t index = 0;
  while (program.scalars[index].offset > offset ||
         offset - program.scalars[index].offset >=
             program.scalars[index].elements * elementBytes(program.scalars[index].type))
    ++index;
  return program.scalars[index];
}

/// How many elements of its scalar an operand stands for.
static int64_t operandElements(const Program &program, const Row &row, size_t index) {
  return row.perRunBytes.empty() ? scalarAt(program, row.operands[index]).elements : 1;
}

bool Walker::count(const Segment &segment, const Row &row) {
  const Program &program = context.program;
  const Input *labels = nullptr;
  for (const Input &argument : segment.inputs)
    if (argument.offset == row.operands[0])
      labels = &argument;
  int64_t parts = operandElements(program, row, 1), labelsPerPart = 1;
  for (int64_t extent : labels->shape)
    labelsPerPart *= extent;
  labelsPerPart /= parts;

  bool wide = labels->type == ElementType::i64;
  const char *first = operand(row, 0);
  for (int64_t part = 0; part < parts; ++part) {
    const char *begin = first + part * labelsPerPart * elementBytes(labels->type);
    counts[part] = wide ? countLabels<int64_t>(begin, labelsPerPart, program.lossIgnore)
                        : countLabels<int32_t>(begin, labelsPerPart, program.lossIgnore);
  }
  const int64_t *all = exchanged(counts.data(), parts);
  if (!all)
    return false;

  auto *destination = reinterpret_cast<int64_t *>(operand(row, 1));
  for (int64_t part = 0; part < parts; ++part) {
    int64_t overRanks = 0;
    for (int64_t rank = 0; rank < program.ranks; ++rank)
      overRanks += all[rank * parts + part];
    int64_t value = program.lossMean == LossMean::Rank ? counts[part] : overRanks;
    destination[part] = value + (adds(row) ? destination[part] : 0);
    outcome.labelCount += overRanks;
  }
  return true;
}

/// Loss scale ÷ what the loss is a mean over (N2), in f64 and rounded once.
static float seedFor(const Program &program, double lossScale, int64_t count) {
  double ranks = double(program.ranks), microSteps = double(program.microSteps);
  if (!program.lossIsTokenMean)
    return float(lossScale / (ranks * microSteps));
  if (count == 0)
    return 0.0f;
  switch (program.lossMean) {
  case LossMean::Step:
    return float(lossScale / double(count));
  case LossMean::MicroStep:
    return float(lossScale / (double(count) * microSteps));
  case LossMean::Rank:
    return float(lossScale / (double(count) * microSteps * ranks));
  }
  return 0.0f;
}

void Walker::setSeed(const Segment &segment, const Row &row) {
  const Program &program = context.program;
  bool evaluates = segment.role == SegmentRole::Evaluation;
  auto *seeds = reinterpret_cast<float *>(operand(row, 1));
  auto *labelCounts = reinterpret_cast<const int64_t *>(operand(row, 0));
  int64_t seedElements = operandElements(program, row, 1);
  int64_t countElements = labelCounts ? operandElements(program, row, 0) : 0;
  for (int64_t i = 0; i < seedElements; ++i)
    seeds[i] = evaluates ? 1.0f
                         : seedFor(program, input->lossScale,
                                   labelCounts ? labelCounts[countElements == 1 ? 0 : i] : 0);
}

/// Samples are numbered through the global batch of a step, run by run and in a run rank by rank,
/// as the data lie: one rank with all samples numbers them alike (N2).
void Walker::setRandom(const Row &row) {
  const Program &program = context.program;
  int64_t before = (run * program.ranks + context.communicator.rank()) * program.microBatch;
  RandomState random = {uint32_t(input->seed), uint32_t(input->seed >> 32),
                        uint32_t(input->stepsRun), uint32_t(before)};
  std::memcpy(operand(row, 0), &random, sizeof random);
}

/// Over the scalar's elements, then over ranks in their order, in f64; none where a rank aborted.
std::optional<double> Walker::sumOverRanks(std::string_view scalarName) {
  double mine = 0.0;
  if (const Scalar *scalar = context.program.findScalar(scalarName)) {
    auto *values = reinterpret_cast<const float *>(context.arena.data() + scalar->offset);
    for (int64_t i = 0; i < scalar->elements; ++i)
      mine += double(values[i]);
  }
  const double *all = exchanged(&mine, 1);
  if (!all)
    return {};
  double total = 0.0;
  for (int64_t rank = 0; rank < context.program.ranks; ++rank)
    total += all[rank];
  return total;
}

/// Decides, the same on all ranks, whether the step may change weights (N4).
bool Walker::settleLoss() {
  lossSettled = true;
  std::optional<double> total = sumOverRanks("loss");
  if (!total)
    return false;
  outcome.loss = *total / input->lossScale;
  outcome.finite = std::isfinite(outcome.loss) && std::isfinite(outcome.gradNorm);
  return outcome.finite || nameFirstNonFinite();
}

} // namespace zrt
