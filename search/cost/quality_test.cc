#include "kiln/search/cost/quality.h"

#include <vector>

#include "gtest/gtest.h"

namespace kiln {
namespace {

using V = std::vector<double>;

TEST(RankCorrelationTest, IsOneForTheRightOrderAndMinusOneForTheReverse) {
  EXPECT_DOUBLE_EQ(RankCorrelation(V{9, 5, 1}, V{1, 2, 30}), 1);
  EXPECT_DOUBLE_EQ(RankCorrelation(V{1, 5, 9}, V{1, 2, 30}), -1);
}

TEST(RankCorrelationTest, LooksAtOrderOnly) {
  EXPECT_DOUBLE_EQ(RankCorrelation(V{100, 1, 0.1}, V{1, 2, 3}),
                   RankCorrelation(V{3, 2, 1}, V{1, 2, 3}));
}

TEST(RankCorrelationTest, AgreesWithSpearmansFormulaWithoutTies) {
  // Ranks of scores 3 0 2 1, of speeds 2 0 3 1: the sum of squared
  // differences is 2, and 1 - 6 * 2 / (4 * 15) = 0.8.
  EXPECT_NEAR(RankCorrelation(V{3, 0, 2, 1}, V{1, 4, 0.5, 3}), 0.8, 1e-12);
}

TEST(RankCorrelationTest, SharesMeanRanksAmongTies) {
  // Ranks of scores 0.5 0.5 2 against 0 1 2.
  EXPECT_NEAR(RankCorrelation(V{1, 1, 2}, V{3, 2, 1}), 0.8660254, 1e-6);
}

TEST(RankCorrelationTest, IsZeroWhereThereIsNothingToRank) {
  EXPECT_EQ(RankCorrelation(V{}, V{}), 0);
  EXPECT_EQ(RankCorrelation(V{1}, V{1}), 0);
  EXPECT_EQ(RankCorrelation(V{1, 1, 1}, V{1, 2, 3}), 0);
  EXPECT_EQ(RankCorrelation(V{1, 2, 3}, V{1, 1, 1}), 0);
}

TEST(RecallTest, CountsTheFastestAmongTheChosen) {
  const V scores = {5, 4, 3, 2, 1};
  const V seconds = {1, 9, 2, 8, 7};  // fastest two: 0 and 2
  EXPECT_DOUBLE_EQ(RecallAt(1, scores, seconds), 1);
  EXPECT_DOUBLE_EQ(RecallAt(2, scores, seconds), 0.5);
  EXPECT_DOUBLE_EQ(RecallAt(3, scores, seconds), 2.0 / 3);
  EXPECT_DOUBLE_EQ(RecallAt(99, scores, seconds), 1);
  EXPECT_EQ(RecallAt(0, scores, seconds), 0);
  EXPECT_EQ(RecallAt(3, V{}, V{}), 0);
}

TEST(BestShareTest, ComparesTheBestChosenWithTheBestOfAll) {
  const V scores = {5, 4, 3};
  const V seconds = {4, 2, 1};
  EXPECT_DOUBLE_EQ(BestShareAt(1, scores, seconds), 0.25);
  EXPECT_DOUBLE_EQ(BestShareAt(2, scores, seconds), 0.5);
  EXPECT_DOUBLE_EQ(BestShareAt(3, scores, seconds), 1);
  EXPECT_EQ(BestShareAt(3, V{}, V{}), 0);
}

TEST(PairwiseAccuracyTest, CountsOrderedPairs) {
  EXPECT_DOUBLE_EQ(PairwiseAccuracy(V{3, 2, 1}, V{1, 2, 3}), 1);
  EXPECT_DOUBLE_EQ(PairwiseAccuracy(V{1, 2, 3}, V{1, 2, 3}), 0);
  EXPECT_DOUBLE_EQ(PairwiseAccuracy(V{1, 1}, V{1, 2}), 0.5);
  EXPECT_DOUBLE_EQ(PairwiseAccuracy(V{2, 1}, V{1, 1}), 0.5);
}

}  // namespace
}  // namespace kiln
