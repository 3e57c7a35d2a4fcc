#include "kiln/search/task/allocation.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "kiln/base/status_matchers.h"
#include "kiln/search/task/objective.h"

namespace kiln {
namespace {

std::unique_ptr<Objective> Of(const char* name) {
  return MakeObjective(name).value();
}

TEST(ObjectiveTest, NamesWhatThereIsWhenAskedForSomethingElse) {
  EXPECT_THAT(MakeObjective("median"),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       ::testing::HasSubstr("weighted-sum, max and geomean")));
  EXPECT_THAT(MakeAllocation("greedy"),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       ::testing::HasSubstr("gradient and round-robin")));
}

TEST(ObjectiveTest, ValuesAreWhatTheNamesSay) {
  const std::vector<TaskTime> tasks = {{3, 2}, {1, 8}};
  EXPECT_DOUBLE_EQ(Of("weighted-sum")->Value(tasks), 14);
  EXPECT_DOUBLE_EQ(Of("max")->Value(tasks), 8);
  EXPECT_NEAR(Of("geomean")->Value(tasks), 2.8284, 1e-4);  // (2^3 * 8)^(1/4)
}

TEST(ObjectiveTest, SlopesAreThoseOfTheValues) {
  const std::vector<TaskTime> tasks = {{3, 2}, {1, 8}, {2, 0.5}};
  for (const char* name : {"weighted-sum", "max", "geomean"}) {
    const std::unique_ptr<Objective> objective = Of(name);
    for (size_t i = 0; i < tasks.size(); ++i) {
      std::vector<TaskTime> faster = tasks;
      faster[i].seconds -= 1e-6;
      const double fall =
          (objective->Value(tasks) - objective->Value(faster)) / 1e-6;
      EXPECT_NEAR(objective->Slope(tasks, i), fall, 1e-4) << name << " " << i;
    }
  }
}

TEST(AllocationTest, EveryTaskGetsABatchFirst) {
  for (const char* name : {"gradient", "round-robin"}) {
    KILN_ASSERT_OK_AND_ASSIGN(auto allocation, MakeAllocation(name));
    std::vector<TaskProgress> tasks(3);
    tasks[0].batches = 1;
    tasks[0].best = {100};
    EXPECT_EQ(allocation->Next(tasks, *Of("weighted-sum")), 1) << name;
    tasks[1].finished = true;
    EXPECT_EQ(allocation->Next(tasks, *Of("weighted-sum")), 2) << name;
  }
}

TEST(AllocationTest, NothingIsLeftWhenAllAreFinished) {
  for (const char* name : {"gradient", "round-robin"}) {
    KILN_ASSERT_OK_AND_ASSIGN(auto allocation, MakeAllocation(name));
    std::vector<TaskProgress> tasks(2);
    tasks[0].finished = tasks[1].finished = true;
    EXPECT_EQ(allocation->Next(tasks, *Of("max")), -1) << name;
    EXPECT_EQ(allocation->Next({}, *Of("max")), -1) << name;
  }
}

TEST(AllocationTest, TheGradientGoesWhereMoreIsToBeGained) {
  KILN_ASSERT_OK_AND_ASSIGN(auto gradient, MakeAllocation("gradient"));
  std::vector<TaskProgress> tasks(2);
  tasks[0] = {1, false, 2, {10, 9}};
  tasks[1] = {1, false, 2, {2, 1.9}};
  EXPECT_EQ(gradient->Next(tasks, *Of("weighted-sum")), 0);
  // A weight makes up for it.
  tasks[1].weight = 20;
  EXPECT_EQ(gradient->Next(tasks, *Of("weighted-sum")), 1);
  // Many batches without a gain make it worth less.
  tasks[1].weight = 1;
  tasks[0].batches = 40;
  tasks[0].best.assign(40, 9);
  EXPECT_EQ(gradient->Next(tasks, *Of("weighted-sum")), 1);
}

TEST(AllocationTest, TheObjectiveDecidesWhatAGainIsWorth) {
  KILN_ASSERT_OK_AND_ASSIGN(auto gradient, MakeAllocation("gradient"));
  std::vector<TaskProgress> tasks(2);
  tasks[0] = {1, false, 4, {100, 90, 90, 90}};
  tasks[1] = {1, false, 2, {10, 6}};
  EXPECT_EQ(gradient->Next(tasks, *Of("max")), 0);
  EXPECT_EQ(gradient->Next(tasks, *Of("geomean")), 1);
}

}  // namespace
}  // namespace kiln
