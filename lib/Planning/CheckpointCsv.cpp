//===- CheckpointCsv.cpp - checkpoint problems as text ---------------------===//
//
// A cell knows its line and column, so that every message leads to the place.
//
//===----------------------------------------------------------------------===//
#include "zero/Planning/CheckpointCsv.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <unordered_map>

namespace zero::planning::checkpoint {
namespace {

enum Column { Id, Cost, Bytes, Backward, Inputs, ColumnCount };
constexpr std::array<std::string_view, ColumnCount> kNames = {"id", "cost", "bytes", "backward",
                                                              "inputs"};

struct Cell {
  std::string_view text;
  int64_t line = 0, column = 0;
};

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

class Reader {
public:
  explicit Reader(std::string_view text) : text(text) {}
  CsvResult read();

private:
  bool fail(const Cell &cell, const std::string &message) {
    result.error = std::to_string(cell.line) + ":" + std::to_string(cell.column) + ": " + message;
    return false;
  }
  bool readHeader(const Cell &line);
  bool readRow(const Cell &line);
  bool readInputs(const Cell &cell, const Cell &id, Node &node);
  bool number(const Cell &cell, std::string_view what, int64_t most, int64_t &value);
  bool count(const Cell &cell, std::string_view what, int64_t value, int64_t &total);

  std::string_view text;
  CsvResult result;
  std::array<int64_t, ColumnCount> position;
  size_t width = 0;
  int64_t totalCost = 0, totalBytes = 0;
  struct Place {
    int64_t index, line;
  };
  std::unordered_map<int64_t, Place> placeOfId;
};

bool Reader::readHeader(const Cell &line) {
  position.fill(-1);
  std::vector<Cell> cells = split(line, ',');
  width = cells.size();
  for (size_t i = 0; i < cells.size(); ++i) {
    auto found = std::find(kNames.begin(), kNames.end(), cells[i].text);
    if (found == kNames.end())
      return fail(cells[i], "expects a column among id, cost, bytes, backward and inputs, got " +
                                quoted(cells[i].text));
    int64_t &place = position[found - kNames.begin()];
    if (place >= 0)
      return fail(cells[i], "expects each column once, got a second " + quoted(*found));
    place = int64_t(i);
  }
  for (Column column : {Id, Cost, Bytes, Inputs})
    if (position[column] < 0)
      return fail(line,
                  "expects a column " + quoted(kNames[column]) + ", got " + quoted(line.text));
  return true;
}

bool Reader::number(const Cell &cell, std::string_view what, int64_t most, int64_t &value) {
  const char *begin = cell.text.data(), *end = begin + cell.text.size();
  auto [stop, error] = std::from_chars(begin, end, value);
  std::string expected =
      "expects " + std::string(what) + " to be an integer of at least 0, got " + quoted(cell.text);
  if (error == std::errc::result_out_of_range)
    return fail(cell, expected + ", which does not fit in 63 bits");
  if (error != std::errc() || stop != end || value < 0)
    return fail(cell, expected);
  if (value > most)
    return fail(cell, "expects " + std::string(what) + " to be at most " + std::to_string(most) +
                          ", got " + quoted(cell.text));
  return true;
}

bool Reader::count(const Cell &cell, std::string_view what, int64_t value, int64_t &total) {
  total += value; // both at most kMaxTotal
  return total <= kMaxTotal ||
         fail(cell, "expects all " + std::string(what) + " up to here to be at most " +
                        std::to_string(kMaxTotal) + " together, got " + std::to_string(total));
}

bool Reader::readInputs(const Cell &cell, const Cell &id, Node &node) {
  for (const Cell &input : split(cell, ' ')) {
    if (input.text.empty())
      continue;
    int64_t value = 0;
    if (!number(input, "an input", INT64_MAX, value))
      return false;
    auto found = placeOfId.find(value);
    if (found == placeOfId.end() || found->second.index == int64_t(result.problem.nodes.size()))
      return fail(input, "expects an input to be the id of a row above, got " + quoted(input.text) +
                             " for id " + quoted(id.text));
    node.inputs.push_back(found->second.index);
  }
  std::sort(node.inputs.begin(), node.inputs.end());
  if (std::adjacent_find(node.inputs.begin(), node.inputs.end()) != node.inputs.end())
    return fail(cell, "expects each input once, got " + quoted(cell.text));
  return true;
}

bool Reader::readRow(const Cell &line) {
  std::vector<Cell> cells = split(line, ',');
  if (cells.size() != width)
    return fail(cells.size() > width ? cells[width] : line,
                "expects " + std::to_string(width) + " cells, got " + std::to_string(cells.size()));
  auto cell = [&](Column column) { return cells[position[column]]; };
  Node node;
  if (!number(cell(Id), "id", INT64_MAX, node.id))
    return false;
  auto [known, isNew] =
      placeOfId.try_emplace(node.id, Place{int64_t(result.problem.nodes.size()), line.line});
  if (!isNew)
    return fail(cell(Id), "expects an id of its own, got " + quoted(cell(Id).text) +
                              " as in line " + std::to_string(known->second.line));
  int64_t backward = 0;
  if (!number(cell(Cost), "cost", kMaxTotal, node.cost) ||
      !number(cell(Bytes), "bytes", kMaxTotal, node.bytes) ||
      !count(cell(Cost), "costs", node.cost, totalCost) ||
      !count(cell(Bytes), "bytes", node.bytes, totalBytes) ||
      (position[Backward] >= 0 && !number(cell(Backward), "backward", 1, backward)) ||
      !readInputs(cell(Inputs), cell(Id), node))
    return false;
  node.backward = backward != 0;
  result.problem.nodes.push_back(std::move(node));
  return true;
}

CsvResult Reader::read() {
  std::vector<Cell> lines;
  for (Cell line : split({text, 1, 1}, '\n')) {
    line.line = int64_t(lines.size()) + 1;
    line.column = 1;
    if (!line.text.empty() && line.text.back() == '\r')
      line.text.remove_suffix(1);
    lines.push_back(line);
  }
  while (!lines.empty() && lines.back().text.empty())
    lines.pop_back();
  if (lines.empty()) {
    fail({{}, 1, 1}, "expects a header with id, cost, bytes and inputs, got an empty file");
    return std::move(result);
  }
  bool good = readHeader(lines.front());
  for (size_t i = 1; i < lines.size() && good; ++i)
    good = readRow(lines[i]);
  if (good && result.problem.nodes.empty())
    fail({{}, int64_t(lines.size()) + 1, 1}, "expects at least one node, got none");
  return std::move(result);
}

} // namespace

CsvResult readCsv(std::string_view text) { return Reader(text).read(); }

std::string writeCsv(const Problem &problem, const Plan &plan) {
  std::string text = "id\n";
  for (int64_t node : plan.computations)
    text += std::to_string(problem.nodes[node].id) + "\n";
  return text;
}

} // namespace zero::planning::checkpoint
