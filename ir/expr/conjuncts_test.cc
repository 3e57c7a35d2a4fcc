#include "kiln/ir/expr/conjuncts.h"

#include "gtest/gtest.h"

namespace kiln {
namespace {

const Var i("i");
const Expr a = LT(i, Int(8));
const Expr b = LE(Int(2), i);
const Expr c = LT(Int(5), i);

TEST(ConjunctsTest, NestingDoesNotMatter) {
  const std::vector<Expr> all = {a, b, c};
  EXPECT_EQ(ConjunctsOf(And(And(a, b), c)), all);
  EXPECT_EQ(ConjunctsOf(And(a, And(b, c))), all);
}

TEST(ConjunctsTest, RepetitionsStay) {
  EXPECT_EQ(ConjunctsOf(And(a, And(b, a))), (std::vector<Expr>{a, b, a}));
}

TEST(ConjunctsTest, WhatIsNoConjunctionStandsAlone) {
  EXPECT_EQ(ConjunctsOf(a), std::vector<Expr>{a});
  const Expr either = Or(And(a, b), c);
  EXPECT_EQ(ConjunctsOf(either), std::vector<Expr>{either});
  const Expr neither = Not(And(a, b));
  EXPECT_EQ(ConjunctsOf(neither), std::vector<Expr>{neither});
  EXPECT_EQ(ConjunctsOf(Bool(true)).size(), 1);
}

TEST(ConjunctsTest, NullAsksForNothing) {
  EXPECT_EQ(Conjunction(nullptr, a), a);
  EXPECT_EQ(Conjunction(a, nullptr), a);
  EXPECT_FALSE(Conjunction(nullptr, nullptr));
  EXPECT_EQ(ConjunctsOf(Conjunction(a, b)), (std::vector<Expr>{a, b}));
}

}  // namespace
}  // namespace kiln
