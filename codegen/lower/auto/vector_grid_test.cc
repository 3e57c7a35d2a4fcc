#include "kiln/codegen/lower/auto/vector_grid.h"

#include <cstdint>
#include <optional>
#include <vector>

#include "gtest/gtest.h"
#include "kiln/ir/arith/index_normalizer.h"
#include "kiln/ir/expr/visit.h"

namespace kiln::lower {
namespace {

class VectorGridTest : public testing::Test {
 protected:
  // Copies the vectors of 16 at k*1024 and so far from there.
  Stmt Read(const std::vector<int64_t>& apart) const {
    std::vector<Stmt> stores;
    for (int64_t at : apart) {
      const Expr index = Ramp(Add(Mul(k_, Int(1024)), Int(at)), Int(1), 16);
      stores.push_back(MakeStore(to_, Load(from_, {index}), {Lanes(Int(0))}));
    }
    return MakeSeq(stores);
  }
  static Expr Lanes(const Expr& first) { return Ramp(first, Int(1), 16); }
  // Where the vector at (row, column) begins for k = 0.
  int64_t At(const VectorGrid& grid, int64_t row, int64_t column) const {
    VarMap zero;
    zero[k_.get()] = Int(0);
    IndexNormalizer normalizer;
    return *AsInt(normalizer.Run(Substitute(grid.first, zero))) +
           row * grid.row_step + column * grid.column_step;
  }

  Var k_{"k"};
  Buffer from_ = MakeBuffer("from", DType::Float(32), {Int(1 << 16)});
  Buffer to_ = MakeBuffer("to", DType::Float(32), {Int(64)});
};

TEST_F(VectorGridTest, RowsAndColumnsMayComeInAnyOrder) {
  const auto grids = FindVectorGrids(Read({256, 16, 0, 272, 512, 528, 0}));
  ASSERT_EQ(grids.size(), 1u);
  EXPECT_EQ(grids[0].rows, 3);
  EXPECT_EQ(grids[0].columns, 2);
  EXPECT_EQ(At(grids[0], 0, 0), 0);
  EXPECT_EQ(At(grids[0], 1, 1), 272);
  EXPECT_EQ(At(grids[0], 2, 0), 512);
}

TEST_F(VectorGridTest, EqualStepsAreOneRow) {
  const auto grids = FindVectorGrids(Read({0, 48, 96, 144}));
  ASSERT_EQ(grids.size(), 1u);
  EXPECT_EQ(grids[0].rows, 1);
  EXPECT_EQ(grids[0].columns, 4);
  EXPECT_EQ(At(grids[0], 0, 3), 144);
}

TEST_F(VectorGridTest, OneVectorIsAGrid) {
  const auto grids = FindVectorGrids(Read({32}));
  ASSERT_EQ(grids.size(), 1u);
  EXPECT_EQ(grids[0].count(), 1);
  EXPECT_EQ(At(grids[0], 0, 0), 32);
}

TEST_F(VectorGridTest, WhatMakesNoGridStandsAlone) {
  const auto grids = FindVectorGrids(Read({0, 16, 100}));
  ASSERT_EQ(grids.size(), 3u);
  EXPECT_EQ(At(grids[2], 0, 0), 100);
  EXPECT_EQ(FindVectorGrids(Read({0, 16, 256, 272, 500, 516})).size(), 6u);
}

TEST_F(VectorGridTest, LoadsOfOneGridAreOfOneBuffer) {
  const auto load = [](const Buffer& b, const Expr& index) {
    return Load(b, {index});
  };
  const Expr a = load(from_, Lanes(Int(0))), b = load(from_, Lanes(Int(16)));
  const Expr other = load(to_, Lanes(Int(32)));
  const Expr moves = load(from_, Lanes(k_)), scalar = load(from_, Int(0));
  const auto grid = [](const Expr& x, const Expr& y) {
    const std::vector<const LoadNode*> loads = {x.As<LoadNode>(),
                                                y.As<LoadNode>()};
    return GridOf(loads);
  };
  EXPECT_TRUE(grid(a, b));
  EXPECT_FALSE(grid(a, other));
  EXPECT_FALSE(grid(a, moves));
  EXPECT_FALSE(grid(a, scalar));
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
}  // namespace kiln::lower
