#include "kiln/tools/support/default_schedule.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/status/status.h"
#include "kiln/base/status_matchers.h"
#include "kiln/codegen/lower/guards/asked_conditions.h"
#include "kiln/codegen/lower/pipeline.h"
#include "kiln/ir/te/workloads.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;

TEST(MeasuredMachineTest, HasTheRegistersOfTheTarget) {
  KILN_ASSERT_OK_AND_ASSIGN(const Target sse, ParseTarget("llvm -mcpu=x86-64"));
  EXPECT_EQ(MeasuredMachine(sse).vectors, sse.machine.vectors);
  EXPECT_EQ(MeasuredMachine(sse).vectors.bytes, kSseRegisters.bytes);
}

TEST(DefaultScheduleForTest, NamesTheFunctionThatThereIsNot) {
  KILN_ASSERT_OK_AND_ASSIGN(const Module module, MakeWorkload("nrm:8,8"));
  EXPECT_THAT(DefaultScheduleFor(module, "other", HostTarget()).status(),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("\"other\"")));
}

// Borders on all sides and channels that end within a vector: some tiles would
// need more copies of the code than lowering makes.
TEST(DefaultScheduleForTest, LeavesFewConditions) {
  KILN_ASSERT_OK_AND_ASSIGN(
      const Target target,
      ParseTarget("llvm -mcpu=skylake-avx512 -num-cores=1"));
  for (const char* spec : {"dep:30,30,56,3,1,1", "t2d:10,10,72,40,3,2,1"}) {
    KILN_ASSERT_OK_AND_ASSIGN(const Module module, MakeWorkload(spec));
    KILN_ASSERT_OK_AND_ASSIGN(
        const DefaultSchedule best,
        DefaultScheduleFor(module, module.functions[0].name, target,
                           target.machine));
    KILN_ASSERT_OK_AND_ASSIGN(
        const Function lowered,
        Lower(best.scheduled, {.machine = target.machine}));
    EXPECT_LT(AskedConditions(lowered, 1), 3000) << spec;
  }
}

TEST(WantsDefaultScheduleTest, UnderstandsNothingAndDefault) {
  KILN_ASSERT_OK_AND_ASSIGN(bool wanted, WantsDefaultSchedule("", "t.py"));
  EXPECT_FALSE(wanted);
  KILN_ASSERT_OK_AND_ASSIGN(wanted, WantsDefaultSchedule("default", ""));
  EXPECT_TRUE(wanted);
}

TEST(WantsDefaultScheduleTest, RefusesOtherNamesAndTwoSchedules) {
  EXPECT_THAT(WantsDefaultSchedule("best", "").status(),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("--schedule best is unknown")));
  EXPECT_THAT(
      WantsDefaultSchedule("default", "t.py").status(),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("use one")));
}

}  // namespace
}  // namespace kiln
