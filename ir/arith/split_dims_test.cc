#include "kiln/ir/arith/split_dims.h"

#include <gtest/gtest.h>

#include "kiln/ir/expr/same.h"

namespace kiln {
namespace {

const Var v("v"), k("k");

struct Access {
  std::vector<Expr> indices;
  std::vector<int64_t> shape;
};

Access Merged(Access access) {
  MergeSplitDims(&access.indices, &access.shape);
  return access;
}

TEST(MergeSplitDimsTest, TheDigitsOfANumberAreOneIndex) {
  const Access two = Merged(
      {{Int(0), FloorDiv(v, Int(7)), FloorMod(v, Int(7)), k}, {1, 7, 7, 512}});
  EXPECT_EQ(two.shape, (std::vector<int64_t>{1, 49, 512}));
  EXPECT_TRUE(SameExpr(two.indices[1], v));
  EXPECT_TRUE(SameExpr(two.indices[2], k));
}

TEST(MergeSplitDimsTest, ThreeDigitsInEitherForm) {
  const Expr last = FloorMod(v, Int(7));
  for (const Expr& middle : {FloorMod(FloorDiv(v, Int(7)), Int(5)),
                             FloorDiv(FloorMod(v, Int(35)), Int(7))}) {
    const Access three =
        Merged({{FloorDiv(v, Int(35)), middle, last}, {4, 5, 7}});
    EXPECT_EQ(three.shape, (std::vector<int64_t>{140}));
    EXPECT_TRUE(SameExpr(three.indices[0], v));
    const Access inner = Merged({{k, middle, last}, {4, 5, 7}});
    EXPECT_EQ(inner.shape, (std::vector<int64_t>{4, 35}));
    EXPECT_TRUE(SameExpr(inner.indices[1], FloorMod(v, Int(35))));
  }
}

TEST(MergeSplitDimsTest, OtherSummandsMayStandBesideTheFirstDigits) {
  const Expr digits = FloorDiv(v, Int(7));
  for (const Expr& front :
       {Add(Mul(k, Int(2)), digits), Add(digits, Mul(k, Int(2)))}) {
    const Access two = Merged({{front, FloorMod(v, Int(7))}, {8, 7}});
    EXPECT_EQ(two.shape, (std::vector<int64_t>{56}));
    EXPECT_TRUE(SameExpr(two.indices[0], Add(Mul(Mul(k, Int(2)), Int(7)), v)));
  }
}

TEST(MergeSplitDimsTest, OtherBasesAndOtherNumbersStay) {
  const auto count = [](const Expr& front, const Expr& last) {
    return Merged({{front, last}, {7, 7}}).shape.size();
  };
  EXPECT_EQ(count(FloorDiv(v, Int(6)), FloorMod(v, Int(7))), 2u);
  EXPECT_EQ(count(FloorDiv(v, Int(6)), FloorMod(v, Int(6))), 2u)
      << "the last dimension is longer than the digit";
  EXPECT_EQ(count(FloorDiv(v, Int(7)), FloorMod(k, Int(7))), 2u);
  EXPECT_EQ(count(v, FloorMod(v, Int(7))), 2u);
  EXPECT_EQ(count(k, v), 2u);
}

}  // namespace
}  // namespace kiln
