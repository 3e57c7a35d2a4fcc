#include "kiln/ir/arith/cases.h"

#include <gtest/gtest.h>

namespace kiln {
namespace {

class CasesTest : public ::testing::Test {
 protected:
  CasesTest() { analyzer_.Bind(i_, Range{Int(0), Int(80)}); }
  bool Proves(const Expr& a, const Expr& b) {
    return CanProveLessEqualByCases(a, b, &analyzer_);
  }

  Var i_{"i"}, n_{"n"};
  Analyzer analyzer_;
};

TEST_F(CasesTest, OneOperandOfAMinimumIsEnough) {
  EXPECT_TRUE(Proves(Min(i_, Int(31)), i_));
  EXPECT_TRUE(Proves(Min(n_, Add(i_, n_)), n_));
  EXPECT_TRUE(Proves(Add(Min(n_, i_), Int(2)), Add(n_, Int(3))));
  EXPECT_FALSE(Proves(Min(i_, n_), Int(31)));
}

TEST_F(CasesTest, BothOperandsOfAMaximumAreNeeded) {
  EXPECT_TRUE(Proves(Max(n_, Sub(n_, i_)), n_));
  EXPECT_FALSE(Proves(Max(n_, i_), n_));
  EXPECT_TRUE(Proves(n_, Max(i_, n_)));
  EXPECT_FALSE(Proves(n_, Min(i_, n_)));
  EXPECT_TRUE(Proves(Int(0), Min(i_, Add(i_, Int(1)))));
}

TEST_F(CasesTest, WhatIsTakenAwayTurnsRound) {
  EXPECT_TRUE(Proves(Sub(n_, Max(n_, i_)), Int(0)));
  EXPECT_FALSE(Proves(Sub(n_, Min(n_, i_)), Int(0)));
  EXPECT_TRUE(Proves(Int(0), Sub(n_, Min(n_, i_))));
  EXPECT_FALSE(Proves(Int(0), Sub(n_, Max(n_, i_))));
}

}  // namespace
}  // namespace kiln
