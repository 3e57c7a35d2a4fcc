// Inits of reductions, and what goes ahead of those that may be over nothing.
#include "kiln/codegen/lower/blocks/lower_init.h"

#include <string>

#include "absl/strings/substitute.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kiln/base/status_matchers.h"
#include "kiln/ir/tensor/module.h"
#include "kiln/ir/text/printer/printer.h"
#include "kiln/ir/text/reader/reader.h"

namespace kiln {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

std::string Lowered(const std::string& text) {
  const absl::StatusOr<Function> f = ParseFunction("f.py", text);
  KILN_EXPECT_OK(f);
  const absl::StatusOr<Function> lowered = LowerInit(*f);
  KILN_EXPECT_OK(lowered);
  return PrintFunction(*lowered);
}

// Rows of (4, n) summed by `loops`, whose block is at indent 8.
std::string SumOfRows(const std::string& loops) {
  return R"(
@T.prim_func
def f(x: T.handle, y: T.Buffer((4,), "float32")):
    n = T.int64()
    X = T.match_buffer(x, (4, n), "float32")
)" + loops;
}

TEST(LowerInitTest, ReductionsOverNothingBeginToo) {
  const std::string lowered = Lowered(SumOfRows(R"(
    for k in range(n):
        for i in range(4):
            with T.block("y"):
                vi, vk = T.axis.remap("SR", [i, k])
                with T.init():
                    y[vi] = T.float32(0)
                y[vi] = y[vi] + X[vi, vk]
)"));
  EXPECT_THAT(lowered, HasSubstr("if n <= 0:\n"
                                 "        for i in range(4):\n"
                                 "            with T.block(\"y_init\"):"));
  EXPECT_THAT(lowered, HasSubstr("if vk == 0:"));
}

TEST(LowerInitTest, ConditionsOfTheResultStay) {
  const std::string lowered = Lowered(SumOfRows(R"(
    for i0, i1, k0, k1 in T.grid(2, 3, (n + 7) // 8, 8):
        with T.block("y"):
            vi = T.axis.spatial(4, i0 * 3 + i1)
            vk = T.axis.reduce(n, k0 * 8 + k1)
            T.where(i0 * 3 + i1 < 4 and k0 * 8 + k1 < n)
            with T.init():
                y[vi] = T.float32(0)
            y[vi] = y[vi] + X[vi, vk]
)"));
  EXPECT_THAT(lowered, HasSubstr("if (n + 7) // 8 <= 0:\n"
                                 "        for i0, i1 in T.grid(2, 3):"));
  EXPECT_THAT(lowered, HasSubstr("T.where(i0 * 3 + i1 < 4)"));
}

// A nest stands ahead of the outermost loop that may be empty, among what the
// loops around it have for a body.
TEST(LowerInitTest, NestsStandBesideTheirLoops) {
  const std::string lowered = Lowered(SumOfRows(R"(
    for i in range(4):
        with T.block("one"):
            vi = T.axis.spatial(4, i)
            y[vi] = T.float32(1)
        for k in range(n):
            with T.block("y"):
                vi, vk = T.axis.remap("SR", [i, k])
                with T.init():
                    y[vi] = T.float32(0)
                y[vi] = y[vi] + X[vi, vk]
)"));
  EXPECT_THAT(lowered, HasSubstr("        if n <= 0:\n"
                                 "            with T.block(\"y_init\"):"));
}

// Of the constant extent 0, and of one that a loop decides, neither: they run
// nothing where they are 0.
TEST(LowerInitTest, ExtentsOfTheProgramAskNothing) {
  for (const char* extent : {"3", "0", "i", "i % 1"}) {
    EXPECT_THAT(Lowered(absl::Substitute(R"(
@T.prim_func
def f(X: T.Buffer((4, 4), "float32"), y: T.Buffer((4,), "float32")):
    for i in range(4):
      for k in range($0):
        with T.block("y"):
            vi = T.axis.spatial(4, i)
            vk = T.axis.reduce(4, k)
            with T.init():
                y[vi] = T.float32(0)
            y[vi] = y[vi] + X[vi, vk]
)",
                                         extent)),
                AllOf(Not(HasSubstr("<= 0")), Not(HasSubstr("y_init"))));
  }
}

}  // namespace
}  // namespace kiln
