// Which sums over groups of neighbouring elements go by columns, and that the
// sums stay the same.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/substitute.h"
#include "kiln/search/space/rule/block_info.h"
#include "kiln/search/space/rule/rules.h"
#include "kiln/search/space/rule/testing.h"

namespace kiln {
namespace {

// M[n, g] += a term, over `pixels` and `inner` elements of each of six groups.
Module Sums(int pixels, int inner,
            const std::string& term = "X[vn, vp, vg, vc]") {
  return ParseProgram(absl::Substitute(R"(
@T.prim_func
def main(X: T.Buffer((2, $0, 6, $1), "float32"), A: T.Buffer((2, 6), "float32"), B: T.Buffer(($1,), "float32"), M: T.Buffer((2, 6), "float32")):
    for n, g, p, c in T.grid(2, 6, $0, $1):
        with T.block("M"):
            vn, vg, vp, vc = T.axis.remap("SSRR", [n, g, p, c])
            with T.init():
                M[vn, vg] = T.float32(0)
            M[vn, vg] = M[vn, vg] + $2
)",
                                       pixels, inner, term));
}

// Columns of all groups, after a look at the meaning; 0: the sum stays.
int64_t ColumnsOf(const Module& module) {
  const auto made = ApplyRule(ColumnGroups, module, "M");
  if (made.size() != 1) return 0;
  const auto programs = ExpectSameMeaning(module, made);
  const auto sums = DescribeBlock(programs[0], "M_rf");
  EXPECT_TRUE(sums);
  if (!sums) return 0;
  EXPECT_EQ(sums->ContiguousAxis(), 1);
  EXPECT_EQ(sums->reads[0].strides[1], 1.0);
  return sums->axes[1].extent;
}

TEST(ColumnGroupsTest, SumsAndDeviationsOfGroups) {
  EXPECT_EQ(ColumnsOf(Sums(50, 4)), 24);
  EXPECT_EQ(ColumnsOf(Sums(50, 5)), 30);
  EXPECT_EQ(ColumnsOf(Sums(16, 64)), 384);
  EXPECT_EQ(ColumnsOf(Sums(50, 4,
                           "(X[vn, vp, vg, vc] - A[vn, vg]) * "
                           "(X[vn, vp, vg, vc] - A[vn, vg])")),
            24);
}

TEST(ColumnGroupsTest, OtherSumsStay) {
  EXPECT_EQ(ColumnsOf(Sums(50, 65)), 0) << "rows of vectors by themselves";
  EXPECT_EQ(ColumnsOf(Sums(15, 4)), 0) << "few pixels";
  EXPECT_EQ(ColumnsOf(Sums(50, 4, "X[vn, vp, vg, vc] * B[vc]")), 0)
      << "not all goes on from group to group";
  EXPECT_EQ(ColumnsOf(Sums(50, 4, "X[vn, vp, vg, 3 - vc]")), 0);
}

}  // namespace
}  // namespace kiln
