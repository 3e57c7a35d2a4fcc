#include "kiln/ir/transform/graph/annotate_patterns.h"

#include <string>

#include "gtest/gtest.h"
#include "kiln/ir/transform/graph/pass_testing.h"

namespace kiln {
namespace {

TEST(AnnotatePatternsTest, Elementwise) {
  const Module module = ReadModule(R"(
@T.prim_func
def f(A: T.Buffer((4, 8), "float32"), C: T.Buffer((4, 8), "float32")):
    for i, j in T.grid(4, 8):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = T.exp(A[vi, vj])
)");
  ASSERT_EQ(module.functions.size(), 1u);
  EXPECT_EQ(PatternOf(module.functions[0]), OpPattern::kElementwise);
}

TEST(AnnotatePatternsTest, Broadcast) {
  const Module module = ReadModule(R"(
@T.prim_func
def f(A: T.Buffer((8,), "float32"), C: T.Buffer((4, 8), "float32")):
    for i, j in T.grid(4, 8):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = A[vj]
)");
  ASSERT_EQ(module.functions.size(), 1u);
  EXPECT_EQ(PatternOf(module.functions[0]), OpPattern::kBroadcast);
}

OpPattern PatternOfSum(const std::string& a, const std::string& place) {
  const Module module = ReadModule(
      "@T.prim_func\ndef f(A: T.Buffer(" + a +
      R"(, "float32"), B: T.Buffer((8,), "float32"), C: T.Buffer((1, 8), "float32")):
    for i, j in T.grid(1, 8):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = A[)" +
      place + "] + B[vj]\n");
  return PatternOf(module.functions[0]);
}

// The only place of a dimension is the one that is written, as 0 or not.
TEST(AnnotatePatternsTest, DimensionsOfOneElement) {
  EXPECT_EQ(PatternOfSum("(1, 8)", "0, vj"), OpPattern::kElementwise);
  EXPECT_EQ(PatternOfSum("(1, 8)", "vi, vj"), OpPattern::kElementwise);
  EXPECT_EQ(PatternOfSum("(2, 8)", "0, vj"), OpPattern::kBroadcast);
  EXPECT_EQ(PatternOfSum("(1, 8)", "0, 0"), OpPattern::kBroadcast);
}

TEST(AnnotatePatternsTest, ASumOverOneElementIsASum) {
  const Module module = ReadModule(R"(
@T.prim_func
def f(A: T.Buffer((4, 1), "float32"), C: T.Buffer((4, 1), "float32")):
    for i, j in T.grid(4, 1):
        with T.block("C"):
            vi, vj = T.axis.remap("SR", [i, j])
            with T.init():
                C[vi, 0] = T.float32(0)
            C[vi, 0] = C[vi, 0] + A[vi, vj]
)");
  ASSERT_EQ(module.functions.size(), 1u);
  EXPECT_EQ(PatternOf(module.functions[0]), OpPattern::kReduction);
}

TEST(AnnotatePatternsTest, Injective) {
  const Module module = ReadModule(R"(
@T.prim_func
def f(A: T.Buffer((8, 4), "float32"), C: T.Buffer((4, 8), "float32")):
    for i, j in T.grid(4, 8):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = A[vj, vi]
)");
  ASSERT_EQ(module.functions.size(), 1u);
  EXPECT_EQ(PatternOf(module.functions[0]), OpPattern::kInjective);
}

TEST(AnnotatePatternsTest, Sum) {
  const Module module = ReadModule(R"(
@T.prim_func
def f(A: T.Buffer((4, 8), "float32"), C: T.Buffer((4,), "float32")):
    for i, j in T.grid(4, 8):
        with T.block("C"):
            vi, vj = T.axis.remap("SR", [i, j])
            with T.init():
                C[vi] = T.float32(0)
            C[vi] = C[vi] + A[vi, vj]
)");
  ASSERT_EQ(module.functions.size(), 1u);
  EXPECT_EQ(PatternOf(module.functions[0]), OpPattern::kReduction);
}

TEST(AnnotatePatternsTest, Product) {
  const Module module = ReadModule(R"(
@T.prim_func
def f(A: T.Buffer((4, 8), "float32"), C: T.Buffer((4,), "float32")):
    for i, j in T.grid(4, 8):
        with T.block("C"):
            vi, vj = T.axis.remap("SR", [i, j])
            with T.init():
                C[vi] = T.float32(0)
            C[vi] = C[vi] + A[vi, vj] * A[vi, vj]
)");
  ASSERT_EQ(module.functions.size(), 1u);
  EXPECT_EQ(PatternOf(module.functions[0]), OpPattern::kFusableReduction);
}

TEST(AnnotatePatternsTest, Flat) {
  const Module module = ReadModule(R"(
@T.prim_func
def f(A: T.Buffer((4, 8), "float32"), C: T.Buffer((4, 8), "float32")):
    for i, j in T.grid(4, 8):
        C[i, j] = A[i, j]
)");
  ASSERT_EQ(module.functions.size(), 1u);
  EXPECT_EQ(PatternOf(module.functions[0]), OpPattern::kOpaque);
}

}  // namespace
}  // namespace kiln
