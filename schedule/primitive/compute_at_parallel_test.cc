#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_replace.h"
#include "kiln/base/status_matchers.h"
#include "kiln/schedule/primitive/compute_at.h"
#include "kiln/schedule/testing/program.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;

TEST(ReverseComputeAtTest, RefusesToSumUpInAParallelLoop) {
  const Function f = ParseProgram(R"(
@T.prim_func
def main(A: T.Buffer((8,), "float32"), C: T.Buffer((1,), "float32")):
    B = T.alloc_buffer((8,))
    for i in T.parallel(8):
        with T.block("B"):
            vi = T.axis.spatial(8, i)
            B[vi] = A[vi]
    for i, k in T.grid(1, 8):
        with T.block("C"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                C[vi] = T.float32(0)
            C[vi] = C[vi] + B[vk]
)");
  EXPECT_THAT(ReverseComputeAt(f, BlockNamed(f, "C"), LoopsOf(f, "B")[0]),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("run at the same time")));
}

// Two iterations compute the same row of B, and each would write both rows of C
// that read it.
TEST(ReverseComputeAtTest, RefusesToWriteElementsTwiceAtTheSameTime) {
  const auto in = [](const char* loop) {
    const Function f = ParseProgram(absl::StrReplaceAll(R"(
@T.prim_func
def main(A: T.Buffer((3, 4), "float32"), C: T.Buffer((6, 4), "float32")):
    B = T.alloc_buffer((3, 4))
    for i in LOOP(6):
        for j in range(4):
            for a in range(1):
                with T.block("B"):
                    vi = T.axis.spatial(3, i // 2 + a)
                    vj = T.axis.spatial(4, j)
                    B[vi, vj] = A[vi, vj]
            with T.block("C"):
                vi, vj = T.axis.remap("SS", [i, j])
                C[vi, vj] = B[vi // 2, vj]
)",
                                                        {{"LOOP", loop}}));
    return ReverseComputeAt(f, BlockNamed(f, "C"), LoopsOf(f, "B")[2]).status();
  };
  KILN_EXPECT_OK(in("range"));
  EXPECT_THAT(in("T.parallel"), StatusIs(absl::StatusCode::kFailedPrecondition,
                                         HasSubstr("run at the same time")));
}

}  // namespace
}  // namespace kiln
