//===- CheckpointCsvFuzz.cpp - any text as a checkpoint problem ------------===//
//
// A text is refused at a place inside it, or read as a problem that `check` accepts.
//
//===----------------------------------------------------------------------===//
#include "Require.h"
#include "zero/Planning/CheckpointCsv.h"

using namespace zero::fuzz;
using namespace zero::planning::checkpoint;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const std::string_view text(reinterpret_cast<const char *>(data), size);
  const CsvResult result = readCsv(text);
  if (!result) {
    requirePlace(*result.error, text);
    return 0;
  }
  require(!result.problem.nodes.empty(), "a node or more");
  require(!check(result.problem), "a problem that check accepts");
  require(baseCost(result.problem) >= 0 &&
              basePeakBytes(result.problem) >= floorOf(result.problem).bytes,
          "a peak that is no less than the floor");
  return 0;
}
