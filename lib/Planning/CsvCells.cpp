//===- CsvCells.cpp - cells that know where they stand ---------------------===//
#include "CsvCells.h"

#include <algorithm>
#include <charconv>

namespace zero::planning::csv {
namespace {

/// Spreadsheets begin a text in UTF-8 with it.
constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
/// A line of a file that is no CSV may be all of it.
constexpr size_t kMostQuoted = 80;

} // namespace

std::string at(const Cell &cell, const std::string &message) {
  return std::to_string(cell.line) + ":" + std::to_string(cell.column) + ": " + message;
}

std::string quoted(std::string_view text) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string quoted = "'", end = "'";
  if (text.size() > kMostQuoted) {
    size_t length = kMostQuoted; // whole characters: not before a byte that goes on with one
    while (length > 0 && (static_cast<unsigned char>(text[length]) & 0xc0) == 0x80)
      --length;
    text = text.substr(0, length);
    end = "...'";
  }
  for (char c : text)
    if (auto byte = static_cast<unsigned char>(c); byte < 0x20 || byte == 0x7f)
      quoted.append("\\x").append({kDigits[byte / 16], kDigits[byte % 16]});
    else
      quoted += c;
  return quoted + end;
}

void split(const Cell &whole, char separator, std::vector<Cell> &cells) {
  cells.clear();
  size_t from = 0;
  for (size_t to = 0; to != std::string_view::npos; from = to + 1) {
    to = whole.text.find(separator, from);
    size_t length = to == std::string_view::npos ? to : to - from;
    cells.push_back({whole.text.substr(from, length), whole.line, whole.column + int64_t(from)});
  }
}

std::vector<Cell> split(const Cell &whole, char separator) {
  std::vector<Cell> cells;
  split(whole, separator, cells);
  return cells;
}

Lines::Lines(std::string_view text) : rest(text) {
  if (rest.substr(0, kByteOrderMark.size()) == kByteOrderMark)
    rest.remove_prefix(kByteOrderMark.size());
  for (more = true; more;) {
    size_t end = rest.rfind('\n');
    std::string_view last = end == std::string_view::npos ? rest : rest.substr(end + 1);
    if (!last.empty() && last != "\r")
      break;
    more = end != std::string_view::npos;
    rest = rest.substr(0, more ? end : 0);
  }
}

bool Lines::next(Cell &line) {
  if (!more)
    return false;
  size_t end = rest.find('\n');
  line = {rest.substr(0, end), ++count, 1};
  more = end != std::string_view::npos;
  rest = more ? rest.substr(end + 1) : std::string_view();
  if (!line.text.empty() && line.text.back() == '\r')
    line.text.remove_suffix(1);
  return true;
}

int64_t Lines::left() const { return more ? std::count(rest.begin(), rest.end(), '\n') + 1 : 0; }

std::vector<Cell> linesOf(std::string_view text) {
  std::vector<Cell> result;
  Lines lines(text);
  for (Cell line; lines.next(line);)
    result.push_back(line);
  return result;
}

std::optional<std::string> readNumber(const Cell &cell, std::string_view what, int64_t least,
                                      int64_t most, int64_t &value) {
  const char *begin = cell.text.data(), *end = begin + cell.text.size();
  auto [stop, error] = std::from_chars(begin, end, value);
  if (error == std::errc() && stop == end && least <= value && value <= most)
    return std::nullopt;
  std::string expected = "expects " + std::string(what) + " to be ";
  if (error == std::errc() && stop == end && value > most)
    return at(cell, expected + "at most " + std::to_string(most) + ", got " + quoted(cell.text));
  expected += "an integer of at least " + std::to_string(least) + ", got " + quoted(cell.text);
  if (error == std::errc::result_out_of_range)
    expected += ", which does not fit in 63 bits";
  return at(cell, expected);
}

} // namespace zero::planning::csv
