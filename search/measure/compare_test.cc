#include "kiln/search/measure/compare.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

namespace kiln {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
const float kNan = std::nanf("");

template <typename T>
bool Same(DType dtype, T got, T expected, Tolerance tolerance = {}) {
  return !CompareElements(dtype, &got, &expected, 1, tolerance).has_value();
}

TEST(CompareTest, FloatsAgreeWithinTheTolerance) {
  const DType f32 = DType::Float(32);
  EXPECT_TRUE(Same(f32, 1.0f, 1.0f));
  EXPECT_FALSE(Same(f32, 1.0f, 1.0001f));
  EXPECT_TRUE(Same(f32, 1.0f, 1.0001f, {1e-3, 0}));
  EXPECT_TRUE(Same(f32, 0.0f, 1e-4f, {0, 1e-3}));
  EXPECT_FALSE(Same(f32, 0.0f, 1e-2f, {0, 1e-3}));
  EXPECT_TRUE(Same(DType::Float(64), 1.0, 1.0 + 1e-12, {1e-11, 0}));
}

TEST(CompareTest, NanAndInfinityAgreeWithThemselvesOnly) {
  const DType f32 = DType::Float(32);
  const Tolerance wide = {10, 10};
  EXPECT_TRUE(Same(f32, kNan, kNan, wide));
  EXPECT_FALSE(Same(f32, kNan, 1.0f, wide));
  EXPECT_FALSE(Same(f32, 1.0f, kNan, wide));
  EXPECT_TRUE(Same(f32, kInf, kInf, wide));
  EXPECT_FALSE(Same(f32, kInf, -kInf, wide));
  EXPECT_FALSE(Same(f32, kInf, 1.0f, wide));
  EXPECT_FALSE(Same(f32, 1.0f, kInf, wide));
}

TEST(CompareTest, HalfPrecisionIsDecoded) {
  const DType f16 = DType::Float(16);
  const DType bf16 = DType::BFloat16();
  EXPECT_TRUE(Same<uint16_t>(f16, 0x3c00, 0x3c01, {1e-3, 0}));
  EXPECT_FALSE(Same<uint16_t>(f16, 0x3c00, 0x3d00, {1e-3, 0}));
  EXPECT_TRUE(Same<uint16_t>(bf16, 0x3f80, 0x3f81, {1e-2, 0}));
  EXPECT_FALSE(Same<uint16_t>(bf16, 0x3f80, 0x4000, {1e-2, 0}));
  EXPECT_TRUE(Same<uint16_t>(f16, 0xffff, 0x7e00)) << "NaN and NaN";
}

TEST(CompareTest, IntegersAreExact) {
  EXPECT_FALSE(Same<int64_t>(DType::Int(64), (int64_t{1} << 60) + 1,
                             int64_t{1} << 60, {1, 1}));
  EXPECT_TRUE(Same<int8_t>(DType::Int(8), -3, -3));
  EXPECT_FALSE(Same<uint8_t>(DType::Bool(), 1, 0, {1, 1}));
}

TEST(CompareTest, ReportsTheFirstMismatchAndTheirNumber) {
  std::vector<float> expected(1000, 1), got = expected;
  got[17] = 2;
  got[999] = 3;
  const auto mismatch =
      CompareElements(DType::Float(32), got.data(), expected.data(), 1000, {});
  ASSERT_TRUE(mismatch.has_value());
  EXPECT_EQ(mismatch->index, 17);
  EXPECT_EQ(mismatch->count, 2);
  EXPECT_EQ(ToString(*mismatch, "C"),
            "C[17] is 2, expected 1 (2 of 1000 compared elements differ)");
}

TEST(CompareTest, SamplingSeesBothEndsAndStaysInside) {
  const DType f32 = DType::Float(32);
  for (int64_t count : {65, 1000, 12345}) {
    std::vector<float> expected(count, 1);
    for (int64_t at : {int64_t{0}, count - 1}) {
      std::vector<float> got = expected;
      got[at] = 2;
      const auto mismatch =
          CompareElements(f32, got.data(), expected.data(), count, {}, 64);
      ASSERT_TRUE(mismatch.has_value()) << count << " " << at;
      EXPECT_LE(mismatch->compared, 128);
    }
  }
  EXPECT_FALSE(CompareElements(f32, nullptr, nullptr, 0, {}, 64));
}

TEST(CompareTest, ToleranceCoversAnotherOrderOfSummation) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE(seed);
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> uniform(-1, 1);
  for (int length : {16, 512, 4096}) {
    std::vector<float> forward(64), backward(64);
    for (int i = 0; i < 64; ++i) {
      std::vector<float> terms(length);
      for (float& term : terms) term = uniform(random) * uniform(random);
      for (int k = 0; k < length; ++k) forward[i] += terms[k];
      for (int k = length; k-- > 0;) backward[i] += terms[k];
    }
    const DType f32 = DType::Float(32);
    const Tolerance tolerance =
        ToleranceFor(f32, length, LargestMagnitude(f32, forward.data(), 64));
    EXPECT_FALSE(
        CompareElements(f32, backward.data(), forward.data(), 64, tolerance));
    EXPECT_LT(tolerance.rtol, 1e-3);
    EXPECT_EQ(ToleranceFor(DType::Int(32), length, 100).atol, 0);
  }
}

TEST(ToleranceTest, SubnormalResultsMayBeStepsApart) {
  const float got[] = {5.452e-42f, 0.0f}, expected[] = {5.454e-42f, 1.4e-45f};
  const DType f32 = DType::Float(32);
  const Tolerance tolerance =
      ToleranceFor(f32, 1, LargestMagnitude(f32, expected, 2));
  EXPECT_FALSE(CompareElements(f32, got, expected, 2, tolerance));
  const float off[] = {5.454e-42f, 1e-42f};
  EXPECT_TRUE(CompareElements(f32, off, expected, 2, tolerance));
}

}  // namespace
}  // namespace kiln
