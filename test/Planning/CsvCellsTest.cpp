//===- CsvCellsTest.cpp - cells that know where they stand ---------------===//
#include "CsvCells.h"

#include <gtest/gtest.h>

using namespace zero::planning::csv;

namespace {

std::vector<std::string> textsOf(const std::vector<Cell> &cells) {
  std::vector<std::string> texts;
  for (const Cell &cell : cells)
    texts.emplace_back(cell.text);
  return texts;
}

using Texts = std::vector<std::string>;

TEST(CsvCells, LinesEndWhereTheTextSays) {
  EXPECT_EQ(textsOf(linesOf("")), Texts());
  EXPECT_EQ(textsOf(linesOf("\n\r\n\n")), Texts());
  EXPECT_EQ(textsOf(linesOf("a")), Texts({"a"}));
  EXPECT_EQ(textsOf(linesOf("a\n")), Texts({"a"}));
  EXPECT_EQ(textsOf(linesOf("a\r\nb\r\n\r\n\n")), Texts({"a", "b"}));
  // An empty line before another one is a line.
  EXPECT_EQ(textsOf(linesOf("\na\n\nb")), Texts({"", "a", "", "b"}));
  // A byte order mark is no part of the first line, and a second one is.
  EXPECT_EQ(textsOf(linesOf("\xef\xbb\xbf"
                            "a\nb")),
            Texts({"a", "b"}));
  EXPECT_EQ(textsOf(linesOf("\xef\xbb\xbf\n")), Texts());
  EXPECT_EQ(textsOf(linesOf("\xef\xbb\xbf\xef\xbb\xbf")), Texts({"\xef\xbb\xbf"}));
  EXPECT_EQ(textsOf(linesOf("\xef\xbb")), Texts({"\xef\xbb"}));
  // Only one \r belongs to the end, and none inside a line does.
  EXPECT_EQ(textsOf(linesOf("a\rb\r\r\nc")), Texts({"a\rb\r", "c"}));
}

TEST(CsvCells, LinesKnowTheirNumberAndHowManyAreLeft) {
  Lines lines("a\n\nb\n\n");
  Cell line;
  for (int64_t number : {1, 2, 3}) {
    EXPECT_EQ(lines.left(), 4 - number);
    ASSERT_TRUE(lines.next(line));
    EXPECT_EQ(line.line, number);
    EXPECT_EQ(line.column, 1);
  }
  EXPECT_EQ(line.text, "b");
  EXPECT_EQ(lines.left(), 0);
  EXPECT_FALSE(lines.next(line));
}

/// 80 bytes are shown of more, and a letter of two bytes as a whole or not at all.
TEST(CsvCells, QuotesEndWhereLinesWouldNot) {
  auto said = [](std::string_view text) { return zero::planning::csv::quoted(text); };
  std::string most(80, 'a');
  EXPECT_EQ(said(most), "'" + most + "'");
  EXPECT_EQ(said(most + "b"), "'" + most + "...'");
  std::string cut = most.substr(1);
  EXPECT_EQ(said(cut + "\u00e9"), "'" + cut + "...'");
  EXPECT_EQ(said(cut.substr(1) + "\u00e9b"), "'" + cut.substr(1) + "\u00e9...'");
  EXPECT_EQ(said(std::string(1000, '\x80')), "'...'");
  EXPECT_EQ(said(std::string_view("a\0b\x7f", 4)), "'a\\x00b\\x7f'");
}

TEST(CsvCells, SplittingKeepsPlaces) {
  std::vector<Cell> cells = {{"what stood there", 1, 1}};
  split({"ab,,c", 7, 3}, ',', cells);
  EXPECT_EQ(textsOf(cells), Texts({"ab", "", "c"}));
  EXPECT_EQ(cells[1].column, 6); // `ab,` takes 3, 4 and 5
  EXPECT_EQ(cells[2].column, 7);
  EXPECT_EQ(cells[2].line, 7);
  split({"", 7, 3}, ',', cells);
  EXPECT_EQ(textsOf(cells), Texts({""}));
}

} // namespace
