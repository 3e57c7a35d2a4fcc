#include "kiln/codegen/lower/guards/narrow_loop_ranges.h"

#include <utility>

#include "gtest/gtest.h"
#include "kiln/codegen/lower/guards/fold_known_conditions.h"
#include "kiln/ir/expr/same.h"
#include "kiln/ir/type/dtype.h"

namespace kiln::lower {
namespace {

class NarrowLoopRangesTest : public testing::Test {
 protected:
  // A loop over i of 5 around `if condition: A[i] = 1`, cut where h is 12 or
  // 13 and k one of 100.
  Stmt Cut(Expr condition, ForKind kind = ForKind::kUnrolled) {
    return Cut(std::move(condition), MakeStore(a_, Float(1), {i_}), kind);
  }
  // The same around `then_case`.
  Stmt Cut(Expr condition, Stmt then_case, ForKind kind = ForKind::kUnrolled) {
    const Stmt body = MakeIf(std::move(condition), std::move(then_case));
    return NarrowLoopRanges(MakeFor(1, i_, Int(5), body, kind), outer_,
                            {{h_.get(), {12, 13}}});
  }
  void ExpectRange(const Stmt& s, int64_t first, int64_t extent) {
    const auto* loop = s.As<ForNode>();
    ASSERT_TRUE(loop);
    ASSERT_TRUE(AsInt(loop->min) && AsInt(loop->extent));
    EXPECT_EQ(*AsInt(loop->min), first);
    EXPECT_EQ(*AsInt(loop->extent), extent);
  }

  Var h_{"h"}, i_{"i"}, k_{"k"};
  Buffer a_ = MakeBuffer("A", DType::Float(32), {Int(5)});
  Stmt h_loop_ = MakeFor(2, h_, Int(14), MakeEvaluate(Int(0)));
  Stmt k_loop_ = MakeFor(3, k_, Int(100), MakeEvaluate(Int(0)));
  LoopStack outer_ = {h_loop_.As<ForNode>(), k_loop_.As<ForNode>()};
};

TEST_F(NarrowLoopRangesTest, LimitsBecomeBounds) {
  ExpectRange(Cut(LT(i_, Int(3))), 0, 3);
  ExpectRange(Cut(LT(Int(7), Mul(i_, Int(3)))), 3, 2);
  ExpectRange(Cut(And(LE(Int(1), i_), LT(i_, Int(4)))), 1, 3);
}

TEST_F(NarrowLoopRangesTest, OtherVariablesCountByTheValuesThatTheyHave) {
  ExpectRange(Cut(LT(Add(h_, Mul(i_, Int(2))), Int(16))), 0, 2);
  const Stmt undecided = Cut(LT(Add(h_, i_), Int(16)));
  ExpectRange(undecided, 0, 5);
  EXPECT_TRUE(undecided.As<ForNode>()->body.As<IfNode>());
}

TEST_F(NarrowLoopRangesTest, OtherConjunctsStay) {
  const Stmt cut = Cut(And(LT(i_, Int(3)), LT(k_, Int(50))));
  ExpectRange(cut, 0, 3);
  const auto* rest = cut.As<ForNode>()->body.As<IfNode>();
  ASSERT_TRUE(rest);
  EXPECT_TRUE(SameExpr(rest->condition, LT(k_, Int(50))));
}

TEST_F(NarrowLoopRangesTest, InnerLoopsDecideWhereItMayEnd) {
  const Var v("v");
  const auto tile = [&](const Expr& condition) {
    const Stmt store = MakeStore(a_, Float(1), {i_});
    const Stmt lanes =
        MakeFor(4, v, Int(8), MakeIf(condition, store), ForKind::kVectorized);
    return NarrowLoopRanges(MakeFor(1, i_, Int(5), lanes, ForKind::kUnrolled),
                            outer_, {});
  };
  const Expr at = Add(Mul(i_, Int(8)), v);
  const Stmt one = tile(LT(at, Int(6)));
  ExpectRange(one, 0, 1);
  ExpectRange(one.As<ForNode>()->body, 0, 6);
  const Stmt two = tile(LT(at, Int(14)));
  ExpectRange(two, 0, 2);
  ExpectRange(two.As<ForNode>()->body, 0, 8);
  const Stmt last = tile(LE(Int(30), at));
  ExpectRange(last, 3, 2);
  EXPECT_TRUE(DoesNothing(tile(LT(at, Int(0)))));
}

TEST_F(NarrowLoopRangesTest, InnerLoopsCountTheValuesThatOuterOnesKeep) {
  const Var v("v");
  const Stmt store = MakeStore(a_, Float(1), {i_});
  const Stmt lanes =
      MakeFor(4, v, Int(8), MakeIf(LT(Add(Mul(i_, Int(8)), v), Int(6)), store),
              ForKind::kVectorized);
  const Stmt cut = Cut(LT(i_, Int(1)), lanes);
  ExpectRange(cut, 0, 1);
  ExpectRange(cut.As<ForNode>()->body, 0, 6);
}

TEST_F(NarrowLoopRangesTest, ALoopThatNeverRunsIsLeftOut) {
  EXPECT_TRUE(DoesNothing(Cut(LT(i_, Int(0)))));
}

TEST_F(NarrowLoopRangesTest, AVectorLosesLanes) {
  ExpectRange(Cut(LT(i_, Int(3)), ForKind::kVectorized), 0, 3);
}

TEST_F(NarrowLoopRangesTest, ParallelLoopsKeepTheirLength) {
  ExpectRange(Cut(LT(i_, Int(3)), ForKind::kParallel), 0, 5);
}

}  // namespace
}  // namespace kiln::lower
