#include "kiln/codegen/lower/guards/condition_sites.h"

#include "gtest/gtest.h"
#include "kiln/ir/arith/index_normalizer.h"
#include "kiln/ir/expr/same.h"
#include "kiln/ir/type/dtype.h"

namespace kiln::lower {
namespace {

TEST(ConditionSitesTest, ConjunctsOfStatementsAndChoicesWithTheirLoops) {
  const Var h("h"), i("i");
  const Buffer a = MakeBuffer("A", DType::Float(32), {Int(9)});
  const Expr first = LT(h, Int(3)), second = LT(i, Int(4)), third = LT(i, h);
  const Expr choice = Call(DType::Float(32), Intrinsic::kIfThenElse,
                           {third, Float(1), Float(0)});
  const Stmt loop = MakeFor(
      1, i, Int(5), MakeIf(And(first, second), MakeStore(a, choice, {i})));
  const Stmt outer = MakeFor(2, h, Int(9), loop);
  const ConditionSites found = FindConditionSites(loop, {outer.As<ForNode>()});
  ASSERT_EQ(found.sites.size(), 3);
  for (int k = 0; k < 3; ++k) {
    EXPECT_TRUE(SameExpr(found.sites[k].conjunct, k == 0   ? first
                                                  : k == 1 ? second
                                                           : third));
    ASSERT_EQ(found.sites[k].loops.size(), 2);
    EXPECT_EQ(found.sites[k].loops[0], outer.As<ForNode>());
    EXPECT_EQ(found.sites[k].loops[1], loop.As<ForNode>());
  }
  EXPECT_TRUE(found.lets.empty());
}

TEST(ConditionSitesTest, BoundVariablesAreNamed) {
  const Var i("i"), x("x");
  const Buffer a = MakeBuffer("A", DType::Float(32), {Int(9)});
  const Stmt s = MakeLet(x, Add(i, Int(1)),
                         MakeIf(LT(x, Int(3)), MakeStore(a, Float(1), {i})));
  const ConditionSites found = FindConditionSites(s, {});
  EXPECT_EQ(found.lets.count(x.get()), 1);
  EXPECT_EQ(found.sites.size(), 1);
}

}  // namespace
}  // namespace kiln::lower
