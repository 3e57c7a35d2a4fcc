#include "gtest/gtest.h"
#include "kiln/ir/arith/analyzer.h"
#include "kiln/ir/arith/random_expr.h"
#include "kiln/ir/tensor/stmt.h"
#include "kiln/ir/tensor/visit.h"

namespace kiln {
namespace {

class SimplifyStmtTest : public testing::Test {
 protected:
  // The conditions, indices and values in `s`, in order.
  static std::string Exprs(const Stmt& s) {
    std::string text;
    Visit(s, [&](const Stmt& node) {
      if (node.kind() == StmtKind::kStore || node.kind() == StmtKind::kIf ||
          node.kind() == StmtKind::kEvaluate) {
        ForEachExpr(node, [&](const Expr& e) { text += ToText(e) + "; "; });
      }
      return true;
    });
    return text;
  }
  Stmt StoreAt(const Expr& index) { return MakeStore(a_, Int(1), {index}); }

  Var i_{"i"}, j_{"j"}, v_{"v"};
  Buffer a_ = MakeBuffer("a", DType::Index(), {Int(128)});
};

TEST_F(SimplifyStmtTest, LoopsBoundTheirVariables) {
  const Stmt s =
      MakeFor(1, i_, Int(16),
              MakeFor(2, j_, Int(8),
                      StoreAt(FloorDiv(Add(Mul(i_, Int(8)), j_), Int(8)))));
  EXPECT_EQ(Exprs(SimplifyStmt(s)), "i; 1; ");
}

TEST_F(SimplifyStmtTest, UnchangedStatementsKeepTheirNode) {
  const Stmt s = MakeFor(1, i_, Int(16), StoreAt(i_));
  EXPECT_EQ(SimplifyStmt(s), s);
}

TEST_F(SimplifyStmtTest, AVariableIsUnknownAfterItsLoop) {
  const Stmt check = MakeIf(LT(i_, Int(4)), StoreAt(Int(0)));
  const Stmt s = MakeSeq({MakeFor(1, i_, Int(4), check), check});
  EXPECT_EQ(Exprs(SimplifyStmt(s)), "0; 1; (i < 4); 0; 1; ");
}

TEST_F(SimplifyStmtTest, ConditionsHoldInTheirBranches) {
  const Stmt inner = MakeIf(LT(i_, Int(20)), StoreAt(i_), StoreAt(Int(0)));
  const Stmt s = MakeFor(1, i_, Int(64), MakeIf(LT(i_, Int(10)), inner, inner));
  EXPECT_EQ(Exprs(SimplifyStmt(s)), "(i < 10); i; 1; (i < 20); i; 1; 0; 1; ");
}

TEST_F(SimplifyStmtTest, LoadsAreNotRememberedAcrossStores) {
  const Expr positive = LE(Int(1), Load(a_, {Int(3)}));
  const Stmt store = MakeStore(a_, Int(-1), {Int(3)});
  const Stmt s =
      MakeIf(positive, MakeSeq({store, MakeIf(positive, StoreAt(Int(0)))}));
  EXPECT_EQ(SimplifyStmt(s), s);
}

TEST_F(SimplifyStmtTest, BlockIteratorsAreBoundedByTheirDomains) {
  BlockFields fields;
  fields.name = "b";
  fields.iters = {{v_, Range{Int(0), Int(8)}, IterType::kSpatial}};
  fields.writes = {{a_, PointRegion({FloorMod(v_, Int(8))})}};
  fields.body = StoreAt(FloorMod(v_, Int(8)));
  const Stmt s = MakeFor(1, i_, Int(16),
                         MakeRealize({FloorDiv(Mul(i_, Int(2)), Int(2))},
                                     LT(i_, Int(8)), MakeBlock(fields)));
  const Stmt simple = SimplifyStmt(s);
  const auto* realize = simple.As<ForNode>()->body.As<BlockRealizeNode>();
  EXPECT_EQ(ToText(realize->values[0]), "i");
  EXPECT_EQ(ToText(realize->predicate), "(i < 8)");
  EXPECT_EQ(ToText(realize->block->writes[0].region[0].min), "v");
  EXPECT_EQ(Exprs(simple), "v; 1; ");
}

}  // namespace
}  // namespace kiln
