//===- CsvCells.cpp - cells that know where they stand ---------------------===//
#include "CsvCells.h"

#include <charconv>

namespace zero::planning::csv {

std::string at(const Cell &cell, const std::string &message) {
  return std::to_string(cell.line) + ":" + std::to_string(cell.column) + ": " + message;
}

std::string quoted(std::string_view text) { return "'" + std::string(text) + "'"; }

std::vector<Cell> split(const Cell &whole, char separator) {
  std::vector<Cell> cells;
  size_t from = 0;
  for (size_t to = 0; to != std::string_view::npos; from = to + 1) {
    to = whole.text.find(separator, from);
    size_t length = to == std::string_view::npos ? to : to - from;
    cells.push_back({whole.text.substr(from, length), whole.line, whole.column + int64_t(from)});
  }
  return cells;
}

std::vector<Cell> linesOf(std::string_view text) {
  std::vector<Cell> lines = split({text}, '\n');
  for (size_t i = 0; i < lines.size(); ++i) {
    Cell &line = lines[i];
    line.line = int64_t(i) + 1;
    line.column = 1;
    if (!line.text.empty() && line.text.back() == '\r')
      line.text.remove_suffix(1);
  }
  while (!lines.empty() && lines.back().text.empty())
    lines.pop_back();
  return lines;
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
