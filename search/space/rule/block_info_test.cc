// Blocks as text, and what their descriptions tell of axes and reads.
#include "kiln/search/space/rule/block_info.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/substitute.h"
#include "kiln/search/space/rule/testing.h"

namespace kiln {
namespace {

using ::testing::ElementsAre;

constexpr char kChain[] = R"(
@T.prim_func
def main(X: T.Buffer((8, 32), "float32"), Y: T.Buffer((32, 16), "float32"),
         D: T.Buffer((16, 8), "float32"), S: T.Buffer((8,), "float32")):
    Z = T.alloc_buffer((8, 16), "float32")
    for i, j, k in T.grid(8, 16, 32):
        with T.block("Z"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                Z[vi, vj] = T.float32(0)
            Z[vi, vj] = Z[vi, vj] + X[vi, vk] * Y[vk, vj]
    for j, i in T.grid(16, 8):
        with T.block("D"):
            vj, vi = T.axis.remap("SS", [j, i])
            D[vj, vi] = T.exp(Z[vi, vj])
    for i, j in T.grid(8, 16):
        with T.block("S"):
            vi, vj = T.axis.remap("SR", [i, j])
            with T.init():
                S[vi] = T.float32(0)
            S[vi] = S[vi] + Z[vi, vj]
    for i, k in T.grid(4, 32):
        with T.block("tile"):
            vi = T.axis.spatial(8, i * 2)
            vk = T.axis.spatial(32, k)
            D[0, 0] = X[vi, vk]
)";

TEST(BlockInfoTest, AxesAndReadsOfAProduct) {
  const Module module = ParseProgram(kChain);
  const auto z = DescribeBlock(module.functions[0], "Z");
  ASSERT_TRUE(z);
  EXPECT_EQ(z->ContiguousAxis(), 1);
  EXPECT_EQ(z->CountReduce(), 1);
  EXPECT_EQ(z->SpatialSize(), 8 * 16);
  EXPECT_EQ(z->ReduceSize(), 32);
  ASSERT_EQ(z->reads.size(), 2u);
  EXPECT_THAT(z->reads[0].strides, ElementsAre(32, 0, 1));
  EXPECT_THAT(z->reads[1].strides, ElementsAre(0, 1, 16));
  EXPECT_EQ(z->reads[1].elements, 32 * 16);
  EXPECT_FALSE(z->ReducesContiguously()) << "Y moves by rows";
  EXPECT_FALSE(z->is_output);
  EXPECT_THAT(z->consumers, ElementsAre("D", "S"));
}

TEST(BlockInfoTest, TheContiguousAxisIsThatOfTheOutputsLastIndex) {
  const Module module = ParseProgram(kChain);
  const auto d = DescribeBlock(module.functions[0], "D");
  ASSERT_TRUE(d);
  EXPECT_EQ(d->ContiguousAxis(), 1);  // vi, of D[vj, vi]
  EXPECT_TRUE(d->is_elementwise);
  EXPECT_TRUE(d->is_expensive);
  EXPECT_THAT(d->reads[0].strides, ElementsAre(1, 16));
  EXPECT_THAT(d->producers, ElementsAre("Z"));
}

TEST(BlockInfoTest, SumsOfRowsRunThroughContiguousElements) {
  const Module module = ParseProgram(kChain);
  const auto s = DescribeBlock(module.functions[0], "S");
  ASSERT_TRUE(s);
  EXPECT_TRUE(s->ReducesContiguously());
  EXPECT_EQ(s->ContiguousAxis(), 0);
}

TEST(BlockInfoTest, EachWayInWhichElementsAreReadIsDescribed) {
  const Module module = ParseProgram(R"(
@T.prim_func
def main(A: T.Buffer((20, 12), "float32"), C: T.Buffer((12, 12), "float32")):
    for i, j, k in T.grid(12, 12, 20):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = T.float32(0)
            C[vi, vj] = C[vi, vj] + A[vk, vi] * A[vk, vj] * A[vk, vj]
)");
  const auto c = DescribeBlock(module.functions[0], "C");
  ASSERT_TRUE(c);
  ASSERT_EQ(c->reads.size(), 2u);
  EXPECT_THAT(c->reads[0].strides, ElementsAre(1, 0, 12));
  EXPECT_THAT(c->reads[1].strides, ElementsAre(0, 1, 12));
  EXPECT_EQ(c->reads[0].index, c->reads[1].index);
}

TEST(BlockInfoTest, StepsThatMoveNowAndThenHaveNoStride) {
  const Module module = ParseProgram(R"(
@T.prim_func
def main(A: T.Buffer((16, 4), "float32"), C: T.Buffer((2, 8, 4), "float32")):
    for p, i, j in T.grid(2, 8, 4):
        with T.block("C"):
            vp, vi, vj = T.axis.remap("SSS", [p, i, j])
            C[vp, vi, vj] = A[(vi * 2 + vp + 1) // 2, vj]
)");
  const auto c = DescribeBlock(module.functions[0], "C");
  ASSERT_TRUE(c);
  EXPECT_EQ(c->reads[0].strides[0], std::nullopt);
  EXPECT_EQ(c->reads[0].strides[1], 4.0);
}

TEST(BlockInfoTest, ElementsThatServeSeveralStepsLag) {
  const Module module = ParseProgram(R"(
@T.prim_func
def main(X: T.Buffer((64,), "float32"), W: T.Buffer((16, 8), "int32"), S: T.Buffer((4, 16), "float32"), C: T.Buffer((16,), "float32")):
    for n, k in T.grid(16, 64):
        with T.block("C"):
            vn, vk = T.axis.remap("SR", [n, k])
            with T.init():
                C[vn] = T.float32(0)
            C[vn] = C[vn] + X[vk] * T.Cast("float32", W[vn, vk // 8]) * S[vk // 16, vn]
)");
  const auto c = DescribeBlock(module.functions[0], "C");
  ASSERT_TRUE(c);
  ASSERT_EQ(c->reads.size(), 3);
  EXPECT_THAT(c->reads[0].lags, ElementsAre(false, false));
  EXPECT_THAT(c->reads[1].lags, ElementsAre(false, true));
  EXPECT_THAT(c->reads[2].lags, ElementsAre(false, false)) << "by whole rows";
  EXPECT_TRUE(c->reads[1].LiesAlong(1));
  EXPECT_FALSE(c->reads[1].LiesAlong(0));
  EXPECT_FALSE(c->ReducesContiguously()) << "S moves by rows";
}

TEST(BlockInfoTest, ElementsThatAreLeftOutDoNotLag) {
  for (const char* index : {"vi // 4 * 2", "vi * 3 // 8", "vi // 4 + vi % 4",
                            "7 - vi // 4", "vi"}) {
    const Module module = ParseProgram(absl::Substitute(R"(
@T.prim_func
def main(A: T.Buffer((64,), "float32"), C: T.Buffer((32,), "float32")):
    for i in range(32):
        with T.block("C"):
            vi = T.axis.spatial(32, i)
            C[vi] = A[$0]
)",
                                                        index));
    const auto c = DescribeBlock(module.functions[0], "C");
    ASSERT_TRUE(c);
    EXPECT_FALSE(c->reads[0].lags[0]) << index;
  }
}

TEST(BlockInfoTest, SumsWithoutASpatialAxisHaveNoContiguousOne) {
  const Module module = ParseProgram(R"(
@T.prim_func
def main(A: T.Buffer((64,), "float32"), C: T.Buffer((1,), "float32")):
    for i in range(64):
        with T.block("C"):
            vi = T.axis.reduce(64, i)
            with T.init():
                C[0] = T.float32(0)
            C[0] = C[0] + A[vi]
)");
  const auto c = DescribeBlock(module.functions[0], "C");
  ASSERT_TRUE(c);
  EXPECT_EQ(c->ContiguousAxis(), -1);
  EXPECT_TRUE(c->ReducesContiguously());
}

TEST(BlockInfoTest, LoopsThatAreNotTheAxesAreNotDescribed) {
  const Module module = ParseProgram(kChain);
  EXPECT_FALSE(DescribeBlock(module.functions[0], "tile"));
  EXPECT_FALSE(DescribeBlock(module.functions[0], "no such block"));
}

TEST(BlockInfoTest, PartsOfAnOutputAndWhatChoosesBetweenThem) {
  const Module module = ParseProgram(R"(
@T.prim_func
def main(A: T.Buffer((20, 74), "float32"), B: T.Buffer((20, 74), "float32")):
    for i, q, j in T.grid(20, 2, 37):
        with T.block("B"):
            vi, vq, vj = T.axis.remap("SSS", [i, q, j])
            B[vi, vq * 37 + vj] = T.if_then_else(vq == 0, A[vi, vj], T.if_then_else(vi == 3, A[vi, vj + 1], A[vi, vj + 37]))
)");
  const auto b = DescribeBlock(module.functions[0], "B");
  ASSERT_TRUE(b);
  EXPECT_EQ(b->ContiguousAxis(), -1);
  EXPECT_EQ(b->VectorAxis(), 2);
  EXPECT_TRUE(b->axes[1].chooses);
  EXPECT_FALSE(b->axes[0].chooses) << "has many values";
}

TEST(BlockInfoTest, WhatIsMadeOfConstantsAheadIsConstant) {
  for (const char* mark : {"True", "False"}) {
    const Module module = ParseProgram(std::string(R"(
@T.prim_func
def main(X: T.Buffer((8,), "float32"), W: T.Buffer((8,), "float32"),
         Y: T.Buffer((8,), "float32")):
    T.func_attr({"layout_free_buffers": [1]})
    P = T.alloc_buffer((8,), "float32")
    for i in range(8):
        with T.block("P"):
            vi = T.axis.spatial(8, i)
            T.block_attr({"meta_schedule.layout_rewrite_preproc": )") +
                                       mark + R"(})
            P[vi] = W[vi] * T.float32(2)
    for i in range(8):
        with T.block("Y"):
            vi = T.axis.spatial(8, i)
            Y[vi] = X[vi] * P[vi]
)");
    const auto y = DescribeBlock(module.functions[0], "Y");
    ASSERT_TRUE(y);
    EXPECT_FALSE(y->reads[0].layout_free);
    EXPECT_EQ(y->reads[1].layout_free, std::string(mark) == "True");
  }
}

}  // namespace
}  // namespace kiln
