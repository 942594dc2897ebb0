//===- Schedule.cpp - the laws S1 to S4 of a segment ---------------------===//
//
// Issue order is one legal execution. Where every two conflicting accesses are
// ordered, all legal executions agree with it byte for byte; so the bytes are
// walked once, in issue order, and each access is held against the last ones of
// every stream. Order between rows is one vector clock a row.
//
//===----------------------------------------------------------------------===//
#include "zero/Planning/Schedule.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <map>

namespace zero::planning::schedule {
namespace {

bool isGiven(const Buffer &buffer) {
  return buffer.kind == BufferKind::State || buffer.kind == BufferKind::Input;
}

using PerStream = std::array<int64_t, kStreamCount>;
constexpr PerStream kNone = {-1, -1, -1};

/// For each row how many rows of each stream are complete when it starts.
class Clocks {
public:
  explicit Clocks(const Schedule &schedule) : rows(schedule.rows), complete(rows.size()) {
    std::array<PerStream, kStreamCount> after = {}; // the stream's last row, itself included
    PerStream count = {};
    for (size_t i = 0; i < rows.size(); ++i) {
      int stream = int(rows[i].stream), compute = int(Stream::Compute);
      complete[i] = after[stream];
      if (stream != compute)
        join(complete[i], after[compute]);
      for (int64_t wait : rows[i].waits)
        if (wait < int64_t(i))
          join(complete[i], withSelf(wait));
      position.push_back(count[stream]++);
      after[stream] = withSelf(i);
    }
  }

  bool ordered(int64_t before, int64_t after) const {
    return position[before] < complete[after][int(rows[before].stream)];
  }

private:
  static void join(PerStream &into, const PerStream &from) {
    for (int stream = 0; stream < kStreamCount; ++stream)
      into[stream] = std::max(into[stream], from[stream]);
  }
  PerStream withSelf(int64_t row) const {
    PerStream clock = complete[row];
    int64_t &own = clock[int(rows[row].stream)];
    own = std::max(own, position[row] + 1);
    return clock;
  }

  const std::vector<Row> &rows;
  std::vector<PerStream> complete;
  std::vector<int64_t> position; // in the row's own stream
};

/// A run of bytes with one history.
struct Cell {
  int64_t end = 0;
  PerStream lastRead = kNone, lastWrite = kNone; // rows
  int64_t owner = -1;                            // the buffer whose value stands here
};

std::string range(int64_t begin, int64_t end) {
  return "[" + std::to_string(begin) + ", " + std::to_string(end) + ")";
}

bool covers(const std::vector<Access> &accesses, const Access &target) {
  return std::any_of(accesses.begin(), accesses.end(), [&](const Access &access) {
    return access.buffer == target.buffer && access.begin <= target.begin &&
           target.end <= access.end;
  });
}

class Checker {
public:
  Checker(const Schedule &schedule, size_t limit)
      : schedule(schedule), limit(limit), clocks(schedule) {
    int64_t top = schedule.arenaBytes.value_or(0);
    for (const Buffer &buffer : schedule.buffers)
      if (buffer.offset)
        top = std::max(top, *buffer.offset + buffer.bytes);
    for (size_t i = 0; i < schedule.buffers.size(); ++i) {
      const Buffer &buffer = schedule.buffers[i];
      place.push_back(buffer.offset.value_or(top));
      top += buffer.offset ? 0 : buffer.bytes;
      if (isGiven(buffer))
        for (auto it = split(place[i]), end = split(place[i] + buffer.bytes); it != end; ++it)
          it->second.owner = i;
    }
    size_t count = schedule.buffers.size();
    lastAccess.assign(count, kNone);
    gatheredBy.assign(count, -1);
    freedBy.assign(count, -1);
    for (const Bucket &bucket : schedule.buckets) {
      contributions.emplace_back(bucket.slots.size());
      reductions.emplace_back();
    }
  }

  std::vector<Violation> run() {
    for (size_t row = 0; row < schedule.rows.size(); ++row) {
      checkAccesses(row);
      checkFrees(row);
      checkGradients(row);
    }
    checkWaits();
    checkEnds();
    std::stable_sort(violations.begin(), violations.end(),
                     [](const Violation &a, const Violation &b) {
                       return uint64_t(a.row) < uint64_t(b.row); // what is missing comes last
                     });
    if (violations.size() > limit)
      violations.resize(limit);
    return std::move(violations);
  }

private:
  using Map = std::map<int64_t, Cell>;

  void report(Law law, int64_t row, std::string message) {
    violations.push_back({law, row, std::move(message)});
  }
  std::string rowName(int64_t row) const {
    return "row " + std::to_string(row) + " '" + schedule.rows[row].name + "'";
  }
  std::string bufferName(int64_t buffer) const { return "'" + schedule.buffers[buffer].name + "'"; }
  std::string accessName(const Access &access) const {
    return bufferName(access.buffer) + " at " +
           range(place[access.buffer] + access.begin, place[access.buffer] + access.end);
  }

  /// Cuts the map at `byte`; returns the cell that begins there. Bytes never
  /// touched are one cell, so that a range is always a run of cells.
  Map::iterator split(int64_t byte) {
    auto it = cells.lower_bound(byte);
    if (it != cells.end() && it->first == byte)
      return it;
    auto before = std::prev(it);
    Cell cell = before->second;
    before->second.end = byte;
    return cells.emplace_hint(it, byte, cell);
  }

  void checkAccesses(int64_t row);
  void checkInside(int64_t row);
  void touch(int64_t row, const Access &access, bool writes);
  void checkFrees(int64_t row);
  void checkGradients(int64_t row);
  void checkWaits();
  void checkEnds();

  const Schedule &schedule;
  size_t limit;
  Clocks clocks;
  std::vector<Violation> violations;
  std::vector<int64_t> place; // of each buffer
  Map cells = {{0, {INT64_MAX, kNone, kNone, -1}}};
  std::vector<PerStream> lastAccess;                            // rows, by buffer
  std::vector<int64_t> gatheredBy, freedBy;                     // rows, by buffer
  std::vector<std::vector<std::vector<int64_t>>> contributions; // rows, by bucket and slot
  std::vector<std::vector<int64_t>> reductions;                 // rows, by bucket
};

void Checker::checkAccesses(int64_t row) {
  checkInside(row);
  for (const Access &access : schedule.rows[row].reads)
    touch(row, access, /*writes=*/false);
  for (const Access &access : schedule.rows[row].writes)
    touch(row, access, /*writes=*/true);
}

/// Within one row bytes are shared only as `inouts` allows.
void Checker::checkInside(int64_t row) {
  const Row &self = schedule.rows[row];
  auto overlap = [&](const Access &a, const Access &b) {
    return a.buffer != b.buffer && place[a.buffer] + a.begin < place[b.buffer] + b.end &&
           place[b.buffer] + b.begin < place[a.buffer] + a.end;
  };
  for (size_t i = 0; i < self.writes.size(); ++i) {
    const Access &write = self.writes[i];
    for (const Access &read : self.reads) {
      bool inout = std::any_of(self.inouts.begin(), self.inouts.end(), [&](const Inout &pair) {
        return pair.operand == read.buffer && pair.result == write.buffer;
      });
      if (!inout && overlap(read, write))
        report(Law::S1, row,
               rowName(row) + " writes " + accessName(write) + " over its own operand " +
                   accessName(read) + ", which is not inout");
    }
    for (size_t j = 0; j < i; ++j)
      if (overlap(self.writes[j], write))
        report(Law::S1, row,
               rowName(row) + " writes both " + accessName(self.writes[j]) + " and " +
                   accessName(write) + ", which overlap");
  }
}

void Checker::touch(int64_t row, const Access &access, bool writes) {
  const Row &self = schedule.rows[row];
  const char *verb = writes ? " writes " : " reads ";
  std::string who = rowName(row) + verb + accessName(access);
  int64_t buffer = access.buffer;
  bool gathered = schedule.buffers[buffer].kind == BufferKind::Gathered;
  if (freedBy[buffer] >= 0)
    report(Law::S2, row, who + " after " + rowName(freedBy[buffer]) + " freed it");
  if (writes && gathered) {
    if (self.kind != RowKind::Gather)
      report(Law::S2, row, who + ", and only a gather may");
    else if (gatheredBy[buffer] >= 0 && gatheredBy[buffer] != row)
      report(Law::S2, row, who + " after " + rowName(gatheredBy[buffer]) + " gathered it");
    gatheredBy[buffer] = row;
  }
  lastAccess[buffer][int(self.stream)] = row;

  // One message of a sort is enough for an access.
  bool unordered = false, wrong = false;
  auto hold = [&](const PerStream &last, const char *what) {
    for (int64_t other : last)
      if (!unordered && other >= 0 && other != row && !clocks.ordered(other, row)) {
        report(Law::S1, row,
               who + " while " + rowName(other) + " may still " + what +
                   " these bytes: nothing orders the two");
        unordered = true;
      }
  };
  int64_t begin = place[buffer] + access.begin, end = place[buffer] + access.end;
  for (auto it = split(begin), stop = split(end); it != stop; ++it) {
    Cell &cell = it->second;
    hold(cell.lastWrite, "write");
    if (!writes) {
      cell.lastRead[int(self.stream)] = row;
      if (!wrong && !access.padding && cell.owner != buffer) {
        report(Law::S1, row,
               who + ", and at " + range(it->first, cell.end) + " stands " +
                   (cell.owner < 0 ? std::string("nothing that was written before")
                                   : "the value of " + bufferName(cell.owner)));
        wrong = true;
      }
      continue;
    }
    hold(cell.lastRead, "read");
    if (int64_t owner = cell.owner; !wrong && owner >= 0 && owner != buffer) {
      BufferKind kind = schedule.buffers[owner].kind;
      wrong = kind == BufferKind::State || (kind == BufferKind::Gathered && freedBy[owner] < 0);
      if (wrong && kind == BufferKind::State)
        report(Law::S1, row, who + " over the state " + bufferName(owner));
      else if (wrong)
        report(Law::S2, row, who + " over " + bufferName(owner) + ", which is not freed yet");
    }
    cell.lastWrite[int(self.stream)] = row;
    cell.owner = buffer;
  }
}

void Checker::checkFrees(int64_t row) {
  for (int64_t buffer : schedule.rows[row].frees) {
    std::string who = rowName(row) + " frees " + bufferName(buffer);
    if (schedule.buffers[buffer].kind != BufferKind::Gathered)
      report(Law::S2, row, who + ", which no gather made");
    else if (freedBy[buffer] >= 0)
      report(Law::S2, row, who + ", which " + rowName(freedBy[buffer]) + " freed before");
    else if (gatheredBy[buffer] < 0)
      report(Law::S2, row, who + ", which is not gathered yet");
    for (int64_t other : lastAccess[buffer])
      if (other >= 0 && other != row && !clocks.ordered(other, row))
        report(Law::S2, row, who + " while " + rowName(other) + " may still use it");
    freedBy[buffer] = row;
  }
}

void Checker::checkGradients(int64_t row) {
  const Row &self = schedule.rows[row];
  for (const Accumulate &accumulate : self.accumulates) {
    const Bucket &bucket = schedule.buckets[accumulate.bucket];
    std::vector<int64_t> &before = contributions[accumulate.bucket][accumulate.slot];
    std::string who = rowName(row) + " accumulates into slot '" +
                      bucket.slots[accumulate.slot].name + "' of bucket '" + bucket.name + "'";
    bool adds = accumulate.mode == Mode::Add;
    if (adds && before.empty())
      report(Law::S4, row, who + ": expects the first contribution to write, and it adds");
    if (!adds && !before.empty())
      report(Law::S4, row,
             who + ": expects to add to what " + rowName(before.back()) +
                 " contributed, and it writes");
    if (!covers(self.writes, accumulate.target) || (adds && !covers(self.reads, accumulate.target)))
      report(Law::S4, row, who + ": expects to touch all bytes of the slot");
    for (int64_t reduction : reductions[accumulate.bucket])
      report(Law::S4, row, who + " after " + rowName(reduction) + " reduced it");
    if (!before.empty()) {
      for (const Accumulate &first : schedule.rows[before.front()].accumulates)
        if (first.bucket == accumulate.bucket && first.slot == accumulate.slot &&
            (first.target.buffer != accumulate.target.buffer ||
             first.target.begin != accumulate.target.begin ||
             first.target.end != accumulate.target.end))
          report(Law::S4, row,
                 who + " at " + accessName(accumulate.target) + ", and " + rowName(before.front()) +
                     " at " + accessName(first.target));
    }
    before.push_back(row);
  }
  if (self.kind != RowKind::Reduction)
    return;
  const Bucket &bucket = schedule.buckets[self.bucket];
  for (size_t slot = 0; slot < bucket.slots.size(); ++slot)
    for (int64_t other : contributions[self.bucket][slot]) {
      std::string who = rowName(row) + " reduces bucket '" + bucket.name + "'";
      if (!clocks.ordered(other, row))
        report(Law::S4, row,
               who + " while " + rowName(other) + " may still accumulate into slot '" +
                   bucket.slots[slot].name + "'");
      for (const Accumulate &accumulate : schedule.rows[other].accumulates)
        if (accumulate.bucket == self.bucket && accumulate.slot == int64_t(slot) &&
            !covers(self.reads, accumulate.target))
          report(Law::S4, row,
                 who + " and does not read slot '" + bucket.slots[slot].name + "', " +
                     accessName(accumulate.target));
    }
  reductions[self.bucket].push_back(row);
}

void Checker::checkWaits() {
  std::vector<int64_t> waitedBy(schedule.rows.size(), -1);
  int64_t last = -1; // compute row
  for (size_t row = 0; row < schedule.rows.size(); ++row) {
    if (schedule.rows[row].stream == Stream::Compute)
      last = row;
    for (int64_t started : schedule.rows[row].waits) {
      std::string who = rowName(row) + " waits for " + rowName(started);
      if (started >= int64_t(row))
        report(Law::S3, row, who + ", which is not issued before it");
      else if (schedule.rows[started].stream == Stream::Compute)
        report(Law::S3, row, who + ", which was not started on another stream");
      if (waitedBy[started] >= 0)
        report(Law::S3, row, who + ", and " + rowName(waitedBy[started]) + " did already");
      waitedBy[started] = row;
    }
  }
  for (size_t row = 0; row < schedule.rows.size(); ++row) {
    if (schedule.rows[row].stream == Stream::Compute)
      continue;
    if (waitedBy[row] < 0)
      report(Law::S3, row, rowName(row) + " is never waited for");
    if (last < 0 || !clocks.ordered(row, last))
      report(Law::S3, row,
             rowName(row) + " may still run when the segment ends: the last row on compute, " +
                 (last < 0 ? std::string("which does not exist,") : rowName(last)) +
                 " is not ordered after it");
  }
}

void Checker::checkEnds() {
  for (size_t i = 0; i < schedule.buffers.size(); ++i) {
    if (schedule.buffers[i].kind != BufferKind::Gathered || freedBy[i] >= 0)
      continue;
    report(Law::S2, gatheredBy[i],
           (gatheredBy[i] < 0 ? "" : rowName(gatheredBy[i]) + ": ") + "expects one free of " +
               bufferName(i) + ", got none");
  }
  for (size_t i = 0; i < schedule.buckets.size(); ++i) {
    const Bucket &bucket = schedule.buckets[i];
    for (size_t slot = 0; slot < bucket.slots.size(); ++slot) {
      int64_t expected = bucket.slots[slot].contributions;
      int64_t found = contributions[i][slot].size();
      if (found != expected)
        report(Law::S4, -1,
               "slot '" + bucket.slots[slot].name + "' of bucket '" + bucket.name + "': expects " +
                   std::to_string(expected) + " contributions, got " + std::to_string(found));
    }
    if (int64_t(reductions[i].size()) != bucket.reductions)
      report(Law::S4, reductions[i].empty() ? -1 : reductions[i].back(),
             "bucket '" + bucket.name + "': expects " + std::to_string(bucket.reductions) +
                 " reductions, got " + std::to_string(reductions[i].size()));
  }
}

std::string join(const std::string &who, const std::string &what) { return who + ": " + what; }

} // namespace

const char *name(Law law) {
  constexpr const char *kNames[] = {"S1", "S2", "S3", "S4"};
  return kNames[int(law)];
}

std::optional<std::string> check(const Schedule &schedule) {
  // Private bytes of buffers without a place come after all others.
  constexpr int64_t kMaxBytes = int64_t(1) << 60;
  int64_t buffers = schedule.buffers.size(), rows = schedule.rows.size();
  int64_t total = schedule.arenaBytes.value_or(0);
  if (total < 0 || total > kMaxBytes)
    return "expects an arena of 0 to 2^60 bytes, got " + std::to_string(total);
  std::vector<std::pair<int64_t, int64_t>> given; // offset, buffer
  for (int64_t i = 0; i < buffers; ++i) {
    const Buffer &buffer = schedule.buffers[i];
    std::string who = "buffer '" + buffer.name + "'";
    if (buffer.bytes < 1 || buffer.bytes > kMaxBytes)
      return join(who, "expects 1 to 2^60 bytes, got " + std::to_string(buffer.bytes));
    int64_t offset = buffer.offset.value_or(0);
    if (offset < 0 || offset > kMaxBytes)
      return join(who, "expects an offset of 0 to 2^60, got " + std::to_string(offset));
    if (buffer.offset && schedule.arenaBytes && offset + buffer.bytes > *schedule.arenaBytes)
      return join(who, "expects to end inside the arena of " +
                           std::to_string(*schedule.arenaBytes) + " bytes, got " +
                           range(offset, offset + buffer.bytes));
    total += buffer.offset ? 0 : buffer.bytes;
    if (total > kMaxBytes)
      return join(who, "expects all buffers below 2^60 bytes together");
    if (buffer.offset && isGiven(buffer))
      given.emplace_back(offset, i);
  }
  std::sort(given.begin(), given.end());
  for (size_t i = 1; i < given.size(); ++i) {
    const Buffer &low = schedule.buffers[given[i - 1].second];
    const Buffer &high = schedule.buffers[given[i].second];
    if (given[i - 1].first + low.bytes > given[i].first)
      return "buffers '" + low.name + "' at " + range(*low.offset, *low.offset + low.bytes) +
             " and '" + high.name + "' at " + range(*high.offset, *high.offset + high.bytes) +
             " hold values from the start and overlap";
  }
  for (const Bucket &bucket : schedule.buckets) {
    if (bucket.reductions < 0)
      return "bucket '" + bucket.name + "': expects at least 0 reductions, got " +
             std::to_string(bucket.reductions);
    for (const Slot &slot : bucket.slots)
      if (slot.contributions < 0)
        return "slot '" + slot.name + "': expects at least 0 contributions, got " +
               std::to_string(slot.contributions);
  }
  auto isIndex = [](int64_t value, int64_t count) { return value >= 0 && value < count; };
  for (int64_t i = 0; i < rows; ++i) {
    const Row &row = schedule.rows[i];
    std::string who = "row " + std::to_string(i) + " '" + row.name + "'";
    auto misplaced = [&](const Access &access) {
      return !isIndex(access.buffer, buffers) || access.begin < 0 || access.begin >= access.end ||
             access.end > schedule.buffers[access.buffer].bytes;
    };
    for (const std::vector<Access> *accesses : {&row.reads, &row.writes})
      for (const Access &access : *accesses)
        if (misplaced(access))
          return join(who, "expects bytes inside a buffer, got " + range(access.begin, access.end) +
                               " of buffer " + std::to_string(access.buffer));
    for (const Inout &pair : row.inouts)
      if (!isIndex(pair.operand, buffers) || !isIndex(pair.result, buffers))
        return join(who, "expects an inout pair of buffers");
    for (int64_t wait : row.waits)
      if (!isIndex(wait, rows))
        return join(who, "expects to wait for a row below " + std::to_string(rows) + ", got " +
                             std::to_string(wait));
    for (int64_t buffer : row.frees)
      if (!isIndex(buffer, buffers))
        return join(who, "expects to free a buffer below " + std::to_string(buffers) + ", got " +
                             std::to_string(buffer));
    for (const Accumulate &accumulate : row.accumulates)
      if (!isIndex(accumulate.bucket, schedule.buckets.size()) ||
          !isIndex(accumulate.slot, schedule.buckets[accumulate.bucket].slots.size()) ||
          misplaced(accumulate.target))
        return join(who, "expects to accumulate into a slot and bytes inside a buffer");
    if (row.kind == RowKind::Reduction && !isIndex(row.bucket, schedule.buckets.size()))
      return join(who, "expects to reduce a bucket below " +
                           std::to_string(schedule.buckets.size()) + ", got " +
                           std::to_string(row.bucket));
  }
  return std::nullopt;
}

std::vector<Violation> verify(const Schedule &schedule, size_t limit) {
  assert(!check(schedule) && "verify needs a schedule that check accepts");
  return Checker(schedule, limit).run();
}

bool isOrdered(const Schedule &schedule, int64_t before, int64_t after) {
  return Clocks(schedule).ordered(before, after);
}

} // namespace zero::planning::schedule
