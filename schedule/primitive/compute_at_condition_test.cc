// Conditions that leave out results of the block that moves.
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "kiln/base/status_matchers.h"
#include "kiln/schedule/primitive/compute_at.h"
#include "kiln/schedule/testing/equivalence.h"
#include "kiln/schedule/testing/program.h"

namespace kiln {
namespace {

// Rows of 2 by 2 phases that are written back to 7 elements.
TEST(ComputeAtCondition, AConditionOfItersGoesWithTheBlock) {
  for (const char* condition :
       {"j * 2 + i < 7", "j * 2 + i < 7 and j != 1", "i < 1", "j > 2"}) {
    const Function f = ParseProgram(absl::StrCat(R"(
@T.prim_func
def main(A: T.Buffer((2, 4), "float32"), C: T.Buffer((8,), "float32")):
    B = T.alloc_buffer((2, 4))
    for i, j in T.grid(2, 4):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, vj] * T.float32(2)
    for i, j in T.grid(2, 4):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            T.where()",
                                                 condition, R"()
            C[vj * 2 + vi] = B[vi, vj] + T.float32(1)
)"));
    for (int loop : {0, 1}) {
      KILN_ASSERT_OK_AND_ASSIGN(
          const Function made,
          ReverseComputeAt(f, BlockNamed(f, "C"), LoopsOf(f, "B")[loop]));
      KILN_EXPECT_OK(CheckSameResults(f, made, 1));
    }
  }
}

}  // namespace
}  // namespace kiln
