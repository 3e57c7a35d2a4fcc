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

}  // namespace
}  // namespace kiln::verify_internal
