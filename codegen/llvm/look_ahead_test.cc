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

}  // namespace
}  // namespace kiln::codegen_internal
