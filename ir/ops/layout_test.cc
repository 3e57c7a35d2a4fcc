#include "kiln/ir/ops/layout.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kiln/base/status_matchers.h"
#include "kiln/ir/arith/analyzer.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;

std::vector<int64_t> Numbers(const std::vector<Expr>& list) {
  std::vector<int64_t> numbers;
  Analyzer analyzer;
  for (const Expr& e : list) {
    const Expr simple = analyzer.Simplify(e);
    numbers.push_back(AsInt(simple) ? *AsInt(simple) : -1);
  }
  return numbers;
}

std::vector<Expr> Ints(const std::vector<int64_t>& values) {
  std::vector<Expr> list;
  for (const int64_t value : values) list.push_back(Int(value));
  return list;
}

Layout Of(std::string_view text) { return *Layout::Parse(text); }

TEST(LayoutTest, AxesAreReordered) {
  const Layout nhwc = Of("NHWC");
  EXPECT_EQ(nhwc.rank(), 4);
  EXPECT_EQ(Numbers(nhwc.Extents("NCHW", Ints({2, 3, 4, 5}))),
            (std::vector<int64_t>{2, 4, 5, 3}));
  EXPECT_EQ(Numbers(nhwc.AxisExtents("NCHW", Ints({2, 4, 5, 3}))),
            (std::vector<int64_t>{2, 3, 4, 5}));
}

TEST(LayoutTest, BlocksAreWhole) {
  const Layout packed = Of("NCHW16c");
  EXPECT_EQ(Numbers(packed.Extents("NCHW", Ints({2, 33, 4, 5}))),
            (std::vector<int64_t>{2, 3, 4, 5, 16}));
  EXPECT_EQ(Numbers(packed.AxisExtents("NCHW", Ints({2, 3, 4, 5, 16}))),
            (std::vector<int64_t>{2, 48, 4, 5}));
  EXPECT_EQ(Numbers(packed.Indices("NCHW", Ints({1, 35, 2, 4}))),
            (std::vector<int64_t>{1, 2, 2, 4, 3}));
  EXPECT_EQ(Numbers(packed.AxisIndices("NCHW", Ints({1, 2, 2, 4, 3}))),
            (std::vector<int64_t>{1, 35, 2, 4}));
}

TEST(LayoutTest, PartsOfOneAxisNestFromLeftToRight) {
  const Layout nested = Of("OI4o2o");
  for (int64_t o = 0; o < 24; ++o) {
    const std::vector<Expr> at = nested.Indices("OI", Ints({o, 1}));
    EXPECT_EQ(Numbers(at), (std::vector<int64_t>{o / 8, 1, o / 2 % 4, o % 2}));
    EXPECT_EQ(Numbers(nested.AxisIndices("OI", at)),
              (std::vector<int64_t>{o, 1}));
  }
}

TEST(LayoutTest, ASymbolicExtentIsCountedInBlocks) {
  const Var c("c");
  Analyzer analyzer;
  const Layout packed = Of("NC8c");
  const Expr blocks = packed.Extents("NC", {Int(1), Mul(c, Int(8))})[1];
  EXPECT_TRUE(analyzer.CanProveEqual(blocks, c));
}

TEST(LayoutTest, AxesAreThoseOfAnotherLayoutOrNot) {
  EXPECT_TRUE(Of("NHWC4c").HasAxes("NCHW"));
  EXPECT_FALSE(Of("NHW").HasAxes("NCHW"));
  EXPECT_FALSE(Of("OIHW").HasAxes("NCHW"));
}

TEST(LayoutTest, WhatIsNoLayoutIsRefused) {
  EXPECT_THAT(Layout::Parse("").status().message(), HasSubstr("empty"));
  EXPECT_THAT(Layout::Parse("NCN").status().message(), HasSubstr("twice"));
  EXPECT_THAT(Layout::Parse("N16c").status().message(), HasSubstr("lacks"));
  EXPECT_THAT(Layout::Parse("NC16").status().message(), HasSubstr("number"));
  EXPECT_THAT(Layout::Parse("NCc").status().message(), HasSubstr("letter"));
  EXPECT_THAT(Layout::Parse("NC0c").status().message(), HasSubstr("letter"));
  EXPECT_THAT(Layout::Parse("NC99999999999999999999c").status().message(),
              HasSubstr("too large"));
  EXPECT_THAT(Layout::Parse("NC65536c65536c").status().message(),
              HasSubstr("too large"));
}

}  // namespace
}  // namespace kiln
