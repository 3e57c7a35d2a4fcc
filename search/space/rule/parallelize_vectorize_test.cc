#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kiln/ir/text/printer/printer.h"
#include "kiln/search/space/rule/rules.h"
#include "kiln/search/space/rule/testing.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Module Copy(const std::string& value, const std::string& read_shape) {
  return ParseProgram(R"(
@T.prim_func
def main(A: T.Buffer()" +
                      read_shape + R"(, "float32"),
         B: T.Buffer((3, 20, 37), "float32")):
    for i, j, k in T.grid(3, 20, 37):
        with T.block("B"):
            vi, vj, vk = T.axis.remap("SSS", [i, j, k])
            B[vi, vj, vk] = )" +
                      value + "\n");
}

TEST(ParallelizeVectorizeTest, ElementwiseBlocksRunInParallelInVectors) {
  const Module module = Copy("A[vi, vj, vk] * T.float32(2)", "(3, 20, 37)");
  const auto made = ApplyRule(ParallelizeVectorize, module, "B");
  ASSERT_EQ(made.size(), 1u);
  for (const Function& f : ExpectSameMeaning(module, made)) {
    EXPECT_EQ(CountLoops(f, ForKind::kParallel), 1);
    EXPECT_EQ(CountLoops(f, ForKind::kVectorized), 1);
  }
}

// Three channels of 32 pixels are 6 vectors of 16.
TEST(ParallelizeVectorizeTest, ColumnsThatFillNoVectorAreOneRowWithOthers) {
  const Module module = ParseProgram(R"(
@T.prim_func
def main(A: T.Buffer((20, 32, 3), "float32"), B: T.Buffer((20, 32, 3), "uint8")):
    for i, j, k in T.grid(20, 32, 3):
        with T.block("B"):
            vi, vj, vk = T.axis.remap("SSS", [i, j, k])
            B[vi, vj, vk] = T.Cast("uint8", A[vi, vj, vk] * T.float32(255))
)");
  const auto made = ApplyRule(ParallelizeVectorize, module, "B");
  ASSERT_EQ(made.size(), 1u);
  for (const Function& f : ExpectSameMeaning(module, made)) {
    EXPECT_EQ(CountLoops(f, ForKind::kParallel), 1);
    EXPECT_EQ(CountLoops(f, ForKind::kSerial), 1);
    EXPECT_EQ(CountLoops(f, ForKind::kVectorized), 1);
  }
}

TEST(ParallelizeVectorizeTest, ColumnsWithConditionsStay) {
  const Module module =
      Copy("T.if_then_else(1 <= vk and vk < 36, A[vi, vj, vk], T.float32(0))",
           "(3, 20, 37)");
  const auto made = ApplyRule(ParallelizeVectorize, module, "B");
  ASSERT_EQ(made.size(), 1u);
  for (const Function& f : ExpectSameMeaning(module, made)) {
    EXPECT_THAT(PrintFunction(f), Not(HasSubstr("% 37")));
  }
}

TEST(ParallelizeVectorizeTest, TransposesAreDoneInSquares) {
  const Module module = Copy("A[vk, vi, vj]", "(37, 3, 20)");
  const auto made = ApplyRule(ParallelizeVectorize, module, "B");
  ASSERT_EQ(made.size(), 1u);
  for (const Function& f : ExpectSameMeaning(module, made)) {
    EXPECT_EQ(CountLoops(f, ForKind::kParallel), 1);
    EXPECT_EQ(CountLoops(f, ForKind::kUnrolled), 1);
    EXPECT_EQ(CountLoops(f, ForKind::kVectorized), 1);
  }
}

TEST(ParallelizeVectorizeTest, FewValuesThatDecideAreUnrolled) {
  const Module module = ParseProgram(R"(
@T.prim_func
def main(A: T.Buffer((20, 74), "float32"), B: T.Buffer((20, 74), "float32")):
    for i, q, j in T.grid(20, 2, 37):
        with T.block("B"):
            vi, vq, vj = T.axis.remap("SSS", [i, q, j])
            B[vi, vq * 37 + vj] = T.if_then_else(vq == 0, A[vi, vj], A[vi, vj + 37] * T.float32(2))
)");
  const auto made = ApplyRule(ParallelizeVectorize, module, "B");
  ASSERT_EQ(made.size(), 1u);
  for (const Function& f : ExpectSameMeaning(module, made)) {
    EXPECT_EQ(CountLoops(f, ForKind::kParallel), 1);
    EXPECT_EQ(CountLoops(f, ForKind::kUnrolled), 1);
    EXPECT_EQ(CountLoops(f, ForKind::kVectorized), 1);
  }
}

TEST(ParallelizeVectorizeTest, AFewElementsAreNotWorthAThread) {
  const Module module = ParseProgram(R"(
@T.prim_func
def main(A: T.Buffer((8, 8), "float32"), B: T.Buffer((8, 8), "float32")):
    for i, j in T.grid(8, 8):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, vj]
)");
  EXPECT_TRUE(ApplyRule(ParallelizeVectorize, module, "B").empty());
}

}  // namespace
}  // namespace kiln
