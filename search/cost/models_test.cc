#include "kiln/search/cost/models.h"

#include <memory>
#include <set>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kiln/base/status_matchers.h"
#include "kiln/search/cost/testing.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;
using testing::MadeUpPrograms;

TEST(ModelsTest, AreMadeByName) {
  for (const char* name : {"random", "analytic", "boosted"}) {
    KILN_ASSERT_OK_AND_ASSIGN(std::unique_ptr<CostModel> model,
                              MakeCostModel(name, 1));
    EXPECT_EQ(model->name(), name);
    const MadeUpPrograms programs(1, 20);
    KILN_EXPECT_OK(model->Update("w", programs.Measured()));
    const std::vector<double> scores = model->Predict(programs.Pointers());
    ASSERT_EQ(scores.size(), 20u);
    for (double score : scores) EXPECT_GT(score, 0);
    EXPECT_EQ(model->Predict(programs.Pointers()), scores);
  }
  EXPECT_THAT(MakeCostModel("oracle", 1).status(),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("random, analytic and boosted")));
}

TEST(ModelsTest, AnalyticScoresAreSpeeds) {
  KILN_ASSERT_OK_AND_ASSIGN(std::unique_ptr<CostModel> model,
                            MakeCostModel("analytic", 1));
  const MadeUpPrograms programs(1, 5);
  const std::vector<double> scores = model->Predict(programs.Pointers());
  for (int i = 0; i < 5; ++i) {
    EXPECT_DOUBLE_EQ(scores[i], 1 / programs.features[i].estimate.seconds);
  }
}

TEST(ModelsTest, RandomScoresHangOnSeedAndProgram) {
  KILN_ASSERT_OK_AND_ASSIGN(std::unique_ptr<CostModel> a,
                            MakeCostModel("random", 1));
  KILN_ASSERT_OK_AND_ASSIGN(std::unique_ptr<CostModel> b,
                            MakeCostModel("random", 2));
  const MadeUpPrograms programs(1, 100);
  const std::vector<double> scores = a->Predict(programs.Pointers());
  EXPECT_NE(b->Predict(programs.Pointers()), scores);
  EXPECT_EQ(std::set<double>(scores.begin(), scores.end()).size(), 100u);
  EXPECT_EQ(a->Predict({&programs.features[7]})[0], scores[7]);
}

}  // namespace
}  // namespace kiln
