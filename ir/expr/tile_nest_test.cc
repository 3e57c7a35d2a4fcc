// Loops of products by what they move: which make a nest, and how many of those
// around it belong to it.
#include "kiln/ir/expr/tile_nest.h"

#include <vector>

#include "gtest/gtest.h"
#include "kiln/ir/type/dtype.h"

namespace kiln {
namespace {

constexpr int64_t kGroup = 4;

// Sums of 32 a row, operands in tiles of 1024 bytes; from the innermost loop.
std::vector<ProductLoop> Inner() {
  return {{.extent = 16, .sums = 1, .columns = kGroup},
          {.extent = 16, .sums = 32, .rows = 64},
          {.extent = kGroup, .rows = 1, .columns = 1},
          {.extent = 16, .rows = kGroup, .columns = 64}};
}

ProductLoop Down(int64_t extent) {
  return {.extent = extent, .sums = 512, .rows = 1024};
}
ProductLoop Across(int64_t extent) {
  return {.extent = extent, .sums = 16, .columns = 1024};
}
ProductLoop Steps(int64_t extent) {
  return {.extent = extent, .rows = 4096, .columns = 8192};
}

// Loops of the nest, those of `around` last; 0: there is none.
size_t LoopsOf(const std::vector<ProductLoop>& around,
               std::vector<ProductLoop> loops = Inner()) {
  loops.insert(loops.end(), around.begin(), around.end());
  const auto nest = TileNestOf(loops, kGroup);
  return nest ? nest->loops : 0;
}

TEST(TileNestTest, FourLoopsAreATile) {
  const auto nest = TileNestOf(Inner(), kGroup);
  ASSERT_TRUE(nest);
  EXPECT_EQ(nest->sums_row, 32);
  EXPECT_EQ(nest->rows_row, 64);
  EXPECT_EQ(nest->columns_group, 64);
  EXPECT_EQ(nest->tiles(), 1);
  EXPECT_FALSE(TileNestOf(Inner(), 2));
  EXPECT_FALSE(TileNestOf({}, kGroup));
}

TEST(TileNestTest, LoopsAroundJoinInAnyOrder) {
  EXPECT_EQ(LoopsOf({Down(2), Across(2), Steps(9)}), 7u);
  EXPECT_EQ(LoopsOf({Steps(9), Across(2), Down(2)}), 7u);
  EXPECT_EQ(LoopsOf({Steps(9), Down(3)}), 6u);
  const auto nest = [] {
    std::vector<ProductLoop> loops = Inner();
    loops.push_back(Across(2));
    loops.push_back(Steps(5));
    return *TileNestOf(loops, kGroup);
  }();
  EXPECT_EQ(nest.across.columns, 1024);
  EXPECT_EQ(nest.steps.extent, 5);
  EXPECT_EQ(nest.down.extent, 1);
}

TEST(TileNestTest, RegistersAreEight) {
  EXPECT_EQ(LoopsOf({Down(2), {.extent = 3, .sums = 2048, .columns = 1024}}),
            5u);
  EXPECT_EQ(LoopsOf({Across(2), {.extent = 3, .sums = 512, .rows = 1024}}), 5u);
  EXPECT_EQ(LoopsOf({Down(4)}), 4u);
  EXPECT_EQ(LoopsOf({{.extent = int64_t{1} << 62, .sums = 512, .rows = 1}}),
            4u);
}

TEST(TileNestTest, EachKindOfLoopJoinsOnce) {
  EXPECT_EQ(LoopsOf({Steps(2), Steps(3)}), 5u);
  EXPECT_EQ(LoopsOf({{.extent = 2, .sums = 512, .rows = 8, .columns = 8}}), 4u);
}

TEST(TileNestTest, SumsOfTilesAreApart) {
  EXPECT_EQ(LoopsOf({{.extent = 2, .sums = 256, .rows = 1024}}), 4u);
  std::vector<ProductLoop> loops = Inner();
  loops[1].sums = 8;
  EXPECT_EQ(LoopsOf({}, loops), 0u);
}

TEST(TileNestTest, OperandsLieInGroups) {
  for (const size_t i : {0, 1, 2, 3}) {
    std::vector<ProductLoop> loops = Inner();
    loops[i].extent += 1;
    EXPECT_EQ(LoopsOf({}, loops), 0u) << i;
    loops = Inner();
    loops[i].columns += 1;
    EXPECT_EQ(LoopsOf({}, loops), i == 3 ? 4u : 0u) << i;
    loops = Inner();
    loops[i].rows += 1;
    EXPECT_EQ(LoopsOf({}, loops), i == 1 ? 4u : 0u) << i;
  }
}

int64_t GroupOf(DType a, DType b, const TileInstructions& tiles) {
  const auto wide = [](DType dtype) {
    return Cast(dtype.is_float() ? DType::Float(32) : DType::Int(32),
                Load(MakeBuffer("A", dtype, {Int(9)}), {Int(0)}));
  };
  return StepsOfTileGroup(*NarrowProductOf(Mul(wide(a), wide(b))), tiles);
}

TEST(TileNestTest, InstructionsAreForTypes) {
  const TileInstructions both = {.bytes = true, .bf16 = true};
  const DType i8 = DType::Int(8), u8 = DType::UInt(8), bf16 = DType::BFloat16();
  EXPECT_EQ(GroupOf(i8, i8, both), 4);
  EXPECT_EQ(GroupOf(i8, u8, both), 4);
  EXPECT_EQ(GroupOf(bf16, bf16, both), 2);
  EXPECT_EQ(GroupOf(DType::Int(16), i8, both), 0);
  EXPECT_EQ(GroupOf(bf16, bf16, {.bytes = true}), 0);
  EXPECT_EQ(GroupOf(u8, u8, {.bf16 = true}), 0);
  const Expr x = Cast(DType::Int(32), Expr(Var("x", i8)));
  EXPECT_EQ(StepsOfTileGroup(*NarrowProductOf(Mul(x, x)), both), 0)
      << "nothing is loaded";
}

}  // namespace
}  // namespace kiln
