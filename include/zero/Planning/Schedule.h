//===- Schedule.h - a segment's schedule, and the proof that it is right -===//
//
// One segment as rows in issue order, with what a checker must know and nothing
// of what the rows compute: the stream, the bytes read and written, what is
// waited for, what is freed. Three streams run at once; the orders to rely on:
//
//   - rows of one stream run in issue order;
//   - a row on `gather` or `reduce` starts after all compute rows issued before;
//   - a row starts after the rows that it waits for.
//
// `verify` proves the laws, whoever made the schedule:
//
//   (S1) every read is ordered after the write it needs, and finds those bytes;
//        no two conflicting accesses to overlapping bytes are unordered, and
//        nothing but state is written over state;
//   (S2) no use after a free; one free per gather, after its last use;
//   (S3) each started row is waited for exactly once, and the segment ends with
//        all streams joined. Collectives are issued in row order, and rows are
//        the same on all ranks, so all ranks issue them in one order;
//   (S4) each slot gets its contributions, the first writes and the others add,
//        and each bucket is reduced as often as the stage says, after them all.
//
//===----------------------------------------------------------------------===//
#ifndef ZERO_PLANNING_SCHEDULE_H
#define ZERO_PLANNING_SCHEDULE_H

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace zero::planning::schedule {

enum class Stream : uint8_t { Compute, Gather, Reduce };
inline constexpr int kStreamCount = 3;

enum class BufferKind : uint8_t {
  State,    ///< holds values before the segment and after it
  Input,    ///< holds values before the segment; its bytes may serve others later
  Value,    ///< written by a launch
  Gathered, ///< written by one gather, freed once
  Grads     ///< a bucket's gradients, written slot by slot
};

/// A range of bytes under one name. A view is not a buffer of its own: accesses
/// through it name the buffer that it looks into.
struct Buffer {
  std::string name;
  BufferKind kind = BufferKind::Value;
  /// Bytes from the start of the arena. Without one the buffer has bytes of its
  /// own, as at level S, before places are given.
  std::optional<int64_t> offset = {};
  int64_t bytes = 0;
};

/// Bytes [begin, end) of a buffer, counted from the buffer's start.
struct Access {
  int64_t buffer = 0; ///< index into Schedule::buffers
  int64_t begin = 0, end = 0;
  /// A collective also moves padding: ordered like any read, and free to find
  /// bytes that nobody wrote.
  bool padding = false;
};

/// The row may write `result` over bytes of `operand` (an `inout` argument).
struct Inout {
  int64_t operand = 0, result = 0;
};

enum class Mode : uint8_t {
  Write,         ///< covers the whole slot
  WriteFirstRun, ///< writes in the segment's first run, adds in later ones: state
  Add            ///< reads the slot and adds to it
};

/// A gradient contribution that the row forms. The row's writes, and its reads
/// where it adds, hold the bytes of `target` as well.
struct Accumulate {
  int64_t bucket = 0; ///< index into Schedule::buckets
  int64_t slot = 0;   ///< index into Bucket::slots
  Mode mode = Mode::Write;
  Access target; ///< the slot's bytes, the same for all its contributions
};

enum class RowKind : uint8_t { Launch, Gather, Reduction, Other };

struct Row {
  std::string name;
  Stream stream = Stream::Compute;
  RowKind kind = RowKind::Launch;
  int64_t bucket = -1; ///< of a gather or reduction; gathers may leave it at -1
  std::vector<Access> reads, writes;
  std::vector<Inout> inouts;
  std::vector<int64_t> waits; ///< rows on `gather` and `reduce`
  std::vector<int64_t> frees; ///< gathered buffers, after the row's own accesses
  std::vector<Accumulate> accumulates;
};

struct Slot {
  std::string name;
  int64_t contributions = 1; ///< in one run of the segment
};

/// A bucket of gradients, as far as S4 goes.
struct Bucket {
  std::string name;
  std::vector<Slot> slots;
  int64_t reductions = 1; ///< in one run of the segment; 0 where it is kept
};

struct Schedule {
  std::vector<Buffer> buffers;
  std::vector<Bucket> buckets; ///< trainable ones on which the loss depends
  std::vector<Row> rows;       ///< in issue order
  std::optional<int64_t> arenaBytes;
};

enum class Law : uint8_t { S1, S2, S3, S4 };
/// `S1`, …
const char *name(Law law);

struct Violation {
  Law law = Law::S1;
  int64_t row = -1; ///< the later row of a pair; -1 for what is missing altogether
  std::string message;
};

/// What makes `schedule` unfit for `verify`, or nothing: indices out of range,
/// accesses outside their buffer, buffers outside the arena.
std::optional<std::string> check(const Schedule &schedule);

/// Every violation, by row, at most `limit`. Needs a schedule that `check`
/// accepts. O((rows + accesses) · streams · log accesses), by one vector clock a
/// row and a map of the arena's bytes that knows who last touched them.
std::vector<Violation> verify(const Schedule &schedule, size_t limit = 100);

/// Whether row `before` is complete when row `after` starts. O(rows); for tests
/// and for messages.
bool isOrdered(const Schedule &schedule, int64_t before, int64_t after);

} // namespace zero::planning::schedule

#endif // ZERO_PLANNING_SCHEDULE_H
