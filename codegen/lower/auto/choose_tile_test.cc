#include "kiln/codegen/lower/auto/choose_tile.h"

#include <limits>

#include "gtest/gtest.h"

namespace kiln::lower {
namespace {

const DType kF32 = DType::Float(32);
const Buffer kA = MakeBuffer("A", kF32, {Int(1 << 20)});
const Buffer kB = MakeBuffer("B", kF32, {Int(1 << 20)});
const Buffer kC = MakeBuffer("C", kF32, {Int(1 << 20)});

Machine Wide() { return {.vectors = kAvx512Registers}; }

Machine WithCaches(int64_t l1, int64_t l2) {
  Machine machine = Wide();
  machine.levels[0].bytes = l1;
  machine.levels[1].bytes = l2;
  return machine;
}

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
  const auto tile = ChooseTile(Matmul({}), Wide());
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
    const auto tile = ChooseTile(Matmul(e), Wide());
    ASSERT_TRUE(tile);
    EXPECT_EQ(tile->lanes & (tile->lanes - 1), 0) << columns;
  }
}

TEST_F(ChooseTileTest, FewerRegistersGiveASmallerTile) {
  const auto tile = ChooseTile(Matmul({}), Machine{.vectors = kAvxRegisters});
  ASSERT_TRUE(tile);
  EXPECT_LE(Sums(*tile), 12 * 8);
}

TEST_F(ChooseTileTest, RegistersOfNeonAreManyAndNarrow) {
  const auto neon = ChooseTile(Matmul({}), Machine{.vectors = kNeonRegisters});
  const auto sse = ChooseTile(Matmul({}), Machine{.vectors = kSseRegisters});
  ASSERT_TRUE(neon && sse);
  EXPECT_LE(Sums(*sse), 12 * 4);
  EXPECT_LE(Sums(*neon), 28 * 4);
  EXPECT_GT(Sums(*neon), Sums(*sse));
}

// A panel of B, 300 x 16 floats, is 19 KiB: more than half of 32 KiB of the
// first cache and less than half of 48 KiB.
TEST_F(ChooseTileTest, APanelThatTheFirstCacheHoldsCostsLess) {
  Extents e;
  e.k = 300;
  e.j = 16;
  const Nest nest = Matmul(e);
  EXPECT_LT(EstimateCycles(nest, WithCaches(48 << 10, 2 << 20)),
            EstimateCycles(nest, WithCaches(32 << 10, 512 << 10)));
}

// With all of k inside, a tile reads 6000 vectors of B, 375 KiB: what half of
// 2 MiB holds and half of 512 KiB does not.
TEST_F(ChooseTileTest, ReductionsMoveInsideWhatTheSecondCacheHolds) {
  Extents e;
  e.i = 1;
  e.i_inner = 64;
  e.k = 6000;
  e.j = 16;
  const auto reductions = [&](int64_t l2) {
    const auto tile = ChooseTile(Matmul(e), WithCaches(32 << 10, l2));
    return tile ? tile->inner_reductions : 0;
  };
  EXPECT_EQ(reductions(2 << 20), 1);
  EXPECT_EQ(reductions(512 << 10), 0);
}

// for j: for k: for lane: C[j, lane] += A[k] * B[j, k, lane]
// Each row of a tile is read from its own panel to the panel's end.
TEST_F(ChooseTileTest, FarPanelsAreReadAFewAtATime) {
  const Expr c = Add(Mul(i_, Int(16)), j_);
  const Expr b = Add(Add(Mul(i_, Int(12288)), Mul(k_, Int(16))), j_);
  Stmt s = MakeStore(kC, Add(Load(kC, {c}), Mul(Load(kA, {k_}), Load(kB, {b}))),
                     {c});
  s = MakeFor(3, j_, Int(16), s);
  s = MakeFor(1, i_, Int(48), MakeFor(2, k_, Int(768), s));
  const Nest nest = *FindNest(s);
  const auto rows = [&](int64_t l2) {
    const auto tile = ChooseTile(nest, WithCaches(32 << 10, l2));
    return tile ? Sums(*tile) / 16 : 0;
  };
  EXPECT_EQ(rows(1 << 20), 8);
  EXPECT_GT(rows(8 << 20), 8) << "which the second cache holds";
}

TEST_F(ChooseTileTest, AGoodTileOfTheScheduleStays) {
  Extents e;
  e.i_inner = 6;
  e.inner = ForKind::kVectorized;
  EXPECT_FALSE(ChooseTile(Matmul(e), Wide()));
}

TEST_F(ChooseTileTest, ATileTooSmallForTheLatencyOfAdditionsGrows) {
  Extents e;
  e.j = 16;
  e.inner = ForKind::kVectorized;
  const auto tile = ChooseTile(Matmul(e), Wide());
  ASSERT_TRUE(tile);
  EXPECT_GE(tile->factors[0], 8);
}

TEST_F(ChooseTileTest, AnExtentWithoutGoodDivisorsLeavesARest) {
  Extents e;
  e.i = 109;
  e.j = 32;
  const auto tile = ChooseTile(Matmul(e), Wide());
  ASSERT_TRUE(tile);
  EXPECT_GE(tile->factors[0], 4);
  EXPECT_NE(109 % tile->factors[0], 0);
}

TEST_F(ChooseTileTest, ColumnsThatAreNotConsecutiveHaveNoTile) {
  const Expr c = Mul(j_, Int(2));
  const Stmt s = MakeStore(kC, Add(Load(kC, {c}), Load(kA, {j_})), {c});
  body_ = MakeFor(1, j_, Int(64), s);
  const Nest nest = *FindNest(body_);
  EXPECT_FALSE(ChooseTile(nest, Wide()));
  EXPECT_EQ(EstimateCycles(nest, Wide()),
            std::numeric_limits<double>::infinity());
}

TEST_F(ChooseTileTest, ConsecutiveElementsMayTakeSeveralLoops) {
  const Expr c = Add(Mul(i_, Int(8)), j_);
  const Stmt s = MakeStore(kC, Add(Load(kC, {c}), Load(kA, {c})), {c});
  body_ = MakeFor(1, i_, Int(4), MakeFor(2, j_, Int(8), s));
  EXPECT_EQ(ConsecutiveElements(*FindNest(body_)), 32);
}

}  // namespace
}  // namespace kiln::lower
