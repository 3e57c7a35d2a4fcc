#include "kiln/codegen/lower/vector/unroll_loops.h"

#include "gtest/gtest.h"
#include "kiln/base/lowering_policy.h"
#include "kiln/base/status_matchers.h"
#include "kiln/ir/tensor/visit.h"

namespace kiln {
namespace {

const Buffer kA = MakeBuffer("A", DType::Float(32), {Int(1 << 20)});

Stmt Unrolled(const Stmt& s) {
  Function f;
  f.body = s;
  return UnrollLoops(f)->body;
}

Stmt Loop(const Var& var, int64_t extent, const Stmt& body,
          ForKind kind = ForKind::kUnrolled, int64_t max_step = -1) {
  ForFields fields;
  fields.var = var;
  fields.min = Int(0);
  fields.extent = Int(extent);
  fields.for_kind = kind;
  fields.body = body;
  if (max_step >= 0) {
    fields.annotations["pragma_auto_unroll_max_step"] = Attr(Int(max_step));
  }
  return MakeFor(fields);
}

Stmt Ones(const Expr& index) { return MakeStore(kA, Float(1), {index}); }

int CountStores(const Stmt& s) {
  int count = 0;
  Visit(s, [&](const Stmt& x) {
    count += x.kind() == StmtKind::kStore;
    return true;
  });
  return count;
}

TEST(UnrollTest, IndicesBecomeConstants) {
  Var i("i"), j("j");
  Stmt s = Unrolled(
      Loop(i, 6, Loop(j, 4, Ones(Add(Mul(i, Int(64)), Mul(j, Int(16)))))));
  const auto* seq = s.As<SeqNode>();
  ASSERT_TRUE(seq);
  ASSERT_EQ(seq->stmts.size(), 24u);
  EXPECT_TRUE(IsConst(seq->stmts[23].As<StoreNode>()->indices[0], 5 * 64 + 48));
}

TEST(UnrollTest, ALoopBeyondTheLimitStaysALoop) {
  Var i("i"), j("j");
  Stmt s = Unrolled(Loop(i, 1000, Loop(j, 10, Ones(Add(Mul(i, Int(10)), j)))));
  ASSERT_TRUE(s.As<ForNode>());
  EXPECT_EQ(s.As<ForNode>()->for_kind, ForKind::kSerial);
  EXPECT_EQ(CountStores(s), 10);
}

TEST(UnrollTest, TheLimitHoldsForAllLoopsTogether) {
  std::vector<Stmt> loops;
  for (int n = 0; n < 10; ++n) {
    Var i("i");
    loops.push_back(Loop(i, 1000, Ones(i)));
  }
  EXPECT_LE(CountStores(Unrolled(MakeSeq(loops))), kMaxUnrolledStatements + 10);
}

TEST(UnrollTest, EachBranchForSomeSizesHasALimitOfItsOwn) {
  Var n("n"), i("i"), j("j");
  const Stmt many = Loop(i, kMaxUnrolledStatements, Ones(i));
  const Stmt s = Unrolled(MakeIf(LT(n, Int(5)), many, Loop(j, 100, Ones(j))));
  EXPECT_EQ(CountStores(s), kMaxUnrolledStatements + 100);
}

TEST(UnrollTest, ThePragmaUnrollsSmallInnerLoops) {
  Var i("i"), j("j"), k("k");
  Stmt inner = Loop(j, 8, Loop(k, 8, Ones(Add(j, k)), ForKind::kSerial),
                    ForKind::kSerial);
  Stmt s = Unrolled(Loop(i, 100, inner, ForKind::kSerial, 64));
  ASSERT_TRUE(s.As<ForNode>());
  EXPECT_EQ(CountStores(s), 64);
  s = Unrolled(Loop(i, 100, inner, ForKind::kSerial, 63));
  EXPECT_EQ(CountStores(s), 8);
}

TEST(UnrollTest, WithoutAPragmaOnlyShortSerialLoopsAreUnrolled) {
  Var i("i");
  const auto stays = [&](int64_t extent) {
    const Stmt s = Unrolled(Loop(i, extent, Ones(i), ForKind::kSerial));
    return s.As<ForNode>() != nullptr;
  };
  EXPECT_FALSE(stays(kImplicitSteps));
  EXPECT_TRUE(stays(kImplicitSteps + 1));
}

TEST(UnrollTest, DecidedBranchesGo) {
  Var i("i");
  Stmt s = Unrolled(Loop(i, 8, MakeIf(LT(i, Int(3)), Ones(i))));
  EXPECT_EQ(CountStores(s), 3);
}

TEST(UnrollTest, LoopsOfOneIterationGoAndOfNoneToo) {
  Var i("i"), j("j");
  EXPECT_TRUE(Unrolled(Loop(i, 1, Ones(i), ForKind::kSerial)).As<StoreNode>());
  EXPECT_EQ(CountStores(Unrolled(Loop(j, 0, Ones(j), ForKind::kSerial))), 0);
}

}  // namespace
}  // namespace kiln
