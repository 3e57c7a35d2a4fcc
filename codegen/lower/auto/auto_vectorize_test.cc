#include "kiln/codegen/lower/auto/auto_vectorize.h"

#include <limits>

#include "gtest/gtest.h"
#include "kiln/ir/tensor/visit.h"

namespace kiln {
namespace {

const DType kF32 = DType::Float(32);
const Buffer kA = MakeBuffer("A", kF32, {Int(1 << 20)});
const Buffer kB = MakeBuffer("B", kF32, {Int(1 << 20)});
const Buffer kC = MakeBuffer("C", kF32, {Int(1 << 20)});

std::vector<const ForNode*> Vectorized(const Stmt& s) {
  std::vector<const ForNode*> loops;
  Visit(s, [&](const Stmt& x) {
    const auto* loop = x.As<ForNode>();
    if (loop && loop->for_kind == ForKind::kVectorized) loops.push_back(loop);
    return true;
  });
  return loops;
}

class AutoVectorizeTest : public testing::Test {
 protected:
  std::vector<const ForNode*> Choose(const Stmt& body) {
    Function f;
    f.next_id = 100;
    f.body = body;
    result_ = AutoVectorize(f, machine_)->body;
    return Vectorized(result_);
  }
  Machine machine_ = {.vectors = kAvx512Registers};
  Stmt result_;
  Var i_{"i"}, j_{"j"}, k_{"k"};
};

TEST_F(AutoVectorizeTest, AMatmulIsVectorizedOverItsColumns) {
  Expr c = Add(Mul(i_, Int(128)), j_);
  Expr product = Mul(Load(kA, {Add(Mul(i_, Int(64)), k_)}),
                     Load(kB, {Add(Mul(k_, Int(128)), j_)}));
  Stmt body = MakeStore(kC, Add(Load(kC, {c}), product), {c});
  body = MakeFor(2, j_, Int(128), MakeFor(1, k_, Int(64), body));
  auto loops = Choose(MakeFor(3, i_, Int(8), body));
  ASSERT_EQ(loops.size(), 1u);
  EXPECT_TRUE(IsConst(loops[0]->extent, 16));
  EXPECT_TRUE(loops[0]->body.As<ForNode>());  // the loop over k
}

TEST_F(AutoVectorizeTest, TheLongestLoopThereIsCountsNoFurther) {
  const int64_t most = std::numeric_limits<int64_t>::max();
  const Stmt body = MakeStore(kC, Float(1), {i_});
  EXPECT_EQ(Choose(MakeFor(1, i_, Int(most), body)).size(),
            2u);  // and the rest
}

TEST_F(AutoVectorizeTest, WhatIsLeftOverIsAShorterVector) {
  auto loops = Choose(MakeFor(1, i_, Int(100), MakeStore(kC, Float(1), {i_})));
  ASSERT_EQ(loops.size(), 2u);
  EXPECT_TRUE(IsConst(loops[0]->extent, 16));
  EXPECT_TRUE(IsConst(loops[1]->extent, 4));
}

TEST_F(AutoVectorizeTest, AReductionIsLeftAlone) {
  Expr sum = Add(Load(kC, {Int(0)}), Load(kA, {k_}));
  EXPECT_TRUE(
      Choose(MakeFor(1, k_, Int(64), MakeStore(kC, sum, {Int(0)}))).empty());
}

TEST_F(AutoVectorizeTest, StridedStoresAreLeftAlone) {
  Stmt body = MakeStore(kC, Float(1), {Mul(i_, Int(7))});
  EXPECT_TRUE(Choose(MakeFor(1, i_, Int(64), body)).empty());
}

TEST_F(AutoVectorizeTest, ARecurrenceIsLeftAlone) {
  Stmt body = MakeStore(kC, Load(kC, {i_}), {Add(i_, Int(1))});
  EXPECT_TRUE(Choose(MakeFor(1, i_, Int(64), body)).empty());
}

TEST_F(AutoVectorizeTest, NestsThatTheScheduleVectorizedAreLeftAlone) {
  Stmt body = MakeStore(kC, Float(1), {Add(Mul(i_, Int(8)), j_)});
  body = MakeFor(1, j_, Int(8), body, ForKind::kVectorized);
  auto loops = Choose(MakeFor(2, i_, Int(64), body));
  ASSERT_EQ(loops.size(), 1u);
  EXPECT_TRUE(IsConst(loops[0]->extent, 8));
}

}  // namespace
}  // namespace kiln
