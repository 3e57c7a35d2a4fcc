#include "kiln/search/cost/hopeless.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace kiln {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Of two stores, the first with a tenth of the time.
std::string Why(StoreEstimate first, StoreEstimate second,
                const std::vector<double>& instructions) {
  first.seconds = 1e-6;
  second.seconds = 9e-6;
  TimeEstimate estimate;
  estimate.seconds = 1e-5;
  estimate.stores = {first, second};
  Machine machine;
  machine.vectors.count = 16;
  return WhyHopeless(estimate, instructions, machine);
}

TEST(HopelessTest, TilesOfManyTimesTheRegisters) {
  EXPECT_THAT(Why({}, {.registers = 49}, {0, 0}),
              HasSubstr("the register tile of store 2 asks for 49 vector "
                        "registers of 16"));
  EXPECT_THAT(Why({}, {.registers = 48}, {0, 0}), IsEmpty());
}

TEST(HopelessTest, LongBodies) {
  EXPECT_THAT(Why({}, {}, {0, 10001}),
              HasSubstr("store 2 has about 10001 instructions"));
  EXPECT_THAT(Why({}, {}, {0, 10000}), IsEmpty());
}

TEST(HopelessTest, StoresOfLittleTimeDoNotCount) {
  EXPECT_THAT(Why({.registers = 1000}, {}, {100000, 0}), IsEmpty());
}

TEST(HopelessTest, WhatIsFarBehindTheBest) {
  TimeEstimate estimate;
  estimate.seconds = 1e-5;
  std::string why;
  EXPECT_TRUE(IsHopeless(estimate, 1e-6, 8, &why));
  EXPECT_THAT(why, HasSubstr("over 8 times the best of 1 us"));
  EXPECT_FALSE(IsHopeless(estimate, 2e-6, 8, &why));
  EXPECT_THAT(why, IsEmpty());
  EXPECT_FALSE(IsHopeless(estimate));
}

}  // namespace
}  // namespace kiln
