#include "kiln/tests/end_to_end/every_target.h"

#include <cstddef>
#include <vector>

#include "kiln/base/status_macros.h"
#include "kiln/base/status_matchers.h"
#include "kiln/ir/interp/interp.h"
#include "kiln/ir/testing/compare.h"
#include "kiln/ir/testing/random_program.h"
#include "kiln/ir/text/reader/reader.h"
#include "kiln/search/task/default_schedule.h"
#include "kiln/tools/support/execute.h"

namespace kiln {

absl::Status CheckAgainstInterpreter(const Function& f,
                                     const Function& scheduled,
                                     const Target& target) {
  std::vector<Tensor> expected = RandomInputs(f, 7);
  std::vector<Tensor> actual = expected;
  KILN_RETURN_IF_ERROR(Interpret(f, expected));
  KILN_RETURN_IF_ERROR(RunCompiled(scheduled, actual, target));
  for (size_t i = 0; i < expected.size(); ++i) {
    KILN_RETURN_IF_ERROR(CompareTensors(actual[i], expected[i]));
  }
  return absl::OkStatus();
}

void EveryTargetTest::SetUp() {
  KILN_ASSERT_OK_AND_ASSIGN(target_, ParseTarget(GetParam()));
  if (!CheckRunsHere(target_).ok()) GTEST_SKIP() << "not this processor";
}

absl::Status EveryTargetTest::CheckByDefault(const std::string& text) {
  KILN_ASSIGN_OR_RETURN(const Module module, ParseModule("test", text));
  KILN_ASSIGN_OR_RETURN(
      const DefaultSchedule best,
      ScheduleByDefault(module, 0, target_.machine, 2, &pool_, {.draws = 4}));
  return CheckAgainstInterpreter(module.functions[0], best.scheduled, target_);
}

}  // namespace kiln
