#include "kiln/tools/rivals/scores.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace kiln::bench {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

CaseScores Case(std::string shape, std::vector<Score> scores) {
  CaseScores found{"gmm", std::move(shape), 1, 1e6, 4e5};
  found.peak_gflops = 100;
  found.roofline = {1e-5, MemoryLevelId::kL2, false};
  found.scores = std::move(scores);
  return found;
}

const Score kSlowLibrary = {"A", Role::kLibrary, false, 30};
const Score kFastLibrary = {"B", Role::kLibrary, false, 20};
const Score kPackedLibrary = {"C", Role::kLibrary, true, 15};

TEST(ScoresTest, TheBestLibraryOfThoseThatPackInTheTimeIsTheMeasure) {
  const CaseScores found =
      Case("1", {kSlowLibrary, kFastLibrary, kPackedLibrary});
  EXPECT_EQ(BestLibraryUs(found, false), 20);
  EXPECT_EQ(BestLibraryUs(found, true), 15);
}

TEST(ScoresTest, KilnIsNoLibrary) {
  const CaseScores found = Case("1", {{"Kiln", Role::kKiln, false, 1}});
  EXPECT_TRUE(std::isinf(BestLibraryUs(found, true)));
}

TEST(ScoresTest, RatiosThatDoNotExistAreNotPrintedAsNumbers) {
  const CaseScores found = Case("1", {{"Kiln", Role::kKiln, false, 10}});
  EXPECT_THAT(TableRows(found), Not(HasSubstr("inf")));
  EXPECT_THAT(JsonRows(found), Not(HasSubstr("speedup_over_best_library")));
}

TEST(ScoresTest, RowsHaveSharesOfPeakAndOfTheRoofline) {
  // 1e6 operations in 20 us are 50 GFLOP/s of 100; 10 us are allowed.
  const std::string json = JsonRows(Case("1", {kFastLibrary}));
  EXPECT_THAT(json, HasSubstr("\"gflops\":50,"));
  EXPECT_THAT(json, HasSubstr("\"peak_share\":0.5,"));
  EXPECT_THAT(json, HasSubstr("\"roofline_share\":0.5,"));
  EXPECT_THAT(json, HasSubstr("\"roofline_by\":\"FMA\""));
}

TEST(ScoresTest, RowsHaveMedianAndWorstBesideTheBest) {
  Score score = kFastLibrary;
  score.median_us = 25;
  score.worst_us = 43;
  score.repetitions = 7;
  const CaseScores found = Case("1", {score});
  EXPECT_THAT(JsonRows(found), HasSubstr("\"us\":20,\"median_us\":25,"
                                         "\"worst_us\":43,\"repetitions\":7"));
  EXPECT_THAT(JsonRows(found), HasSubstr("\"gbs\":20,"));
  EXPECT_THAT(TableRows(found), HasSubstr("20.00       25.00       43.00"));
}

TEST(ScoresTest, OperationsOnInsertedZerosAreTold) {
  CaseScores found = Case("1", {kFastLibrary});
  EXPECT_THAT(TableRows(found), Not(HasSubstr("counted")));
  found.flop_as_written = 4e6;
  EXPECT_THAT(TableRows(found), HasSubstr("(1 of 4 MFLOP are counted: "));
  EXPECT_THAT(JsonRows(found), HasSubstr("\"flop\":1000000,"
                                         "\"flop_as_written\":4000000,"));
}

TEST(ScoresTest, NormwiseErrorsHaveMeansOfTheirOwn) {
  const std::vector<Mean> means =
      Means({Case("1", {kFastLibrary,
                        {"Kiln", Role::kKiln, false, 10},
                        {"Kiln, normwise", Role::kNormwise, false, 5}})});
  ASSERT_EQ(means.size(), 3u);
  EXPECT_NEAR(means[0].geomean, 2.0, 1e-12);
  EXPECT_NEAR(means[2].geomean, 4.0, 1e-12);
  EXPECT_THAT(means[2].what, HasSubstr("normwise"));
}

TEST(ScoresTest, MeansAreGeometricAndNameTheWorstCase) {
  const std::vector<Mean> means =
      Means({Case("1", {kFastLibrary, {"Kiln", Role::kKiln, false, 10}}),
             Case("2", {kFastLibrary, {"Kiln", Role::kKiln, false, 40}}),
             Case("3", {{"Kiln", Role::kKiln, false, 1}})});
  ASSERT_EQ(means.size(), 2u);  // among all libraries, and those that pack
  EXPECT_EQ(means[0].cases, 2);
  EXPECT_NEAR(means[0].geomean, 1.0, 1e-12);
  EXPECT_NEAR(means[0].worst, 0.5, 1e-12);
  EXPECT_EQ(means[0].worst_case, "gmm:2");
}

TEST(ScoresTest, TheWorstDefaultScheduleIsTheOneTuningGainsMostOn) {
  const auto with = [](std::string shape, double tuned, double untuned) {
    return Case(std::move(shape),
                {{"Kiln", Role::kKiln, false, tuned},
                 {"Kiln, not tuned", Role::kUntuned, false, untuned}});
  };
  const std::vector<Mean> means =
      Means({with("1", 10, 15), with("2", 10, 30), with("3", 10, 10)});
  ASSERT_EQ(means.size(), 1u);
  EXPECT_EQ(means[0].worst_case, "gmm:2");
  EXPECT_NEAR(means[0].worst, 3, 1e-12);
  EXPECT_THAT(MeanLines(means), HasSubstr("worst 3.000 (gmm:2)"));
}

TEST(ScoresTest, NoCasesHaveNoMeans) {
  EXPECT_TRUE(Means({}).empty());
  EXPECT_EQ(MeanLines({}), "");
}

}  // namespace
}  // namespace kiln::bench
