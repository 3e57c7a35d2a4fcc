// Rounds that keep their order, in loops that need not.
#include <gtest/gtest.h>

#include "absl/strings/substitute.h"
#include "kiln/search/space/rule/rules.h"
#include "kiln/search/space/rule/testing.h"

namespace kiln {
namespace {

// Bubbles in each row: `round` by round, neighbours are put in order.
Module Bubbles(int rows, int columns) {
  return ParseProgram(absl::Substitute(R"(
@T.prim_func
def main(A: T.Buffer(($0, $1), "float32"), P: T.Buffer(($0, $1), "int32")):
    for i, r, j in T.grid($0, $1, $2):
        with T.block("sort"):
            vi, vr, vj = T.axis.remap("SOO", [i, r, j])
            if A[vi, vj + 1] < A[vi, vj]:
                P[vi, vj] = P[vi, vj] + 1
                t: T.float32 = A[vi, vj]
                A[vi, vj] = A[vi, vj + 1]
                A[vi, vj + 1] = t
)",
                                       rows, columns, columns - 1));
}

TEST(OrderedBlocksTest, RowsAreSortedInParallel) {
  const Module module = Bubbles(6, 11);
  const auto made = ApplyRule(OrderedBlocks, module, "sort");
  ASSERT_EQ(made.size(), 1u);
  for (const Function& f : ExpectSameMeaning(module, made)) {
    EXPECT_EQ(CountLoops(f, ForKind::kParallel), 1);
    EXPECT_EQ(CountLoops(f, ForKind::kSerial), 2);
  }
}

TEST(OrderedBlocksTest, OneRowAndLittleWorkStayAsTheyAre) {
  EXPECT_TRUE(ApplyRule(OrderedBlocks, Bubbles(1, 40), "sort").empty());
  EXPECT_TRUE(ApplyRule(OrderedBlocks, Bubbles(5, 8), "sort").empty());
}

TEST(OrderedBlocksTest, ALoopBehindAnOrderedOneOfOneIterationStays) {
  const Module module = ParseProgram(R"(
@T.prim_func
def main(A: T.Buffer((6, 30, 9), "float32")):
    for i, r, j, k in T.grid(6, 1, 30, 8):
        with T.block("C"):
            vi, vr, vj, vk = T.axis.remap("SOSO", [i, r, j, k])
            A[vi, vj, vk + 1] = A[vi, vj, vk] + A[vi, vj, vk + 1]
)");
  const auto made = ApplyRule(OrderedBlocks, module, "C");
  ASSERT_EQ(made.size(), 1u);
  for (const Function& f : ExpectSameMeaning(module, made)) {
    EXPECT_EQ(CountLoops(f, ForKind::kParallel), 1);
    EXPECT_EQ(CountLoops(f, ForKind::kSerial), 3);
  }
}

TEST(OrderedBlocksTest, RowsThatHangTogetherKeepTheirOrder) {
  const Module module = ParseProgram(R"(
@T.prim_func
def main(A: T.Buffer((30, 40), "float32")):
    for i, r, j in T.grid(29, 2, 40):
        with T.block("C"):
            vi, vr, vj = T.axis.remap("OOS", [i, r, j])
            A[vi + 1, vj] = A[vi, vj] * T.float32(0.5) + A[vi + 1, vj]
)");
  EXPECT_TRUE(ApplyRule(OrderedBlocks, module, "C").empty());
}

}  // namespace
}  // namespace kiln
