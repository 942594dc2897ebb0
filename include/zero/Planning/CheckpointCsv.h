//===- CheckpointCsv.h - checkpoint problems as text -----------------------===//
//
// The CSV of Moccasin's public graphs: a header, then one node a row, in the order
// of computation.
//
//   id,cost,bytes,backward,inputs
//   0,110,162508800,0,
//   1,360,822083584,0,0
//   2,210,822083584,1,0 1
//
// Columns in any order; `backward` (0 or 1) may be left out. Inputs are ids of rows
// above, apart by blanks.
//
//===----------------------------------------------------------------------===//
#ifndef ZERO_PLANNING_CHECKPOINTCSV_H
#define ZERO_PLANNING_CHECKPOINTCSV_H

#include "zero/Planning/Checkpoint.h"

#include <string_view>

namespace zero::planning::checkpoint {

/// A problem without a budget, or where and why the text holds none.
struct CsvResult {
  Problem problem;
  /// `line:column: expects X, got Y`, both counted from 1, columns in bytes.
  std::optional<std::string> error;
  explicit operator bool() const { return !error; }
};

/// Reads `text`. Numbers are non-negative and fit in 63 bits; ids are unique; all costs, and all
/// bytes, are at most kMaxTotal together; inputs come before their reader, so that there are no
/// cycles. O(text).
CsvResult readCsv(std::string_view text);

/// The plan's computations as ids, one a row, below a header `id`.
std::string writeCsv(const Problem &problem, const Plan &plan);

} // namespace zero::planning::checkpoint

#endif // ZERO_PLANNING_CHECKPOINTCSV_H
