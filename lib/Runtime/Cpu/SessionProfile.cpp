//===- SessionProfile.cpp - what each row took ----------------------------===//

#include "SessionImpl.h"

namespace zrt {

static std::string rowLabel(const Program &program, const Row &row) {
  std::string bucket = row.bucket >= 0 ? " " + program.buckets[row.bucket].name : "";
  switch (row.opcode) {
  case Opcode::Launch:
    return program.kernels[row.kernel].name;
  case Opcode::AllGather:
    return "all_gather" + bucket;
  case Opcode::ReduceScatter:
    return "reduce_scatter" + bucket;
  case Opcode::AllReduce:
    return "all_reduce" + bucket;
  case Opcode::Count:
    return "count";
  case Opcode::SetSeed:
    return "set_seed";
  case Opcode::SetRandom:
    return "set_random";
  case Opcode::Norm:
    return "norm";
  case Opcode::Update:
    return "update" + bucket;
  case Opcode::Wait:
    return "wait";
  }
  return "unknown";
}

std::vector<RowProfile> Session::profile() const {
  std::vector<RowProfile> rows;
  const std::vector<Walker::RowTime> &times = impl->ranks[0]->walker.times();
  if (times.empty())
    return rows;
  for (const Segment &segment : impl->program.segments)
    for (size_t index = 0; index < segment.rows.size(); ++index) {
      const Row &row = segment.rows[index];
      const Walker::RowTime &time = times[rows.size()];
      int64_t flops = row.opcode == Opcode::Launch ? impl->program.kernels[row.kernel].flops : 0;
      rows.push_back({segment.name, rowLabel(impl->program, row), int64_t(index), time.runs,
                      time.seconds, flops});
    }
  return rows;
}

} // namespace zrt
