#include "kiln/codegen/lower/storage/compact_buffers.h"

#include "gtest/gtest.h"
#include "kiln/base/status_matchers.h"
#include "kiln/ir/arith/analyzer.h"
#include "kiln/ir/tensor/visit.h"

namespace kiln {
namespace {

const Buffer kOut = MakeBuffer("Out", DType::Float(32), {Int(128), Int(64)});

Stmt Compacted(const Stmt& body) {
  Function f;
  f.body = body;
  return CompactBuffers(f)->body;
}

const AllocateNode* FindAllocate(const Stmt& s) {
  const AllocateNode* found = nullptr;
  Visit(s, [&](const Stmt& x) {
    if (x.As<AllocateNode>()) found = x.As<AllocateNode>();
    return true;
  });
  return found;
}

class CompactTest : public testing::Test {
 protected:
  // for i in 32: allocate t: for r in 4, j in 64: t[i*4+r, j] = 1; Out = t
  Stmt Tile(const Expr& condition = nullptr) {
    Expr row = Add(Mul(i_, Int(4)), r_);
    Stmt body = MakeSeq({MakeStore(t_, Float(1), {row, j_}),
                         MakeStore(kOut, Load(t_, {row, j_}), {row, j_})});
    if (condition) body = MakeIf(condition, body);
    body = MakeFor(3, r_, Int(4), MakeFor(2, j_, Int(64), body));
    return MakeFor(1, i_, Int(32), MakeAllocate(t_, body));
  }
  Var i_{"i"}, r_{"r"}, j_{"j"};
  Buffer t_ = MakeBuffer("T", DType::Float(32), {Int(128), Int(64)});
};

TEST_F(CompactTest, ATileShrinksToItsRowsAndIsRebased) {
  Stmt s = Compacted(Tile());
  const AllocateNode* node = FindAllocate(s);
  EXPECT_TRUE(IsConst(node->buffer->shape[0], 4));
  EXPECT_TRUE(IsConst(node->buffer->shape[1], 64));
}

TEST_F(CompactTest, ConditionsTightenTheBox) {
  Stmt s = Compacted(Tile(LT(j_, Int(10))));
  EXPECT_TRUE(IsConst(FindAllocate(s)->buffer->shape[1], 10));
}

TEST_F(CompactTest, WhatIsUsedWholeStaysWhole) {
  Stmt body = MakeStore(t_, Float(1), {i_, j_});
  body = MakeFor(1, i_, Int(128), MakeFor(2, j_, Int(64), body));
  Stmt s = Compacted(MakeAllocate(t_, body));
  EXPECT_EQ(FindAllocate(s)->buffer, t_);
}

// The inner loop runs for odd i only, which says nothing of the store.
TEST_F(CompactTest, WhatHoldsInsideALoopIsNotUsedOutsideOfIt) {
  const Expr half = FloorDiv(i_, Int(2));
  const Var x("x");
  const Expr odd = Add(Mul(half, Int(2)), Int(1));
  const Expr runs = Sub(FloorDiv(Add(i_, Int(1)), Int(2)), half);
  Stmt inner = MakeFor(2, x, runs,
                       MakeStore(kOut, Load(t_, {odd, Int(0)}), {i_, Int(0)}));
  Stmt body = MakeSeq({MakeStore(t_, Float(1), {i_, Int(0)}), inner});
  Stmt s = Compacted(MakeFor(1, i_, Int(128), MakeAllocate(t_, body)));
  int64_t least = 0;
  Visit(s, [&](const Stmt& at) {
    const auto* store = at.As<StoreNode>();
    if (!store || store->buffer == kOut) return true;
    for (int64_t i = 0; i < 4; ++i) {
      Expr index = Substitute(store->indices[0], i_, Int(i));
      index = Analyzer().Simplify(index);
      EXPECT_TRUE(AsInt(index));
      if (AsInt(index)) least = std::min(least, *AsInt(index));
    }
    return true;
  });
  EXPECT_GE(least, 0);
}

TEST_F(CompactTest, AnIndexFromMemoryKeepsItsDimension) {
  Buffer index = MakeBuffer("I", DType::Index(), {Int(128)});
  Stmt body = MakeStore(t_, Float(1), {Load(index, {i_}), Int(3)});
  body = MakeFor(1, i_, Int(128), body);
  Stmt s = Compacted(MakeAllocate(t_, body));
  EXPECT_TRUE(IsConst(FindAllocate(s)->buffer->shape[0], 128));
  EXPECT_TRUE(IsConst(FindAllocate(s)->buffer->shape[1], 1));
}

TEST_F(CompactTest, ALoopThatReadsItsPreviousIterationCarriesTheBuffer) {
  Expr previous =
      Call(DType::Float(32), Intrinsic::kIfThenElse,
           {LE(Int(1), i_), Load(t_, {Sub(i_, Int(1)), Int(0)}), Float(0)});
  Stmt body = MakeSeq({MakeStore(t_, Add(previous, Float(1)), {i_, Int(0)}),
                       MakeStore(kOut, Load(t_, {i_, Int(0)}), {i_, Int(0)})});
  Stmt s = Compacted(MakeFor(1, i_, Int(128), MakeAllocate(t_, body)));
  ASSERT_TRUE(s.As<AllocateNode>());
  EXPECT_TRUE(IsConst(s.As<AllocateNode>()->buffer->shape[0], 128));
}

// The buffer moves out of both loops, past what follows in the outer one.
TEST_F(CompactTest, ACarriedBufferIsNotLeftAroundAnotherLoop) {
  Expr previous =
      Call(DType::Float(32), Intrinsic::kIfThenElse,
           {LE(Int(1), i_), Load(t_, {Sub(i_, Int(1)), Int(0)}), Float(0)});
  Stmt body = MakeSeq({MakeStore(t_, Add(previous, Float(1)), {i_, Int(0)}),
                       MakeStore(kOut, Load(t_, {i_, Int(0)}), {i_, Int(0)})});
  Stmt inner = MakeFor(2, r_, Int(4), MakeAllocate(t_, body));
  Stmt after = MakeFor(3, j_, Int(64), MakeStore(kOut, Float(2), {i_, j_}));
  Stmt s = Compacted(MakeFor(1, i_, Int(128), MakeSeq({inner, after})));
  ASSERT_TRUE(s.As<AllocateNode>());
  EXPECT_TRUE(s.As<AllocateNode>()->body.As<ForNode>());
}

}  // namespace
}  // namespace kiln
