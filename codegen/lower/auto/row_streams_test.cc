#include "kiln/codegen/lower/auto/row_streams.h"

#include <gtest/gtest.h>

#include "kiln/ir/arith/index_normalizer.h"

namespace kiln::lower {
namespace {

class RowStreamsTest : public testing::Test {
 protected:
  RowStreamsTest() {
    const Stmt nothing = MakeEvaluate(Int(0));
    for (const auto& [var, extent] :
         {std::pair{h_, 10}, {k0_, 25}, {j_, 172}, {k1_, 2}, {i_, 3}}) {
      loops_.push_back(MakeFor(1, var, Int(extent), nothing));
    }
  }
  // Of four rows of 64 elements in four vectors from `first` on, read in the
  // loops of k0, j and the `inner` ones.
  std::optional<RowStreams> Find(const Expr& first, int inner,
                                 int64_t row_step = 11008, int64_t ahead = 256,
                                 int outermost = 1) {
    const VectorGrid grid{MakeBuffer("Y", DType::Float(32), {Int(22544384)}),
                          first,
                          16,
                          4,
                          row_step,
                          4,
                          16};
    std::vector<const ForNode*> loops;
    for (int i = outermost; i < 3 + inner; ++i) {
      loops.push_back(loops_[i].As<ForNode>());
    }
    return FindRowStreams(grid, loops, ahead);
  }
  Expr At(int64_t block = 88064) {
    return Add(Mul(k0_, Int(block)), Mul(j_, Int(64)));
  }
  // The element where the variables are k0, j and k1.
  int64_t Value(const Expr& e, int64_t k0, int64_t j, int64_t k1 = 0) {
    const Expr value = Substitute(
        e, {{k0_.get(), Int(k0)}, {j_.get(), Int(j)}, {k1_.get(), Int(k1)}});
    return ToLinear(value).constant;
  }

  Var h_{"h"}, k0_{"k0"}, j_{"j"}, k1_{"k1"}, i_{"i"};
  std::vector<Stmt> loops_;
};

TEST_F(RowStreamsTest, RowsAreReadAhead) {
  const auto streams = Find(Add(At(), Mul(k1_, Int(44032))), 1);
  ASSERT_TRUE(streams);
  EXPECT_TRUE(streams->passes.empty());
  EXPECT_EQ(Value(streams->first, 3, 10, 1), 3 * 88064 + 14 * 64 + 44032);
  EXPECT_EQ(Value(streams->first, 3, 170, 1), 4 * 88064 + 2 * 64 + 44032)
      << "the next block begins";
}

TEST_F(RowStreamsTest, AnUnrolledBlockIsOneToo) {
  const auto streams = Find(At(44032), 0);
  ASSERT_TRUE(streams);
  EXPECT_EQ(Value(streams->first, 3, 10), 3 * 44032 + 14 * 64);
}

TEST_F(RowStreamsTest, LoopsThatReadTheSameAgainArePasses) {
  const auto streams = Find(Add(At(), Mul(k1_, Int(44032))), 2);
  ASSERT_TRUE(streams);
  ASSERT_EQ(streams->passes.size(), 1);
  EXPECT_EQ(streams->passes[0]->var, i_);
}

TEST_F(RowStreamsTest, NoFurtherThanARow) {
  const auto streams = Find(At(44032), 0, 11008, 1 << 20);
  ASSERT_TRUE(streams);
  EXPECT_EQ(Value(streams->first, 3, 10), 4 * 44032 + 10 * 64);
}

TEST_F(RowStreamsTest, OthersHaveNone) {
  EXPECT_FALSE(Find(At(11008), 0)) << "the next block shares rows";
  EXPECT_FALSE(Find(Add(At(44032), Mul(h_, Int(22016))), 0, 11008, 256, 0))
      << "one around it shares rows";
  EXPECT_FALSE(Find(Add(Mul(k0_, Int(88064)), Mul(j_, Int(128))), 0))
      << "elements between";
  EXPECT_FALSE(Find(At(44032), 0, 64)) << "rows that follow each other";
  EXPECT_FALSE(Find(Mul(FloorDiv(j_, Int(2)), Int(64)), 0))
      << "an index that is not linear";
}

}  // namespace
}  // namespace kiln::lower
