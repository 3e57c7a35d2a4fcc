#include "kiln/ir/transform/graph/dataflow_reshape.h"

#include "gtest/gtest.h"
#include "kiln/ir/transform/graph/pass_testing.h"

namespace kiln {
namespace {

TEST(DataflowReshapeTest, OnlyRowMajorCopiesAreReshapes) {
  const Module flatten = ReadModule(R"(
@T.prim_func
def f(A: T.Buffer((4, 8), "float32"), C: T.Buffer((32,), "float32")):
    for i in range(32):
        with T.block("C"):
            vi = T.axis.spatial(32, i)
            C[vi] = A[vi // 8, vi % 8]
)");
  EXPECT_TRUE(IsReshape(flatten.functions[0]));
  const Module transpose = ReadModule(R"(
@T.prim_func
def f(A: T.Buffer((8, 4), "float32"), C: T.Buffer((4, 8), "float32")):
    for i, j in T.grid(4, 8):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = A[vj, vi]
)");
  EXPECT_FALSE(IsReshape(transpose.functions[0]));
}

}  // namespace
}  // namespace kiln
