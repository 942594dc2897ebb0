//===- ArenaCsv.cpp - arena problems as text -----------------------------===//
//
// A cell knows its line and column, so that every message leads to the place.
// What a single row can get wrong is found here; what takes the whole problem
// (colliding fixed offsets, sums) is asked of `check`.
//
// Files may have millions of rows: nothing is kept of one but its buffer. Tables
// from ids to lines are made where there is something to complain about, and where
// an id is no number: then the file is read again, and row i has the id i.
//
//===----------------------------------------------------------------------===//
#include "zero/Planning/ArenaCsv.h"

#include "ArenaIds.h"
#include "CsvCells.h"

#include <algorithm>
#include <array>
#include <charconv>

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

/// `0,0,1,1` and the end of its line: no row with a buffer is shorter.
constexpr size_t kLeastRow = 8;

/// An id that is no number. Numbers out of range stay faults, and so does what other readers of CSV
/// take for quotes.
bool isName(std::string_view text) {
  std::string_view digits = text.substr(text.starts_with('-') || text.starts_with('+'));
  return digits.find_first_not_of("0123456789") != std::string_view::npos &&
         text.find_first_of("\"'") == std::string_view::npos;
}

/// `01` is `1` and `-0` is `0`, as where all ids are numbers.
std::string idTextOf(std::string_view text) {
  if (isName(text))
    return std::string(text);
  if (text.find_first_not_of("-0") == std::string_view::npos)
    return "0";
  return std::string(text.substr(std::min(text.find_first_not_of('0'), text.size())));
}

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
  bool readRows();
  bool readId(const Cell &cell, int64_t &id);
  bool readLink(const Cell &cell, std::string_view what, int64_t &id);
  bool nameRows();
  bool idsDiffer();
  bool holdsTogether();
  bool number(const Cell &cell, std::string_view what, int64_t least, int64_t &value,
              int64_t most = INT64_MAX);
  bool readGaps(const Cell &cell, Buffer &buffer);
  bool has(Column column) const { return position[column] >= 0; }

  std::string_view text;
  CsvResult result;
  std::array<int64_t, ColumnCount> position;
  size_t width = 0;
  int64_t inclusive = 0;                              // 1 where the upper column is `end`
  std::vector<Cell> cells;                            // of the row that is read
  bool hasNames = false;                              // among ids or links
  std::unordered_map<std::string, int64_t> rowOfName; // where ids are texts; empty otherwise
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
  if (auto message = csv::readNumber(cell, what, least, most, value)) {
    result.error = std::move(message);
    return false;
  }
  return true;
}

bool Reader::readGaps(const Cell &cell, Buffer &buffer) {
  std::vector<Interval> gaps;
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
    gaps.push_back(interval);
  }
  std::sort(gaps.begin(), gaps.end(),
            [](const Interval &a, const Interval &b) { return a.lower < b.lower; });
  int64_t covered = buffer.lower, live = 0;
  for (const Interval &gap : gaps) {
    if (gap.lower < covered)
      return fail(cell, "expects gaps apart from each other, got " + quoted(cell.text));
    live += gap.lower - covered;
    covered = gap.upper;
  }
  if (live + (buffer.upper - covered) == 0)
    return fail(cell, "expects a moment outside the gaps, got " + quoted(cell.text));
  buffer.gaps = std::move(gaps);
  return true;
}

bool Reader::readRow(const Cell &line) {
  split(line, ',', cells);
  if (cells.size() != width)
    return fail(cells.size() > width ? cells[width] : line,
                "expects " + std::to_string(width) + " cells, got " + std::to_string(cells.size()));
  auto cell = [&](Column column) -> const Cell & { return cells[position[column]]; };
  auto given = [&](Column column) { return has(column) && !cell(column).text.empty(); };
  Buffer frame;
  if (!readId(cell(Id), frame.id) || !number(cell(Lower), "lower", 0, frame.lower) ||
      !number(cell(Upper), "upper", 0, frame.upper) ||
      !number(cell(Size), "size", 1, frame.sizeBytes, kMaxTotalBytes))
    return false;
  if (__builtin_add_overflow(frame.upper, inclusive, &frame.upper))
    return fail(cell(Upper), "expects end below 2^63 - 1, got " + quoted(cell(Upper).text));
  if (frame.lower >= frame.upper)
    return fail(cell(Upper), "expects upper above lower " + std::to_string(frame.lower) + ", got " +
                                 quoted(cell(Upper).text));
  // An id that an earlier row has is told of before anything that is wrong further on.
  Buffer &buffer = result.problem.buffers.emplace_back(std::move(frame));
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
    if (!readLink(cell(column), kNames[column], value))
      return false;
    if (value == buffer.id)
      return fail(cell(column),
                  "expects the id of another buffer, got " + quoted(cell(column).text));
    *link = value;
  }
  return true;
}

bool Reader::readId(const Cell &cell, int64_t &id) {
  if (cell.text.find_first_of("\"'") != std::string_view::npos)
    return fail(cell, "expects an id without quotes, got " + quoted(cell.text));
  if (!isName(cell.text)) {
    if (!number(cell, "id", 0, id))
      return false;
  } else if (rowOfName.empty()) {
    hasNames = true;
    return fail(cell, "expects ids that are all numbers");
  }
  if (!rowOfName.empty()) // the first row that has it: findRepeatedId does the rest
    id = rowOfName.at(idTextOf(cell.text));
  return true;
}

bool Reader::readLink(const Cell &cell, std::string_view what, int64_t &id) {
  if (rowOfName.empty()) {
    hasNames |= isName(cell.text); // whose row may be yet to come
    return number(cell, what, 0, id);
  }
  auto found = rowOfName.find(idTextOf(cell.text));
  if (found == rowOfName.end())
    return fail(cell, "expects " + std::string(what) + " to be the id of a buffer, got " +
                          quoted(cell.text));
  id = found->second;
  return true;
}

/// True where an id is no number; then all have texts.
bool Reader::nameRows() {
  csv::Lines lines(text);
  Cell line;
  lines.next(line);
  auto texts = std::make_shared<std::vector<std::string>>();
  bool any = false;
  while (lines.next(line)) {
    split(line, ',', cells);
    std::string_view id = size_t(position[Id]) < cells.size() ? cells[position[Id]].text : "";
    any |= isName(id);
    texts->push_back(idTextOf(id));
    rowOfName.try_emplace(texts->back(), int64_t(texts->size()) - 1);
  }
  if (any)
    result = {{.idTexts = std::move(texts)}, std::nullopt};
  else
    rowOfName.clear();
  return any;
}

bool Reader::readRows() {
  csv::Lines lines(text);
  Cell line;
  lines.next(line);
  result.problem.buffers.reserve(std::min(size_t(lines.left()), text.size() / kLeastRow + 1));
  while (lines.next(line))
    if (!readRow(line))
      return false;
  return true;
}

bool Reader::idsDiffer() {
  std::optional<RepeatedId> repeated = findRepeatedId(result.problem.buffers);
  if (!repeated)
    return true;
  // Buffer i stands in line i + 2.
  csv::Lines lines(text);
  Cell line;
  for (size_t i = 0; i < repeated->again + 2; ++i)
    lines.next(line);
  const Cell id = split(line, ',')[position[Id]];
  return fail(id, "expects an id of its own, got " + quoted(id.text) + " as in line " +
                      std::to_string(repeated->first + 2));
}

/// Names the first row whose arrival the problem does not survive; checks of one row alone cannot
/// fail any more, so a bisection over the rows finds it.
bool Reader::holdsTogether() {
  auto message = check(result.problem);
  if (!message)
    return true;
  std::unordered_map<int64_t, int32_t> rowOfId = indexById(result.problem.buffers);
  Problem part;
  part.idTexts = result.problem.idTexts;
  size_t good = 0, bad = result.problem.buffers.size();
  while (bad - good > 1) {
    size_t middle = good + (bad - good) / 2;
    part.buffers.assign(result.problem.buffers.begin(), result.problem.buffers.begin() + middle);
    // What leads to a row that has not come yet is no fault so far.
    for (Buffer &buffer : part.buffers)
      for (OptionalNumber *link : {&buffer.adjacentTo, &buffer.sharesWith})
        if (*link && rowOfId.count(**link) && size_t(rowOfId.at(**link)) >= middle)
          link->reset();
    if (auto earlier = check(part)) {
      bad = middle;
      message = earlier;
    } else {
      good = middle;
    }
  }
  return fail({{}, int64_t(bad) + 1}, *message);
}

CsvResult Reader::read() {
  csv::Lines lines(text);
  Cell line;
  std::vector<Buffer> &buffers = result.problem.buffers;
  if (!lines.next(line)) {
    fail({}, "expects a header with id, lower, upper and size, got an empty file");
    return std::move(result);
  }
  if (!readHeader(line))
    return std::move(result);
  bool good = readRows();
  if (!good && hasNames && nameRows())
    good = readRows();
  if (idsDiffer() && good) {
    if (buffers.empty())
      fail({{}, 2}, "expects at least one buffer, got none");
    else
      holdsTogether();
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
  auto number = [&](int64_t value) {
    char digits[24];
    text.append(digits, std::to_chars(digits, std::end(digits), value).ptr);
  };
  auto id = [&](int64_t value) {
    if (problem.idTexts)
      text += problem.idText(value);
    else
      number(value);
  };
  auto cell = [&](OptionalNumber value) {
    text += ',';
    if (value)
      number(*value);
  };
  auto link = [&](OptionalNumber value) {
    text += ',';
    if (value)
      id(*value);
  };
  for (size_t i = 0; i < problem.buffers.size(); ++i) {
    const Buffer &buffer = problem.buffers[i];
    id(buffer.id);
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
      link(buffer.adjacentTo);
    if (shares)
      link(buffer.sharesWith);
    if (offsets)
      cell(plan ? OptionalNumber(plan->offsets[i]) : buffer.fixedOffset);
    text += '\n';
  }
  return text;
}

} // namespace zero::planning::arena
