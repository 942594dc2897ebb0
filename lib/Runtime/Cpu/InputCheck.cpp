//===- InputCheck.cpp - reject a batch before anything is touched ---------===//

#include "InputCheck.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace zrt {

static int64_t elementsOf(const Input &input) {
  int64_t elements = 1;
  for (int64_t extent : input.shape)
    elements *= extent;
  return elements;
}

int64_t inputBytes(const Input &input) { return elementsOf(input) * elementBytes(input.type); }

/// Index of the first value outside the range, or -1.
template <typename Integer>
static int64_t firstOutside(const Input &input, const char *data, int64_t elements) {
  for (int64_t i = 0; i < elements; ++i) {
    Integer value;
    std::memcpy(&value, data + i * int64_t(sizeof(Integer)), sizeof(Integer));
    if ((value < 0 || value >= *input.bound) && !(input.ignore && value == *input.ignore))
      return i;
  }
  return -1;
}

static int64_t valueAt(const Input &input, const char *data, int64_t index) {
  if (input.type == ElementType::i64) {
    int64_t value;
    std::memcpy(&value, data + index * 8, 8);
    return value;
  }
  int32_t value;
  std::memcpy(&value, data + index * 4, 4);
  return value;
}

/// `data` holds the argument of all ranks in one run.
static bool checkValues(const Input &input, const Segment &segment, int64_t run, int64_t ranks,
                        const char *data, std::string &error) {
  if (!input.bound)
    return true;
  int64_t perRank = elementsOf(input), total = perRank * ranks;
  int64_t outside = input.type == ElementType::i64 ? firstOutside<int64_t>(input, data, total)
                                                   : firstOutside<int32_t>(input, data, total);
  if (outside < 0)
    return true;
  int64_t rows = input.shape.empty() ? 1 : input.shape[0];
  int64_t perRow = perRank / rows, within = outside % perRank;
  error = "argument '" + input.name + "': expects values in [0, " + std::to_string(*input.bound) +
          ")" + (input.ignore ? " or " + std::to_string(*input.ignore) : "") + ", got " +
          std::to_string(valueAt(input, data, outside)) + " (segment '" + segment.name + "', run " +
          std::to_string(run) + ", rank " + std::to_string(outside / perRank) + ", row " +
          std::to_string(within / perRow) + ", element " + std::to_string(within % perRow) + ")";
  return false;
}

bool checkStepInput(const Program &program, const StepInput &input, std::string &error) {
  if (!std::isfinite(input.lossScale) || input.lossScale <= 0 || !std::isfinite(input.lr)) {
    error = "expects a finite learning rate and a positive loss scale, got " +
            std::to_string(input.lr) + " and " + std::to_string(input.lossScale);
    return false;
  }
  if (int64_t fewest = std::min(input.stepsTaken, input.stepsRun); fewest < 0) {
    error = "expects the number of steps taken and run, got " + std::to_string(fewest);
    return false;
  }
  return checkData(program, SegmentRole::Step, input.data, error);
}

bool checkData(const Program &program, SegmentRole role, const BatchPointers &data,
               std::string &error) {
  if (data.size() != program.segments.size()) {
    error = "expects arguments for " + std::to_string(program.segments.size()) + " segments, got " +
            std::to_string(data.size());
    return false;
  }
  for (size_t s = 0; s < program.segments.size(); ++s) {
    const Segment &segment = program.segments[s];
    if (segment.role != role)
      continue;
    size_t perRun = segment.inputs.size(), expected = perRun * size_t(segment.times);
    if (data[s].size() != expected) {
      error = "segment '" + segment.name + "': expects " + std::to_string(expected) +
              " arguments over all runs, got " + std::to_string(data[s].size());
      return false;
    }
    for (size_t i = 0; i < expected; ++i) {
      const Input &argument = segment.inputs[i % perRun];
      auto *values = static_cast<const char *>(data[s][i]);
      if (!values && inputBytes(argument) > 0) {
        error = "argument '" + argument.name + "' of segment '" + segment.name +
                "': expects data, got a null pointer";
        return false;
      }
      if (!checkValues(argument, segment, int64_t(i / perRun), program.ranks, values, error))
        return false;
    }
  }
  return true;
}

} // namespace zrt
