#include "kiln/schedule/testing/random_trace.h"

#include <gtest/gtest.h>

#include "kiln/base/status_matchers.h"
#include "kiln/ir/tensor/canonical.h"
#include "kiln/ir/testing/random_nests.h"
#include "kiln/ir/testing/random_program.h"
#include "kiln/ir/text/printer/printer.h"
#include "kiln/schedule/analysis/race.h"
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

// Formulas for even seeds, nests for odd ones.
Function ProgramOf(uint64_t seed) {
  return seed % 2 == 0 ? RandomProgram(seed) : RandomNests(seed).function;
}

TEST(RandomTraceTest, WhatSchedulesRunSideBySideReadsBackAsIndependent) {
  StepCounts counts;
  for (uint64_t seed = 0; seed < 2000; ++seed) {
    const Function f = ProgramOf(seed);
    ASSERT_EQ(CheckConcurrentLoops(f), absl::OkStatus()) << "seed " << seed;
    KILN_ASSERT_OK_AND_ASSIGN(
        Schedule schedule,
        RandomSchedule(f, seed, &counts,
                       {.max_steps = 24, .bind_percent = 10}));
    // Regions told by hand may be wider than what is touched.
    const std::string trace = ToText(schedule.trace());
    if (trace.find("annotate_buffer_access") != trace.npos) continue;
    const Module module = schedule.ToModule();
    ASSERT_EQ(CheckConcurrentLoops(module.functions[0]), absl::OkStatus())
        << "seed " << seed << "\n"
        << trace << PrintModule(module);
  }
}

}  // namespace
}  // namespace kiln
