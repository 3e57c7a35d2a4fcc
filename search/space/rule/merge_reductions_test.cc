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

using Extents = std::vector<int64_t>;

// Sums over d, h and w of `term`, where A is 3 x 4 x 5 x 7 of each channel, and
// B 4 x 5 x 7.
Module Sums(const std::string& term) {
  return ParseProgram(absl::Substitute(R"(
@T.prim_func
def main(A: T.Buffer((3, 4, 5, 7), "float32"), B: T.Buffer((4, 5, 7), "float32"), S: T.Buffer((3,), "float32")):
    for c, d, h, w in T.grid(3, 4, 5, 7):
        with T.block("S"):
            vc, vd, vh, vw = T.axis.remap("SRRR", [c, d, h, w])
            with T.init():
                S[vc] = T.float32(0)
            S[vc] = S[vc] + $0
)",
                                       term));
}

// The extents of the axes in the one schedule that the rule makes; none where
// it makes none.
Extents AxesOf(const Module& module, const std::string& block) {
  const auto made = ApplyRule(MergeReductions, module, block);
  if (made.size() != 1) return {};
  ExpectSameMeaning(module, made);
  Extents extents;
  const auto info = DescribeBlock(*made[0].state().functions[0], block);
  for (const AxisInfo& axis : info->axes) extents.push_back(axis.extent);
  return extents;
}

TEST(MergeReductionsTest, RowsOneBehindTheOtherAreOne) {
  EXPECT_EQ(AxesOf(Sums("A[vc, vd, vh, vw]"), "S"), (Extents{3, 140}));
  EXPECT_EQ(AxesOf(Sums("A[vc, vd, vh, vw] * B[vd, vh, vw]"), "S"),
            (Extents{3, 140}));
}

TEST(MergeReductionsTest, RowsWithGapsAreLeftApart) {
  // Sums along rows and columns, of parts of rows, and of rows backwards.
  EXPECT_EQ(AxesOf(Sums("A[vc, vd, vh, vw] * B[vh % 4, vd, vw]"), "S"),
            Extents{});
  EXPECT_EQ(AxesOf(Sums("A[vc, vd, vh, vw] * B[vd, vh, 0]"), "S"), Extents{});
  EXPECT_EQ(AxesOf(Sums("A[vc, 3 - vd, 4 - vh, 6 - vw]"), "S"), Extents{});
}

TEST(MergeReductionsTest, WholeRowsOfTheOnlyOperandAreOne) {
  EXPECT_EQ(AxesOf(*MakeWorkload("avg:5,5,3,5,1,0"), "total"),
            (Extents{1, 1, 1, 3, 25}));
  EXPECT_EQ(AxesOf(*MakeWorkload("avg:5,6,3,5,1,0"), "total"), Extents{});
  // All but the last, of which parts or other elements are read.
  EXPECT_EQ(AxesOf(Sums("A[vc, vd, vh, vw // 2]"), "S"), (Extents{3, 20, 7}));
  EXPECT_EQ(AxesOf(Sums("A[vc, vd, vh, 6 - vw]"), "S"), (Extents{3, 20, 7}));
}

TEST(MergeReductionsTest, TapsAndSumsWithVectorsOfOutputsAreLeftAlone) {
  const Module conv = *MakeWorkload("c2d:6,6,8,16,3,1,0");
  EXPECT_EQ(AxesOf(conv, "conv2d_nhwc"), Extents{});
  const Module product = *MakeWorkload("gmm:16,16,16");
  EXPECT_EQ(AxesOf(product, "Z"), Extents{});
}

}  // namespace
}  // namespace kiln
