#include "kiln/ir/tensor/dims.h"

#include "gtest/gtest.h"
#include "kiln/base/status_matchers.h"
#include "kiln/ir/tensor/canonical.h"
#include "kiln/ir/text/printer/printer.h"
#include "kiln/ir/text/reader/reader.h"

namespace kiln {
namespace {

TEST(DimsTest, ShapesLoopsAndAllocationsFollowAndScalarParametersGo) {
  KILN_ASSERT_OK_AND_ASSIGN(const Function f, ParseFunction("f.py", R"(
@T.prim_func
def f(A: T.Buffer(("n", 4), "float32"), k: T.int64, C: T.Buffer((n, 4), "float32")):
    B = T.alloc_buffer((n * 2, 4))
    for i, j in T.grid(n, 4):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi * 2, vj] = A[vi, vj]
    for i, j in T.grid(n, 4):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = B[vi * 2, vj] + T.Cast("float32", k)
)"));
  KILN_ASSERT_OK_AND_ASSIGN(const Function wanted, ParseFunction("g.py", R"(
@T.prim_func
def f(A: T.Buffer((3, 4), "float32"), C: T.Buffer((3, 4), "float32")):
    B = T.alloc_buffer((6, 4))
    for i, j in T.grid(3, 4):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi * 2, vj] = A[vi, vj]
    for i, j in T.grid(3, 4):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = B[vi * 2, vj] + T.Cast("float32", T.int64(5))
)"));
  VarMap map;
  map[SymbolicDims(f)[0].get()] = Int(3);
  map[f.params[1].var.get()] = Int(5);
  const Function got = SubstituteDims(f, map);
  EXPECT_TRUE(StructurallyEqual(got, wanted)) << PrintFunction(got);
  EXPECT_TRUE(SymbolicDims(got).empty());
  EXPECT_EQ(SymbolicDims(f).size(), 1u);
}

}  // namespace
}  // namespace kiln
