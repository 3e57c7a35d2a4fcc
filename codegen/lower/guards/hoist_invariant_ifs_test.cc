#include "kiln/codegen/lower/guards/hoist_invariant_ifs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "kiln/base/status_matchers.h"
#include "kiln/ir/text/printer/printer.h"
#include "kiln/ir/text/reader/reader.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;

std::string Hoisted(const std::string& loops) {
  const absl::StatusOr<Module> module = ParseModule("m.py", R"(
@T.prim_func
def main(n: T.int64, A: T.Buffer((64,), "float32")):
)" + loops);
  EXPECT_TRUE(module.ok()) << module.status();
  const absl::StatusOr<Function> out = HoistInvariantIfs(module->functions[0]);
  EXPECT_TRUE(out.ok());
  return PrintFunction(*out);
}

TEST(HoistInvariantIfs, MovesConditionsOutOfLoopsThatTheyDoNotUse) {
  EXPECT_THAT(Hoisted(R"(
    for i in range(8):
        for k in range(4):
            if i < n:
                A[i] = A[i] + T.float32(1)
)"),
              HasSubstr("if i < n:\n            for k in range(4):"));
}

// With n = 0 the loop has no iterations, and 7 // n no value.
TEST(HoistInvariantIfs, ADivisionByTheNumberOfIterationsStaysInside) {
  EXPECT_THAT(Hoisted(R"(
    for i in range(n):
        if 7 // n < 3:
            A[i] = T.float32(1)
)"),
              HasSubstr("for i in range(n):\n        if 7 // n < 3:"));
  EXPECT_THAT(Hoisted(R"(
    for j in range(n * 4):
        for i in range(8):
            if j // n < 3:
                A[i] = T.float32(1)
)"),
              HasSubstr("if j // n < 3:\n            for i in range(8):"));
}

}  // namespace
}  // namespace kiln
