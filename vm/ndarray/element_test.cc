#include "kiln/vm/ndarray/element.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace kiln {
namespace {

TEST(ElementTest, EveryHalfSurvivesTheRoundTrip) {
  for (int bits = 0; bits < 65536; ++bits) {
    const double value = HalfToDouble(static_cast<uint16_t>(bits));
    if (std::isnan(value)) continue;
    ASSERT_EQ(DoubleToHalf(value), bits);
  }
}

TEST(ElementTest, HalvesRoundToNearestEven) {
  EXPECT_EQ(DoubleToHalf(1 + 0x1p-11), 0x3c00);
  EXPECT_EQ(DoubleToHalf(1 + 3 * 0x1p-11), 0x3c02);
  EXPECT_EQ(DoubleToHalf(1 + 0x1p-11 + 0x1p-40), 0x3c01);
  EXPECT_EQ(DoubleToHalf(2 - 0x1p-12), 0x4000);
  EXPECT_EQ(DoubleToHalf(65519.9), 0x7bff);
  EXPECT_EQ(DoubleToHalf(-65520), 0xfc00);
  EXPECT_EQ(DoubleToHalf(0x1p-25), 0);
  EXPECT_EQ(DoubleToHalf(0x1.8p-25), 1);
  EXPECT_TRUE(std::isnan(HalfToDouble(DoubleToHalf(NAN))));
}

TEST(ElementTest, BFloat16RoundsToNearestEvenAndKeepsNan) {
  EXPECT_EQ(FloatToBFloat16(1.0f), 0x3f80);
  EXPECT_EQ(FloatToBFloat16(1.0f + 0x1p-8f), 0x3f80);
  EXPECT_EQ(FloatToBFloat16(1.0f + 3 * 0x1p-8f), 0x3f82);
  EXPECT_EQ(BFloat16ToFloat(0xc000), -2.0f);
  EXPECT_TRUE(std::isnan(BFloat16ToFloat(FloatToBFloat16(NAN))));
}

TEST(ElementTest, IntegersTruncateAndStayInRange) {
  const auto store = [](DType dtype, double value) {
    alignas(8) char memory[16] = {};
    StoreElement(memory, dtype, 1, value);
    return ElementToString(memory, dtype, 1);
  };
  EXPECT_EQ(store(DType::Int(8), -3.9), "-3");
  EXPECT_EQ(store(DType::Int(8), 1e9), "127");
  EXPECT_EQ(store(DType::UInt(16), -1), "0");
  EXPECT_EQ(store(DType::Int(64), 1e300), "9223372036854775807");
  EXPECT_EQ(store(DType::UInt(64), 1e300), "18446744073709551615");
  EXPECT_EQ(store(DType::Int(32), NAN), "0");
  EXPECT_EQ(store(DType::Bool(), 0.5), "true");
  EXPECT_EQ(store(DType::Float(32), 0.1), "0.1");
  EXPECT_EQ(store(DType::Float(64), 0.1), "0.1");
  EXPECT_EQ(store(DType::Float(16), 1.5), "1.5");
}

}  // namespace
}  // namespace kiln
