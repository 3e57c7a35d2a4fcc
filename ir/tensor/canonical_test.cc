#include "kiln/ir/tensor/canonical.h"

#include <gtest/gtest.h>

#include "kiln/ir/expr/same.h"
#include "kiln/ir/tensor/visit.h"

namespace kiln {
namespace {

// for NAME in 0..extent: B[NAME] = A[NAME] + addend
Function Copying(const char* name, int64_t extent, double addend) {
  Function f;
  f.name = name;
  Buffer a = MakeBuffer("A", DType::Float(32), {Int(extent)});
  Buffer b = MakeBuffer("B", DType::Float(32), {Int(extent)});
  f.params = {{Var("a", DType::Handle()), a}, {Var("b", DType::Handle()), b}};
  Var i(name);
  Stmt store = MakeStore(b, Add(Load(a, {i}), Float(addend)), {i});
  f.body = MakeRoot(f.NewId(), {}, MakeFor(f.NewId(), i, Int(extent), store));
  return f;
}

TEST(CanonicalTest, NamesAndIdsDoNotCount) {
  Function f = Copying("i", 8, 1), g = Copying("j", 8, 1);
  EXPECT_TRUE(StructurallyEqual(f, g));
  EXPECT_EQ(StructuralHash(f), StructuralHash(g));
}

TEST(CanonicalTest, ExtentsAndConstantsCount) {
  EXPECT_FALSE(StructurallyEqual(Copying("i", 8, 1), Copying("i", 9, 1)));
  EXPECT_FALSE(StructurallyEqual(Copying("i", 8, 1), Copying("i", 8, 2)));
}

TEST(CanonicalTest, SwappedBuffersDiffer) {
  Function f = Copying("i", 8, 1), g = f;
  std::swap(g.params[0], g.params[1]);
  EXPECT_FALSE(StructurallyEqual(f, g));
}

TEST(CanonicalTest, BlockNamesCountOnRequest) {
  Function f = Copying("i", 8, 1), g = f;
  BlockFields root = g.root().fields();
  root.name = "other";
  g.body = MakeRealize({}, Bool(true), MakeBlock(root));
  EXPECT_TRUE(StructurallyEqual(f, g));
  EXPECT_NE(CanonicalForm(f, {.block_names = true}),
            CanonicalForm(g, {.block_names = true}));
}

TEST(CanonicalTest, AttributesOfModulesCount) {
  Module a, b;
  a.functions = b.functions = {Copying("i", 8, 1)};
  b.name = "other";
  EXPECT_TRUE(StructurallyEqual(a, b));
  b.attrs["version"] = Attr(std::string("3"));
  EXPECT_FALSE(StructurallyEqual(a, b));
  a.attrs["version"] = Attr(std::string("3"));
  EXPECT_TRUE(StructurallyEqual(a, b));
}

TEST(VisitTest, RewritesKeepWhatTheyDoNotTouch) {
  Function f = Copying("i", 8, 1);
  EXPECT_EQ(RewriteExprs(f.body, [](const Expr&) { return Expr(); }), f.body);
  EXPECT_EQ(Rewrite(f.body, [](const Stmt&) { return Stmt(); }), f.body);
}

TEST(VisitTest, SubstituteReplacesVariablesEverywhere) {
  Var i("i"), j("j");
  Expr e = Add(Mul(i, Int(4)), FloorDiv(i, Int(2)));
  Expr expected = Add(Mul(j, Int(4)), FloorDiv(j, Int(2)));
  EXPECT_TRUE(SameExpr(Substitute(e, i, j), expected));
  EXPECT_FALSE(SameExpr(e, expected));
}

TEST(ExprTest, IndexConstantsFoldUnlessTheyOverflow) {
  EXPECT_TRUE(IsConst(FloorDiv(Int(-7), Int(2)), -4));
  EXPECT_TRUE(IsConst(FloorMod(Int(-7), Int(2)), 1));
  EXPECT_FALSE(AsInt(Mul(Int(int64_t{1} << 62), Int(4))));
  EXPECT_FALSE(AsInt(FloorDiv(Int(1), Int(0))));
}

}  // namespace
}  // namespace kiln
