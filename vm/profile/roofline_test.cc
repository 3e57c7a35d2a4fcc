#include "kiln/vm/profile/roofline.h"

#include <gtest/gtest.h>

#include <string>

namespace kiln {
namespace {

// Two cores with 1 KB of L1 and 4 KB of L2 each, and 16 KB of L3.
Machine Small() {
  Machine machine;
  machine.cores = 2;
  machine.levels = {{{1000, 100, 50, 200, 100},
                     {4000, 40, 20, 80, 40},
                     {16000, 20, 10, 30, 15},
                     {0, 10, 5, 10, 5}}};
  return machine;
}

std::string By(const CallWork& work, int threads) {
  return RooflineOf(work, threads, Small(), 100).by();
}

TEST(RooflineTest, DataComeFromTheNearestLevelThatHoldsThem) {
  EXPECT_EQ(By({0, 1000, 0}, 1), "L1");
  EXPECT_EQ(By({0, 600, 401}, 1), "L2");
  EXPECT_EQ(By({0, 4001, 0}, 1), "L3");
  EXPECT_EQ(By({0, 16000, 1}, 1), "memory");
}

TEST(RooflineTest, TheFirstLevelsAreOfEachCore) {
  EXPECT_EQ(By({0, 2000, 0}, 2), "L1");
  EXPECT_EQ(By({0, 8000, 0}, 2), "L2");
  EXPECT_EQ(By({0, 16001, 0}, 2), "memory");
  // Threads of which nothing is known are one.
  EXPECT_EQ(By({0, 2000, 0}, 0), "L2");
}

TEST(RooflineTest, WritingHasARateOfItsOwn) {
  EXPECT_DOUBLE_EQ(RooflineOf({0, 500, 250}, 1, Small(), 100).seconds, 10e-9);
  EXPECT_DOUBLE_EQ(RooflineOf({0, 500, 250}, 2, Small(), 100).seconds, 5e-9);
}

TEST(RooflineTest, ArithmeticMayTakeLonger) {
  const Roofline roofline = RooflineOf({1e6, 500, 0}, 1, Small(), 100);
  EXPECT_DOUBLE_EQ(roofline.seconds, 1e-5);
  EXPECT_STREQ(roofline.by(), "FMA");
  EXPECT_EQ(RooflineOf({}, 1, Small(), 100).seconds, 0);
}

}  // namespace
}  // namespace kiln
