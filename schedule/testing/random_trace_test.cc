#include "kiln/schedule/testing/random_trace.h"

#include <gtest/gtest.h>

#include "kiln/base/status_matchers.h"
#include "kiln/ir/tensor/canonical.h"
#include "kiln/ir/testing/random_program.h"
#include "kiln/schedule/trace/print.h"

namespace kiln {
namespace {

TEST(RandomTraceTest, EveryPrimitiveIsAcceptedAndRefusedManyTimes) {
  StepCounts counts;
  for (uint64_t seed = 0; seed < 3000; ++seed) {
    KILN_ASSERT_OK(RandomSchedule(RandomProgram(seed), seed, &counts,
                                  {.max_steps = 40, .bind_percent = 30}));
  }
  EXPECT_EQ(counts.size(), InstructionTable().size());
  for (const auto& [name, count] : counts) {
    EXPECT_GE(count.accepted, 20) << name;
    // It has no arguments that could be wrong.
    if (name != "enter_postproc") EXPECT_GE(count.refused, 5) << name;
  }
}

TEST(RandomTraceTest, ASeedGivesOneScheduleAndSeedsDiffer) {
  const Function f = RandomProgram(3);
  StepCounts counts;
  KILN_ASSERT_OK_AND_ASSIGN(Schedule a, RandomSchedule(f, 7, &counts));
  KILN_ASSERT_OK_AND_ASSIGN(Schedule b, RandomSchedule(f, 7, &counts));
  KILN_ASSERT_OK_AND_ASSIGN(Schedule c, RandomSchedule(f, 8, &counts));
  EXPECT_EQ(ToText(a.trace()), ToText(b.trace()));
  EXPECT_TRUE(StructurallyEqual(a.ToModule(), b.ToModule()));
  EXPECT_NE(ToText(a.trace()), ToText(c.trace()));
}

}  // namespace
}  // namespace kiln
