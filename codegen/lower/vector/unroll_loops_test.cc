// Loops around stores as trees of statements: what copies of them remain after
// the pass, with which indices, and in which loops; the limits are those of
// base/lowering_policy.h.
#include "kiln/codegen/lower/vector/unroll_loops.h"

#include <tuple>
#include <vector>

#include "gtest/gtest.h"
#include "kiln/base/lowering_policy.h"
#include "kiln/base/status_matchers.h"
#include "kiln/ir/arith/index_normalizer.h"
#include "kiln/ir/tensor/automatic.h"
#include "kiln/ir/tensor/marks.h"
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

// The extent of the outermost loop in `s`, 0 where there is none.
int64_t ExtentOfLoop(const Stmt& s) {
  int64_t extent = 0;
  Visit(s, [&](const Stmt& x) {
    const auto* loop = x.As<ForNode>();
    if (loop && extent == 0) extent = *AsInt(loop->extent);
    return true;
  });
  return extent;
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
    return ExtentOfLoop(s) != 0;
  };
  EXPECT_FALSE(stays(kImplicitSteps));
  EXPECT_TRUE(stays(kImplicitSteps + 1));
}

// Indices of the stores of 0 to 90, each once, in order.
TEST(UnrollTest, ALongLoopDoesSomeIterationsAtATime) {
  Var i("i");
  ForFields fields = Loop(i, 91, Ones(Mul(i, Int(16)))).As<ForNode>()->fields();
  fields.for_kind = ForKind::kSerial;
  fields.min = Int(5);
  for (const auto& [extent, turns, stores] :
       {std::tuple{91, 13, 7}, {96, 12, 8}, {83, 10, 8 + 3}}) {
    fields.extent = Int(extent);
    const Stmt s = Unrolled(MakeFor(fields));
    EXPECT_EQ(ExtentOfLoop(s), turns);
    EXPECT_EQ(CountStores(s), stores);
    std::vector<int64_t> indices;
    Visit(s, [&](const Stmt& x) {
      const auto* loop = x.As<ForNode>();
      for (int64_t turn = 0; loop && turn < turns; ++turn) {
        Visit(loop->body, [&](const Stmt& inner) {
          if (const auto* store = inner.As<StoreNode>()) {
            IndexNormalizer at;
            at.Bind(loop->var.get(), Int(turn));
            indices.push_back(*AsInt(at.Run(store->indices[0])));
          }
          return true;
        });
      }
      const auto* store = x.As<StoreNode>();
      if (store) indices.push_back(*AsInt(store->indices[0]));
      return !loop;
    });
    ASSERT_EQ(indices.size(), extent);
    for (int n = 0; n < extent; ++n) EXPECT_EQ(indices[n], (n + 5) * 16);
  }
}

TEST(UnrollTest, OnlyShortStoresStandSideBySide) {
  Var i("i");
  const Buffer b = MakeBuffer("B", DType::Float(32), {Int(1 << 20)});
  const auto turns = [&](const Expr& value, const Stmt* guarded = nullptr) {
    return ExtentOfLoop(
        Unrolled(Loop(i, 96, guarded ? *guarded : MakeStore(kA, value, {i}),
                      ForKind::kSerial)));
  };
  const Expr x = Load(b, {i});
  EXPECT_EQ(turns(Mul(x, x)), 12);
  EXPECT_EQ(turns(Mul(Mul(Mul(x, x), Mul(x, x)), Mul(x, x))), 96);
  EXPECT_EQ(turns(Add(Load(kA, {i}), x)), 96) << "updates are sums";
  const Stmt guarded = MakeIf(LT(Load(b, {i}), x), MakeStore(kA, x, {i}));
  EXPECT_EQ(turns(x, &guarded), 96);
}

TEST(UnrollTest, LoopsStayAsTheyAreWhereNothingIsAutomatic) {
  Var i("i");
  Function f;
  f.body = Loop(i, 96, Ones(i), ForKind::kSerial);
  f.attrs[kAuto] = Attr(Bool(false));
  EXPECT_EQ(ExtentOfLoop(UnrollLoops(f)->body), 96);
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

TEST(UnrollTest, LoopsOfAProductForTilesStay) {
  const Var k("k"), i("i"), j("j");
  ForFields fields =
      Loop(k, 1,
           Loop(i, 2, Loop(j, 3, Ones(Add(i, j)), ForKind::kSerial),
                ForKind::kSerial),
           ForKind::kSerial)
          .As<ForNode>()
          ->fields();
  EXPECT_EQ(CountStores(Unrolled(MakeFor(fields))), 6);
  fields.annotations[kTileProduct] = Attr(Bool(true));
  const Stmt kept = Unrolled(MakeFor(fields));
  EXPECT_EQ(CountStores(kept), 1);
  EXPECT_EQ(ExtentOfLoop(kept), 1);
}

}  // namespace
}  // namespace kiln
