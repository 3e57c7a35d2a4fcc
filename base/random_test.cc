#include "kiln/base/random.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <set>
#include <vector>

namespace kiln {
namespace {

using ::testing::ElementsAre;

TEST(RandomTest, PhiloxGivesTheKnownAnswersOfItsAuthors) {
  constexpr uint32_t kOnes = 0xffffffff;
  EXPECT_THAT(Philox4x32({0, 0, 0, 0}, {0, 0}),
              ElementsAre(0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8));
  EXPECT_THAT(Philox4x32({kOnes, kOnes, kOnes, kOnes}, {kOnes, kOnes}),
              ElementsAre(0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd));
  EXPECT_THAT(Philox4x32({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
                         {0xa4093822, 0x299f31d0}),
              ElementsAre(0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1));
}

TEST(RandomTest, AWalkIsItsIndices) {
  Random random(7, 3);
  for (uint64_t i = 0; i < 5; ++i) EXPECT_EQ(random(), RandomBits(7, 3, i));
  EXPECT_EQ(random.index(), 5u);
}

TEST(RandomTest, SeedStreamAndIndexAllCount) {
  constexpr uint64_t kHigh = uint64_t{1} << 40;
  std::set<uint64_t> seen = {
      RandomBits(0, 0, 0),     RandomBits(1, 0, 0),     RandomBits(0, 1, 0),
      RandomBits(0, 0, 1),     RandomBits(kHigh, 0, 0), RandomBits(0, kHigh, 0),
      RandomBits(0, 0, kHigh),
  };
  EXPECT_EQ(seen.size(), 7u);
}

TEST(RandomTest, BelowIsEven) {
  Random random(42);
  constexpr int kDraws = 70'000;
  std::array<int, 7> counts = {};
  for (int i = 0; i < kDraws; ++i) ++counts[random.Below(7)];
  double chi_square = 0;
  for (int count : counts) {
    double excess = count - kDraws / 7.0;
    chi_square += excess * excess / (kDraws / 7.0);
  }
  EXPECT_LT(chi_square, 22.5);  // 6 degrees of freedom, p = 0.001
}

TEST(RandomTest, BelowHoldsAtTheEnds) {
  Random random(1);
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(random.Below(1), 0u);
    uint64_t bound = (uint64_t{1} << 63) + 1;
    EXPECT_LT(random.Below(bound), bound);
  }
}

TEST(RandomTest, BetweenReachesBothEnds) {
  Random random(5);
  std::set<int64_t> seen;
  for (int i = 0; i < 200; ++i) seen.insert(random.Between(-2, 2));
  EXPECT_THAT(seen, ElementsAre(-2, -1, 0, 1, 2));
  constexpr int64_t kLow = std::numeric_limits<int64_t>::min();
  constexpr int64_t kTop = std::numeric_limits<int64_t>::max();
  EXPECT_EQ(random.Between(kTop, kTop), kTop);
  EXPECT_NE(random.Between(kLow, kTop), random.Between(kLow, kTop));
}

TEST(RandomTest, UnitIsBelowOneAndCentred) {
  Random random(9);
  double sum = 0;
  for (int i = 0; i < 10'000; ++i) {
    double value = random.Unit();
    ASSERT_GE(value, 0.0);
    ASSERT_LT(value, 1.0);
    sum += value;
  }
  EXPECT_NEAR(sum / 10'000, 0.5, 0.02);
}

TEST(RandomTest, ServesStandardAlgorithms) {
  std::vector<int> values = {1, 2, 3, 4, 5};
  Random random(3);
  std::shuffle(values.begin(), values.end(), random);
  EXPECT_THAT(values, ::testing::UnorderedElementsAre(1, 2, 3, 4, 5));
}

TEST(RandomDeathTest, AnEmptyRangeIsABug) {
  Random random(0);
  EXPECT_DEATH(random.Below(0), "check failed");
  EXPECT_DEATH(random.Between(1, 0), "check failed");
}

}  // namespace
}  // namespace kiln
