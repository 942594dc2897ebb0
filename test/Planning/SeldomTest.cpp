//===- SeldomTest.cpp - a sequence that most have none of ----------------===//
#include "zero/Planning/Seldom.h"

#include <gtest/gtest.h>
#include <string>
#include <vector>

using namespace zero::planning;

namespace {

TEST(Seldom, ReadsAsTheSequenceItHolds) {
  Seldom<std::vector<int>> numbers;
  EXPECT_EQ(sizeof numbers, 8u);
  EXPECT_TRUE(numbers.empty());
  EXPECT_EQ(numbers.begin(), numbers.end());
  numbers.push_back(3);
  numbers.push_back(4);
  EXPECT_EQ(numbers.size(), 2u);
  EXPECT_EQ(numbers[1], 4);
  EXPECT_EQ(*numbers, (std::vector{3, 4}));
  numbers = {5, 6, 7};
  std::vector<int> copied = numbers;
  EXPECT_EQ(copied, (std::vector{5, 6, 7}));
  numbers.clear();
  EXPECT_TRUE((*numbers).empty());
}

TEST(Seldom, IsAValue) {
  Seldom<std::string> name = "one", other = name;
  EXPECT_EQ(*other, "one");
  name = std::string("two");
  EXPECT_EQ(*other, "one");
  EXPECT_NE(name.data(), other.data());
  Seldom<std::string> &itself = name;
  name = itself;
  EXPECT_EQ(*name, "two");
  other = std::move(name);
  EXPECT_EQ(*other, "two");
  EXPECT_TRUE(Seldom<std::string>("").empty());
}

} // namespace
