#include "kiln/codegen/lower/vector/lane_divisions.h"

#include "gtest/gtest.h"

namespace kiln::lower {
namespace {

class LaneDivisionsTest : public testing::Test {
 protected:
  static Expr All(int64_t c) { return Broadcast(Int(c), 8); }
  Expr Lanes(int64_t step) { return Ramp(Mul(x_, Int(step)), Int(1), 8); }
  // After the period, and not before, each lane is `increment` greater.
  void ExpectTurn(const Expr& e, int64_t period, int64_t increment) {
    const auto turn = TurnOf(e, x_.get());
    ASSERT_TRUE(turn);
    EXPECT_EQ(turn->period, period);
    EXPECT_EQ(turn->increment, increment);
    for (int lane = 0; lane < 8; ++lane) {
      for (int64_t x = 0; x < 2 * period; ++x) {
        EXPECT_EQ(*ValueAt(e, lane, x_.get(), x + period),
                  *ValueAt(e, lane, x_.get(), x) + increment);
      }
    }
  }
  Var x_{"x"}, y_{"y"};
};

TEST_F(LaneDivisionsTest, QuotientsGrowAndRemaindersComeAgain) {
  ExpectTurn(FloorDiv(Lanes(8), All(7)), 7, 8);
  ExpectTurn(FloorMod(Lanes(8), All(7)), 7, 0);
  ExpectTurn(FloorDiv(Lanes(8), All(12)), 3, 2);
  ExpectTurn(FloorMod(FloorDiv(Lanes(8), All(7)), All(7)), 49, 0);
  ExpectTurn(Add(FloorDiv(Lanes(8), All(3)), FloorMod(Lanes(8), All(10))), 15,
             40);
}

TEST_F(LaneDivisionsTest, ProductsAndOtherDivisorsHaveNoTurn) {
  EXPECT_FALSE(TurnOf(Mul(Lanes(8), Lanes(8)), x_.get()));
  EXPECT_FALSE(TurnOf(FloorMod(Lanes(8), Broadcast(y_, 8)), x_.get()));
  EXPECT_FALSE(TurnOf(FloorMod(Lanes(8), All(int64_t{1} << 40)), x_.get()));
}

TEST_F(LaneDivisionsTest, ThePeriodIsThatOfAllDivisions) {
  const Buffer a = MakeBuffer("A", DType::Float(32), {Int(64)});
  const auto copy = [&](const Expr& index) {
    return MakeStore(a, Load(a, {index}), {Lanes(8)});
  };
  EXPECT_EQ(LanePeriod(copy(Lanes(8)), x_.get()), 1);
  EXPECT_EQ(LanePeriod(MakeSeq({copy(FloorMod(Lanes(8), All(3))),
                                copy(FloorMod(Lanes(8), All(5)))}),
                       x_.get()),
            15);
}

TEST_F(LaneDivisionsTest, ValuesOfOtherVariablesAreUnknown) {
  EXPECT_EQ(ValueAt(FloorMod(Lanes(8), All(7)), 3, x_.get(), 5), 43 % 7);
  EXPECT_FALSE(ValueAt(Add(Lanes(8), Broadcast(y_, 8)), 0, x_.get(), 5));
}

}  // namespace
}  // namespace kiln::lower
