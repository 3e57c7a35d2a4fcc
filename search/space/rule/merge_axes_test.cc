// Which axes become one: programs as text, the extents of the axes afterwards,
// and what is left alone. What comes out computes the same, also when tiles are
// made of it.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/substitute.h"
#include "kiln/ir/te/workloads.h"
#include "kiln/search/space/rule/block_info.h"
#include "kiln/search/space/rule/rules.h"
#include "kiln/search/space/rule/testing.h"

namespace kiln {
namespace {

// Pixels of 2 images of $0 x $1 with 12 channels, each by one matrix, and what
// `last` makes of them.
Module Pixels(int height, int width, const std::string& last) {
  return ParseProgram(absl::Substitute(R"(
@T.prim_func
def main(A: T.Buffer((2, $0, $1, 12), "float32"), W: T.Buffer((12, 16), "float32"), R: T.Buffer((2, $0, $1, 16), "float32"), C: T.Buffer((2, $0, $1, 16), "float32")):
    S = T.alloc_buffer((2, $0, $1, 16))
    for n, h, w, c, k in T.grid(2, $0, $1, 16, 12):
        with T.block("S"):
            vn, vh, vw, vc, vk = T.axis.remap("SSSSR", [n, h, w, c, k])
            with T.init():
                S[vn, vh, vw, vc] = T.float32(0)
            S[vn, vh, vw, vc] = S[vn, vh, vw, vc] + A[vn, vh, vw, vk] * W[vk, vc]
    for n, h, w, c in T.grid(2, $0, $1, 16):
        with T.block("C"):
            vn, vh, vw, vc = T.axis.remap("SSSS", [n, h, w, c])
            C[vn, vh, vw, vc] = $2
)",
                                       height, width, last));
}

// The extents of the block's axes in the one schedule that the rule makes.
std::vector<int64_t> AxesOf(const Module& module, const std::string& block) {
  const auto made = ApplyRule(MergeAxes, module, block);
  if (made.size() != 1) return {};
  ExpectSameMeaning(module, made);
  const auto info = DescribeBlock(*made[0].state().functions[0], block);
  std::vector<int64_t> extents;
  for (const AxisInfo& axis : info->axes) extents.push_back(axis.extent);
  return extents;
}

using Extents = std::vector<int64_t>;

TEST(MergeAxesTest, PixelsOfAllImagesAreOneAxis) {
  EXPECT_EQ(AxesOf(Pixels(5, 7, "S[vn, vh, vw, vc]"), "S"),
            (Extents{70, 16, 12}));
  EXPECT_EQ(AxesOf(Pixels(5, 7, "S[vn, vh, vw, vc] + R[vn, vh, vw, vc]"), "S"),
            (Extents{70, 16, 12}));
}

TEST(MergeAxesTest, ResultsThatAreTransposedKeepTheirAxesThere) {
  const Module module = ParseProgram(R"(
@T.prim_func
def main(A: T.Buffer((5, 7, 12), "float32"), W: T.Buffer((12, 8, 3), "float32"), R: T.Buffer((3,), "float32"), C: T.Buffer((8, 7, 5, 3), "float32")):
    S = T.alloc_buffer((5, 7, 8, 3))
    for h, w, c, d, k in T.grid(5, 7, 8, 3, 12):
        with T.block("S"):
            vh, vw, vc, vd, vk = T.axis.remap("SSSSR", [h, w, c, d, k])
            with T.init():
                S[vh, vw, vc, vd] = T.float32(0)
            S[vh, vw, vc, vd] = S[vh, vw, vc, vd] + A[vh, vw, vk] * W[vk, vc, vd]
    for c, w, h, d in T.grid(8, 7, 5, 3):
        with T.block("C"):
            vc, vw, vh, vd = T.axis.remap("SSSS", [c, w, h, d])
            C[vc, vw, vh, vd] = S[vh, vw, vc, vd] + R[vd]
)");
  EXPECT_EQ(AxesOf(module, "S"), (Extents{35, 24, 12}));
}

// Tiles of what was merged are right, too, whatever extents leave over.
TEST(MergeAxesTest, TilesOfPixelsComputeTheSame) {
  for (const auto& [height, width] : {std::pair(3, 5), {7, 7}, {1, 9}}) {
    const Module module = Pixels(height, width,
                                 "T.max(S[vn, vh, vw, vc] + R[vn, vh, vw, vc], "
                                 "T.float32(0))");
    for (const Schedule& merged : ApplyRule(MergeAxes, module, "S")) {
      const Module pixels = merged.state().ToModule(module);
      const auto made = ApplyRule(RegisterTiling, pixels, "S");
      ASSERT_FALSE(made.empty());
      ExpectSameMeaning(pixels, made);
    }
  }
}

TEST(MergeAxesTest, OneOfAWorkloadGivesItsSumsBackByACopy) {
  const Module module = *MakeWorkload("c2d:7,7,16,24,1,1,0");
  for (const Schedule& inlined : ApplyRule(AutoInline, module, "PadInput")) {
    const Module tight = inlined.state().ToModule(module);
    EXPECT_EQ(AxesOf(tight, "conv2d_nhwc"), (Extents{1, 49, 24, 1, 1, 16}));
  }
}

// As graphs give it: taps and images of one value that others were inlined
// into.
TEST(MergeAxesTest, IteratorsOfOneValueDoNotHinder) {
  const Module module = ParseProgram(R"(
@T.prim_func
def main(A: T.Buffer((1, 7, 5, 12), "float32"), W: T.Buffer((1, 1, 12, 16), "float32"), B: T.Buffer((1, 1, 1, 16), "float32"), C: T.Buffer((1, 7, 5, 16), "float32")):
    S = T.alloc_buffer((1, 7, 5, 16))
    for n, h, w, c, y, x, k in T.grid(1, 7, 5, 16, 1, 1, 12):
        with T.block("S"):
            vn, vh, vw, vc, vy, vx, vk = T.axis.remap("SSSSRRR", [n, h, w, c, y, x, k])
            with T.init():
                S[vn, vh, vw, vc] = T.float32(0)
            S[vn, vh, vw, vc] = S[vn, vh, vw, vc] + A[0, vh * 1 + vy * 1, vw * 1 + vx * 1, vk] * W[vy, vx, vk, vc]
    for n, h, w, c in T.grid(1, 7, 5, 16):
        with T.block("C"):
            vn, vh, vw, vc = T.axis.remap("SSSS", [n, h, w, c])
            C[vn, vh, vw, vc] = T.max(S[0, vh, vw, vc] + B[0, 0, 0, vc], T.float32(0))
)");
  const auto made = ApplyRule(MergeAxes, module, "S");
  ASSERT_EQ(made.size(), 1u);
  ExpectSameMeaning(module, made);
  const auto info = DescribeBlock(*made[0].state().functions[0], "S");
  ASSERT_EQ(info->axes.size(), 6u);
  EXPECT_EQ(info->axes[1].extent, 35);
  EXPECT_EQ(info->reads[0].strides[1], 12.0);
}

// A consumer that adds one row to all rows of the image does not move on
// between two of them.
TEST(MergeAxesTest, WhatTheConsumerSharesKeepsItsAxes) {
  EXPECT_EQ(AxesOf(Pixels(5, 7, "S[vn, vh, vw, vc] + R[0, vh, vw, vc]"), "S"),
            (Extents{2, 35, 16, 12}));
  EXPECT_EQ(AxesOf(Pixels(5, 7, "S[vn, vh, vw, vc] + R[vn, 0, vw, vc]"), "S"),
            (Extents{}));
}

// Two sums that are added: whatever is done to one, the other would see.
TEST(MergeAxesTest, SumsWithACommonConsumerAreLeftAlone) {
  const Module two = ParseProgram(R"(
@T.prim_func
def main(A: T.Buffer((5, 7, 12), "float32"), W: T.Buffer((12, 16), "float32"), C: T.Buffer((5, 7, 16), "float32")):
    S = T.alloc_buffer((5, 7, 16))
    Z = T.alloc_buffer((5, 7, 16))
    for h, w, c, k in T.grid(5, 7, 16, 12):
        with T.block("S"):
            vh, vw, vc, vk = T.axis.remap("SSSR", [h, w, c, k])
            with T.init():
                S[vh, vw, vc] = T.float32(0)
            S[vh, vw, vc] = S[vh, vw, vc] + A[vh, vw, vk] * W[vk, vc]
    for h, w, c, k in T.grid(5, 7, 16, 12):
        with T.block("Z"):
            vh, vw, vc, vk = T.axis.remap("SSSR", [h, w, c, k])
            with T.init():
                Z[vh, vw, vc] = T.float32(0)
            Z[vh, vw, vc] = Z[vh, vw, vc] + A[vh, vw, vk] * W[vk, vc]
    for h, w, c in T.grid(5, 7, 16):
        with T.block("C"):
            vh, vw, vc = T.axis.remap("SSS", [h, w, c])
            C[vh, vw, vc] = S[vh, vw, vc] + Z[vh, vw, vc]
)");
  EXPECT_TRUE(ApplyRule(MergeAxes, two, "S").empty());
}

TEST(MergeAxesTest, StepsOverRowsAndTapsAreLeftAlone) {
  for (const char* text :
       {"c2d:14,14,16,24,1,2,0", "c2d:8,8,16,24,3,1,1", "dep:8,8,16,3,1,1"}) {
    const Module module = *MakeWorkload(text);
    for (const char* block : {"conv2d_nhwc", "depth_conv2d_nhwc"}) {
      EXPECT_TRUE(ApplyRule(MergeAxes, module, block).empty()) << text;
    }
  }
  EXPECT_TRUE(ApplyRule(MergeAxes, *MakeWorkload("gmm:64,64,64"), "Z").empty());
}

// Each product of a batch has operands of its own.
TEST(MergeAxesTest, BatchesOfProductsAreLeftAlone) {
  EXPECT_TRUE(ApplyRule(MergeAxes, ParseProgram(R"(
@T.prim_func
def main(A: T.Buffer((3, 5, 8), "float32"), B: T.Buffer((3, 8, 16), "float32"), C: T.Buffer((3, 5, 16), "float32")):
    for b, i, j, k in T.grid(3, 5, 16, 8):
        with T.block("C"):
            vb, vi, vj, vk = T.axis.remap("SSSR", [b, i, j, k])
            with T.init():
                C[vb, vi, vj] = T.float32(0)
            C[vb, vi, vj] = C[vb, vi, vj] + A[vb, vi, vk] * B[vb, vk, vj]
)"),
                        "C")
                  .empty());
}

// Products of `rows` with columns (d, c), as many as `shape` says.
std::vector<int64_t> ColumnsOf(const std::string& shape) {
  const Module module = ParseProgram(absl::Substitute(R"(
@T.prim_func
def main(A: T.Buffer((2, 6, 8), "float32"), B: T.Buffer(($0, 8), "float32"), C: T.Buffer((2, 6, $0), "float32")):
    for i, j, d, c, k in T.grid(2, 6, $0, 8):
        with T.block("C"):
            vi, vj, vd, vc, vk = T.axis.remap("SSSSR", [i, j, d, c, k])
            with T.init():
                C[vi, vj, vd, vc] = T.float32(0)
            C[vi, vj, vd, vc] = C[vi, vj, vd, vc] + A[vi, vj, vk] * B[vd, vc, vk]
)",
                                                      shape));
  const auto made = ApplyRule(MergeColumns, module, "C");
  if (made.size() != 1) return {};
  ExpectSameMeaning(module, made);
  const auto info = DescribeBlock(*made[0].state().functions[0], "C");
  std::vector<int64_t> extents;
  for (const AxisInfo& axis : info->axes) extents.push_back(axis.extent);
  return extents;
}

// Rows, which merge later, keep their axes.
TEST(MergeColumnsTest, FewColumnsGoOnFromOthers) {
  EXPECT_EQ(ColumnsOf("9, 3"), (Extents{2, 6, 27, 8}));
  EXPECT_EQ(ColumnsOf("2, 15"), (Extents{2, 6, 30, 8}));
  EXPECT_TRUE(ColumnsOf("9, 16").empty());
  EXPECT_TRUE(ColumnsOf("1, 3").empty());
}

}  // namespace
}  // namespace kiln
