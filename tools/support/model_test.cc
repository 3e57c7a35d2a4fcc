#include "kiln/tools/support/model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "kiln/base/status_matchers.h"
#include "kiln/codegen/target/target.h"
#include "kiln/ir/text/reader/reader.h"

namespace kiln {
namespace {

int CountOf(const std::string& text, const std::string& part) {
  int count = 0;
  for (size_t at = text.find(part); at != text.npos;
       at = text.find(part, at + 1)) {
    ++count;
  }
  return count;
}

// Not for each function, where what was measured cannot be kept.
TEST(DefaultSchedulesTest, MeasureTheMachineOnce) {
  setenv("KILN_MACHINE", "/proc/none/machine.json", 1);
  KILN_ASSERT_OK_AND_ASSIGN(const Module module, ParseModule("m.py", R"(
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((8, 16), "float32"), y: R.Tensor((16, 4), "float32")):
        a = R.matmul(x, y)
        b = R.nn.softmax(a)
        c = R.sum(b, axis=1)
        return c
)"));
  KILN_ASSERT_OK_AND_ASSIGN(const Target target, ParseTarget("llvm"));
  KILN_ASSERT_OK_AND_ASSIGN(const Module prepared, PrepareModel(module));
  const Scheduler schedule = DefaultSchedules(target);
  ASSERT_GE(prepared.functions.size(), 3u);
  testing::internal::CaptureStderr();
  for (const Function& f : prepared.functions) {
    KILN_EXPECT_OK(schedule(prepared, f));
  }
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_EQ(CountOf(said, "is not kept"), 1) << said;
}

std::string GraphWithNumerics(const std::string& mode) {
  return "@R.function\ndef main(x: R.Tensor((8,), \"float32\")):\n"
         "    R.func_attr({\"numerics\": " +
         mode + "})\n    return R.exp(x)\n";
}

TEST(PrepareModelTest, GraphFunctionsAllowErrorsOrAreRefused) {
  for (const char* mode : {"\"componentwise\"", "\"normwise\""}) {
    KILN_ASSERT_OK_AND_ASSIGN(const Module module,
                              ParseModule("m.py", GraphWithNumerics(mode)));
    KILN_EXPECT_OK(PrepareModel(module));
  }
  for (const char* mode : {"\"strict\"", "\"Normwise\"", "1"}) {
    KILN_ASSERT_OK_AND_ASSIGN(const Module module,
                              ParseModule("m.py", GraphWithNumerics(mode)));
    EXPECT_THAT(PrepareModel(module),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         testing::HasSubstr("main: numerics of a graph")));
  }
}

}  // namespace
}  // namespace kiln
