#include "kiln/schedule/rewrite/kept_condition.h"

#include <gtest/gtest.h>

#include <string>

#include "kiln/ir/text/printer/printer.h"
#include "kiln/schedule/analysis/path.h"
#include "kiln/schedule/analysis/scope.h"
#include "kiln/schedule/testing/program.h"

namespace kiln {
namespace {

Function Under(const std::string& values, const std::string& condition) {
  return ParseProgram(R"(
@T.prim_func
def main(A: T.Buffer((8, 4), "float32"), C: T.Buffer((8, 4), "float32")):
    for i, j in T.grid(8, 4):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [)" +
                      values + R"(])
            T.where()" +
                      condition +
                      R"()
            C[vi, vj] = A[vi, vj]
)");
}

TEST(KeptConditionTest, IsTheLoopsConditionOverTheirIterators) {
  const Function f = Under("i, j", "i * 4 + j < 30");
  const Scope scope(f.root());
  EXPECT_EQ(PrintExpr(ConditionOfIters(scope.blocks[0])), "vi * 4 + vj < 30");
  EXPECT_FALSE(WhyNotAllRunButFor(scope.blocks[0]));
  const auto path = FindBlock(f, BlockNamed(f, "C"));
  const Function both =
      AddCondition(f, *path, ConditionOfIters(scope.blocks[0]));
  EXPECT_EQ(PrintExpr(RealizeNamed(both, "C").predicate), "i * 4 + j < 30");
}

TEST(KeptConditionTest, ALoopThatIsNoIteratorHasNone) {
  const Function f = ParseProgram(R"(
@T.prim_func
def main(A: T.Buffer((8,), "float32"), C: T.Buffer((8,), "float32")):
    for i, j in T.grid(3, 3):
        with T.block("C"):
            vi = T.axis.spatial(8, i * 3 + j)
            T.where(i * 3 + j < 8)
            C[vi] = A[vi]
)");
  EXPECT_FALSE(ConditionOfIters(Scope(f.root()).blocks[0]));
}

}  // namespace
}  // namespace kiln
