// Nests of loops as lowering leaves them: which are products of tiles, and
// which make the sums of one zero.
#include "kiln/codegen/llvm/tile_product.h"

#include <vector>

#include "gtest/gtest.h"
#include "kiln/ir/expr/visit.h"
#include "kiln/ir/tensor/marks.h"

namespace kiln::codegen_internal {
namespace {

class TileProductTest : public testing::Test {
 protected:
  static Stmt Loop(const Var& var, int64_t extent, Stmt body,
                   ForKind kind = ForKind::kSerial) {
    ForFields fields;
    fields.var = var;
    fields.min = Int(0);
    fields.extent = Int(extent);
    fields.for_kind = kind;
    fields.body = std::move(body);
    return MakeFor(fields);
  }
  static Stmt Marked(const Stmt& s) {
    ForFields fields = s.As<ForNode>()->fields();
    fields.annotations[kTileProduct] = Attr(Bool(true));
    return MakeFor(fields);
  }
  Expr Index(const Expr& base, int64_t i, int64_t ir, int64_t kg,
             int64_t ks) const {
    return Add(base, Add(Add(Mul(i_, Int(i)), Mul(ir_, Int(ir))),
                         Add(Mul(kg_, Int(kg)), Mul(ks_, Int(ks)))));
  }
  Expr Sums() const { return Ramp(Index(first_, 256, 16, 0, 0), Int(1), 16); }
  // Sums of 32 x 16.
  Stmt Product(const Expr& row_lanes, const Expr& column_lanes,
               int64_t rows = 16, ForKind inner = ForKind::kSerial) const {
    const DType wide = DType::Int(32).WithLanes(16);
    const Expr term = Mul(Cast(wide, row_lanes), Cast(wide, column_lanes));
    const Stmt update = MakeStore(c_, Add(Load(c_, {Sums()}), term), {Sums()});
    return Marked(Loop(
        i_, 2, Loop(kg_, 16, Loop(ks_, 4, Loop(ir_, rows, update, inner)))));
  }
  Expr Rows() const {
    return Broadcast(Load(a_, {Index(first_, 1024, 64, 4, 1)}), 16);
  }
  Expr Columns() const {
    return Load(b_, {Ramp(Index(Int(64), 0, 0, 64, 1), Int(4), 16)});
  }
  Stmt Zeros(const Expr& value, int64_t tiles = 2) const {
    return Zeros(c_, value, tiles);
  }
  Stmt Zeros(const Buffer& sums, const Expr& value, int64_t tiles = 2) const {
    return Marked(
        Loop(i_, tiles,
             Loop(ir_, 16, MakeStore(sums, Broadcast(value, 16), {Sums()}))));
  }
  std::optional<TileProduct> Find(const Stmt& s) const {
    return FindTileProduct(*s.As<ForNode>(), tiles_);
  }

  TileInstructions tiles_ = {.bytes = true};
  Var first_{"first"}, i_{"i"}, ir_{"ir"}, kg_{"kg"}, ks_{"ks"};
  Buffer a_ = MakeBuffer("A", DType::UInt(8), {Int(10000)});
  Buffer b_ = MakeBuffer("B", DType::Int(8), {Int(10000)});
  Buffer c_ = MakeBuffer("C", DType::Int(32), {Int(10000)});
};

TEST_F(TileProductTest, ANestOfLoopsWithTheMarkIsOne) {
  const Stmt nest = Product(Rows(), Columns());
  const auto product = Find(nest);
  ASSERT_TRUE(product);
  EXPECT_EQ(product->nest.down.extent, 2);
  EXPECT_EQ(product->nest.rows_row, 64);
  EXPECT_EQ(product->rows, a_);
  EXPECT_EQ(product->columns_type, DType::Int(8));
  EXPECT_TRUE(UsesVar(product->first_sum, first_));
  EXPECT_EQ(*AsInt(product->first_column), 64);
  EXPECT_TRUE(HoldsTileProduct(MakeSeq({nest, nest}), tiles_));
  EXPECT_FALSE(HoldsTileProduct(nest, TileInstructions()));
}

TEST_F(TileProductTest, FactorsStandInAnyOrder) {
  const auto product = Find(Product(Columns(), Rows()));
  ASSERT_TRUE(product);
  EXPECT_EQ(product->rows, a_);
  EXPECT_EQ(product->columns, b_);
}

TEST_F(TileProductTest, OtherLoopsAreNone) {
  EXPECT_FALSE(Find(Product(Rows(), Columns(), 15)));
  EXPECT_FALSE(Find(Product(Rows(), Columns(), 16, ForKind::kParallel)));
  EXPECT_FALSE(Find(Product(Rows(), Rows())));
  EXPECT_FALSE(Find(Product(Columns(), Columns())));
  const Stmt nest = Product(Rows(), Columns());
  ForFields unmarked = nest.As<ForNode>()->fields();
  unmarked.annotations.clear();
  EXPECT_FALSE(Find(MakeFor(unmarked)));
  tiles_ = {.bf16 = true};
  EXPECT_FALSE(Find(Product(Rows(), Columns())));
}

TEST_F(TileProductTest, AnIndexThatHidesALoopIsNone) {
  const Expr odd =
      Load(a_, {Add(FloorDiv(ir_, Int(2)), Index(first_, 1024, 64, 4, 1))});
  EXPECT_FALSE(Find(Product(Broadcast(odd, 16), Columns())));
}

TEST_F(TileProductTest, SumsAreZeroBefore) {
  const TileProduct product = *Find(Product(Rows(), Columns()));
  EXPECT_TRUE(MakesZero(Zeros(Int(0, DType::Int(32))), product));
  EXPECT_FALSE(MakesZero(Zeros(Int(1, DType::Int(32))), product));
  EXPECT_FALSE(MakesZero(Zeros(Int(0, DType::Int(32)), 1), product));
  TileProduct other = product;
  other.first_sum = Add(other.first_sum, Int(16));
  EXPECT_FALSE(MakesZero(Zeros(Int(0, DType::Int(32))), other));
  other = product;
  other.sums = b_;
  EXPECT_FALSE(MakesZero(Zeros(Int(0, DType::Int(32))), other));
}

TEST_F(TileProductTest, SumsOfFloatsArePositiveZeroBefore) {
  TileProduct product = *Find(Product(Rows(), Columns()));
  product.sums = MakeBuffer("C", DType::Float(32), {Int(10000)});
  EXPECT_TRUE(MakesZero(Zeros(product.sums, Float(0)), product));
  EXPECT_FALSE(MakesZero(Zeros(product.sums, Float(-0.0)), product));
  EXPECT_FALSE(MakesZero(Zeros(product.sums, Float(1)), product));
}

TEST_F(TileProductTest, ParallelLoopsAreFoundInside) {
  const Stmt nest = Product(Rows(), Columns());
  const Var p("p");
  EXPECT_FALSE(LeavesFunction(nest));
  EXPECT_TRUE(
      LeavesFunction(Loop(first_, 3, Loop(p, 2, nest, ForKind::kParallel))));
}

}  // namespace
}  // namespace kiln::codegen_internal
