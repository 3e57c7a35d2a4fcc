#include "kiln/tools/support/tolerances.h"

#include <gtest/gtest.h>

#include "kiln/base/status_matchers.h"

namespace kiln {
namespace {

// 3, 0, 0, -4: a root mean square of 2.5.
NDArray Numbers() {
  NDArray array = *NDArray::Zeros({4}, DType::Float(32));
  array.elements<float>()[0] = 3;
  array.elements<float>()[3] = -4;
  return array;
}

TEST(ToleranceForTest, TheScaleIsThatOfTheErrors) {
  const NDArray array = Numbers();
  EXPECT_EQ(ToleranceFor(array, ErrorBound::kExact, -1, -1).atol, 0);
  EXPECT_DOUBLE_EQ(ToleranceFor(array, ErrorBound::kComponentwise, -1, -1).atol,
                   2.5e-5);
  EXPECT_DOUBLE_EQ(ToleranceFor(array, ErrorBound::kNormwise, -1, -1).atol,
                   4e-4);
  EXPECT_DOUBLE_EQ(ToleranceFor(array, ErrorBound::kNormwise, 1e-7, -1).atol,
                   4e-6);
}

TEST(ToleranceForTest, AFewSumsMayBeSmallByChance) {
  const auto absolute = [](int64_t elements, int64_t terms) {
    NDArray array = *NDArray::Zeros({elements}, DType::Float(32));
    for (int64_t i = 0; i < elements; ++i) array.elements<float>()[i] = 1;
    return ToleranceFor(array, ErrorBound::kComponentwise, -1, -1, terms).atol;
  };
  EXPECT_DOUBLE_EQ(absolute(1, 4096), 32e-5);
  EXPECT_DOUBLE_EQ(absolute(8, 4096), 4e-5);
  EXPECT_DOUBLE_EQ(absolute(40, 4096), 1e-5);
  EXPECT_DOUBLE_EQ(absolute(1, 1), 1e-5);
}

TEST(ToleranceForTest, LongSumsOf16BitsHaveLargerErrors) {
  const auto relative = [](DType dtype, int64_t terms) {
    return ToleranceFor(*NDArray::Zeros({4}, dtype), ErrorBound::kComponentwise,
                        -1, -1, terms)
        .rtol;
  };
  EXPECT_EQ(relative(DType::BFloat16(), 1), 3e-2);
  EXPECT_GT(relative(DType::BFloat16(), 768), 0.1);
  EXPECT_LT(relative(DType::BFloat16(), 768), 0.5);
  EXPECT_EQ(relative(DType::Float(16), 1), 4e-3);
  EXPECT_GT(relative(DType::Float(16), 768), 0.02);
  EXPECT_EQ(relative(DType::Float(32), 768), 1e-5);
}

TEST(ToleranceForTest, WhatFlagsSayCounts) {
  const Tolerance tolerance =
      ToleranceFor(Numbers(), ErrorBound::kNormwise, 0.5, 0);
  EXPECT_EQ(tolerance.rtol, 0.5);
  EXPECT_EQ(tolerance.atol, 0);
}

TEST(ToleranceForTest, IntegersAreExact) {
  const NDArray array = *NDArray::Zeros({4}, DType::Int(32));
  EXPECT_EQ(ToleranceFor(array, ErrorBound::kNormwise, -1, -1).atol, 0);
}

}  // namespace
}  // namespace kiln
