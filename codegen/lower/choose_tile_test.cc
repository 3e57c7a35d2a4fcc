#include "kiln/codegen/lower/choose_tile.h"

#include <limits>

#include "gtest/gtest.h"

namespace kiln::lower {
namespace {

const DType kF32 = DType::Float(32);
const Buffer kA = MakeBuffer("A", kF32, {Int(1 << 20)});
const Buffer kB = MakeBuffer("B", kF32, {Int(1 << 20)});
const Buffer kC = MakeBuffer("C", kF32, {Int(1 << 20)});

struct Extents {
  int64_t i = 16, k = 64, j = 64, i_inner = 1;
  ForKind inner = ForKind::kSerial;
};

// for i: for k: for i_inner: for j: C[i, j] += A[i, k] * B[k, j]
class ChooseTileTest : public testing::Test {
 protected:
  Nest Matmul(const Extents& e) {
    const Expr row = Add(Mul(i_, Int(e.i_inner)), i_inner_);
    const Expr c = Add(Mul(row, Int(e.j)), j_);
    const Expr product = Mul(Load(kA, {Add(Mul(row, Int(100)), k_)}),
                             Load(kB, {Add(Mul(k_, Int(e.j)), j_)}));
    Stmt s = MakeStore(kC, Add(Load(kC, {c}), product), {c});
    s = MakeFor(4, j_, Int(e.j), s, e.inner);
    s = MakeFor(3, i_inner_, Int(e.i_inner), s);
    body_ = MakeFor(1, i_, Int(e.i), MakeFor(2, k_, Int(e.k), s));
    return *FindNest(body_);
  }
  static int64_t Sums(const RegisterTile& tile) {
    int64_t sums = 1;
    for (int64_t factor : tile.factors) sums *= factor;
    return sums;
  }

  Var i_{"i"}, i_inner_{"i_inner"}, j_{"j"}, k_{"k"};
  Stmt body_;
};

TEST_F(ChooseTileTest, ATileFillsTheRegistersButNoMore) {
  const auto tile = ChooseTile(Matmul({}), {64, 32});
  ASSERT_TRUE(tile);
  EXPECT_GE(Sums(*tile), 10 * 16);
  EXPECT_LE(Sums(*tile), 28 * 16);
  EXPECT_EQ(tile->lanes % 16, 0);
  EXPECT_EQ(tile->inner_reductions, 1);
}

// A product of 256x768x2304 took 65 ms with vectors of 48 lanes, 8 without.
TEST_F(ChooseTileTest, SeveralVectorsSideBySideAreAPowerOfTwo) {
  for (int64_t columns : {32, 48, 96, 144, 192, 384}) {
    Extents e;
    e.j = columns;
    const auto tile = ChooseTile(Matmul(e), {64, 32});
    ASSERT_TRUE(tile);
    EXPECT_EQ(tile->lanes & (tile->lanes - 1), 0) << columns;
  }
}

TEST_F(ChooseTileTest, FewerRegistersGiveASmallerTile) {
  const auto tile = ChooseTile(Matmul({}), {32, 16});
  ASSERT_TRUE(tile);
  EXPECT_LE(Sums(*tile), 13 * 8);
}

TEST_F(ChooseTileTest, AGoodTileOfTheScheduleStays) {
  Extents e;
  e.i_inner = 6;
  e.inner = ForKind::kVectorized;
  EXPECT_FALSE(ChooseTile(Matmul(e), {64, 32}));
}

TEST_F(ChooseTileTest, ATileTooSmallForTheLatencyOfAdditionsGrows) {
  Extents e;
  e.j = 16;
  e.inner = ForKind::kVectorized;
  const auto tile = ChooseTile(Matmul(e), {64, 32});
  ASSERT_TRUE(tile);
  EXPECT_GE(tile->factors[0], 8);
}

TEST_F(ChooseTileTest, AnExtentWithoutGoodDivisorsLeavesARest) {
  Extents e;
  e.i = 109;
  e.j = 32;
  const auto tile = ChooseTile(Matmul(e), {64, 32});
  ASSERT_TRUE(tile);
  EXPECT_GE(tile->factors[0], 4);
  EXPECT_NE(109 % tile->factors[0], 0);
}

TEST_F(ChooseTileTest, ColumnsThatAreNotConsecutiveHaveNoTile) {
  const Expr c = Mul(j_, Int(2));
  const Stmt s = MakeStore(kC, Add(Load(kC, {c}), Load(kA, {j_})), {c});
  body_ = MakeFor(1, j_, Int(64), s);
  const Nest nest = *FindNest(body_);
  EXPECT_FALSE(ChooseTile(nest, {}));
  EXPECT_EQ(EstimateCycles(nest, {}), std::numeric_limits<double>::infinity());
}

TEST_F(ChooseTileTest, ConsecutiveElementsMayTakeSeveralLoops) {
  const Expr c = Add(Mul(i_, Int(8)), j_);
  const Stmt s = MakeStore(kC, Add(Load(kC, {c}), Load(kA, {c})), {c});
  body_ = MakeFor(1, i_, Int(4), MakeFor(2, j_, Int(8), s));
  EXPECT_EQ(ConsecutiveElements(*FindNest(body_)), 32);
}

}  // namespace
}  // namespace kiln::lower
