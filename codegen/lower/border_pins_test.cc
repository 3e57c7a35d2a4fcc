#include "kiln/codegen/lower/border_pins.h"

#include "gtest/gtest.h"

namespace kiln::lower {
namespace {

Stmt Loop(const Var& var, int64_t extent) {
  return MakeFor(1, var, Int(extent), MakeEvaluate(Int(0)));
}

class BorderPinsTest : public testing::Test {
 protected:
  // The pins where 0 <= `e` does not hold.
  std::vector<Pin> PinsWhereNegative(const Expr& e) {
    return PinsInBorder(ToLinear(e),
                        {i_loop_.As<ForNode>(), j_loop_.As<ForNode>()});
  }

  Var i_{"i"}, j_{"j"};
  Stmt i_loop_ = Loop(i_, 4), j_loop_ = Loop(j_, 11);
};

TEST_F(BorderPinsTest, TheLastIterationIsTheBorder) {
  const auto pins = PinsWhereNegative(Sub(Int(29), Mul(j_, Int(3))));
  ASSERT_EQ(pins.size(), 1);
  EXPECT_EQ(pins[0].atom.get(), j_.get());
  EXPECT_EQ(pins[0].value, 10);
}

TEST_F(BorderPinsTest, TheFirstIterationIsTheBorder) {
  const auto pins = PinsWhereNegative(Sub(j_, Int(1)));
  ASSERT_EQ(pins.size(), 1);
  EXPECT_EQ(pins[0].value, 0);
}

TEST_F(BorderPinsTest, SeveralIterationsPinNothing) {
  EXPECT_TRUE(PinsWhereNegative(Sub(Int(26), Mul(j_, Int(3)))).empty());
}

TEST_F(BorderPinsTest, BothOfTwoLoopsStandAtTheirLast) {
  const auto pins = PinsWhereNegative(Sub(Int(42), Add(Mul(i_, Int(11)), j_)));
  ASSERT_EQ(pins.size(), 2);
  EXPECT_EQ(pins[0].value + pins[1].value, 3 + 10);
}

TEST_F(BorderPinsTest, OneOfTwoLoopsMayStandAnywhere) {
  const auto pins = PinsWhereNegative(Sub(Int(41), Add(Mul(i_, Int(11)), j_)));
  ASSERT_EQ(pins.size(), 1);
  EXPECT_EQ(pins[0].atom.get(), i_.get());
  EXPECT_EQ(pins[0].value, 3);
}

TEST_F(BorderPinsTest, PartsOfAFusedLoopAreBounded) {
  const Expr part = FloorMod(j_, Int(4));
  const auto pins = PinsWhereNegative(Sub(Int(2), part));
  ASSERT_EQ(pins.size(), 1);
  EXPECT_TRUE(SameStructure(pins[0].atom, part));
  EXPECT_EQ(pins[0].value, 3);
  EXPECT_EQ(PinsWhereNegative(Sub(Int(1), FloorDiv(j_, Int(4)))).at(0).value,
            2);
}

TEST_F(BorderPinsTest, AnUnknownVariableIsNotPinned) {
  EXPECT_TRUE(PinsWhereNegative(Sub(Int(0), Var("n"))).empty());
}

}  // namespace
}  // namespace kiln::lower
