#include "kiln/codegen/lower/guards/fold_known_conditions.h"

#include "gtest/gtest.h"
#include "kiln/ir/arith/index_normalizer.h"
#include "kiln/ir/expr/same.h"
#include "kiln/ir/type/dtype.h"

namespace kiln::lower {
namespace {

class FoldKnownConditionsTest : public testing::Test {
 protected:
  Stmt Store(int64_t value) {
    return MakeStore(a_, Float(static_cast<double>(value)), {i_});
  }
  // With i known to be `value`.
  Stmt Known(const Stmt& s, int64_t value) {
    return FoldKnownConditions(
        s, [&](const Expr& e) { return e == i_ ? Int(value) : Expr(); });
  }

  Var i_{"i"}, j_{"j"};
  Buffer a_ = MakeBuffer("A", DType::Float(32), {Int(9)});
};

TEST_F(FoldKnownConditionsTest, KnownConditionsTakeTheirBranch) {
  const Stmt s = MakeIf(LT(i_, Int(3)), Store(1), Store(2));
  const auto value = [](const Stmt& taken) {
    const auto* store = taken.As<StoreNode>();
    return store ? store->value.As<FloatImmNode>()->value : -1;
  };
  EXPECT_EQ(value(Known(s, 2)), 1);
  EXPECT_EQ(value(Known(s, 3)), 2);
}

TEST_F(FoldKnownConditionsTest, IndicesAreSimplified) {
  const Stmt s = MakeStore(a_, Float(1), {Add(Mul(i_, Int(2)), j_)});
  const Stmt known = Known(s, 3);
  EXPECT_TRUE(SameExpr(known.As<StoreNode>()->indices[0],
                       IndexNormalizer().Run(Add(j_, Int(6)))));
}

TEST_F(FoldKnownConditionsTest, WhatNoBranchTakesDoesNothing) {
  const Stmt s = MakeFor(1, j_, Int(4), MakeIf(LT(i_, Int(3)), Store(1)));
  EXPECT_TRUE(DoesNothing(Known(s, 3)));
  EXPECT_FALSE(DoesNothing(Known(s, 2)));
  EXPECT_FALSE(DoesNothing(s));
}

}  // namespace
}  // namespace kiln::lower
