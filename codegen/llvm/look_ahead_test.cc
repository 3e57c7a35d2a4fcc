#include "kiln/codegen/llvm/look_ahead.h"

#include <set>
#include <vector>

#include "gtest/gtest.h"
#include "kiln/codegen/lower/linear.h"
#include "kiln/ir/expr/visit.h"

namespace kiln::codegen_internal {
namespace {

class NextPanelTest : public testing::Test {
 protected:
  static Stmt Loop(const Var& var, int64_t extent) {
    return MakeFor(1, var, Int(extent), MakeEvaluate(Int(0)));
  }
  std::optional<Expr> Next(const Expr& index) const {
    std::vector<const ForNode*> loops;
    for (const Stmt& s : loops_) loops.push_back(s.As<ForNode>());
    return NextPanelIndex(index, loops);
  }
  // What `e` comes to over all i and k of one j.
  std::set<int64_t> Values(const Expr& e, int64_t j) const {
    std::set<int64_t> values;
    for (int64_t i = 0; i < 4; ++i) {
      for (int64_t k = 0; k < 10; ++k) {
        VarMap at;
        at[i_.get()] = Int(i);
        at[j_.get()] = Int(j);
        at[k_.get()] = Int(k);
        lower::Normalizer normalizer;
        values.insert(*AsInt(normalizer.Run(Substitute(e, at))));
      }
    }
    return values;
  }

  Var i_{"i"}, j_{"j"}, k_{"k"};
  std::vector<Stmt> loops_ = {Loop(j_, 3), Loop(i_, 4), Loop(k_, 10)};
  Expr index_ = Add(Mul(j_, Int(480)), Mul(k_, Int(48)));
};

TEST_F(NextPanelTest, AllPassesTogetherAskForTheWholeNextPanel) {
  const std::optional<Expr> next = Next(index_);
  ASSERT_TRUE(next);
  const std::set<int64_t> asked = Values(*next, 0);
  for (int64_t element : Values(index_, 1)) EXPECT_TRUE(asked.count(element));
  EXPECT_LE(asked.size(), 12u);  // shares of 3 rows for 4 passes
}

TEST_F(NextPanelTest, PanelsMayBeDigitsOfOneLoop) {
  const Expr digit = FloorMod(j_, Int(2));
  const auto next = Next(Add(Mul(digit, Int(480)), k_));
  ASSERT_TRUE(next);
  EXPECT_TRUE(Values(*next, 1).count(0));
}

TEST_F(NextPanelTest, WhatIsReadOnceHasNoPasses) {
  EXPECT_FALSE(Next(Add(index_, i_)));
}

TEST_F(NextPanelTest, WhatNeverMovesOnHasNoNextPanel) {
  EXPECT_FALSE(Next(Mul(k_, Int(48))));
}

TEST_F(NextPanelTest, WhatStaysInTheInnermostLoopIsNoPanel) {
  EXPECT_FALSE(Next(j_));
}

TEST_F(NextPanelTest, LoopsOfUnknownExtentAreLeftAlone) {
  loops_[1] = MakeFor(1, i_, Var("n"), MakeEvaluate(Int(0)));
  EXPECT_FALSE(Next(index_));
}

TEST_F(NextPanelTest, NothingIsReadToKnowWhere) {
  const Buffer rows = MakeBuffer("rows", DType::Int(64), {Int(3)});
  EXPECT_FALSE(Next(Add(Load(rows, {j_}), k_)));
}

TEST_F(NextPanelTest, NothingIsDividedByWhatMayBeZeroLater) {
  const Expr left = Sub(Int(3), j_);  // 0 in the iteration after the last
  EXPECT_FALSE(Next(Add(FloorDiv(Int(480), left), Add(j_, k_))));
  EXPECT_TRUE(Next(Add(FloorDiv(j_, Int(3)), Add(Mul(j_, Int(480)), k_))));
}

class NextBlockTest : public testing::Test {
 protected:
  static Stmt Loop(const Var& var, int64_t extent) {
    return MakeFor(1, var, Int(extent), MakeEvaluate(Int(0)));
  }
  // Blocks of 10 rows of 12 elements, in panels of 4 elements, each in some
  // passes.
  std::optional<Expr> Next(const Expr& index, int64_t passes) const {
    const std::vector<Stmt> stmts = {Loop(b_, 3), Loop(j_, 3), Loop(i_, passes),
                                     Loop(k_, 10)};
    std::vector<const ForNode*> loops;
    for (const Stmt& s : stmts) loops.push_back(s.As<ForNode>());
    return NextBlockIndex(index, loops);
  }
  // What `e` comes to in all steps of the first block, in their order.
  std::vector<int64_t> Values(const Expr& e, int64_t passes) const {
    std::vector<int64_t> values;
    for (int64_t step = 0; step < 3 * passes * 10; ++step) {
      VarMap at;
      at[b_.get()] = Int(0);
      at[j_.get()] = Int(step / (passes * 10));
      at[i_.get()] = Int(step / 10 % passes);
      at[k_.get()] = Int(step % 10);
      lower::Normalizer normalizer;
      values.push_back(*AsInt(normalizer.Run(Substitute(e, at))));
    }
    return values;
  }

  Var b_{"b"}, j_{"j"}, i_{"i"}, k_{"k"};
  Expr index_ = Add(Add(Mul(b_, Int(120)), Mul(j_, Int(4))), Mul(k_, Int(12)));
};

TEST_F(NextBlockTest, ABlockAsksForTheNextRowByRow) {
  for (const int64_t passes : {1, 2, 5}) {
    const std::optional<Expr> next = Next(index_, passes);
    ASSERT_TRUE(next);
    int64_t step = 0;
    for (const int64_t element : Values(*next, passes)) {
      EXPECT_EQ(element, 120 + step++ / passes * 4);
    }
  }
}

TEST_F(NextBlockTest, RowsThatDoNotGoOnAreNoBlock) {
  EXPECT_FALSE(Next(Add(index_, b_), 2));
  EXPECT_FALSE(Next(Sub(index_, Mul(k_, Int(24))), 2));
  EXPECT_FALSE(Next(Add(Mul(b_, Int(120)), Mul(k_, Int(12))), 2))
      << "one panel";
}

// Panels of 10 rows of 8 of 12 elements, two vectors a row, copied before 4
// passes of 10 steps each.
class NextCopyTest : public testing::Test {
 protected:
  Stmt CopyOf(const Expr& first) const {
    const Expr at = Mul(r_, Int(8));
    std::vector<Stmt> stores;
    for (int64_t v : {0, 4}) {
      stores.push_back(
          MakeStore(to_, Load(from_, {Ramp(Add(first, Int(v)), Int(1), 4)}),
                    {Ramp(Add(at, Int(v)), Int(1), 4)}));
    }
    return MakeFor(1, r_, Int(10), MakeSeq(stores));
  }
  std::vector<Expr> Next(const Stmt& copy, int64_t passes = 4) const {
    const auto found = FindVectorCopy(copy);
    if (!found) return {};
    const std::vector<Stmt> stmts = {Loop(b_, 3), Loop(j_, 2), Loop(i_, passes),
                                     Loop(k_, 10)};
    std::vector<const ForNode*> loops;
    for (const Stmt& s : stmts) loops.push_back(s.As<ForNode>());
    const absl::Span<const ForNode* const> all(loops);
    return NextCopyIndices(*found, all.first(2), all.subspan(2));
  }
  static Stmt Loop(const Var& var, int64_t extent) {
    return MakeFor(1, var, Int(extent), MakeEvaluate(Int(0)));
  }
  // What all steps of the iteration at (b, j) ask for.
  std::set<int64_t> Asked(const std::vector<Expr>& indices, int64_t b,
                          int64_t j, int64_t passes = 4) const {
    std::set<int64_t> asked;
    for (int64_t step = 0; step < passes * 10; ++step) {
      VarMap at;
      at[b_.get()] = Int(b);
      at[j_.get()] = Int(j);
      at[i_.get()] = Int(step / 10);
      at[k_.get()] = Int(step % 10);
      for (const Expr& index : indices) {
        lower::Normalizer normalizer;
        asked.insert(*AsInt(normalizer.Run(Substitute(index, at))));
      }
    }
    return asked;
  }
  std::set<int64_t> Copied(int64_t b, int64_t j) const {
    std::set<int64_t> copied;
    for (int64_t r = 0; r < 10; ++r) {
      for (int64_t v : {0, 4}) copied.insert(b * 120 + j * 8 + r * 12 + v);
    }
    return copied;
  }

  Var b_{"b"}, j_{"j"}, i_{"i"}, k_{"k"}, r_{"r"};
  Buffer from_ = MakeBuffer("from", DType::Float(32), {Int(400)});
  Buffer to_ = MakeBuffer("to", DType::Float(32), {Int(80)});
  Expr first_ = Add(Add(Mul(b_, Int(120)), Mul(j_, Int(8))), Mul(r_, Int(12)));
};

TEST_F(NextCopyTest, AllStepsAskForWhatIsCopiedNext) {
  const std::vector<Expr> next = Next(CopyOf(first_));
  ASSERT_EQ(next.size(), 1u);
  EXPECT_EQ(Asked(next, 1, 0), Copied(1, 1));
  EXPECT_EQ(Asked(next, 1, 1), Copied(2, 0)) << "the loop around goes on";
}

TEST_F(NextCopyTest, FewStepsAskForSeveralVectorsEach) {
  const std::vector<Expr> next = Next(CopyOf(first_), /*passes=*/1);
  ASSERT_EQ(next.size(), 2u);
  EXPECT_EQ(Asked(next, 0, 0, 1), Copied(0, 1));
}

TEST_F(NextCopyTest, WhatIsCopiedAgainIsNotAskedFor) {
  EXPECT_TRUE(Next(CopyOf(Mul(r_, Int(12)))).empty());
}

TEST_F(NextCopyTest, OnlyCopiesOfWholeVectorsAreFound) {
  EXPECT_FALSE(FindVectorCopy(MakeFor(
      1, r_, Int(10), MakeStore(to_, Load(from_, {first_}), {Expr(r_)}))));
  EXPECT_FALSE(FindVectorCopy(MakeStore(to_, Load(from_, {first_}), {r_})));
  const Expr apart = Load(from_, {Ramp(first_, Int(2), 4)});
  EXPECT_FALSE(FindVectorCopy(
      MakeFor(1, r_, Int(10), MakeStore(to_, apart, {Ramp(r_, Int(1), 4)}))));
}

TEST_F(NextCopyTest, PaddedVectorsAreCopiesToo) {
  const Expr vector = Load(from_, {Ramp(first_, Int(1), 4)});
  const Expr padded = Call(
      vector.dtype(), Intrinsic::kIfThenElse,
      {LT(r_, Int(5)), vector, Broadcast(Constant(0, DType::Float(32)), 4)});
  EXPECT_TRUE(FindVectorCopy(
      MakeFor(1, r_, Int(10), MakeStore(to_, padded, {Ramp(r_, Int(1), 4)}))));
}

TEST(VectorSpanTest, IsFromTheFirstToTheLastElementOfOneIteration) {
  const Var k("k");
  const Buffer from = MakeBuffer("from", DType::Float(32), {Int(4096)});
  const Buffer other = MakeBuffer("other", DType::Float(32), {Int(4096)});
  const auto copy = [&](const Buffer& b, int64_t at) {
    const Expr index = Ramp(Add(Mul(k, Int(256)), Int(at)), Int(1), 16);
    return MakeStore(other, Load(b, {index}), {index});
  };
  const Stmt body = MakeSeq(
      {copy(from, 64), copy(from, 208), copy(from, 0), copy(other, 1024)});
  EXPECT_EQ(VectorSpan(body, from), 224);
  EXPECT_EQ(VectorSpan(body, other), 16);
  EXPECT_EQ(VectorSpan(copy(other, 0), from), 0);
}

}  // namespace
}  // namespace kiln::codegen_internal
