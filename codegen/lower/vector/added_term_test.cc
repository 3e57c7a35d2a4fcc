#include "kiln/codegen/lower/vector/added_term.h"

#include <gtest/gtest.h>

#include "kiln/ir/expr/same.h"

namespace kiln::lower {
namespace {

const DType kFloat = DType::Float(32);
const Buffer kSums = MakeBuffer("C", kFloat, {Int(64)});
const Buffer kOthers = MakeBuffer("A", kFloat, {Int(64)});

Expr TermOf(const Expr& value, const Expr& index) {
  const Stmt s = MakeStore(kSums, value, {index});
  return AddedTerm(*s.As<StoreNode>());
}

TEST(AddedTerm, StandsOnEitherSide) {
  for (const Expr& index : {Int(3), Ramp(Int(16), Int(1), 8)}) {
    const Expr sum = Load(kSums, {index}), term = Load(kOthers, {index});
    EXPECT_TRUE(SameExpr(TermOf(Add(sum, term), index), term));
    EXPECT_TRUE(SameExpr(TermOf(Add(term, sum), index), term));
  }
}

TEST(AddedTerm, OtherStoresHaveNone) {
  const Expr sum = Load(kSums, {Int(3)}), term = Load(kOthers, {Int(3)});
  EXPECT_EQ(TermOf(Mul(sum, term), Int(3)), nullptr);
  EXPECT_EQ(TermOf(Sub(sum, term), Int(3)), nullptr);
  EXPECT_EQ(TermOf(Add(sum, term), Int(4)), nullptr);
  EXPECT_EQ(TermOf(Add(term, term), Int(3)), nullptr);
  EXPECT_EQ(TermOf(term, Int(3)), nullptr);
}

}  // namespace
}  // namespace kiln::lower
