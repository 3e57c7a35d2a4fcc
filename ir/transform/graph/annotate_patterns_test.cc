#include "kiln/ir/transform/graph/annotate_patterns.h"

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
