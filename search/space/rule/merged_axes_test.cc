#include "kiln/search/space/rule/merged_axes.h"

#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_join.h"
#include "kiln/ir/text/printer/printer.h"

namespace kiln {
namespace {

std::string Text(const IndexMap& map) {
  return absl::StrJoin(map.outputs, ", ", [](std::string* out, const Expr& e) {
    out->append(PrintExpr(e));
  });
}

TEST(MergedAxesTest, OfNoneEachStays) {
  EXPECT_EQ(Text(MergeAxes({3, 5}, {})), "d0, d1");
  EXPECT_EQ(Text(MergeAxes({}, {})), "");
}

TEST(MergedAxesTest, NeighboursBecomeOne) {
  EXPECT_EQ(Text(MergeAxes({3, 5, 7}, {false, true})), "d0 * 5 + d1, d2");
  EXPECT_EQ(Text(MergeAxes({3, 5, 7}, {false, false, true})),
            "d0, d1 * 7 + d2");
  EXPECT_EQ(MergeAxes({3, 5, 7}, {false, true}).inputs.size(), 3u);
}

TEST(MergedAxesTest, RunsBecomeOne) {
  EXPECT_EQ(Text(MergeAxes({3, 5, 7}, {false, true, true})),
            "(d0 * 5 + d1) * 7 + d2");
  EXPECT_EQ(Text(MergeAxes({2, 3, 4, 5}, {false, true, false, true})),
            "d0 * 3 + d1, d2 * 5 + d3");
}

TEST(MergedAxesTest, TheLastDimensions) {
  EXPECT_EQ(Text(MergeLastDims(3, 7)), "d0, d1 * 7 + d2");
  EXPECT_EQ(Text(MergeLastDims(2, 4)), "d0 * 4 + d1");
}

TEST(MergedAxesTest, AFactorOutsideOrInsideOfAnAxis) {
  EXPECT_EQ(Text(MergeFactor(3, 1, 7, FactorPlace::kOutside)),
            "d1, d0 * 7 + d2, d3");
  EXPECT_EQ(Text(MergeFactor(2, 0, 4, FactorPlace::kInside)),
            "d1 * 4 + d0, d2");
  EXPECT_EQ(MergeFactor(3, 1, 7, FactorPlace::kOutside).inputs.size(), 4u);
}

}  // namespace
}  // namespace kiln
