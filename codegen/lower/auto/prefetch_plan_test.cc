// Plans are counted out: over all steps that ask, what is asked for has to be
// what is read next, no more and no less. Nests are small, with extents that no
// share divides.
#include "kiln/codegen/lower/auto/prefetch_plan.h"

#include <set>
#include <vector>

#include "gtest/gtest.h"
#include "kiln/ir/arith/index_normalizer.h"
#include "kiln/ir/expr/visit.h"

namespace kiln::lower {
namespace {

class NextPanelTest : public testing::Test {
 protected:
  static Stmt Loop(const Var& var, int64_t extent) {
    return MakeFor(1, var, Int(extent), MakeEvaluate(Int(0)));
  }
  std::vector<const ForNode*> Loops() const {
    std::vector<const ForNode*> loops;
    for (const Stmt& s : loops_) loops.push_back(s.As<ForNode>());
    return loops;
  }
  // For `columns` vectors of 4 elements next to each other.
  PrefetchPlan Next(const Expr& index, int64_t columns = 1) const {
    return PlanNextPanel({buffer_, index, 4, 1, 0, columns, 4}, Loops());
  }
  // What is asked for over all i and k of one j.
  std::set<int64_t> Values(const PrefetchPlan& ask, int64_t j) const {
    std::set<int64_t> values;
    for (int64_t i = 0; i < 4; ++i) {
      for (int64_t k = 0; k < 10; k += ask.every) {
        VarMap at;
        at[i_.get()] = Int(i);
        at[j_.get()] = Int(j);
        at[k_.get()] = Int(k);
        for (const Expr& e : ask.indices) {
          IndexNormalizer normalizer;
          values.insert(*AsInt(normalizer.Run(Substitute(e, at))));
        }
      }
    }
    return values;
  }

  Buffer buffer_ = MakeBuffer("panels", DType::Float(32), {Int(1440)});
  Var i_{"i"}, j_{"j"}, k_{"k"};
  std::vector<Stmt> loops_ = {Loop(j_, 3), Loop(i_, 4), Loop(k_, 10)};
  Expr index_ = Add(Mul(j_, Int(480)), Mul(k_, Int(48)));
};

// Over all passes and steps of one j: the lines of 3 rows of 20 elements, two
// of which each step reads.
TEST_F(NextPanelTest, AllPassesTogetherAskForTheNextRowsOfScalars) {
  const Expr index = Add(Mul(j_, Int(480)), Mul(k_, Int(2)));
  for (const int64_t ahead : {1, 2}) {
    const PrefetchPlan next =
        PlanNextRows({buffer_, index, 1, 3, 100, 2, 1}, 8, ahead, Loops());
    std::set<int64_t> wanted;
    for (const int64_t row : {0, 100, 200}) {
      for (const int64_t line : {0, 8, 16}) {
        wanted.insert(480 * (1 + ahead) + row + line);
      }
    }
    EXPECT_EQ(Values(next, 1), wanted) << ahead;
  }
}

TEST_F(NextPanelTest, ScalarsThatAreNoRowsOrComeAgainAskForNothing) {
  const auto is_empty = [&](const VectorGrid& scalars) {
    return PlanNextRows(scalars, 8, 1, Loops()).indices.empty();
  };
  const Expr by_two = Add(Mul(j_, Int(480)), Mul(k_, Int(2)));
  EXPECT_FALSE(is_empty({buffer_, by_two, 1, 3, 100, 2, 1}));
  EXPECT_TRUE(is_empty({buffer_, by_two, 1, 3, 100, 3, 1})) << "rows overlap";
  EXPECT_TRUE(is_empty({buffer_, by_two, 1, 3, 100, 2, 7})) << "apart";
  EXPECT_TRUE(is_empty({buffer_, by_two, 1, 6, 100, 2, 1})) << "next j again";
  EXPECT_TRUE(is_empty({buffer_, Mul(k_, Int(2)), 1, 3, 100, 2, 1}));
}

TEST_F(NextPanelTest, AllPassesTogetherAskForTheNextPanelOnce) {
  for (const int64_t columns : {1, 2, 3, 4, 7, 12}) {
    const PrefetchPlan next = Next(index_, columns);
    std::set<int64_t> wanted;
    for (int64_t k = 0; k < 10; ++k) {
      for (int64_t c = 0; c < columns; ++c) wanted.insert(480 + k * 48 + c * 4);
    }
    EXPECT_EQ(Values(next, 0), wanted) << columns << " columns";
  }
}

TEST_F(NextPanelTest, OneIterationAsksForFew) {
  using Each = std::pair<int64_t, int64_t>;  // iterations, vectors
  const auto each = [&](int64_t columns) {
    const PrefetchPlan next = Next(index_, columns);
    return Each(next.every, std::ssize(next.indices));
  };
  EXPECT_EQ(each(1), Each(2, 1)) << "10 rows in 4 runs of 10 steps";
  EXPECT_EQ(each(4), Each(2, 4)) << "neighbours are asked for together";
  EXPECT_EQ(each(7), Each(1, 2)) << "70 vectors in 40 steps";
}

TEST_F(NextPanelTest, TwoPassesAskForARunAndNotForRowsFarApart) {
  loops_[1] = Loop(i_, 2);
  const Expr run = Add(Mul(j_, Int(480)), Mul(k_, Int(16)));
  EXPECT_FALSE(Next(run, 4).indices.empty());
  EXPECT_TRUE(Next(index_, 4).indices.empty());
}

TEST_F(NextPanelTest, UnrolledRowsAreAskedForAsRows) {
  const PrefetchPlan next =
      PlanNextPanel({buffer_, index_, 4, 2, 24, 2, 4}, Loops());
  std::set<int64_t> wanted;
  for (int64_t k = 0; k < 20; ++k) {
    for (int64_t c : {0, 4}) wanted.insert(480 + k * 24 + c);
  }
  EXPECT_EQ(Values(next, 0), wanted);
}

TEST_F(NextPanelTest, EachTapOfAPanelAsksForItselfInTheNext) {
  const Var tap("tap");
  loops_.insert(loops_.begin() + 2, Loop(tap, 3));
  const Expr index =
      Add(Mul(j_, Int(1440)), Add(Mul(tap, Int(480)), Mul(k_, Int(48))));
  const PrefetchPlan next = Next(index);
  EXPECT_EQ(next.every, 2) << "10 rows in 4 passes of 10 steps";
  VarMap at;
  at[tap.get()] = Int(2);
  std::set<int64_t> wanted;
  for (int64_t k = 0; k < 10; ++k) wanted.insert(1440 + 2 * 480 + k * 48);
  PrefetchPlan last_tap{next.every, {}};
  for (const Expr& e : next.indices) {
    last_tap.indices.push_back(Substitute(e, at));
  }
  EXPECT_EQ(Values(last_tap, 0), wanted);
}

TEST_F(NextPanelTest, PanelsMayBeDigitsOfOneLoop) {
  const Expr digit = FloorMod(j_, Int(2));
  const auto next = Next(Add(Mul(digit, Int(480)), k_));
  ASSERT_FALSE(next.indices.empty());
  EXPECT_TRUE(Values(next, 1).count(0));
}

TEST_F(NextPanelTest, WhatIsReadOnceHasNoPasses) {
  EXPECT_TRUE(Next(Add(index_, i_)).indices.empty());
}

TEST_F(NextPanelTest, WhatNeverMovesOnHasNoNextPanel) {
  EXPECT_TRUE(Next(Mul(k_, Int(48))).indices.empty());
}

TEST_F(NextPanelTest, WhatStaysInTheInnermostLoopIsNoPanel) {
  EXPECT_TRUE(Next(j_).indices.empty());
}

TEST_F(NextPanelTest, LoopsOfUnknownExtentAreLeftAlone) {
  loops_[1] = MakeFor(1, i_, Var("n"), MakeEvaluate(Int(0)));
  EXPECT_TRUE(Next(index_).indices.empty());
}

TEST_F(NextPanelTest, NothingIsReadToKnowWhere) {
  const Buffer rows = MakeBuffer("rows", DType::Int(64), {Int(3)});
  EXPECT_TRUE(Next(Add(Load(rows, {j_}), k_)).indices.empty());
}

// What is the same in all iterations was divided by when this one read.
TEST_F(NextPanelTest, PlacesInLoopsOfSymbolicExtentAreAskedForAhead) {
  const Var n("n"), f("f");
  const Expr panels = FloorDiv(Add(n, Int(3)), Int(4));
  const PrefetchPlan next = Next(Add(index_, Mul(FloorDiv(f, panels), n)));
  EXPECT_EQ(next.every, 2);
  ASSERT_EQ(next.indices.size(), 1u);
  EXPECT_TRUE(UsesVar(next.indices[0], f));
}

TEST_F(NextPanelTest, NothingIsDividedByWhatMayBeZeroLater) {
  const Expr left = Sub(Int(3), j_);  // 0 in the iteration after the last
  EXPECT_TRUE(Next(Add(FloorDiv(Int(480), left), Add(j_, k_))).indices.empty());
  EXPECT_FALSE(Next(Add(FloorDiv(j_, Int(3)), Add(Mul(j_, Int(480)), k_)))
                   .indices.empty());
}

// for p in 12, k in 10: ... A[p//4*480 + k*48]: passes in a parallel loop.
TEST_F(NextPanelTest, PassesThatAreFusedWithPanelsAskForTheSame) {
  const Var p("p");
  const Expr index = Add(Mul(FloorDiv(p, Int(4)), Int(480)), Mul(k_, Int(48)));
  const std::vector<Stmt> fused = {Loop(p, 12), Loop(k_, 10)};
  const std::vector<const ForNode*> loops = {fused[0].As<ForNode>(),
                                             fused[1].As<ForNode>()};
  constexpr int64_t kColumns = 64;  // of 16 bytes: 10 KiB
  PrefetchPlan next =
      PlanNextPanel({buffer_, index, 4, 1, 0, kColumns, 4}, loops);
  const PrefetchPlan apart = Next(index_, kColumns);
  ASSERT_EQ(next.indices.size(), apart.indices.size());
  EXPECT_EQ(next.every, apart.every);
  for (Expr& e : next.indices) e = Substitute(e, p, Add(Mul(j_, Int(4)), i_));
  for (int64_t j = 0; j < 3; ++j) EXPECT_EQ(Values(next, j), Values(apart, j));
  // What moves with each pass is no panel.
  EXPECT_TRUE(
      PlanNextPanel({buffer_, Add(index, p), 4, 1, 0, kColumns, 4}, loops)
          .indices.empty());
  EXPECT_TRUE(
      PlanNextPanel({buffer_, index, 4, 1, 0, 1, 4}, loops).indices.empty())
      << "small";
}

class NextBlockTest : public testing::Test {
 protected:
  static Stmt Loop(const Var& var, int64_t extent) {
    return MakeFor(1, var, Int(extent), MakeEvaluate(Int(0)));
  }
  // Blocks of 10 rows of 12 elements, in panels of 4 elements, each in some
  // passes.
  PrefetchPlan Next(const VectorGrid& grid, int64_t passes) const {
    const std::vector<Stmt> stmts = {Loop(b_, 3), Loop(j_, 3), Loop(i_, passes),
                                     Loop(k_, 10)};
    std::vector<const ForNode*> loops;
    for (const Stmt& s : stmts) loops.push_back(s.As<ForNode>());
    return PlanNextBlock(grid, loops);
  }
  VectorGrid Vector(const Expr& first) const { return {buffer_, first, 4}; }
  // What is asked for in all steps of the first block, in their order.
  std::vector<int64_t> Values(const PrefetchPlan& ask, int64_t passes) const {
    std::vector<int64_t> values;
    for (int64_t step = 0; step < 3 * passes * 10; ++step) {
      if (step % 10 % ask.every != 0) continue;
      VarMap at;
      at[b_.get()] = Int(0);
      at[j_.get()] = Int(step / (passes * 10));
      at[i_.get()] = Int(step / 10 % passes);
      at[k_.get()] = Int(step % 10);
      for (const Expr& e : ask.indices) {
        IndexNormalizer normalizer;
        values.push_back(*AsInt(normalizer.Run(Substitute(e, at))));
      }
    }
    return values;
  }

  Buffer buffer_ = MakeBuffer("blocks", DType::Float(32), {Int(720)});
  Var b_{"b"}, j_{"j"}, i_{"i"}, k_{"k"};
  Expr index_ = Add(Add(Mul(b_, Int(120)), Mul(j_, Int(4))), Mul(k_, Int(12)));
};

TEST_F(NextBlockTest, ABlockAsksForTheNextRowByRow) {
  for (const int64_t passes : {1, 2, 5}) {
    int64_t vector = 0;
    for (const int64_t element : Values(Next(Vector(index_), passes), passes)) {
      EXPECT_EQ(element, 120 + vector * 4);
      vector = std::min<int64_t>(vector + 1, 29);
    }
    EXPECT_EQ(vector, 29) << passes << " passes";
  }
}

TEST_F(NextBlockTest, UnrolledRowsComeOneAfterTheOther) {
  // Rows of 24 elements, two of them in each step of k, in panels of two
  // vectors.
  const Expr first =
      Add(Add(Mul(b_, Int(480)), Mul(j_, Int(8))), Mul(k_, Int(48)));
  const VectorGrid grid = {buffer_, first, 4, 2, 24, 2, 4};
  for (const int64_t passes : {1, 2, 3, 4, 8}) {
    int64_t vector = 0;
    for (const int64_t element : Values(Next(grid, passes), passes)) {
      EXPECT_EQ(element, 480 + vector * 4);
      vector = vector < 119 ? vector + 1 : 118;
    }
    EXPECT_GE(vector, 118) << passes << " passes";
  }
}

TEST_F(NextBlockTest, RowsThatDoNotGoOnAreNoBlock) {
  EXPECT_TRUE(Next(Vector(Add(index_, b_)), 2).indices.empty());
  EXPECT_TRUE(Next(Vector(Sub(index_, Mul(k_, Int(24)))), 2).indices.empty());
  const Expr one_panel = Add(Mul(b_, Int(120)), Mul(k_, Int(12)));
  EXPECT_TRUE(Next(Vector(one_panel), 2).indices.empty());
}

// for b in 3, j in 3, k in 10: ... A[j*120 + b*40 + k*4]: whole rows in the
// end.
TEST_F(NextBlockTest, ColumnsOfRowsThatFollowAreNoBlock) {
  const Expr columns =
      Add(Add(Mul(j_, Int(120)), Mul(b_, Int(40))), Mul(k_, Int(4)));
  EXPECT_TRUE(Next(Vector(columns), 1).indices.empty());
  EXPECT_TRUE(Next(Vector(columns), 2).indices.empty());
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
  PrefetchPlan Next(const Stmt& copy, int64_t passes = 4) const {
    const auto found = FindVectorCopy(copy);
    if (!found) return {};
    const std::vector<Stmt> stmts = {Loop(b_, 3), Loop(j_, 2), Loop(i_, passes),
                                     Loop(k_, 10)};
    std::vector<const ForNode*> loops;
    for (const Stmt& s : stmts) loops.push_back(s.As<ForNode>());
    const absl::Span<const ForNode* const> all(loops);
    return PlanNextCopy(*found, all.first(2), all.subspan(2));
  }
  static Stmt Loop(const Var& var, int64_t extent) {
    return MakeFor(1, var, Int(extent), MakeEvaluate(Int(0)));
  }
  // What all steps of the iteration at (b, j) ask for.
  std::set<int64_t> Asked(const PrefetchPlan& ask, int64_t b, int64_t j,
                          int64_t passes = 4) const {
    std::set<int64_t> asked;
    for (int64_t step = 0; step < passes * 10; ++step) {
      if (step % 10 % ask.every != 0) continue;
      VarMap at;
      at[b_.get()] = Int(b);
      at[j_.get()] = Int(j);
      at[i_.get()] = Int(step / 10);
      at[k_.get()] = Int(step % 10);
      for (const Expr& index : ask.indices) {
        IndexNormalizer normalizer;
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
  const PrefetchPlan next = Next(CopyOf(first_));
  EXPECT_EQ(Asked(next, 1, 0), Copied(1, 1));
  EXPECT_EQ(Asked(next, 1, 1), Copied(2, 0)) << "the loop around goes on";
}

TEST_F(NextCopyTest, FewStepsAskForAllToo) {
  EXPECT_EQ(Asked(Next(CopyOf(first_), /*passes=*/1), 0, 0, 1), Copied(0, 1));
}

TEST_F(NextCopyTest, WhatIsCopiedAgainIsNotAskedFor) {
  EXPECT_TRUE(Next(CopyOf(Mul(r_, Int(12)))).indices.empty());
}

TEST_F(NextCopyTest, WithoutWorkNothingIsAskedFor) {
  const auto copy = FindVectorCopy(CopyOf(first_));
  ASSERT_TRUE(copy);
  const std::vector<Stmt> stmts = {Loop(b_, 3), Loop(j_, 2)};
  const std::vector<const ForNode*> around = {stmts[0].As<ForNode>(),
                                              stmts[1].As<ForNode>()};
  EXPECT_TRUE(PlanNextCopy(*copy, around, {}).indices.empty());
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

}  // namespace
}  // namespace kiln::lower
