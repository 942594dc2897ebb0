//===- Print.cpp - a step table as people read it -------------------------===//
//
// Offsets that belong to a named thing show its name: a scalar, an argument of
// the segment, or the state of a bucket.
//
//===----------------------------------------------------------------------===//

#include "Operands.h"
#include "zero/Runtime/Layout.h"

#include <map>
#include <sstream>

namespace zrt {

namespace {

class Printer {
public:
  explicit Printer(const Program &program) : program(program) {
    for (const Bucket &bucket : program.buckets)
      for (int kind = 0; kind < kStateKindCount; ++kind)
        if (bucket.state[kind].present)
          stateNames[bucket.state[kind].offset] =
              std::string(name(StateKind(kind))) + " " + bucket.name;
    for (const Scalar &scalar : program.scalars)
      stateNames[scalar.offset] = scalar.name;
  }

  std::string run() {
    out << "program: stage " << program.stage << ", ranks " << program.ranks << ", micro-steps "
        << program.microSteps << ", threads per rank " << program.threadsPerRank << ", arena "
        << program.arenaBytes << " bytes, persistent " << program.persistentBytes;
    if (program.microBatch)
      out << ", micro-batch " << program.microBatch;
    out << "\n";
    for (size_t group = 0; group < program.optimizer.groups.size(); ++group)
      printGroup(group, program.optimizer.groups[group]);
    for (const Bucket &bucket : program.buckets)
      printBucket(bucket);
    for (const Scalar &scalar : program.scalars)
      out << "scalar " << scalar.name << "@" << scalar.offset << " " << scalar.elements << "x"
          << name(scalar.type) << "\n";
    for (const Segment &segment : program.segments)
      printSegment(segment);
    return out.str();
  }

private:
  void printGroup(size_t index, const GroupDesc &group) {
    out << "group " << index << ": rate times " << group.lrScale;
    if (group.weightDecay)
      out << ", weight decay " << *group.weightDecay;
    out << "\n";
  }

  void printShape(const std::vector<int64_t> &shape, ElementType type) {
    for (int64_t extent : shape)
      out << extent << "x";
    out << name(type);
  }

  void printBucket(const Bucket &bucket) {
    constexpr const char *kClasses[] = {"", " frozen", " unused"};
    out << "bucket " << bucket.name << kClasses[int(bucket.bucketClass)] << " length "
        << bucket.lengthElements << " chunk " << bucket.chunkElements << ":";
    for (const Slot &slot : bucket.slots) {
      out << " " << slot.parameter << " [" << slot.beginElement << ", "
          << slot.beginElement + slot.elements << ") ";
      printShape(slot.shape, bucket.type);
      out << (slot.decay ? " decay" : "");
      if (slot.group >= 0)
        out << " group " << slot.group;
    }
    for (int kind = 0; kind < kStateKindCount; ++kind)
      if (const StatePlace &place = bucket.state[kind]; place.present)
        out << "; " << (place.sharded ? "sharded " : "full ") << name(StateKind(kind)) << "@"
            << place.offset << (place.type == ElementType::f32 ? "" : " ")
            << (place.type == ElementType::f32 ? "" : name(place.type));
    out << "\n";
  }

  void printSegment(const Segment &segment) {
    out << "segment " << segment.name << " times " << segment.times
        << (segment.role == SegmentRole::Evaluation ? " of an evaluation\n" : "\n");
    inputNames.clear();
    for (const Input &input : segment.inputs) {
      inputNames[input.offset] = input.name;
      out << "  argument " << input.name << "@" << input.offset << " ";
      printShape(input.shape, input.type);
      if (input.bound)
        out << " in [0, " << *input.bound << ")";
      if (input.ignore)
        out << " or " << *input.ignore;
      out << "\n";
    }
    for (size_t index = 0; index < segment.rows.size(); ++index) {
      out << "  " << index << " ";
      printRow(segment.rows[index]);
      out << "\n";
    }
  }

  void printPlace(const Row &row, size_t operand) {
    int64_t offset = row.operands[operand];
    if (auto state = stateNames.find(offset); state != stateNames.end())
      out << state->second << "@";
    else if (auto input = inputNames.find(offset); input != inputNames.end())
      out << input->second << "@";
    if (offset == -1)
      out << "none";
    else
      out << offset;
    if (!row.perRunBytes.empty() && row.perRunBytes[operand] != 0)
      out << "+" << row.perRunBytes[operand] << "/run";
  }

  void printPlaces(const Row &row, size_t from, size_t to) {
    for (size_t operand = from; operand < to; ++operand) {
      out << (operand == from ? " " : ", ");
      printPlace(row, operand);
    }
  }

  /// Where they are not all f32.
  void printTypes(const Kernel &kernel) {
    ElementType type = ElementType::f32, result = type;
    if (kernel.kind == KernelKind::Gemm)
      type = kernel.gemm.type, result = kernel.gemm.resultType;
    else if (kernel.kind == KernelKind::Attention)
      type = result = kernel.attention.type;
    else if (kernel.kind == KernelKind::CrossEntropy)
      type = result = kernel.crossEntropy.type;
    else if (kernel.kind == KernelKind::Scatter)
      type = kernel.scatter.type, result = kernel.scatter.resultType;
    if (type != ElementType::f32)
      out << " " << name(type);
    if (result != type)
      out << " to " << name(result);
  }

  void printLaunch(const Row &row) {
    const Kernel &kernel = program.kernels[row.kernel];
    out << "launch " << kernel.name;
    printTypes(kernel);
    std::vector<OperandExtent> extents = operandExtents(kernel);
    if (extents.empty())
      return printPlaces(row, 0, row.operands.size());
    bool arrow = false;
    for (size_t operand = 0; operand < row.operands.size(); ++operand) {
      bool workspace = operand >= extents.size();
      bool written = !workspace && extents[operand].written;
      out << (written && !arrow ? " → "
              : operand == 0    ? " "
                                : ", ")
          << (workspace ? "workspace" : extents[operand].name) << " ";
      arrow = arrow || written;
      printPlace(row, operand);
    }
  }

  void printRow(const Row &row) {
    std::string bucket = row.bucket >= 0 ? program.buckets[row.bucket].name : "";
    switch (row.opcode) {
    case Opcode::Launch:
      printLaunch(row);
      break;
    case Opcode::AllGather:
      out << "all_gather " << bucket << (row.inPlace ? " in place" : " →");
      printPlaces(row, 0, row.inPlace ? 0 : row.operands.size());
      break;
    case Opcode::ReduceScatter:
      out << "reduce_scatter " << bucket;
      printPlaces(row, 0, 1);
      if (row.operands[1] == -1) {
        out << " in place";
      } else {
        out << " →";
        printPlaces(row, 1, 2);
      }
      break;
    case Opcode::AllReduce:
      out << "all_reduce " << bucket;
      printPlaces(row, 0, 1);
      out << " in place";
      break;
    case Opcode::Count:
    case Opcode::SetSeed:
      out << (row.opcode == Opcode::Count ? "count" : "set_seed");
      printPlaces(row, 0, 1);
      out << " →";
      printPlaces(row, 1, 2);
      break;
    case Opcode::SetRandom:
      out << "set_random →";
      printPlaces(row, 0, 1);
      break;
    case Opcode::Norm:
      out << "norm";
      for (int32_t index : row.buckets)
        out << " " << program.buckets[index].name;
      out << (row.sumOverRanks ? " over ranks →" : " →");
      printPlaces(row, 0, 1);
      break;
    case Opcode::Update:
      out << "update " << bucket;
      break;
    case Opcode::Wait:
      out << "wait";
      break;
    }
    printSchedule(row);
  }

  void printSchedule(const Row &row) {
    constexpr const char *kStreams[] = {"compute", "gather", "reduce"};
    constexpr const char *kModes[] = {"", " add", " write first, then add"};
    out << kModes[int(row.mode)] << " on " << kStreams[int(row.stream)];
    for (size_t i = 0; i < row.waits.size(); ++i)
      out << (i == 0 ? " after " : ", ") << row.waits[i];
    for (size_t i = 0; i < row.frees.size(); ++i)
      out << (i == 0 ? " frees " : ", ") << row.frees[i].second << " at " << row.frees[i].first;
  }

  const Program &program;
  std::map<int64_t, std::string> stateNames, inputNames;
  std::ostringstream out;
};

} // namespace

std::string print(const Program &program) { return Printer(program).run(); }

} // namespace zrt
