#include "kiln/tools/support/columns.h"

#include <gtest/gtest.h>

namespace kiln {
namespace {

TEST(FitColumnsTest, ShortTextIsFilledWithSpaces) {
  EXPECT_EQ(FitColumns("gmm", 5), "gmm  ");
  EXPECT_EQ(FitColumns("", 5), "     ");
  EXPECT_EQ(FitColumns("exact", 5), "exact");
}

TEST(FitColumnsTest, LongTextLosesItsMiddle) {
  EXPECT_EQ(FitColumns("abcdefghij", 7), "ab...ij");
  EXPECT_EQ(FitColumns("abcdefghij", 8), "abc...ij");
  EXPECT_EQ(FitColumns("abcdefghij", 5), "a...j");
}

TEST(FitColumnsTest, CharactersStayWhole) {
  EXPECT_EQ(ColumnsOf("A: 2×3×4"), 8u);
  EXPECT_EQ(FitColumns("1×2", 5), "1×2  ");
  EXPECT_EQ(FitColumns("××××××××", 7), "××...××");
  // Bytes that are no UTF-8 are no crash.
  EXPECT_EQ(FitColumns("\xff\xfe\x80", 6).substr(0, 3), "\xff\xfe\x80");
}

}  // namespace
}  // namespace kiln
