#include "kiln/ir/type/narrow_float.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace kiln {
namespace {

const DType kHalf = DType::Float(16);
const DType kBrain = DType::BFloat16();

TEST(NarrowFloatTest, EveryValueSurvivesTheRoundTrip) {
  for (const DType dtype : {kHalf, kBrain}) {
    for (int bits = 0; bits < 65536; ++bits) {
      const double value = DecodeNarrow(dtype, static_cast<uint16_t>(bits));
      if (std::isnan(value)) continue;
      ASSERT_EQ(EncodeNarrow(dtype, value), bits);
      ASSERT_EQ(RoundNarrow(dtype, value), value);
    }
  }
}

TEST(NarrowFloatTest, HalvesRoundToNearestEven) {
  EXPECT_EQ(EncodeNarrow(kHalf, 1 + 0x1p-11), 0x3c00);
  EXPECT_EQ(EncodeNarrow(kHalf, 1 + 3 * 0x1p-11), 0x3c02);
  EXPECT_EQ(EncodeNarrow(kHalf, 1 + 0x1p-11 + 0x1p-40), 0x3c01);
  EXPECT_EQ(EncodeNarrow(kHalf, 2 - 0x1p-12), 0x4000);
  EXPECT_EQ(EncodeNarrow(kHalf, 65519.9), 0x7bff);
  EXPECT_EQ(EncodeNarrow(kHalf, -65520), 0xfc00);
  EXPECT_EQ(EncodeNarrow(kHalf, 0x1p-25), 0);
  EXPECT_EQ(EncodeNarrow(kHalf, 0x1.8p-25), 1);
}

TEST(NarrowFloatTest, BFloat16RoundsToNearestEvenAndOnce) {
  EXPECT_EQ(EncodeNarrow(kBrain, 1), 0x3f80);
  EXPECT_EQ(EncodeNarrow(kBrain, 1 + 0x1p-8), 0x3f80);
  EXPECT_EQ(EncodeNarrow(kBrain, 1 + 3 * 0x1p-8), 0x3f82);
  EXPECT_EQ(EncodeNarrow(kBrain, 1 + 0x1p-8 + 0x1p-40), 0x3f81);
  EXPECT_EQ(DecodeNarrow(kBrain, 0xc000), -2);
}

TEST(NarrowFloatTest, NaNAndZerosKeepTheirSigns) {
  for (const DType dtype : {kHalf, kBrain}) {
    EXPECT_TRUE(std::isnan(DecodeNarrow(dtype, EncodeNarrow(dtype, NAN))));
    EXPECT_TRUE(
        std::signbit(DecodeNarrow(dtype, EncodeNarrow(dtype, -std::nan("")))));
    EXPECT_EQ(EncodeNarrow(dtype, -0.0), 0x8000);
    EXPECT_TRUE(std::isinf(RoundNarrow(dtype, 2 * HighestNarrow(dtype))));
    EXPECT_EQ(RoundNarrow(dtype, HighestNarrow(dtype)), HighestNarrow(dtype));
  }
}

TEST(NarrowFloatTest, HalvesRoundAsTheCompilersDo) {
  const uint64_t seed = std::random_device{}();
  std::mt19937_64 random(seed);
  for (int i = 0; i < 100000; ++i) {
    const double value =
        std::bit_cast<double>((random() & ~(uint64_t{0x7ff} << 52)) |
                              (uint64_t{1023 - 30} + random() % 50) << 52);
    ASSERT_EQ(RoundNarrow(kHalf, value),
              static_cast<double>(static_cast<_Float16>(value)))
        << value << ", seed " << seed;
  }
}

}  // namespace
}  // namespace kiln
