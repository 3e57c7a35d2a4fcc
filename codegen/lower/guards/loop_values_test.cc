#include "kiln/codegen/lower/guards/loop_values.h"

#include "gtest/gtest.h"
#include "kiln/ir/expr/same.h"

namespace kiln::lower {
namespace {

Stmt Loop(const Var& var, int64_t extent) {
  return MakeFor(1, var, Int(extent), MakeEvaluate(Int(0)));
}

class LoopValuesTest : public testing::Test {
 protected:
  std::vector<AtomValues> Where(const Expr& e) {
    return ValuesWhere(ToLinear(e), loops_, fewer_);
  }
  // The only atom and its values.
  void ExpectOne(const std::vector<AtomValues>& found, const Expr& atom,
                 int64_t first, int64_t last) {
    ASSERT_EQ(found.size(), 1);
    EXPECT_TRUE(SameExpr(found[0].atom, atom));
    EXPECT_EQ(found[0].values.first, first);
    EXPECT_EQ(found[0].values.last, last);
  }

  Var i_{"i"}, j_{"j"};
  Stmt i_loop_ = Loop(i_, 4), j_loop_ = Loop(j_, 11);
  LoopStack loops_ = {i_loop_.As<ForNode>(), j_loop_.As<ForNode>()};
  FewerValues fewer_;
};

TEST_F(LoopValuesTest, ALowerOrUpperLimitIsRoundedInwards) {
  ExpectOne(Where(Sub(Mul(j_, Int(3)), Int(30))), j_, 10, 10);
  ExpectOne(Where(Sub(Mul(j_, Int(3)), Int(28))), j_, 10, 10);
  ExpectOne(Where(Sub(Mul(j_, Int(3)), Int(27))), j_, 9, 10);
  ExpectOne(Where(Sub(Int(11), Mul(j_, Int(3)))), j_, 0, 3);
  ExpectOne(Where(Sub(Int(0), j_)), j_, 0, 0);
}

TEST_F(LoopValuesTest, WhatHoldsEverywhereOrNowhereLeavesNothingOut) {
  EXPECT_TRUE(Where(Sub(Int(10), j_)).empty());
  EXPECT_TRUE(Where(Sub(j_, Int(11))).empty());
}

TEST_F(LoopValuesTest, BothOfTwoLoopsStandAtTheirLast) {
  const auto found = Where(Sub(Add(Mul(i_, Int(11)), j_), Int(43)));
  ASSERT_EQ(found.size(), 2);
  EXPECT_EQ(found[0].values.first + found[1].values.first, 3 + 10);
}

TEST_F(LoopValuesTest, OneOfTwoLoopsMayStandAnywhere) {
  ExpectOne(Where(Sub(Add(Mul(i_, Int(11)), j_), Int(33))), i_, 3, 3);
}

TEST_F(LoopValuesTest, PartsOfAFusedLoopAreBounded) {
  const Expr part = FloorMod(j_, Int(4));
  ExpectOne(Where(Sub(part, Int(3))), part, 3, 3);
  const Expr group = FloorDiv(j_, Int(4));
  ExpectOne(Where(Sub(group, Int(2))), group, 2, 2);
}

// for f in range((n + 8) // 9 * 21)
TEST_F(LoopValuesTest, PartsOfALoopFusedWithOneOfUnknownExtentAreBounded) {
  const Var f("f"), n("n");
  const Expr unknown = FloorDiv(Add(n, Int(8)), Int(9));
  const Stmt fused = MakeFor(1, f, Mul(unknown, Int(21)), MakeEvaluate(Int(0)));
  loops_.push_back(fused.As<ForNode>());
  const Expr panel = FloorDiv(f, unknown);
  ExpectOne(Where(Sub(Mul(panel, Int(48)), Int(960))), panel, 20, 20);
  EXPECT_TRUE(Where(Sub(Int(20), panel)).empty()) << "all of them";
  const Expr other = FloorDiv(f, n);
  EXPECT_TRUE(Where(Sub(Int(3), other)).empty()) << "of another divisor";
}

TEST_F(LoopValuesTest, AnUnknownVariableIsLeftAsItIs) {
  EXPECT_TRUE(Where(Var("n")).empty());
}

TEST_F(LoopValuesTest, FewerValuesOfOneLoopLeaveFewerToAnother) {
  const Expr sum = Sub(Add(i_, j_), Int(11));
  ASSERT_EQ(Where(sum).size(), 2);
  fewer_[i_.get()] = {0, 1};
  const auto found = Where(sum);
  ASSERT_EQ(found.size(), 2);
  EXPECT_EQ(found[0].values.first, 1);
  EXPECT_EQ(found[1].values.first, 10);
  const auto least = Extreme(ToLinear(sum), loops_, 0, 1, fewer_);
  const auto most = Extreme(ToLinear(sum), loops_, 0, -1, fewer_);
  EXPECT_EQ(least->constant, -11);
  EXPECT_EQ(most->constant, 0);
}

}  // namespace
}  // namespace kiln::lower
