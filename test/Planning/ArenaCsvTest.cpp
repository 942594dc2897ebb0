//===- ArenaCsvTest.cpp - arena problems as text -------------------------===//
#include "zero/Planning/ArenaCsv.h"

#include <gtest/gtest.h>

using namespace zero::planning::arena;

namespace {

TEST(ArenaCsv, ReadsColumnsInAnyOrder) {
  CsvResult read = readCsv("size,upper,id,lower\n96,5,3,1\n24,9,4,0");
  ASSERT_EQ(read.error, std::nullopt);
  ASSERT_EQ(read.problem.buffers.size(), 2u);
  const Buffer &first = read.problem.buffers[0];
  EXPECT_EQ(first.id, 3);
  EXPECT_EQ(first.lower, 1);
  EXPECT_EQ(first.upper, 5);
  EXPECT_EQ(first.sizeBytes, 96);
  EXPECT_EQ(first.alignmentBytes, 1);
  EXPECT_EQ(first.fixedOffset, std::nullopt);
}

TEST(ArenaCsv, ReadsOptionalColumnsAndInclusiveEnds) {
  // `end` is inclusive: [1, 8] is [1, 9), and the gap 2-3 is [2, 4).
  CsvResult read = readCsv("buffer,start,end,size,alignment,hint,offset,gaps\r\n"
                           "0,1,8,10,4,8,12,2-3 6-6\r\n"
                           "1,1,8,10,,,,\r\n");
  ASSERT_EQ(read.error, std::nullopt);
  const Buffer &first = read.problem.buffers[0];
  EXPECT_EQ(first.upper, 9);
  EXPECT_EQ(first.alignmentBytes, 4);
  EXPECT_EQ(first.hintOffset, 8);
  EXPECT_EQ(first.fixedOffset, 12);
  ASSERT_EQ(first.gaps.size(), 2u);
  EXPECT_EQ(first.gaps[0].lower, 2);
  EXPECT_EQ(first.gaps[0].upper, 4);
  EXPECT_EQ(first.gaps[1].upper, 7);
  EXPECT_EQ(read.problem.buffers[1].fixedOffset, std::nullopt);
}

TEST(ArenaCsv, WritesWhatItReads) {
  std::string text = "id,lower,upper,size,alignment,hint,gaps,offset\n"
                     "0,0,9,10,4,8,2-4 6-7,12\n"
                     "1,0,9,10,1,,,\n";
  EXPECT_EQ(writeCsv(readCsv(text).problem), text);
  // A plan fills the column of offsets, and adds it where there was none.
  Problem problem = readCsv("id,lower,upper,size\n5,0,2,3\n6,0,2,4\n").problem;
  Plan offsets = plan(problem); // both live as long: the first one below
  EXPECT_EQ(writeCsv(problem, &offsets), "id,lower,upper,size,offset\n5,0,2,3,0\n6,0,2,4,3\n");
}

TEST(ArenaCsv, GroupsAndSpacesAreColumns) {
  std::string text = "id,lower,upper,size,space,adjacent,shares\n"
                     "0,0,4,10,1,,\n"
                     "1,0,4,6,1,0,\n"
                     "2,5,6,4,1,,3\n"
                     "3,4,6,8,1,,\n"
                     "4,0,9,5,0,,\n";
  CsvResult read = readCsv(text);
  ASSERT_EQ(read.error, std::nullopt);
  EXPECT_EQ(read.problem.buffers[1].adjacentTo, 0);
  EXPECT_EQ(read.problem.buffers[2].sharesWith, 3);
  EXPECT_EQ(read.problem.buffers[0].space, 1);
  EXPECT_EQ(writeCsv(read.problem), text);
  // Buffer 1 lies behind 0; 2 lies on 3, which lives behind both; 4 lies in an arena of its own.
  Plan made = plan(read.problem);
  EXPECT_EQ(verify(read.problem, made), std::nullopt);
  EXPECT_EQ(made.offsets, (std::vector<int64_t>{0, 10, 0, 0, 0}));
}

TEST(ArenaCsv, LinksThatLeadNowhereAreFoundInTheirRow) {
  // Row 3 leads to a row that comes later, which is no fault; row 4 to none.
  CsvResult read =
      readCsv("id,lower,upper,size,shares\n0,0,4,10,\n1,0,4,6,3\n2,0,4,6,9\n3,5,6,1,\n");
  ASSERT_TRUE(read.error);
  EXPECT_EQ(read.error->substr(0, 5), "4:1: ");
  EXPECT_NE(read.error->find("9"), std::string::npos);
  // Buffers 0 and 1 are each behind the other.
  read = readCsv("id,lower,upper,size,adjacent\n0,0,4,10,1\n1,0,4,6,0\n2,0,4,6,\n");
  ASSERT_TRUE(read.error);
  EXPECT_EQ(read.error->substr(0, 5), "3:1: ");
}

TEST(ArenaCsv, IdsMayBeTexts) {
  // As in the example of google/minimalloc; links lead on and back.
  std::string text = "id,lower,upper,size,adjacent,shares\n"
                     "b1,0,3,4,,\n"
                     "b2,3,9,4,,b 5/x\n"
                     "7,0,9,4,b1,\n"
                     "b 5/x,9,12,4,,\n";
  CsvResult read = readCsv(text);
  ASSERT_EQ(read.error, std::nullopt);
  EXPECT_EQ(read.problem.buffers[1].sharesWith, 3);
  EXPECT_EQ(read.problem.buffers[2].adjacentTo, 0);
  EXPECT_EQ(read.problem.idText(3), "b 5/x");
  EXPECT_EQ(writeCsv(read.problem), text);
  Plan made = plan(read.problem);
  EXPECT_EQ(verify(read.problem, made), std::nullopt);
  made.offsets[2] = 3;
  EXPECT_EQ(verify(read.problem, made),
            "buffer 7: expects an offset behind buffer b1 in its group, got 3");
  // A text in a link before the first one among ids.
  read = readCsv("id,lower,upper,size,shares\n1,0,4,10,b\nb,5,6,6,\n");
  ASSERT_EQ(read.error, std::nullopt);
  EXPECT_EQ(read.problem.buffers[0].sharesWith, 1);
  // Numbers alone are kept as numbers.
  EXPECT_FALSE(readCsv("id,lower,upper,size\n01,0,1,1\n").problem.idTexts);
}

TEST(ArenaCsv, FaultsAmongTextsNameThem) {
  auto error = [](const std::string &text) { return readCsv(text).error.value_or("accepted"); };
  const std::string head = "id,lower,upper,size\n";
  EXPECT_EQ(error(head + "b1,0,1,1\nb2,0,1,1\nb1,0,1,1\n"),
            "4:1: expects an id of its own, got 'b1' as in line 2");
  EXPECT_EQ(error(head + "1,0,1,1\nb2,0,1,1\n01,0,1,1\n"), // as among numbers
            "4:1: expects an id of its own, got '01' as in line 2");
  EXPECT_EQ(error(head + "-0,0,1,1\nb2,0,1,1\n0,0,1,1\n"),
            "4:1: expects an id of its own, got '0' as in line 2");
  EXPECT_EQ(error("id,lower,upper,size,shares\nb2,0,1,1,\n5,0,1,1,\n6,0,1,1,-5\n"),
            "4:9: expects shares to be the id of a buffer, got '-5'");
  EXPECT_EQ(error(head + "1,0,1,1\n01,0,1,1\n"),
            "3:1: expects an id of its own, got '01' as in line 2");
  EXPECT_EQ(error(head + "b1,0,1,1\n,0,1,1\n"),
            "3:1: expects id to be an integer of at least 0, got ''");
  EXPECT_EQ(error(head + "b1,0,1,1\n-3,0,1,1\n"),
            "3:1: expects id to be an integer of at least 0, got '-3'");
  EXPECT_EQ(error(head + "\"b1\",0,1,1\n"), "2:1: expects an id without quotes, got '\"b1\"'");
  EXPECT_EQ(error(head + "b1,0,1,1\nb2,1,1,1\n"), "3:6: expects upper above lower 1, got '1'");
  EXPECT_EQ(error("id,lower,upper,size,shares\nb1,0,1,1,b2\n"),
            "2:10: expects shares to be the id of a buffer, got 'b2'");
  EXPECT_EQ(error("id,lower,upper,size,shares\nb1,0,1,1,b1\n"),
            "2:10: expects the id of another buffer, got 'b1'");
  EXPECT_EQ(error("id,lower,upper,size,offset\nb1,0,9,8,8\nb2,5,6,8,4\n"),
            "3:1: buffer b1 at [8, 16) and buffer b2 at [4, 12) overlap at time 5");
  EXPECT_EQ(error("id,lower,upper,size,adjacent\nb1,0,4,1,b2\nb2,0,4,1,b1\n"),
            "3:1: buffer b1: expects a group with a first member, got a circle");
}

TEST(ArenaCsv, EveryMalformedFileGivesLineAndColumn) {
  struct Case {
    const char *text, *error;
  };
  Case cases[] = {
      {"", "1:1: expects a header with id, lower, upper and size, got an empty file"},
      {"\n\n", "1:1: expects a header with id, lower, upper and size, got an empty file"},
      {"id,lower,upper,size\n", "2:1: expects at least one buffer, got none"},
      {"id,lower,upper\n0,1,2\n", "1:1: expects a column 'size', got 'id,lower,upper'"},
      {"id,lower,upper,size,size\n", "1:21: expects each column once, got a second 'size'"},
      {"id,lower,start,upper,size\n", "1:10: expects each column once, got a second 'lower'"},
      {"id,lower,upper,size,color\n",
       "1:21: expects a column among id, lower, upper, size, alignment, hint, offset, gaps, space, "
       "adjacent and shares, got 'color'"},
      {"id,lower,upper,size\n0,1,2\n", "2:1: expects 4 cells, got 3"},
      {"id,lower,upper,size\n0,1,2,3,4\n", "2:9: expects 4 cells, got 5"},
      {"id,lower,upper,size\n0,1,2,3\n\n1,1,2,3\n", "3:1: expects 4 cells, got 1"},
      {"id,lower,upper,size\n0,1,2,x\n",
       "2:7: expects size to be an integer of at least 1, got 'x'"},
      {"id,lower,upper,size\n0,1,2,3 \n",
       "2:7: expects size to be an integer of at least 1, got '3 '"},
      {"id,lower,upper,size\n0,1.5,2,3\n",
       "2:3: expects lower to be an integer of at least 0, got '1.5'"},
      {"id,lower,upper,size\n,1,2,3\n", "2:1: expects id to be an integer of at least 0, got ''"},
      {"id,lower,upper,size\n0,-1,2,3\n",
       "2:3: expects lower to be an integer of at least 0, got '-1'"},
      {"id,lower,upper,size\n0,1,2,-3\n",
       "2:7: expects size to be an integer of at least 1, got '-3'"},
      {"id,lower,upper,size\n0,1,2,0\n",
       "2:7: expects size to be an integer of at least 1, got '0'"},
      {"id,lower,upper,size\n0,1,2,4611686018427387904\n",
       "2:7: expects size to be at most 1152921504606846976, got '4611686018427387904'"},
      {"id,lower,upper,size\n0,1,2,9223372036854775808\n",
       "2:7: expects size to be an integer of at least 1, got '9223372036854775808', which does "
       "not fit in 63 bits"},
      {"id,lower,upper,size\n0,2,2,3\n", "2:5: expects upper above lower 2, got '2'"},
      {"id,lower,end,size\n0,2,1,3\n", "2:5: expects upper above lower 2, got '1'"},
      {"id,lower,end,size\n0,2,9223372036854775807,3\n",
       "2:5: expects end below 2^63 - 1, got '9223372036854775807'"},
      {"id,lower,upper,size\n4,1,2,3\n4,2,3,3\n",
       "3:1: expects an id of its own, got '4' as in line 2"},
      // Among ids in no order, and before what is wrong further on, in its own row and below.
      {"id,lower,upper,size\n9,1,2,3\n4,1,2,3\n7,1,2,3\n4,2,3,3\n9,1,2,3\n",
       "5:1: expects an id of its own, got '4' as in line 3"},
      {"id,lower,upper,size,alignment\n4,1,2,3,1\n4,2,3,3,0\n",
       "3:1: expects an id of its own, got '4' as in line 2"},
      {"id,lower,upper,size\n4,1,2,3\n4,2,3,3\n5,1,2,x\n",
       "3:1: expects an id of its own, got '4' as in line 2"},
      {"id,lower,upper,size\n4,1,2,3\n5,1,2,x\n4,2,3,3\n",
       "3:7: expects size to be an integer of at least 1, got 'x'"},
      {"id,lower,upper,size,alignment\n0,1,2,3,0\n",
       "2:9: expects alignment to be an integer of at least 1, got '0'"},
      {"id,lower,upper,size,offset\n0,1,2,3,-4\n",
       "2:9: expects offset to be an integer of at least 0, got '-4'"},
      {"id,lower,upper,size,alignment,offset\n0,1,2,3,8,4\n",
       "2:11: expects offset to be a multiple of 8, got '4'"},
      {"id,lower,upper,size,hint\n0,1,2,3,h\n",
       "2:9: expects hint to be an integer of at least 0, got 'h'"},
      {"id,lower,upper,size,gaps\n0,1,9,3,2\n",
       "2:9: expects a gap as two times with a dash, got '2'"},
      {"id,lower,upper,size,gaps\n0,1,9,3,2-3 4-x\n",
       "2:15: expects the end of a gap to be an integer of at least 0, got 'x'"},
      {"id,lower,upper,size,gaps\n0,1,9,3,2-3@0:1\n",
       "2:9: expects a gap that frees the whole buffer, got the window in '2-3@0:1'"},
      {"id,lower,upper,size,gaps\n0,1,9,3,5-10\n",
       "2:9: expects a gap inside the lifetime [1, 9), got '5-10'"},
      {"id,lower,upper,size,gaps\n0,1,9,3,2-5 4-6\n",
       "2:9: expects gaps apart from each other, got '2-5 4-6'"},
      {"id,lower,upper,size,gaps\n0,1,9,3,1-4 4-9\n",
       "2:9: expects a moment outside the gaps, got '1-4 4-9'"},
      {"id,lower,upper,size,space\n0,1,2,3,-1\n",
       "2:9: expects space to be an integer of at least 0, got '-1'"},
      {"id,lower,upper,size,adjacent\n0,1,2,3,x\n",
       "2:9: expects adjacent to be an integer of at least 0, got 'x'"},
      {"id,lower,upper,size,shares\n7,1,2,3,7\n", "2:9: expects the id of another buffer, got '7'"},
      // Right one by one and wrong together: the row that makes it so is named.
      {"id,lower,upper,size,offset\n0,0,9,8,0\n1,0,9,8,8\n2,5,6,8,4\n3,0,9,8,40\n",
       "4:1: buffer 1 at [8, 16) and buffer 2 at [4, 12) overlap at time 5"},
      {"id,lower,upper,size\n0,0,1,1000000000000000000\n1,0,1,9\n2,0,1,1000000000000000000\n",
       "4:1: buffer 2: expects all buffers to take at most 1152921504606846976 bytes side by side, "
       "and this one with 1000000000000000000 bytes goes beyond"},
  };
  for (const Case &bad : cases)
    EXPECT_EQ(readCsv(bad.text).error.value_or("accepted"), bad.error) << bad.text;
}

TEST(ArenaCsv, QuotesAndControlCharactersAreToldOfWhereTheyStand) {
  using namespace std::string_literals;
  auto error = [](const std::string &text) { return readCsv(text).error.value_or(""); };
  const std::string head = "id,lower,upper,size\n";
  EXPECT_EQ(error(head + "0,0,2,64\0\n"s),
            "2:7: expects size to be an integer of at least 1, got '64\\x00'");
  EXPECT_EQ(error(head + "0,0,2,64\n1,\"0\",2,64\n"),
            "3:3: expects lower to be an integer of at least 0, got '\"0\"'");
}

} // namespace
