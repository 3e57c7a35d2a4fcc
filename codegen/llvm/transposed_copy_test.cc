#include "kiln/codegen/llvm/transposed_copy.h"

#include "gtest/gtest.h"
#include "kiln/ir/expr/visit.h"

namespace kiln::codegen_internal {
namespace {

class TransposedCopyTest : public testing::Test {
 protected:
  // C[50 * i : 50 * i + lanes] = A[x + i + j * stride for j in lanes]
  Stmt Column(int64_t i, int64_t stride = 100, int lanes = 8) const {
    const Expr from = Ramp(Add(x_, Int(i)), Int(stride), lanes);
    return MakeStore(c_, Load(a_, {from}), {Ramp(Int(50 * i), Int(1), lanes)});
  }
  std::vector<Stmt> Columns(int64_t count, int64_t stride = 100,
                            int lanes = 8) const {
    std::vector<Stmt> columns;
    for (int64_t i = 0; i < count; ++i) {
      columns.push_back(Column(i, stride, lanes));
    }
    return columns;
  }
  static bool Finds(const std::vector<Stmt>& stmts) {
    return FindTransposedCopy(stmts).has_value();
  }

  Var x_{"x"};
  Buffer a_ = MakeBuffer("A", DType::Float(32), {Int(10000)});
  Buffer c_ = MakeBuffer("C", DType::Float(32), {Int(10000)});
};

TEST_F(TransposedCopyTest, ColumnsSideBySideMakeASquare) {
  const auto copy = FindTransposedCopy(Columns(11));
  ASSERT_TRUE(copy);
  EXPECT_EQ(copy->lanes, 8);
  EXPECT_EQ(copy->stride, 100);
  EXPECT_EQ(copy->source, a_);
  EXPECT_EQ(copy->stores.size(), 8u);
}

TEST_F(TransposedCopyTest, ElementsMayBeCast) {
  const DType wide = DType::Float(64);
  const Buffer d = MakeBuffer("D", wide, {Int(10000)});
  std::vector<Stmt> casts, sums;
  for (const Stmt& s : Columns(8)) {
    const auto* store = s.As<StoreNode>();
    const Expr cast = Cast(wide.WithLanes(8), store->value);
    casts.push_back(MakeStore(d, cast, store->indices));
    sums.push_back(MakeStore(d, Add(cast, cast), store->indices));
  }
  EXPECT_TRUE(Finds(casts));
  EXPECT_FALSE(Finds(sums));
}

TEST_F(TransposedCopyTest, SquaresAreSmall) {
  EXPECT_TRUE(Finds(Columns(4, 100, 4)));
  EXPECT_TRUE(Finds(Columns(16, 100, 16)));
  EXPECT_FALSE(Finds(Columns(32, 100, 32)));
  EXPECT_FALSE(Finds(Columns(1)));
  EXPECT_FALSE(Finds({}));
}

TEST_F(TransposedCopyTest, RectanglesHaveAllStoresButThoseOfTheNextSquare) {
  const auto stores = [&](int64_t count, int lanes) -> size_t {
    const auto copy = FindTransposedCopy(Columns(count, 100, lanes));
    return copy ? copy->stores.size() : 0;
  };
  EXPECT_EQ(stores(7, 8), 7u);
  EXPECT_EQ(stores(2, 16), 2u);
  EXPECT_EQ(stores(12, 12), 12u);
  EXPECT_EQ(stores(20, 15), 16u);
  EXPECT_EQ(stores(16, 2), 16u);
  EXPECT_EQ(stores(16, 4), 4u);
}

TEST_F(TransposedCopyTest, RowsDoNotOverlap) {
  EXPECT_TRUE(Finds(Columns(8, 8)));
  EXPECT_TRUE(Finds(Columns(8, -8)));
  EXPECT_FALSE(Finds(Columns(8, 7)));
  EXPECT_FALSE(Finds(Columns(8, 0)));
}

TEST_F(TransposedCopyTest, ColumnsComeInOrder) {
  std::vector<Stmt> columns = Columns(8);
  std::swap(columns[2], columns[5]);
  EXPECT_EQ(FindTransposedCopy(columns)->stores.size(), 2u);
  std::swap(columns[1], columns[3]);
  EXPECT_FALSE(Finds(columns));
}

TEST_F(TransposedCopyTest, WithinABufferAStoreMayChangeWhatIsReadNext) {
  c_ = a_;
  EXPECT_FALSE(Finds(Columns(8)));
}

}  // namespace
}  // namespace kiln::codegen_internal
