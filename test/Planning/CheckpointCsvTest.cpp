//===- CheckpointCsvTest.cpp - checkpoint problems as text -----------------===//
#include "zero/Planning/CheckpointCsv.h"

#include <gtest/gtest.h>

using namespace zero::planning::checkpoint;

namespace {

std::string errorOf(const std::string &text) { return readCsv(text).error.value_or(""); }

TEST(CheckpointCsv, ReadsColumnsInAnyOrder) {
  CsvResult read = readCsv("inputs,bytes,id,cost\r\n,5,7,1\r\n7,6,9,2\r\n7  9,0,8,0\r\n");
  ASSERT_TRUE(read) << *read.error;
  ASSERT_EQ(read.problem.nodes.size(), 3u);
  EXPECT_EQ(read.problem.nodes[0].id, 7);
  EXPECT_EQ(read.problem.nodes[1].inputs, (std::vector<int64_t>{0}));
  EXPECT_EQ(read.problem.nodes[2].inputs, (std::vector<int64_t>{0, 1}));
  EXPECT_EQ(read.problem.nodes[2].bytes, 0);
  Plan plan;
  plan.computations = {0, 1, 0, 2};
  EXPECT_EQ(writeCsv(read.problem, plan), "id\n7\n9\n7\n8\n");
}

TEST(CheckpointCsv, ErrorsNameLineAndColumn) {
  const std::string head = "id,cost,bytes,backward,inputs\n";
  auto begins = [](const std::string &text, const std::string &with) {
    EXPECT_EQ(text.substr(0, with.size()), with) << text;
  };
  begins(errorOf(""), "1:1: expects a header");
  begins(errorOf("\n\n"), "1:1: expects a header");
  begins(errorOf(head), "2:1: expects at least one node");
  begins(errorOf("id,cost,bytes\n"), "1:1: expects a column 'inputs'");
  begins(errorOf("id,cost,id,inputs\n"), "1:9: expects each column once");
  begins(errorOf("id,size\n"), "1:4: expects a column among");
  begins(errorOf(head + "0,1,2,0\n"), "2:1: expects 5 cells, got 4");
  begins(errorOf(head + "0,1,2,0,,9\n"), "2:10: expects 5 cells, got 6");
  begins(errorOf(head + "0,-1,2,0,\n"), "2:3: expects cost to be an integer of at least 0");
  begins(errorOf(head + "0,1,x,0,\n"), "2:5: expects bytes to be an integer");
  begins(errorOf(head + "0,1,2,2,\n"), "2:7: expects backward to be at most 1");
  begins(errorOf(head + "0,1,99999999999999999999,0,\n"),
         "2:5: expects bytes to be an integer of at least 0, got '99999999999999999999', which");
  // 2^62 is above kMaxTotal = 2^60.
  begins(errorOf(head + "0,1,4611686018427387904,0,\n"), "2:5: expects bytes to be at most");
  begins(errorOf(head + "0,1,1152921504606846976,0,\n1,1,1,0,\n"), "3:5: expects all bytes");
  begins(errorOf(head + "0,1,2,0,\n0,1,2,0,\n"), "3:1: expects an id of its own, got '0' as in");
  begins(errorOf(head + "0,1,2,0,1\n1,1,2,0,0\n"), "2:9: expects an input to be the id of a row");
  begins(errorOf(head + "0,1,2,0,0\n"), "2:9: expects an input to be the id of a row above");
  begins(errorOf(head + "0,1,2,0,\n1,1,2,0,0 0\n"), "3:9: expects each input once");
}

TEST(CheckpointCsv, QuotesAndControlCharactersAreToldOfWhereTheyStand) {
  using namespace std::string_literals;
  const std::string head = "id,cost,bytes,inputs\n";
  EXPECT_EQ(errorOf(head + "0,1,1\0,\n"s), // digits alone would be a number
            "2:5: expects bytes to be an integer of at least 0, got '1\\x00'");
  EXPECT_EQ(errorOf(head + "0,1,1,\n1,1,1,0\0\n"s),
            "3:7: expects an input to be an integer of at least 0, got '0\\x00'");
  EXPECT_EQ(errorOf("id,cost\0,bytes,inputs\n"s),
            "1:4: expects a column among id, cost, bytes, backward and inputs, got 'cost\\x00'");
  EXPECT_EQ(errorOf(head + "\"0\",1,1,\n"),
            "2:1: expects id to be an integer of at least 0, got '\"0\"'");
  EXPECT_EQ(errorOf(head + "0,1,1,\n1,1\t,1,\n"),
            "3:3: expects cost to be an integer of at least 0, got '1\\x09'");
}

} // namespace
