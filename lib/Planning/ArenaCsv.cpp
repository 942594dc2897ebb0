//===- ArenaCsv.cpp - arena problems as text -----------------------------===//
//
// A cell knows its line and column, so that every message leads to the place.
// What a single row can get wrong is found here; what takes the whole problem
// (colliding fixed offsets, sums) is asked of `check`.
//
//===----------------------------------------------------------------------===//
#include "zero/Planning/ArenaCsv.h"

#include "CsvCells.h"

#include <algorithm>
#include <array>
#include <unordered_map>

namespace zero::planning::arena {
namespace {

using csv::Cell;
using csv::quoted;
using csv::split;

enum Column {
  Id,
  Lower,
  Upper,
  Size,
  Alignment,
  Hint,
  Offset,
  Gaps,
  Space,
  Adjacent,
  Shares,
  ColumnCount
};
constexpr std::array<std::string_view, ColumnCount> kNames = {
    "id",     "lower", "upper", "size",     "alignment", "hint",
    "offset", "gaps",  "space", "adjacent", "shares"};

class Reader {
public:
  explicit Reader(std::string_view text) : text(text) {}
  CsvResult read();

private:
  bool fail(const Cell &cell, const std::string &message) {
    result.error = csv::at(cell, message);
    return false;
  }
  bool readHeader(const Cell &line);
  bool readRow(const Cell &line);
  bool number(const Cell &cell, std::string_view what, int64_t least, int64_t &value,
              int64_t most = INT64_MAX);
  bool readGaps(const Cell &cell, Buffer &buffer);
  bool has(Column column) const { return position[column] >= 0; }

  std::string_view text;
  CsvResult result;
  std::array<int64_t, ColumnCount> position;
  size_t width = 0;
  int64_t inclusive = 0; // 1 where the upper column is `end`
  std::unordered_map<int64_t, int64_t> lineOfId;
};

bool Reader::readHeader(const Cell &line) {
  position.fill(-1);
  std::vector<Cell> cells = split(line, ',');
  width = cells.size();
  for (size_t i = 0; i < cells.size(); ++i) {
    std::string_view name = cells[i].text;
    if (name == "buffer" || name == "buffer_id")
      name = "id";
    else if (name == "start" || name == "begin")
      name = "lower";
    else if (name == "end")
      name = "upper", inclusive = 1;
    auto found = std::find(kNames.begin(), kNames.end(), name);
    if (found == kNames.end())
      return fail(cells[i], "expects a column among id, lower, upper, size, alignment, hint, "
                            "offset, gaps, space, adjacent and shares, got " +
                                quoted(name));
    int64_t &place = position[found - kNames.begin()];
    if (place >= 0)
      return fail(cells[i], "expects each column once, got a second " + quoted(*found));
    place = i;
  }
  for (Column column : {Id, Lower, Upper, Size})
    if (!has(column))
      return fail(line,
                  "expects a column " + quoted(kNames[column]) + ", got " + quoted(line.text));
  return true;
}

bool Reader::number(const Cell &cell, std::string_view what, int64_t least, int64_t &value,
                    int64_t most) {
  result.error = csv::readNumber(cell, what, least, most, value);
  return !result.error;
}

bool Reader::readGaps(const Cell &cell, Buffer &buffer) {
  for (const Cell &gap : split(cell, ' ')) {
    if (gap.text.empty())
      continue;
    std::vector<Cell> ends = split(gap, '-');
    if (gap.text.find('@') != std::string_view::npos)
      return fail(gap, "expects a gap that frees the whole buffer, got the window in " +
                           quoted(gap.text));
    if (ends.size() != 2)
      return fail(gap, "expects a gap as two times with a dash, got " + quoted(gap.text));
    Interval interval;
    if (!number(ends[0], "the begin of a gap", 0, interval.lower) ||
        !number(ends[1], "the end of a gap", 0, interval.upper))
      return false;
    if (__builtin_add_overflow(interval.upper, inclusive, &interval.upper))
      return fail(ends[1], "expects the end of a gap below 2^63 - 1, got " + quoted(ends[1].text));
    if (interval.lower >= interval.upper || interval.lower < buffer.lower ||
        interval.upper > buffer.upper)
      return fail(gap, "expects a gap inside the lifetime [" + std::to_string(buffer.lower) + ", " +
                           std::to_string(buffer.upper) + "), got " + quoted(gap.text));
    buffer.gaps.push_back(interval);
  }
  std::sort(buffer.gaps.begin(), buffer.gaps.end(),
            [](const Interval &a, const Interval &b) { return a.lower < b.lower; });
  int64_t covered = buffer.lower, live = 0;
  for (const Interval &gap : buffer.gaps) {
    if (gap.lower < covered)
      return fail(cell, "expects gaps apart from each other, got " + quoted(cell.text));
    live += gap.lower - covered;
    covered = gap.upper;
  }
  if (live + (buffer.upper - covered) == 0)
    return fail(cell, "expects a moment outside the gaps, got " + quoted(cell.text));
  return true;
}

bool Reader::readRow(const Cell &line) {
  std::vector<Cell> cells = split(line, ',');
  if (cells.size() != width)
    return fail(cells.size() > width ? cells[width] : line,
                "expects " + std::to_string(width) + " cells, got " + std::to_string(cells.size()));
  auto cell = [&](Column column) { return cells[position[column]]; };
  auto given = [&](Column column) { return has(column) && !cell(column).text.empty(); };
  Buffer buffer;
  if (!number(cell(Id), "id", 0, buffer.id) || !number(cell(Lower), "lower", 0, buffer.lower) ||
      !number(cell(Upper), "upper", 0, buffer.upper) ||
      !number(cell(Size), "size", 1, buffer.sizeBytes, kMaxTotalBytes))
    return false;
  if (__builtin_add_overflow(buffer.upper, inclusive, &buffer.upper))
    return fail(cell(Upper), "expects end below 2^63 - 1, got " + quoted(cell(Upper).text));
  if (buffer.lower >= buffer.upper)
    return fail(cell(Upper), "expects upper above lower " + std::to_string(buffer.lower) +
                                 ", got " + quoted(cell(Upper).text));
  auto [known, isNew] = lineOfId.try_emplace(buffer.id, line.line);
  if (!isNew)
    return fail(cell(Id), "expects an id of its own, got " + quoted(cell(Id).text) +
                              " as in line " + std::to_string(known->second));
  if (given(Alignment) &&
      !number(cell(Alignment), "alignment", 1, buffer.alignmentBytes, kMaxTotalBytes))
    return false;
  int64_t value = 0;
  if (given(Hint)) {
    if (!number(cell(Hint), "hint", 0, value))
      return false;
    buffer.hintOffset = value;
  }
  if (given(Offset)) {
    if (!number(cell(Offset), "offset", 0, value))
      return false;
    if (value % buffer.alignmentBytes != 0)
      return fail(cell(Offset), "expects offset to be a multiple of " +
                                    std::to_string(buffer.alignmentBytes) + ", got " +
                                    quoted(cell(Offset).text));
    buffer.fixedOffset = value;
  }
  if (given(Gaps) && !readGaps(cell(Gaps), buffer))
    return false;
  if (given(Space) && !number(cell(Space), "space", 0, buffer.space))
    return false;
  for (auto [column, link] :
       {std::pair(Adjacent, &buffer.adjacentTo), {Shares, &buffer.sharesWith}}) {
    if (!given(column))
      continue;
    if (!number(cell(column), kNames[column], 0, value))
      return false;
    if (value == buffer.id)
      return fail(cell(column),
                  "expects the id of another buffer, got " + quoted(cell(column).text));
    *link = value;
  }
  result.problem.buffers.push_back(std::move(buffer));
  return true;
}

CsvResult Reader::read() {
  std::vector<Cell> lines = csv::linesOf(text);
  if (lines.empty()) {
    fail({}, "expects a header with id, lower, upper and size, got an empty file");
    return std::move(result);
  }
  bool good = readHeader(lines.front());
  for (size_t i = 1; i < lines.size() && good; ++i)
    good = readRow(lines[i]);
  if (!good)
    return std::move(result);
  if (result.problem.buffers.empty()) {
    fail({{}, int64_t(lines.size()) + 1}, "expects at least one buffer, got none");
    return std::move(result);
  }
  // The first row whose arrival the problem does not survive; checks of one row
  // alone cannot fail any more, so a bisection over the rows finds it.
  if (auto message = check(result.problem)) {
    Problem part;
    size_t good = 0, bad = result.problem.buffers.size();
    while (bad - good > 1) {
      size_t middle = good + (bad - good) / 2;
      part.buffers.assign(result.problem.buffers.begin(), result.problem.buffers.begin() + middle);
      // What leads to a row that has not come yet is no fault so far.
      for (Buffer &buffer : part.buffers)
        for (std::optional<int64_t> *link : {&buffer.adjacentTo, &buffer.sharesWith})
          if (*link && lineOfId.count(**link) && lineOfId.at(**link) > int64_t(middle) + 1)
            link->reset();
      if (auto earlier = check(part)) {
        bad = middle;
        message = earlier;
      } else {
        good = middle;
      }
    }
    fail({{}, int64_t(bad) + 1}, *message);
  }
  return std::move(result);
}

} // namespace

CsvResult readCsv(std::string_view text) { return Reader(text).read(); }

std::string writeCsv(const Problem &problem, const Plan *plan) {
  auto any = [&](auto property) {
    return std::any_of(problem.buffers.begin(), problem.buffers.end(), property);
  };
  bool alignments = any([](const Buffer &buffer) { return buffer.alignmentBytes != 1; });
  bool hints = any([](const Buffer &buffer) { return buffer.hintOffset.has_value(); });
  bool gaps = any([](const Buffer &buffer) { return !buffer.gaps.empty(); });
  bool spaces = any([](const Buffer &buffer) { return buffer.space != 0; });
  bool neighbours = any([](const Buffer &buffer) { return buffer.adjacentTo.has_value(); });
  bool shares = any([](const Buffer &buffer) { return buffer.sharesWith.has_value(); });
  bool offsets = plan || any([](const Buffer &buffer) { return buffer.fixedOffset.has_value(); });
  std::string text = "id,lower,upper,size";
  text += alignments ? ",alignment" : "";
  text += hints ? ",hint" : "";
  text += gaps ? ",gaps" : "";
  text += spaces ? ",space" : "";
  text += neighbours ? ",adjacent" : "";
  text += shares ? ",shares" : "";
  text += offsets ? ",offset" : "";
  text += "\n";
  auto cell = [&](std::optional<int64_t> value) {
    text += ",";
    if (value)
      text += std::to_string(*value);
  };
  for (size_t i = 0; i < problem.buffers.size(); ++i) {
    const Buffer &buffer = problem.buffers[i];
    text += std::to_string(buffer.id);
    cell(buffer.lower);
    cell(buffer.upper);
    cell(buffer.sizeBytes);
    if (alignments)
      cell(buffer.alignmentBytes);
    if (hints)
      cell(buffer.hintOffset);
    if (gaps) {
      text += ",";
      for (const Interval &gap : buffer.gaps)
        text += (&gap == buffer.gaps.data() ? "" : " ") + std::to_string(gap.lower) + "-" +
                std::to_string(gap.upper);
    }
    if (spaces)
      cell(buffer.space);
    if (neighbours)
      cell(buffer.adjacentTo);
    if (shares)
      cell(buffer.sharesWith);
    if (offsets)
      cell(plan ? std::optional(plan->offsets[i]) : buffer.fixedOffset);
    text += "\n";
  }
  return text;
}

} // namespace zero::planning::arena
