#include "kiln/ir/expr/dot_product.h"

#include "gtest/gtest.h"
#include "kiln/ir/type/dtype.h"

namespace kiln {
namespace {

Expr Wide(DType narrow, DType wide = DType::Int(32)) {
  return Cast(wide, Expr(Var("x", narrow)));
}

int AddedUp(DType a, DType b) {
  const auto product = NarrowProductOf(Mul(Wide(a), Wide(b)));
  return product ? product->AddedUp() : 0;
}

TEST(DotProductTest, TypesSayHowManyAreAddedUp) {
  EXPECT_EQ(AddedUp(DType::UInt(8), DType::Int(8)), 4);
  EXPECT_EQ(AddedUp(DType::Int(8), DType::UInt(8)), 4);
  EXPECT_EQ(AddedUp(DType::Int(8), DType::Int(8)), 2);
  EXPECT_EQ(AddedUp(DType::UInt(8), DType::UInt(8)), 2);
  EXPECT_EQ(AddedUp(DType::Int(16), DType::UInt(8)), 2);
  EXPECT_EQ(AddedUp(DType::UInt(16), DType::Int(8)), 0) << "of 17 bits";
  EXPECT_EQ(AddedUp(DType::Float(32), DType::Int(8)), 0);
  EXPECT_EQ(AddedUp(DType::Bool(), DType::Int(8)), 0);
}

TEST(DotProductTest, OnlyOf32Bits) {
  const DType i8 = DType::Int(8), i64 = DType::Int(64);
  EXPECT_FALSE(NarrowProductOf(Mul(Wide(i8, i64), Wide(i8, i64))));
  EXPECT_FALSE(NarrowProductOf(Add(Wide(i8), Wide(i8))));
  EXPECT_FALSE(NarrowProductOf(Mul(Wide(i8), Int(3, DType::Int(32)))));
}

TEST(DotProductTest, AMachineHasInstructionsForSomeSteps) {
  const auto bytes =
      *NarrowProductOf(Mul(Wide(DType::Int(8)), Wide(DType::Int(8))));
  const auto mixed =
      *NarrowProductOf(Mul(Wide(DType::UInt(8)), Wide(DType::Int(8))));
  EXPECT_FALSE(IsDotProduct(mixed, 2, {1}));
  EXPECT_TRUE(IsDotProduct(mixed, 2, {2}));
  EXPECT_FALSE(IsDotProduct(mixed, 4, {2}));
  EXPECT_TRUE(IsDotProduct(mixed, 4, {4}));
  EXPECT_TRUE(IsDotProduct(bytes, 2, {4}));
  EXPECT_FALSE(IsDotProduct(bytes, 4, {4}));
  EXPECT_FALSE(IsDotProduct(mixed, 3, {4}));
}

TEST(DotProductTest, OfBfloat16) {
  const DType bf16 = DType::BFloat16(), f32 = DType::Float(32);
  const auto product = NarrowProductOf(Mul(Wide(bf16, f32), Wide(bf16, f32)));
  ASSERT_TRUE(product);
  EXPECT_TRUE(IsDotProduct(*product, 2, {1, true}));
  EXPECT_FALSE(IsDotProduct(*product, 4, {4, true}));
  EXPECT_FALSE(IsDotProduct(*product, 2, {4, false}));
  const DType f16 = DType::Float(16);
  EXPECT_FALSE(NarrowProductOf(Mul(Wide(f16, f32), Wide(f16, f32))));
}

}  // namespace
}  // namespace kiln
