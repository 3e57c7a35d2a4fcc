#include "kiln/ir/verify/division.h"

#include <gtest/gtest.h>

namespace kiln::verify_internal {
namespace {

TEST(DivisionTest, QuotientsGrowWithWhatIsDivided) {
  Analyzer analyzer;
  Var v("v"), w("w");
  const Expr here = FloorDiv(v, Int(4)),
             next = FloorDiv(Add(v, Int(1)), Int(4));
  EXPECT_TRUE(ProvesByDivision(here, next, &analyzer));
  EXPECT_TRUE(ProvesByDivision(Add(here, w), Add(w, next), &analyzer));
  EXPECT_FALSE(ProvesByDivision(next, here, &analyzer));
  EXPECT_FALSE(ProvesByDivision(Add(here, Int(1)), next, &analyzer));
  EXPECT_FALSE(
      ProvesByDivision(here, FloorDiv(Add(v, Int(1)), Int(3)), &analyzer));
}

TEST(DivisionTest, ANumberBelowAMultipleOfASymbolHasASmallQuotient) {
  Analyzer analyzer;
  Var n("n"), f("f");
  analyzer.Bind(n, Range{Int(0), Int(1000)});
  analyzer.Bind(f, Range{Int(0), Mul(n, Int(14))});
  const Expr j = FloorDiv(f, n);
  EXPECT_TRUE(ProvesByDivision(j, Int(13), &analyzer));
  EXPECT_FALSE(ProvesByDivision(j, Int(12), &analyzer));
}

TEST(DivisionTest, ANumberBelowASymbolicMultipleHasASmallerQuotient) {
  Analyzer analyzer;
  Var n("n"), f("f");
  analyzer.Bind(f, Range{Int(0), Mul(n, Int(2))});
  const Expr next = Add(FloorDiv(f, Int(2)), Int(1));
  EXPECT_TRUE(ProvesByDivision(next, n, &analyzer));
  EXPECT_FALSE(ProvesByDivision(Add(next, Int(1)), n, &analyzer));
}

TEST(DivisionTest, ARemainderIsNoMoreThanWhatIsDivided) {
  Analyzer analyzer;
  Var i("i"), j("j");
  analyzer.Bind(i, Range{Int(0), Int(2)});
  analyzer.Bind(j, Range{Int(0), Int(2)});
  const Expr at = Add(Add(Mul(i, Int(4)), Mul(j, Int(2))), Int(1));
  const Expr rest = FloorMod(at, Int(5));
  const Expr most = Add(Mul(i, Int(4)), Int(3));
  EXPECT_TRUE(ProvesByDivision(rest, most, &analyzer));
  EXPECT_TRUE(ProvesByDivision(rest, Min(most, Int(4)), &analyzer));
  EXPECT_FALSE(ProvesByDivision(rest, Min(most, Int(3)), &analyzer));
  EXPECT_FALSE(ProvesByDivision(rest, Sub(most, Int(1)), &analyzer));
  EXPECT_FALSE(
      ProvesByDivision(FloorMod(Sub(i, Int(1)), Int(5)), i, &analyzer));
}

TEST(DivisionTest, ANumberFillsNoMoreThanItsMultipleRoundedUp) {
  Analyzer analyzer;
  Var n("n"), i("i"), outer("outer"), inner("inner");
  const auto positive = analyzer.Assume(LE(Int(1), n));
  analyzer.Bind(outer, Range{Int(0), FloorDiv(Add(n, Int(7)), Int(8))});
  analyzer.Bind(inner, Range{Int(0), Int(8)});
  const auto where = analyzer.Assume(LT(Add(Mul(outer, Int(8)), inner), n));
  analyzer.Bind(i, Range{Int(0), n});
  const auto known_already = analyzer.Assume(LT(i, n));
  const Expr filled = Mul(FloorDiv(Add(n, Int(4)), Int(5)), Int(5));
  const Expr next = Add(i, Int(1));
  EXPECT_TRUE(ProvesByDivision(n, filled, &analyzer));
  EXPECT_FALSE(ProvesByDivision(Add(n, Int(1)), filled, &analyzer));
  EXPECT_TRUE(ProvesByDivision(next, filled, &analyzer));
  EXPECT_FALSE(ProvesByDivision(Add(next, Int(1)), filled, &analyzer));
  // Below five, n; else the multiple of five.
  const Expr boxed = Sub(Add(filled, Min(Sub(n, Int(1)), Int(4))), Int(4));
  EXPECT_TRUE(ProvesByDivision(next, boxed, &analyzer));
  EXPECT_FALSE(ProvesByDivision(Add(next, Int(1)), boxed, &analyzer));
}

}  // namespace
}  // namespace kiln::verify_internal
