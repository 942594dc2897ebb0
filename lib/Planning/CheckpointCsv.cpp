//===- CheckpointCsv.cpp - checkpoint problems as text ---------------------===//
//
// A cell knows its line and column, so that every message leads to the place.
//
//===----------------------------------------------------------------------===//
#include "zero/Planning/CheckpointCsv.h"

#include "CsvCells.h"

#include <algorithm>
#include <array>
#include <unordered_map>

namespace zero::planning::checkpoint {
namespace {

using csv::Cell;
using csv::quoted;
using csv::split;

enum Column { Id, Cost, Bytes, Backward, Inputs, ColumnCount };
constexpr std::array<std::string_view, ColumnCount> kNames = {"id", "cost", "bytes", "backward",
                                                              "inputs"};

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
  result.error = csv::readNumber(cell, what, 0, most, value);
  return !result.error;
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
  std::vector<Cell> lines = csv::linesOf(text);
  if (lines.empty()) {
    fail({}, "expects a header with id, cost, bytes and inputs, got an empty file");
    return std::move(result);
  }
  bool good = readHeader(lines.front());
  for (size_t i = 1; i < lines.size() && good; ++i)
    good = readRow(lines[i]);
  if (good && result.problem.nodes.empty())
    fail({{}, int64_t(lines.size()) + 1}, "expects at least one node, got none");
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
