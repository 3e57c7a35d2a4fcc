// Forms that schedules and the peer's programs rely on.
#include "kiln/ir/arith/analyzer.h"

#include <limits>

#include "gtest/gtest.h"
#include "kiln/ir/arith/random_expr.h"

namespace kiln {
namespace {

constexpr int64_t kMax = std::numeric_limits<int64_t>::max();

class AnalyzerTest : public testing::Test {
 protected:
  AnalyzerTest() {
    analyzer_.Bind(i_, Until(16));
    analyzer_.Bind(j_, Until(8));
    analyzer_.Bind(k_, Until(8));
    analyzer_.Bind(f_, Until(1024));
  }
  static Range Until(int64_t extent) { return {Int(0), Int(extent)}; }
  std::string Simple(const Expr& e) { return ToText(analyzer_.Simplify(e)); }

  Var i_{"i"}, j_{"j"}, k_{"k"}, f_{"f"}, n_{"n"}, m_{"m"}, u_{"u"};
  Analyzer analyzer_;
};

TEST_F(AnalyzerTest, SumsAreOrderedByCoefficient) {
  EXPECT_EQ(Simple(Add(k_, Add(Mul(j_, Int(8)), Mul(i_, Int(64))))),
            "(((i * 64) + (j * 8)) + k)");
  EXPECT_EQ(Simple(Sub(Add(Int(3), j_), u_)), "((j - u) + 3)");
  EXPECT_EQ(Simple(Sub(Int(3), u_)), "(3 - u)");
  EXPECT_EQ(Simple(Add(Mul(u_, Int(-1)), Int(3))), "(3 - u)");
  EXPECT_EQ(Simple(Add(u_, Add(j_, i_))), "((u + j) + i)");
  EXPECT_EQ(Simple(Sub(Add(u_, j_), u_)), "j");
}

// Files can hold such loops; they run not at all.
TEST_F(AnalyzerTest, TheLeastExtentThereIsCountsNoFurther) {
  analyzer_.Bind(u_, Until(std::numeric_limits<int64_t>::min()));
  EXPECT_EQ(Simple(Add(u_, Int(0))), "u");
}

TEST_F(AnalyzerTest, NormalFormsKeepTheirNode) {
  for (const Expr& e :
       {Add(Add(Mul(i_, Int(64)), Mul(j_, Int(8))), k_), Sub(u_, Int(1)),
        FloorDiv(FloorMod(f_, Int(128)), Int(8)), Expr(u_), Int(4),
        And(LE(Int(3), f_), LT(f_, Int(227))), LT(u_, n_)}) {
    EXPECT_EQ(analyzer_.Simplify(e), e) << ToText(e);
  }
}

// As the index of a flattened image, in a loop that was split.
TEST_F(AnalyzerTest, DigitsOfASumAreAddedUp) {
  const Expr x = Add(Mul(f_, Int(16)), i_);
  const Expr low = FloorMod(x, Int(7));
  const Expr middle = FloorMod(FloorDiv(x, Int(7)), Int(7));
  const Expr high = FloorDiv(x, Int(49));
  EXPECT_EQ(Simple(Add(Mul(middle, Int(7)), low)), "(((f * 16) + i) % 49)");
  EXPECT_EQ(Simple(Add(Mul(high, Int(49)), Add(Mul(middle, Int(7)), low))),
            "((f * 16) + i)");
  const Expr other = FloorMod(Add(x, Int(1)), Int(7));
  EXPECT_NE(Simple(Add(Mul(middle, Int(7)), other)),
            Simple(Add(Mul(middle, Int(7)), low)));
}

TEST_F(AnalyzerTest, DivisionsOfTiles) {
  const Expr tile = Add(Add(Mul(i_, Int(64)), Mul(j_, Int(8))), k_);
  EXPECT_EQ(Simple(FloorDiv(tile, Int(64))), "i");
  EXPECT_EQ(Simple(FloorMod(tile, Int(64))), "((j * 8) + k)");
  EXPECT_EQ(Simple(FloorMod(FloorDiv(tile, Int(8)), Int(8))), "j");
  EXPECT_EQ(Simple(FloorDiv(tile, Int(16))), "((i * 4) + (j // 2))");
  EXPECT_EQ(Simple(FloorDiv(FloorDiv(u_, Int(4)), Int(8))), "(u // 32)");
  EXPECT_EQ(Simple(FloorMod(FloorDiv(u_, Int(8)), Int(16))),
            "((u % 128) // 8)");
  EXPECT_EQ(Simple(FloorMod(FloorMod(u_, Int(32)), Int(8))), "(u % 8)");
  EXPECT_EQ(Simple(FloorDiv(Sub(u_, Int(1)), Int(4))), "(((u + 3) // 4) - 1)");
}

TEST_F(AnalyzerTest, DigitsJoin) {
  EXPECT_EQ(Simple(Add(Mul(FloorDiv(f_, Int(8)), Int(4)),
                       FloorDiv(FloorMod(f_, Int(8)), Int(2)))),
            "(f // 2)");
  EXPECT_EQ(
      Simple(Add(Mul(FloorDiv(u_, Int(8)), Int(8)), FloorMod(u_, Int(8)))),
      "u");
  EXPECT_EQ(Simple(Sub(u_, Mul(FloorDiv(u_, Int(8)), Int(8)))), "(u % 8)");
  const Expr sum = Add(u_, Mul(n_, Int(3)));
  EXPECT_EQ(
      Simple(Add(Mul(FloorDiv(sum, Int(8)), Int(8)), FloorMod(sum, Int(8)))),
      "((n * 3) + u)");
}

TEST_F(AnalyzerTest, ConditionsAreDecidedOrReduced) {
  const Expr tile = Add(Mul(i_, Int(8)), j_);
  EXPECT_EQ(Simple(LT(tile, Int(128))), "1");
  EXPECT_EQ(Simple(LT(tile, Int(120))), "(i < 15)");
  EXPECT_EQ(Simple(LT(tile, Int(121))), "(((i * 8) + j) < 121)");
  EXPECT_EQ(Simple(Not(LT(f_, Int(3)))), "(3 <= f)");
  EXPECT_EQ(Simple(Binary(ExprKind::kGE, f_, Int(3))), "(3 <= f)");
  EXPECT_EQ(Simple(EQ(Mul(f_, Int(4)), Int(6))), "0");
  EXPECT_EQ(Simple(LT(FloorDiv(f_, Int(8)), Int(5))), "(f < 40)");
  EXPECT_EQ(Simple(And(LT(f_, Int(5)), And(LT(f_, Int(9)), LT(f_, Int(3))))),
            "(f < 3)");
  EXPECT_EQ(Simple(Select(LT(i_, Int(16)), u_, n_)), "u");
}

TEST_F(AnalyzerTest, SymbolicExtents) {
  Var x("x"), y("y");
  analyzer_.Bind(x, Range{Int(0), m_});
  analyzer_.Bind(y, Range{Int(0), n_});
  const Expr row = Add(Mul(x, n_), y);
  EXPECT_EQ(Simple(FloorDiv(row, n_)), "x");
  EXPECT_EQ(Simple(FloorMod(row, n_)), "y");
  EXPECT_TRUE(analyzer_.CanProve(LT(y, n_)));
  EXPECT_TRUE(analyzer_.CanProve(LT(row, Mul(m_, n_))));
  EXPECT_FALSE(analyzer_.CanProve(LT(row, Mul(m_, m_))));
  const Expr tiles = FloorDiv(Add(n_, Int(31)), Int(32));
  EXPECT_TRUE(analyzer_.CanProveLessEqual(n_, Mul(tiles, Int(32))));
  EXPECT_TRUE(analyzer_.CanProveLess(y, Mul(tiles, Int(32))));
  EXPECT_EQ(Simple(Add(Mul(FloorDiv(f_, n_), n_), FloorMod(f_, n_))), "f");
}

TEST_F(AnalyzerTest, DigitsOfAFusedLoopStayBelowTheirExtents) {
  const auto held = analyzer_.Assume(LT(Int(0), n_));
  const Var f("f"), g("g");
  analyzer_.Bind(f, Range{Int(0), Mul(n_, Int(32))});
  analyzer_.Bind(g, Range{Int(0), Add(Mul(n_, Int(32)), Int(1))});
  EXPECT_TRUE(analyzer_.CanProve(LT(FloorMod(f, n_), n_)));
  EXPECT_TRUE(analyzer_.CanProve(LT(FloorDiv(f, n_), Int(32))));
  EXPECT_EQ(analyzer_.Bound(FloorDiv(f, n_)).max, 31);
  EXPECT_FALSE(analyzer_.CanProve(LT(FloorDiv(g, n_), Int(32))));
  EXPECT_TRUE(analyzer_.CanProve(LT(FloorDiv(g, n_), Int(34))));
}

TEST_F(AnalyzerTest, AssumptionsEndWithTheirScope) {
  const Expr tile = Add(Mul(i_, Int(8)), j_);
  {
    auto assumption = analyzer_.Assume(LT(tile, Int(120)));
    EXPECT_TRUE(analyzer_.CanProve(LT(tile, Int(120))));
    EXPECT_EQ(analyzer_.Bound(tile).max, 119);
    EXPECT_EQ(analyzer_.Bound(i_).max, 14);
    auto equal = analyzer_.Assume(EQ(FloorMod(u_, Int(4)), Int(1)));
    EXPECT_EQ(analyzer_.Modulus(u_).coefficient, 4);
  }
  EXPECT_FALSE(analyzer_.CanProve(LT(tile, Int(120))));
  EXPECT_EQ(analyzer_.Bound(i_).max, 15);
  EXPECT_EQ(analyzer_.Modulus(u_).coefficient, 1);
}

TEST_F(AnalyzerTest, ALaterBindingReplacesAnEarlierOne) {
  analyzer_.Bind(i_, Range{Int(4), Int(1)});
  EXPECT_EQ(Simple(Add(i_, j_)), "(j + 4)");
  analyzer_.Bind(i_, Expr(Mul(u_, Int(2))));
  EXPECT_EQ(Simple(FloorDiv(i_, Int(2))), "u");
  analyzer_.Unbind(i_);
  EXPECT_EQ(Simple(i_), "i");
}

TEST_F(AnalyzerTest, WhatWouldOverflowStaysAsItIs) {
  const Expr huge = Mul(Mul(u_, Int(kMax)), Int(kMax));
  EXPECT_EQ(analyzer_.Simplify(huge), huge);
  const Expr sum = Add(Add(u_, Int(kMax)), Int(kMax));
  EXPECT_EQ(analyzer_.Simplify(sum), sum);
  const Expr least = Int(std::numeric_limits<int64_t>::min());
  EXPECT_EQ(Simple(Sub(Int(0), Add(u_, least))),
            ToText(Sub(Int(0), Add(u_, least))));
  EXPECT_EQ(analyzer_.Bound(Mul(f_, Int(kMax))).max, ConstBound::kPosInf);
  analyzer_.Bind(n_, Range{Int(kMax - 4), Int(4)});
  EXPECT_EQ(analyzer_.Bound(Add(n_, n_)).max, ConstBound::kPosInf);
  const Expr narrow =
      Mul(Mul(Var("s", DType::Int(32)), Int(1 << 20, DType::Int(32))),
          Int(1 << 20, DType::Int(32)));
  EXPECT_EQ(analyzer_.Simplify(narrow), narrow);
}

TEST_F(AnalyzerTest, DeepAndLongExpressionsEnd) {
  Expr deep = u_;
  for (int d = 0; d < 3000; ++d) deep = FloorDiv(Add(deep, n_), Int(3));
  analyzer_.Simplify(deep);
  analyzer_.Bound(deep);
  Expr wide = u_;
  for (int d = 0; d < 3000; ++d) wide = Add(wide, Mul(i_, Int(d)));
  analyzer_.Simplify(wide);
  Expr twice = u_;
  for (int d = 0; d < 40; ++d)
    twice = Min(FloorMod(twice, n_), Mul(twice, twice));
  analyzer_.Simplify(twice);
  analyzer_.CanProve(LT(twice, Int(3)));
}

TEST_F(AnalyzerTest, FloatsAndUnsignedNumbersAreNotRearranged) {
  const Var x("x", DType::Float(32)), w("w", DType::UInt(32));
  const Expr sum = Sub(Add(x, x), x);
  EXPECT_EQ(analyzer_.Simplify(sum), sum);
  const Expr wrap = Sub(Add(w, Int(1, DType::UInt(32))), w);
  EXPECT_EQ(analyzer_.Simplify(wrap), wrap);
  const Buffer a = MakeBuffer("a", DType::Float(32), {Int(8)});
  const Expr load = Load(a, {FloorMod(Add(j_, Int(8)), Int(8))});
  EXPECT_EQ(ToText(analyzer_.Simplify(load).As<LoadNode>()->indices[0]), "j");
}

}  // namespace
}  // namespace kiln
