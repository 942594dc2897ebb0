//===- ArenaCsv.h - arena problems as text -------------------------------===//
//
// The CSV of google/minimalloc: a header, then one buffer a row.
//
//   id,lower,upper,size,alignment,gaps
//   0,0,12,4096,64,
//   1,3,9,256,64,4-5 7-8
//
// Columns in any order: `id` (or `buffer`, `buffer_id`), `lower` (`start`,
// `begin`), `upper` (or `end`, which is inclusive), `size`; optional
// `alignment`, `hint`, `offset` (fixed) and `gaps` (times with a dash, apart by
// blanks; with `end`, inclusive too). Ours are `space` (the number of the arena it
// lies in), `adjacent` (the id of the buffer that it lies directly behind) and
// `shares` (the id of the buffer on whose bytes it lies). Cells of optional columns
// may be empty.
//
// An id is a number, or where one is not, each is a text without commas and quotes
// (`b1`), which `adjacent` and `shares` then name too; buffers are numbered by row
// and `Problem::idTexts` holds the texts.
//
//===----------------------------------------------------------------------===//
#ifndef ZERO_PLANNING_ARENACSV_H
#define ZERO_PLANNING_ARENACSV_H

#include "zero/Planning/Arena.h"

#include <string_view>

namespace zero::planning::arena {

/// A problem, or where and why the text holds none.
struct CsvResult {
  Problem problem;
  /// `line:column: expects X, got Y`, both counted from 1, columns in bytes.
  std::optional<std::string> error;
  explicit operator bool() const { return !error; }
};

/// Reads `text`. Numbers are non-negative and fit in 63 bits; ids are unique; a
/// file without buffers, and a problem that `check` refuses, is an error at the
/// place that caused it.
CsvResult readCsv(std::string_view text);

/// Writes `problem` with `lower` and half-open `upper`, and the optional columns
/// that it uses; with `plan`, the column `offset` holds the plan's offsets.
std::string writeCsv(const Problem &problem, const Plan *plan = nullptr);

} // namespace zero::planning::arena

#endif // ZERO_PLANNING_ARENACSV_H
