// Random programs under random schedules: what a strict function's code gives
// are the bits that the interpreter makes of the program without a schedule.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "kiln/base/status_matchers.h"
#include "kiln/ir/te/workloads.h"
#include "kiln/ir/tensor/numerics.h"
#include "kiln/ir/testing/random_program.h"
#include "kiln/ir/text/printer/printer.h"
#include "kiln/ir/text/python/source.h"
#include "kiln/schedule/testing/random_trace.h"
#include "kiln/schedule/trace/print.h"
#include "kiln/schedule/trace/script.h"
#include "kiln/tests/numerics/same_bits.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;

constexpr uint64_t kFirstSeed = 1;
constexpr uint64_t kPrograms = 500;

// A schedule that no CPU runs, such as one with threads.
bool IsNotForCpu(const absl::Status& status) {
  return status.code() == absl::StatusCode::kUnimplemented ||
         status.code() == absl::StatusCode::kFailedPrecondition ||
         status.code() == absl::StatusCode::kInvalidArgument;
}

// Whether a parameter was laid out anew, so that results are elsewhere.
bool HasNewLayout(const Function& before, const Function& after) {
  for (size_t i = 0; i < before.params.size(); ++i) {
    if (before.params[i].buffer != after.params[i].buffer) return true;
  }
  return false;
}

TEST(StrictTest, NoScheduleChangesABit) {
  int compiled = 0;
  StepCounts counts;
  for (uint64_t seed = kFirstSeed; seed < kFirstSeed + kPrograms; ++seed) {
    Function f = RandomProgram(
        seed, {.max_stages = 3, .max_extent = 12, .max_work = 1 << 11});
    MakeStrict(&f);
    KILN_ASSERT_OK_AND_ASSIGN(const Schedule schedule,
                              RandomSchedule(f, seed, &counts));
    const Function& scheduled = *schedule.state().functions[0];
    if (HasNewLayout(f, scheduled)) continue;
    const absl::Status status =
        GivesTheSameBits(scheduled, f, HardInputs(f, seed));
    if (IsNotForCpu(status)) continue;
    ++compiled;
    ASSERT_EQ(status, absl::OkStatus())
        << "seed " << seed << "\n"
        << PrintFunction(f, {.header = false}) << ToText(schedule.trace())
        << PrintFunction(scheduled, {.header = false});
  }
  EXPECT_GT(compiled, kPrograms / 2) << ToTable(counts);
  EXPECT_GT(counts["split"].accepted, 0);
}

struct Step {
  const char* text;
  const char* reason;
};

// On the product of a strict function, each a step that reorders its terms.
TEST(StrictTest, StepsThatReorderTermsAreRefused) {
  for (const Step& step : std::vector<Step>{
           {"sch.rfactor(k, 0)", "in another order"},
           {"k0, k1 = sch.split(k, [4, 2])\n  sch.reorder(k1, k0)",
            "in another order"},
           {"k0, k1 = sch.split(k, [4, 2])\n  sch.rfactor(k1, 2)",
            "in another order"},
           {"sch.pad_einsum(c, [1, 1, 1, 3])", "terms of padding"},
           {"sch.strassen(c, [1, 2, 3])", "normwise"}}) {
    const std::string text = absl::StrCat(
        "def schedule(sch):\n  c = sch.get_block(\"Z\")\n"
        "  b, i, j, k = sch.get_loops(c)\n  ",
        step.text, "\n");
    for (const char* mode : {":strict", ":normwise"}) {
      KILN_ASSERT_OK_AND_ASSIGN(const Module module,
                                MakeWorkload(absl::StrCat("gmm:8,8,8", mode)));
      Schedule schedule(module);
      const absl::Status made =
          RunScript(python::Source("s.py", text), &schedule);
      if (std::string(mode) == ":normwise") {
        KILN_EXPECT_OK(made);
      } else {
        EXPECT_THAT(made, StatusIs(absl::StatusCode::kFailedPrecondition,
                                   HasSubstr(step.reason)))
            << step.text;
      }
    }
  }
}

}  // namespace
}  // namespace kiln
