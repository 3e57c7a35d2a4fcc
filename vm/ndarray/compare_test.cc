#include "kiln/vm/ndarray/compare.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "kiln/base/status_matchers.h"
#include "kiln/ir/type/tolerance.h"
#include "kiln/vm/ndarray/element.h"

namespace kiln {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

NDArray Of(DType dtype, std::vector<double> values) {
  NDArray a = *NDArray::Zeros({static_cast<int64_t>(values.size())}, dtype);
  for (size_t i = 0; i < values.size(); ++i) {
    StoreElement(a.data(), dtype, i, values[i]);
  }
  return a;
}

constexpr Tolerance kTolerance = {1e-5, 1e-8};

bool Close(DType dtype, double got, double expected,
           Tolerance tolerance = {1e-3, 1e-3}) {
  return Compare(Of(dtype, {got}), Of(dtype, {expected}), tolerance)->ok();
}

TEST(CompareTest, AppliesBothTolerances) {
  for (DType dtype : {DType::Float(32), DType::Float(64)}) {
    EXPECT_TRUE(Close(dtype, 1000.9, 1000));
    EXPECT_FALSE(Close(dtype, 1001.1, 1000));
    EXPECT_TRUE(Close(dtype, 0.0009, 0));
    EXPECT_FALSE(Close(dtype, -0.0011, 0));
  }
  EXPECT_TRUE(Close(DType::Float(16), 1.0, 1.0));
  EXPECT_FALSE(Close(DType::BFloat16(), 1.0, 1.0078125));
}

TEST(CompareTest, TreatsInfinitiesAndNansAsValues) {
  const double inf = INFINITY;
  for (DType dtype : {DType::Float(16), DType::Float(32), DType::Float(64)}) {
    EXPECT_TRUE(Close(dtype, inf, inf));
    EXPECT_FALSE(Close(dtype, -inf, inf));
    EXPECT_FALSE(Close(dtype, 1, inf));
    EXPECT_FALSE(Close(dtype, inf, 1));
    EXPECT_TRUE(Close(dtype, NAN, NAN));
    EXPECT_FALSE(Close(dtype, NAN, 1));
    EXPECT_FALSE(Close(dtype, 1, NAN));
    EXPECT_FALSE(Close(dtype, NAN, inf));
  }
}

TEST(CompareTest, IntegersAreComparedExactly) {
  NDArray a = *NDArray::Zeros({1}, DType::Int(64));
  NDArray b = *NDArray::Zeros({1}, DType::Int(64));
  a.elements<int64_t>()[0] = (int64_t{1} << 60) + 1;
  b.elements<int64_t>()[0] = int64_t{1} << 60;
  EXPECT_FALSE(Compare(a, b, {0, 0})->ok());
  EXPECT_TRUE(Compare(a, b, {0, 1})->ok());
  EXPECT_TRUE(Close(DType::Bool(), 1, 1));
  EXPECT_FALSE(Close(DType::Bool(), 0, 1));
}

TEST(CompareTest, ReportsTheFirstAndTheWorst) {
  NDArray got = *NDArray::Zeros({2, 3}, DType::Float(32));
  NDArray expected = *NDArray::Zeros({2, 3}, DType::Float(32));
  for (float& value : expected.elements<float>()) value = 2;
  got.CopyFrom(expected).IgnoreError();
  got.elements<float>()[1] = 2.5;
  got.elements<float>()[5] = -4;
  KILN_ASSERT_OK_AND_ASSIGN(CompareReport report,
                            Compare(got, expected, kTolerance));
  EXPECT_EQ(report.num_mismatches, 2);
  EXPECT_THAT(report.first.index, ElementsAre(0, 1));
  EXPECT_THAT(report.worst.index, ElementsAre(1, 2));
  EXPECT_EQ(report.worst.absolute_error, 6);
  EXPECT_EQ(report.worst.relative_error, 3);
  EXPECT_EQ(report.ToString(),
            "2 of 6 elements differ; first at [0, 1] got 2.5, expected 2 "
            "(abs error 0.5, rel error 0.25); worst at [1, 2] got -4, "
            "expected 2 (abs error 6, rel error 3)");
  got.elements<float>()[3] = NAN;
  EXPECT_THAT(Compare(got, expected, kTolerance)->worst.index,
              ElementsAre(1, 0));
}

TEST(CompareTest, AgreesOnEqualAndEmptyArrays) {
  NDArray empty = *NDArray::Zeros({0, 4}, DType::Float(32));
  EXPECT_EQ(Compare(empty, empty, {})->ToString(), "all 0 elements agree");
}

TEST(CompareTest, RefusesDifferentTypesAndShapes) {
  NDArray a = *NDArray::Zeros({2}, DType::Float(32));
  EXPECT_THAT(Compare(a, *NDArray::Zeros({2, 1}, DType::Float(32)), {}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("float32[2] with float32[2, 1]")));
  EXPECT_FALSE(Compare(a, NDArray(), {}).ok());
}

}  // namespace
}  // namespace kiln
