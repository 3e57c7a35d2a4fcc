#include "kiln/base/lowering_policy.h"

#include <gtest/gtest.h>

namespace kiln {
namespace {

TEST(LoweringPolicyTest, ShortLoopsThatFillRegistersAreOneOperation) {
  EXPECT_EQ(ChooseLanes(64, 4, kAvx512Registers).lanes, 64);
  EXPECT_EQ(ChooseLanes(64, 4, kAvxRegisters).lanes, 8);
  EXPECT_EQ(ChooseLanes(32, 4, kAvxRegisters).lanes, 32);
  EXPECT_EQ(ChooseLanes(16, 4, kSseRegisters).lanes, 16);
  EXPECT_EQ(ChooseLanes(16, 4, kNeonRegisters).lanes, 16);
  EXPECT_EQ(ChooseLanes(128, 4, kAvx512Registers).lanes, 16);
  EXPECT_EQ(ChooseLanes(100, 4, kAvx512Registers).lanes, 16);
}

TEST(LoweringPolicyTest, LoopsShorterThanARegisterFillPartOfIt) {
  EXPECT_EQ(ChooseLanes(3, 4, kSseRegisters).lanes, 0);
  EXPECT_EQ(ChooseLanes(4, 4, kSseRegisters).filling, 1);
  EXPECT_EQ(ChooseLanes(4, 4, kAvx512Registers).lanes, 4);
  EXPECT_EQ(ChooseLanes(4, 4, kAvx512Registers).filling, 0.25);
}

TEST(LoweringPolicyTest, TilesLeaveRegistersForOperands) {
  EXPECT_TRUE(TileFits(14 * 2, 2, kAvx512Registers));
  EXPECT_FALSE(TileFits(15 * 2, 2, kAvx512Registers));
  EXPECT_TRUE(TileFits(13 * 2, 2, kNeonRegisters));
  EXPECT_FALSE(TileFits(14 * 2, 2, kNeonRegisters));
  for (const VectorRegisters& sixteen : {kAvxRegisters, kSseRegisters}) {
    EXPECT_TRUE(TileFits(6 * 2, 2, sixteen));
    EXPECT_TRUE(TileFits(4 * 3, 3, sixteen));
    EXPECT_FALSE(TileFits(7 * 2, 2, sixteen));
  }
}

TEST(LoweringPolicyTest, RowsOfPowersOfTwoBeginInFewPlaces) {
  EXPECT_EQ(PlacesOfRows(4096, 4096), 1);
  EXPECT_EQ(PlacesOfRows(3072, 4096), 4);
  EXPECT_EQ(PlacesOfRows(3136, 4096), 64);
  EXPECT_EQ(PlacesOfRows(0, 4096), 4096);
  Machine machine;
  machine.l1_ways = 8;
  machine.levels[0].bytes = 32 << 10;
  EXPECT_EQ(NearPlacesOfRows(machine, 1024), 4);
}

}  // namespace
}  // namespace kiln
