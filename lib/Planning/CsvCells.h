//===- CsvCells.h - cells that know where they stand -----------------------===//
//
// What the readers of CSV files share: lines, cells, numbers, and messages that
// lead to the place.
//
//===----------------------------------------------------------------------===//
#ifndef ZERO_LIB_PLANNING_CSVCELLS_H
#define ZERO_LIB_PLANNING_CSVCELLS_H

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace zero::planning::csv {

/// Part of a text, and where it begins: both counted from 1, columns in bytes.
struct Cell {
  std::string_view text;
  int64_t line = 1, column = 1;
};

/// `line:column: message`.
std::string at(const Cell &cell, const std::string &message);

/// 'text', with `\xNN` for what would not be seen; of more than 80 bytes the begin and `...`.
std::string quoted(std::string_view text);

/// The parts of `whole` between separators: one more than there are separators.
std::vector<Cell> split(const Cell &whole, char separator);
/// The same into `cells`, which keeps its memory: for files of a million rows.
void split(const Cell &whole, char separator, std::vector<Cell> &cells);

/// The lines of a text one by one, without their ends, `\n` or `\r\n`; empty lines at the end of
/// the text are none, and a byte order mark before it is no part of it.
class Lines {
public:
  explicit Lines(std::string_view text);
  /// False behind the last one.
  bool next(Cell &line);
  /// How many there are still.
  int64_t left() const;

private:
  std::string_view rest;
  bool more;
  int64_t count = 0;
};

/// All of them.
std::vector<Cell> linesOf(std::string_view text);

/// Puts the decimal integer of `cell` into `value`; otherwise says what is wrong, with its place.
/// `what` names the number in the message; `least` is at least 0.
std::optional<std::string> readNumber(const Cell &cell, std::string_view what, int64_t least,
                                      int64_t most, int64_t &value);

} // namespace zero::planning::csv

#endif // ZERO_LIB_PLANNING_CSVCELLS_H
