#include "kiln/ir/expr/same.h"

#include "gtest/gtest.h"
#include "kiln/ir/type/dtype.h"

namespace kiln {
namespace {

class SameExprTest : public ::testing::Test {
 protected:
  const Var n_{"n"}, m_{"m"};
};

TEST_F(SameExprTest, ComparesNodeByNode) {
  const Expr e = Add(Mul(n_, Int(4)), FloorDiv(m_, Int(2)));
  EXPECT_TRUE(SameExpr(e, Add(Mul(n_, Int(4)), FloorDiv(m_, Int(2)))));
  EXPECT_FALSE(SameExpr(e, Add(Mul(n_, Int(4)), FloorDiv(m_, Int(3)))));
  EXPECT_FALSE(SameExpr(e, Add(Mul(n_, Int(4)), FloorMod(m_, Int(2)))));
  EXPECT_FALSE(SameExpr(e, Add(Mul(m_, Int(4)), FloorDiv(m_, Int(2)))));
  EXPECT_FALSE(SameExpr(e, Expr()));
  EXPECT_TRUE(SameExpr(Expr(), Expr()));
}

TEST_F(SameExprTest, VariablesAreThemselvesWhateverTheirNames) {
  EXPECT_FALSE(SameExpr(Add(n_, Int(1)), Add(Var("n"), Int(1))));
}

TEST_F(SameExprTest, TypesAndBitsOfConstantsCount) {
  EXPECT_FALSE(SameExpr(Int(1), Int(1, DType::Int(32))));
  EXPECT_TRUE(SameExpr(Float(0.5), Float(0.5)));
  EXPECT_FALSE(SameExpr(Float(0.0), Float(-0.0)));
}

TEST_F(SameExprTest, FactorsStandInAnyOrderWhereAskedTo) {
  const Expr a = Add(Mul(Mul(n_, m_), n_), Int(1));
  const Expr b = Add(Mul(n_, Mul(n_, m_)), Int(1));
  EXPECT_FALSE(SameExpr(a, b));
  EXPECT_TRUE(SameButForFactorOrder(a, b));
  EXPECT_FALSE(SameButForFactorOrder(a, Add(Mul(Mul(n_, m_), m_), Int(1))));
}

TEST_F(SameExprTest, WhatSpellsOutToManyNodesEndsSoon) {
  Expr a = n_, b = n_;
  for (int level = 0; level < 200; ++level) {
    a = Add(a, Mul(a, m_));
    b = Add(b, Mul(b, m_));
  }
  EXPECT_TRUE(SameExpr(a, a));
  EXPECT_FALSE(SameExpr(a, b));
  EXPECT_FALSE(SameButForFactorOrder(a, b));
}

}  // namespace
}  // namespace kiln
