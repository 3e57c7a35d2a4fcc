#include "kiln/ir/interp/numeric.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "kiln/ir/interp/tensor.h"

namespace kiln {
namespace {

const DType kHalf = DType::Float(16);
const DType kBrain = DType::BFloat16();

TEST(NumericTest, HalfRoundsTiesToEvenAndOverflowsToInfinity) {
  EXPECT_EQ(RoundReal(kHalf, 2049), 2048);
  EXPECT_EQ(RoundReal(kHalf, 2051), 2052);
  EXPECT_EQ(RoundReal(kHalf, 65504), 65504);
  EXPECT_EQ(RoundReal(kHalf, 65519.9), 65504);
  EXPECT_TRUE(std::isinf(RoundReal(kHalf, 65520)));
  EXPECT_EQ(RoundReal(kHalf, 1e-9), 0);
}

TEST(NumericTest, EveryHalfAndBrainPatternSurvivesTheTrip) {
  for (DType dtype : {kHalf, kBrain}) {
    for (int bits = 0; bits < 65536; ++bits) {
      uint8_t in[2] = {static_cast<uint8_t>(bits),
                       static_cast<uint8_t>(bits >> 8)};
      const double value = LoadReal(dtype, in);
      if (std::isnan(value)) continue;
      uint8_t out[2];
      StoreReal(dtype, RoundReal(dtype, value), out);
      ASSERT_EQ(out[0] | out[1] << 8, bits) << dtype.ToString();
    }
  }
}

TEST(NumericTest, HalfAgreesWithTheCompiler) {
  for (int i = 0; i < 20000; ++i) {
    const double value = std::ldexp(1.0 + i * 0.00037, i % 40 - 28);
    EXPECT_EQ(RoundReal(kHalf, value),
              static_cast<double>(static_cast<_Float16>(value)))
        << value;
  }
}

// 259 and 261 lie halfway between two bfloat16, and a double has no room for
// 2^-60 beside them.
TEST(NumericTest, AFusedMultiplyAddOfBrainFloatsIsRoundedOnce) {
  const DType brain = DType::BFloat16();
  const double tiny = std::ldexp(1.0, -60);
  for (const double sign : {1.0, -1.0}) {
    EXPECT_EQ(FusedMultiplyAdd(brain, sign * 7, 37, 0), sign * 260);
    EXPECT_EQ(FusedMultiplyAdd(brain, sign * 7, 37, -sign * tiny), sign * 258);
    EXPECT_EQ(FusedMultiplyAdd(brain, sign * 7, 37, sign * tiny), sign * 260);
    EXPECT_EQ(FusedMultiplyAdd(brain, sign * 9, 29, 0), sign * 260);
    EXPECT_EQ(FusedMultiplyAdd(brain, sign * 9, 29, sign * tiny), sign * 262);
    EXPECT_EQ(FusedMultiplyAdd(brain, sign * 9, 29, -sign * tiny), sign * 260);
  }
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(FusedMultiplyAdd(brain, infinity, 1, 1), infinity);
  EXPECT_TRUE(std::isnan(FusedMultiplyAdd(brain, infinity, 1, -infinity)));
  EXPECT_EQ(FusedMultiplyAdd(brain, 3, 4, -12), 0);
}

TEST(NumericTest, IntegersWrap) {
  EXPECT_EQ(WrapInt(DType::Int(8), 200), -56);
  EXPECT_EQ(WrapInt(DType::UInt(8), -1), 255);
  EXPECT_EQ(WrapInt(DType::Int(32), int64_t{1} << 31),
            std::numeric_limits<int32_t>::min());
  EXPECT_EQ(WrapInt(DType::Bool(), 7), 1);
}

TEST(NumericTest, FloatToIntSaturates) {
  EXPECT_EQ(RealToInt(300, DType::Int(8)), 127);
  EXPECT_EQ(RealToInt(-1e30, DType::Int(64)),
            std::numeric_limits<int64_t>::min());
  EXPECT_EQ(RealToInt(-3.9, DType::Int(32)), -3);
  EXPECT_EQ(RealToInt(std::nan(""), DType::Int(32)), 0);
  EXPECT_EQ(RealToInt(-2, DType::UInt(16)), 0);
  EXPECT_EQ(static_cast<uint64_t>(RealToInt(1e30, DType::UInt(64))),
            ~uint64_t{0});
}

TEST(NumericTest, BoundsOfIntegers) {
  EXPECT_EQ(LowestInt(DType::Int(8)), -128);
  EXPECT_EQ(HighestInt(DType::Int(8)), 127);
  EXPECT_EQ(HighestInt(DType::UInt(32)), 0xffffffff);
  EXPECT_EQ(LowestInt(DType::Int(64)), std::numeric_limits<int64_t>::min());
}

TEST(TensorTest, HoldsItsType) {
  Tensor t(DType::UInt(8), {2, 3});
  EXPECT_EQ(t.size(), 6);
  t.Set(5, 300);
  EXPECT_EQ(t.GetReal(5), 255);
  t.SetInt(4, 300);
  EXPECT_EQ(t.GetInt(4), 44);
}

}  // namespace
}  // namespace kiln
