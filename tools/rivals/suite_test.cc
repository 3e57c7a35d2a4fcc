#include "kiln/tools/rivals/suite.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "absl/status/status.h"
#include "kiln/base/status_matchers.h"

namespace kiln::bench {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(SuiteTest, TheWholeSuiteIsThirteenOperatorsWithFourShapesEach) {
  KILN_ASSERT_OK_AND_ASSIGN(const auto suite, AnsorSuite(""));
  std::set<std::string> names;
  for (const SuiteCase& one : suite) names.insert(one.workload);
  EXPECT_EQ(names.size(), 13u);
  EXPECT_EQ(suite.size(), 52u);
}

TEST(SuiteTest, OperatorsAndSingleCasesCanBeChosen) {
  KILN_ASSERT_OK_AND_ASSIGN(const auto suite,
                            AnsorSuite("sfm:8,9;dep,nrm;gmm:2,3,4"));
  ASSERT_EQ(suite.size(), 10u);
  EXPECT_EQ(suite[0].workload, "sfm");
  EXPECT_THAT(suite[0].dims, ElementsAre(8, 9));
  EXPECT_EQ(suite[1].workload, "dep");
  EXPECT_EQ(suite[5].workload, "nrm");
  EXPECT_THAT(suite[9].dims, ElementsAre(2, 3, 4));
}

TEST(SuiteTest, SaysWhichOperatorsThereAre) {
  for (const char* only : {"convolution", "c2d,,dep", ",", ";"}) {
    EXPECT_THAT(AnsorSuite(only).status(),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         HasSubstr("there are gmm,c1d,c2d,c3d,dep")))
        << only;
  }
}

TEST(SuiteTest, RefusesCasesThatAreNone) {
  EXPECT_THAT(AnsorSuite("sfm:8").status(),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("--only: workload \"sfm:8\"")));
  EXPECT_THAT(
      AnsorSuite("sfm:8,x").status(),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("whole number")));
}

TEST(SuiteTest, ReadsProducts) {
  KILN_ASSERT_OK_AND_ASSIGN(const auto suite, GemmSuite("2x3x4,512x1x7"));
  ASSERT_EQ(suite.size(), 2u);
  EXPECT_EQ(suite[1].workload, "gmm");
  EXPECT_THAT(suite[1].dims, ElementsAre(512, 1, 7));
}

TEST(SuiteTest, RefusesProductsThatAreNone) {
  for (const char* shapes : {"", "2x3", "2x3x4x5", "2x3x0", "2x-3x4", "axbxc",
                             "2x3x4,", "9999999x1x1"}) {
    EXPECT_THAT(
        GemmSuite(shapes).status(),
        StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("512x512x512")))
        << shapes;
  }
}

}  // namespace
}  // namespace kiln::bench
