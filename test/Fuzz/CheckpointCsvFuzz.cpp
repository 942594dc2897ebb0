//===- CheckpointCsvFuzz.cpp - any text as a checkpoint problem ------------===//
//
// A text is refused at a place inside it, or read as a problem that `check` accepts.
//
//===----------------------------------------------------------------------===//
#include "Require.h"
#include "zero/Planning/CheckpointCsv.h"

#include <algorithm>

using namespace zero::fuzz;
using namespace zero::planning::checkpoint;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const std::string_view text(reinterpret_cast<const char *>(data), size);
  const CsvResult result = readCsv(text);
  if (!result) {
    // A row that is missing is expected on the line behind the text.
    const int64_t lines = 2 + std::count(text.begin(), text.end(), '\n');
    char *end = nullptr;
    const int64_t line = std::strtoll(result.error->c_str(), &end, 10);
    require(*end == ':' && line >= 1 && line <= lines,
            "an error at a line of the text or behind it, got " + *result.error);
    const int64_t column = std::strtoll(end + 1, &end, 10);
    require(*end == ':' && column >= 1 && column <= int64_t(size) + 1,
            "an error at a column of the text, got " + *result.error);
    return 0;
  }
  require(!result.problem.nodes.empty(), "a node or more");
  require(!check(result.problem), "a problem that check accepts");
  require(baseCost(result.problem) >= 0 &&
              basePeakBytes(result.problem) >= floorOf(result.problem).bytes,
          "a peak that is no less than the floor");
  return 0;
}
