#include "kiln/ir/arith/int_set.h"

#include <random>

#include "gtest/gtest.h"
#include "kiln/ir/arith/random_expr.h"

namespace kiln {
namespace {

class IntSetTest : public testing::Test {
 protected:
  std::string Text(const IntSet& set) {
    return (set.min ? ToText(set.min) : "-inf") + " .. " +
           (set.max ? ToText(set.max) : "inf");
  }
  std::string Eval(const Expr& e, const Domains& domains,
                   const Expr& predicate = nullptr) {
    return Text(EvalSet(e, domains, predicate, &analyzer_));
  }
  static Range Until(int64_t extent) { return {Int(0), Int(extent)}; }

  Var i_{"i"}, j_{"j"}, n_{"n"}, v_{"v"};
  Analyzer analyzer_;
};

TEST_F(IntSetTest, AffineExpressionsAreExact) {
  const Domains domains{{i_.get(), Until(15)}, {j_.get(), Until(8)}};
  EXPECT_EQ(Eval(Add(Mul(i_, Int(8)), j_), domains), "0 .. 119");
  EXPECT_EQ(Eval(Sub(j_, Mul(i_, Int(2))), domains), "-28 .. 7");
  EXPECT_EQ(Eval(Sub(Add(i_, j_), i_), domains), "0 .. 7");
}

TEST_F(IntSetTest, OtherVariablesStaySymbolic) {
  const Domains domains{{j_.get(), Until(8)}};
  EXPECT_EQ(Eval(Add(Mul(i_, Int(8)), j_), domains),
            "(i * 8) .. ((i * 8) + 7)");
  EXPECT_EQ(Eval(Add(j_, Var("free")), {}), "(j + free) .. (j + free)");
}

TEST_F(IntSetTest, DomainsMayBeSymbolic) {
  const Domains domains{{i_.get(), Range{Int(0), n_}}};
  EXPECT_EQ(Eval(Add(i_, Int(1)), domains), "1 .. n");
}

TEST_F(IntSetTest, DivisionsAndRemainders) {
  const Domains domains{{i_.get(), Range{Int(8), Int(8)}}};
  EXPECT_EQ(Eval(FloorDiv(i_, Int(4)), domains), "2 .. 3");
  EXPECT_EQ(Eval(FloorMod(i_, Int(16)), domains), "8 .. 15");
  EXPECT_EQ(Eval(FloorMod(i_, Int(8)), domains), "0 .. 7");
  EXPECT_EQ(Eval(FloorMod(i_, Int(3)), domains), "0 .. 2");
}

TEST_F(IntSetTest, DigitsOfDifferentVariablesAddUp) {
  const Domains domains{{i_.get(), Until(64)}, {j_.get(), Until(8)}};
  const Expr digit = FloorMod(FloorDiv(i_, Int(4)), Int(8));
  EXPECT_EQ(Eval(Add(Mul(digit, Int(8)), j_), domains), "0 .. 63");
  EXPECT_EQ(Eval(Sub(j_, digit), domains), "-7 .. 7");
  EXPECT_EQ(Eval(Add(digit, n_), domains), "n .. (n + 7)");
}

TEST_F(IntSetTest, DigitsOfOneVariableAreSeenTogether) {
  const Domains domains{{i_.get(), Until(10)}};
  const Expr high = FloorDiv(i_, Int(4)), low = FloorMod(i_, Int(4));
  EXPECT_EQ(Eval(Add(Mul(high, Int(4)), low), domains), "0 .. 9");
  EXPECT_EQ(Eval(Sub(i_, Mul(high, Int(4))), domains), "0 .. 3");
}

TEST_F(IntSetTest, WhatStandsStillIsSimplified) {
  analyzer_.Bind(n_, Int(3));
  analyzer_.Bind(v_, Until(4));
  const Domains domains{{i_.get(), Until(8)}};
  EXPECT_EQ(Eval(Add(Mul(n_, Int(8)), i_), domains), "24 .. 31");
  EXPECT_EQ(Eval(Add(FloorDiv(v_, Int(4)), i_), domains), "0 .. 7");
  const Expr again =
      Add(Mul(FloorDiv(j_, Int(4)), Int(4)), FloorMod(j_, Int(4)));
  EXPECT_EQ(Eval(Add(again, i_), domains), "j .. (j + 7)");
}

TEST_F(IntSetTest, MinAndMaxClampAtOneSide) {
  const Domains domains{{i_.get(), Until(8)}};
  EXPECT_EQ(Eval(Min(i_, Int(5)), domains), "0 .. 5");
  EXPECT_EQ(Eval(Max(Sub(i_, Int(3)), Int(0)), domains), "0 .. 4");
}

TEST_F(IntSetTest, UnknownValuesAreUnbounded) {
  const Domains domains{{i_.get(), Until(8)}};
  const Buffer table = MakeBuffer("table", DType::Index(), {Int(8)});
  EXPECT_FALSE(EvalSet(Load(table, {i_}), domains, &analyzer_).IsBounded());
}

TEST_F(IntSetTest, PredicatesTighten) {
  const Domains domains{{i_.get(), Until(16)}, {j_.get(), Until(8)}};
  const Expr sum = Add(Mul(i_, Int(8)), j_);
  EXPECT_EQ(Eval(sum, domains, LT(sum, Int(120))), "0 .. 119");
  EXPECT_EQ(Eval(sum, domains, LT(i_, Int(15))), "0 .. 119");
  EXPECT_EQ(Eval(sum, domains, And(LT(i_, Int(15)), LT(j_, Int(3)))),
            "0 .. 114");
  EXPECT_EQ(Eval(sum, domains, LE(Int(4), i_)), "32 .. 127");
  // A symbolic limit is used only where it is known to be the tighter one.
  EXPECT_EQ(Eval(sum, domains, LT(sum, n_)), "0 .. 127");
  const Range blocks{Int(0), FloorDiv(Add(n_, Int(7)), Int(8))};
  EXPECT_EQ(Eval(sum, {{i_.get(), blocks}, {j_.get(), Until(8)}}, LT(sum, n_)),
            "0 .. (n - 1)");
}

TEST_F(IntSetTest, RegionsRelaxBothEnds) {
  const Domains domains{{i_.get(), Until(4)}};
  const auto box =
      EvalRegion({Range{Mul(i_, Int(8)), Int(8)}, Range{v_, Int(1)}}, domains,
                 nullptr, &analyzer_);
  ASSERT_EQ(box.size(), 2u);
  EXPECT_EQ(Text(box[0]), "0 .. 31");
  EXPECT_EQ(Text(box[1]), "v .. v");
  const auto range = ToRange(box[0], &analyzer_);
  ASSERT_TRUE(range);
  EXPECT_TRUE(IsConst(range->min, 0) && IsConst(range->extent, 32));
}

TEST_F(IntSetTest, UnionsHoldBoth) {
  EXPECT_EQ(Text(UnionSet({Int(0), Int(7)}, {Int(4), Int(9)}, &analyzer_)),
            "0 .. 9");
  EXPECT_EQ(
      Text(UnionSet({i_, Add(i_, Int(3))}, {Add(i_, Int(1)), i_}, &analyzer_)),
      "i .. (i + 3)");
  EXPECT_EQ(Text(UnionSet({Int(0), nullptr}, {Int(4), Int(9)}, &analyzer_)),
            "0 .. inf");
}

TEST_F(IntSetTest, RandomSetsHoldEveryValue) {
  std::mt19937_64 random(TestSeed());
  RandomExpr make({i_, j_, v_}, &random);
  for (int trial = 0; trial < 2000; ++trial) {
    const int64_t low = make.Below(7) - 3, extent = 1 + make.Below(12);
    const Domains domains{{i_.get(), Range{Int(low), Int(extent)}},
                          {j_.get(), Range{Int(0), Int(8)}}};
    const Expr e = make.Int(3);
    const Expr predicate = trial % 2 ? make.Condition(1) : nullptr;
    const IntSet set = EvalSet(e, domains, predicate, &analyzer_);
    for (int k = 0; k < 40; ++k) {
      const Values values{{i_.get(), low + make.Below(extent)},
                          {j_.get(), make.Below(8)},
                          {v_.get(), make.Below(41) - 20}};
      if (predicate && Evaluate(predicate, values) != 1) continue;
      const auto value = Evaluate(e, values);
      if (!value) continue;
      const auto min = set.min ? Evaluate(set.min, values) : *value;
      const auto max = set.max ? Evaluate(set.max, values) : *value;
      if (!min || !max) continue;  // a branch not taken divides by zero
      ASSERT_TRUE(*min <= *value && *value <= *max)
          << ToText(e) << " is " << *value << ", in " << Text(set)
          << (predicate ? " where " + ToText(predicate) : "");
    }
  }
}

}  // namespace
}  // namespace kiln
