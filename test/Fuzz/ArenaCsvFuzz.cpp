//===- ArenaCsvFuzz.cpp - any text as an arena problem ---------------------===//
//
// A text is refused at a place inside it, or read as a problem that `check` accepts and that
// survives being written and read again.
//
//===----------------------------------------------------------------------===//
#include "Require.h"
#include "zero/Planning/ArenaCsv.h"

using namespace zero::fuzz;
using namespace zero::planning::arena;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const std::string_view text(reinterpret_cast<const char *>(data), size);
  const CsvResult first = readCsv(text);
  if (!first) {
    requirePlace(*first.error, text);
    return 0;
  }
  require(!check(first.problem), "a problem that check accepts");
  const std::string written = writeCsv(first.problem);
  const CsvResult second = readCsv(written);
  require(bool(second), "its own text to be read, got " + second.error.value_or(""));
  require(second.problem.buffers.size() == first.problem.buffers.size(), "all buffers again");
  require(writeCsv(second.problem) == written, "the same text again");
  return 0;
}
