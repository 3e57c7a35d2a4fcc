#include "kiln/ir/interp/fold.h"

#include <string>

#include "gtest/gtest.h"
#include "kiln/ir/text/printer/printer.h"

namespace kiln {
namespace {

std::string Folded(const Expr& e) { return PrintExpr(FoldNumbers(e)); }

TEST(FoldTest, ConversionsOfConstantsAreConstants) {
  const DType f16 = DType::Float(16), f32 = DType::Float(32);
  const DType i8 = DType::Int(8), i32 = DType::Int(32);
  EXPECT_EQ(Folded(Cast(f32, Int(9))), "T.float32(9)");
  EXPECT_EQ(Folded(Cast(f32, Int(16777217))), "T.float32(16777216)");
  EXPECT_EQ(Folded(Cast(i32, Float(-3.5))), PrintExpr(Int(-3, i32)));
  EXPECT_EQ(Folded(Cast(i8, Int(300, i32))), PrintExpr(Int(44, i8)));
  EXPECT_EQ(Folded(Cast(i8, Float(1e9))), PrintExpr(Int(127, i8)));
  EXPECT_EQ(Folded(Cast(DType::Bool(), Float(0.5))), PrintExpr(Bool(true)));
  EXPECT_EQ(Folded(Cast(f32, Cast(f16, Float(0.1)))),
            PrintExpr(Float(0.0999755859375)));
}

TEST(FoldTest, BoundsOfTypesAreConstants) {
  const DType u8 = DType::UInt(8), f32 = DType::Float(32);
  EXPECT_EQ(Folded(Call(u8, Intrinsic::kMaxValue, {})),
            PrintExpr(Int(255, u8)));
  EXPECT_EQ(Folded(Call(f32, Intrinsic::kMinValue, {})),
            "T.float32(-3.4028234663852886e+38)");
}

TEST(FoldTest, NumbersThatChangeNothingAreGone) {
  const Var x("x", DType::Float(32));
  const Expr one = Float(1), zero = Float(0);
  for (const Expr& e :
       {Mul(x, one), Mul(one, x), Sub(x, zero), Binary(ExprKind::kDiv, x, one),
        Mul(x, Cast(DType::Float(32), Int(1)))}) {
    EXPECT_EQ(Folded(e), "x");
  }
}

TEST(FoldTest, TheRestStays) {
  const Var i("i", DType::Int(64)), x("x", DType::Float(32));
  for (const Expr& e :
       {Add(Cast(DType::Float(32), i), Float(1)), Add(x, Float(0)),
        Sub(x, Float(-0.0)), Binary(ExprKind::kDiv, Float(1), x)}) {
    EXPECT_EQ(FoldNumbers(e).get(), e.get());
  }
}

}  // namespace
}  // namespace kiln
