// Blocks that move keep the order in which they reduce values that cannot be
// combined in any order.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "kiln/base/status_matchers.h"
#include "kiln/schedule/primitive/compute_at.h"
#include "kiln/schedule/testing/equivalence.h"
#include "kiln/schedule/testing/program.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;

// X is made row by row, then reduced to L under `loops`, with vk at `k`.
Function Program(const std::string& loops, const std::string& k,
                 const std::string& update) {
  return ParseProgram(absl::StrCat(R"(
@T.prim_func
def main(A: T.Buffer((4, 12), "int32"), L: T.Buffer((4,), "int32")):
    X = T.alloc_buffer((4, 12), "int32")
    for i, j in T.grid(4, 12):
        with T.block("X"):
            vi, vj = T.axis.remap("SS", [i, j])
            X[vi, vj] = A[vi, vj] + 1
    for )",
                                   loops, R"(:
        with T.block("L"):
            vi = T.axis.spatial(4, i)
            vk = T.axis.reduce(12, )",
                                   k, R"()
            with T.init():
                L[vi] = 0
            L[vi] = )",
                                   update, "\n"));
}

absl::StatusOr<Function> UnderX(const Function& f, int loop) {
  return ReverseComputeAt(f, BlockNamed(f, "L"), LoopsOf(f, "X")[loop]);
}

TEST(ComputeAtOrderTest, TheLastOneThatIsThereStaysTheLast) {
  const std::string last = "T.Select(X[vi, vk] > 0, vk, L[vi])";
  const std::string halved = "L[vi] // 2 + X[vi, vk]";
  for (const std::string& update : {last, halved}) {
    const Function turned =
        Program("b, i, a in T.grid(3, 4, 4)", "a * 3 + b", update);
    for (int loop : {0, 1}) {
      EXPECT_THAT(UnderX(turned, loop),
                  StatusIs(absl::StatusCode::kFailedPrecondition,
                           HasSubstr("the order counts in which block `L` "
                                     "reduces its values")));
    }
    const Function straight =
        Program("a, i, b in T.grid(4, 4, 3)", "a * 3 + b", update);
    for (int loop : {0, 1}) {
      KILN_ASSERT_OK_AND_ASSIGN(const Function g, UnderX(straight, loop));
      KILN_EXPECT_OK(CheckSameResults(straight, g, 1));
    }
  }
}

TEST(ComputeAtOrderTest, SumsAreReducedInAnyOrder) {
  const Function f =
      Program("b, i, a in T.grid(3, 4, 4)", "a * 3 + b", "L[vi] + X[vi, vk]");
  KILN_ASSERT_OK_AND_ASSIGN(const Function g, UnderX(f, 0));
  KILN_EXPECT_OK(CheckSameResults(f, g, 1));
}

}  // namespace
}  // namespace kiln
