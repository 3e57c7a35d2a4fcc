#include "kiln/codegen/lower/vector/vectorize_loops.h"

#include "gtest/gtest.h"
#include "kiln/base/status_matchers.h"
#include "kiln/ir/tensor/visit.h"
#include "kiln/ir/type/dtype.h"

namespace kiln {
namespace {

const Buffer kA = MakeBuffer("A", DType::Float(32), {Int(4096)});
const Buffer kB = MakeBuffer("B", DType::Float(32), {Int(4096)});

// Vectorizes `for v in vectorized(lanes): body`.
Stmt Vectorized(const Var& v, int64_t lanes, const Stmt& body) {
  Function f;
  f.body = MakeFor(f.NewId(), v, Int(lanes), body, ForKind::kVectorized);
  return VectorizeLoops(f)->body;
}

TEST(VectorizeTest, UnitStrideBecomesARamp) {
  Var v("v"), i("i");
  Expr index = Add(Mul(i, Int(16)), v);
  Stmt s = Vectorized(v, 16, MakeStore(kA, Load(kB, {index}), {index}));
  const auto* store = s.As<StoreNode>();
  ASSERT_TRUE(store);
  EXPECT_EQ(store->value.dtype().lanes(), 16);
  const auto* ramp = store->indices[0].As<RampNode>();
  ASSERT_TRUE(ramp);
  EXPECT_TRUE(IsOne(ramp->stride));
}

TEST(VectorizeTest, AnInvariantLoadStaysScalar) {
  Var v("v"), k("k");
  Stmt s = Vectorized(
      v, 8, MakeStore(kA, Mul(Load(kB, {k}), Load(kB, {Mul(v, Int(3))})), {v}));
  const auto* product = s.As<StoreNode>()->value.As<BinaryNode>();
  ASSERT_TRUE(product);
  ASSERT_TRUE(product->a.As<BroadcastNode>());
  EXPECT_EQ(product->a.As<BroadcastNode>()->value.dtype().lanes(), 1);
  const auto* ramp = product->b.As<LoadNode>()->indices[0].As<RampNode>();
  ASSERT_TRUE(ramp);
  EXPECT_TRUE(IsConst(ramp->stride, 3));
}

TEST(VectorizeTest, AReductionOverTheLoopStaysSerial) {
  Var v("v");
  Expr sum = Add(Load(kA, {Int(0)}), Load(kB, {v}));
  Stmt s = Vectorized(v, 16, MakeStore(kA, sum, {Int(0)}));
  ASSERT_TRUE(s.As<ForNode>());
  EXPECT_EQ(s.As<ForNode>()->for_kind, ForKind::kSerial);
}

TEST(VectorizeTest, ARecurrenceStaysSerial) {
  Var v("v");
  Stmt s = Vectorized(v, 16, MakeStore(kA, Load(kA, {v}), {Add(v, Int(1))}));
  EXPECT_TRUE(s.As<ForNode>());
}

TEST(VectorizeTest, AShiftBeyondTheLanesIsIndependent) {
  Var v("v");
  Stmt s = Vectorized(v, 16, MakeStore(kA, Load(kA, {v}), {Add(v, Int(16))}));
  EXPECT_TRUE(s.As<StoreNode>());
}

// Whatever n is, as long as rows are as far apart as there are lanes.
TEST(VectorizeTest, AnyRowIsIndependentOfAnotherOnesColumns) {
  Var v("v"), n("n");
  for (const int pitch : {16, 32, 24, 8}) {
    const Expr index = Add(Mul(n, Int(pitch)), v);
    const Stmt s = Vectorized(v, 16, MakeStore(kA, Load(kA, {v}), {index}));
    EXPECT_EQ(s.As<StoreNode>() != nullptr, pitch >= 16) << pitch;
  }
}

TEST(VectorizeTest, RowsOfATileAreIndependentOfItsColumns) {
  Var v("v"), r("r");
  Expr index = Add(Mul(r, Int(16)), v);
  Stmt update = MakeStore(kA, Add(Load(kA, {index}), Load(kB, {v})), {index});
  Stmt s = Vectorized(v, 16, MakeFor(7, r, Int(4), update));
  ASSERT_TRUE(s.As<ForNode>());
  const auto* store = s.As<ForNode>()->body.As<StoreNode>();
  ASSERT_TRUE(store);
  EXPECT_EQ(store->value.dtype().lanes(), 16);
}

TEST(VectorizeTest, OverlappingRowsStaySerial) {
  Var v("v"), r("r");
  Expr index = Add(Mul(r, Int(15)), v);
  Stmt update = MakeStore(kA, Add(Load(kA, {index}), Load(kB, {v})), {index});
  Stmt s = Vectorized(v, 16, MakeFor(7, r, Int(4), update));
  ASSERT_TRUE(s.As<ForNode>());
  EXPECT_TRUE(IsConst(s.As<ForNode>()->extent, 16));
}

TEST(VectorizeTest, LongLoopsBecomeLoopsOfVectors) {
  Var v("v");
  Stmt s = Vectorized(v, 200, MakeStore(kA, Float(1), {v}));
  const auto* seq = s.As<SeqNode>();
  ASSERT_TRUE(seq);
  ASSERT_EQ(seq->stmts.size(), 2u);
  EXPECT_TRUE(IsConst(seq->stmts[0].As<ForNode>()->extent, 3));
  EXPECT_EQ(seq->stmts[1].As<StoreNode>()->value.dtype().lanes(), 8);
}

TEST(VectorizeTest, UnevenVectorsOfBfloat16AreMadeOfEvenOnes) {
  const Buffer x = MakeBuffer("X", *DType::FromString("bfloat16"), {Int(64)});
  Var v("v");
  Stmt s = Vectorized(v, 11, MakeStore(x, Load(x, {v}), {v}));
  const auto* seq = s.As<SeqNode>();
  ASSERT_TRUE(seq);
  std::vector<int> lanes;
  for (const Stmt& part : seq->stmts) {
    lanes.push_back(part.As<StoreNode>()->value.dtype().lanes());
  }
  EXPECT_EQ(lanes, (std::vector<int>{8, 2, 1}));
}

TEST(VectorizeTest, ABranchByLaneRunsLaneAfterLane) {
  Var v("v"), n("n");
  Stmt store = MakeStore(kA, Load(kB, {v}), {v});
  Stmt s = Vectorized(v, 16, MakeIf(LT(v, n), store));
  ASSERT_TRUE(s.As<ForNode>());
  EXPECT_TRUE(s.As<ForNode>()->body.As<IfNode>());
}

TEST(VectorizeTest, ABranchThatLanesShareStaysABranchAroundVectors) {
  Var v("v"), n("n");
  Stmt store = MakeStore(kA, Load(kB, {v}), {v});
  Stmt s = Vectorized(v, 16, MakeIf(LT(Int(3), n), store));
  ASSERT_TRUE(s.As<IfNode>());
  EXPECT_TRUE(s.As<IfNode>()->then_case.As<StoreNode>());
}

TEST(VectorizeTest, ChoicesWithoutLoadsBecomeSelects) {
  Var v("v");
  Expr choice = Call(DType::Float(32), Intrinsic::kIfThenElse,
                     {LT(v, Int(3)), Float(1), Float(2)});
  Stmt s = Vectorized(v, 8, MakeStore(kA, choice, {v}));
  ASSERT_TRUE(s.As<StoreNode>());
  EXPECT_TRUE(s.As<StoreNode>()->value.As<SelectNode>());
}

// A[v] = if_then_else(v < 3, B[index], 2)
Stmt ChosenByLane(const Var& v, const Expr& index) {
  Expr choice = Call(DType::Float(32), Intrinsic::kIfThenElse,
                     {LT(v, Int(3)), Load(kB, {index}), Float(2)});
  return Vectorized(v, 8, MakeStore(kA, choice, {v}));
}

bool IsMaskedLoad(const Expr& e) {
  const auto* call = e.As<CallNode>();
  return call && call->op == Intrinsic::kIfThenElse &&
         call->args[0].dtype().lanes() == 8 && call->args[1].As<LoadNode>();
}

TEST(VectorizeTest, AChoiceThatGuardsALoadByLaneIsNotEvaluatedInAllLanes) {
  Var v("v");
  for (const int64_t step : {-1, 1, 2, 4}) {
    const Stmt s = ChosenByLane(v, Add(Mul(v, Int(step)), Int(9)));
    ASSERT_TRUE(s.As<StoreNode>()) << step;
    EXPECT_TRUE(IsMaskedLoad(s.As<StoreNode>()->value)) << step;
  }
  EXPECT_TRUE(ChosenByLane(v, Mul(v, Int(7))).As<ForNode>());
}

TEST(VectorizeTest, AChoiceMayLoadWhatEachLaneLoadsAnyway) {
  Var v("v");
  const Expr load = Load(kB, {v});
  const Expr choice = Call(DType::Float(32), Intrinsic::kIfThenElse,
                           {LT(v, Int(3)), load, Float(2)});
  Stmt s = Vectorized(v, 8, MakeStore(kA, Add(choice, load), {v}));
  EXPECT_TRUE(s.As<StoreNode>());
}

TEST(VectorizeTest, WhatABranchLoadsIsNotLoadedAnyway) {
  Var v("v"), n("n");
  const Expr load = Load(kB, {v});
  const Expr choice = Call(DType::Float(32), Intrinsic::kIfThenElse,
                           {LT(v, Int(3)), load, Float(2)});
  Stmt branch = MakeIf(LT(Int(3), n), MakeStore(kA, load, {v}));
  Stmt s = Vectorized(v, 8, MakeSeq({branch, MakeStore(kA, choice, {v})}));
  ASSERT_TRUE(s.As<SeqNode>());
  const auto* store = s.As<SeqNode>()->stmts[1].As<StoreNode>();
  ASSERT_TRUE(store);
  EXPECT_TRUE(IsMaskedLoad(store->value));
}

TEST(VectorizeTest, PrivateBuffersGetAnElementForEachLane) {
  Var v("v"), r("r");
  Buffer t = MakeBuffer("T", DType::Float(32), {Int(4)});
  Stmt fill = MakeStore(t, Load(kB, {Add(Mul(r, Int(8)), v)}), {r});
  Stmt use = MakeStore(kA, Load(t, {Int(2)}), {v});
  Stmt body = MakeAllocate(t, MakeSeq({MakeFor(9, r, Int(4), fill), use}));
  Stmt s = Vectorized(v, 8, body);
  const auto* allocate = s.As<AllocateNode>();
  ASSERT_TRUE(allocate);
  EXPECT_TRUE(IsConst(allocate->buffer->shape[0], 32));
}

TEST(VectorizeTest, OfNestedLoopsTheInnermostBecomesVectors) {
  Var v("v"), w("w");
  Stmt inner =
      MakeFor(3, w, Int(16), MakeStore(kA, Float(1), {Add(Mul(v, Int(16)), w)}),
              ForKind::kVectorized);
  Stmt s = Vectorized(v, 4, inner);
  ASSERT_TRUE(s.As<ForNode>());
  EXPECT_EQ(s.As<ForNode>()->for_kind, ForKind::kUnrolled);
  EXPECT_TRUE(s.As<ForNode>()->body.As<StoreNode>());
}

}  // namespace
}  // namespace kiln
