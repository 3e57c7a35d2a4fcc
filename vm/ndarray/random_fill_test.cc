#include "kiln/vm/ndarray/random_fill.h"

#include <gtest/gtest.h>

#include <set>

#include "kiln/vm/ndarray/element.h"

namespace kiln {
namespace {

NDArray Make(int64_t n, DType dtype) { return *NDArray::Zeros({n}, dtype); }

TEST(RandomFillTest, DependsOnTheSeedOnly) {
  NDArray a = Make(100, DType::Float(32));
  NDArray b = Make(50, DType::Float(32));
  FillRandom(a, 5);
  FillRandom(b, 5);
  EXPECT_EQ(a.elements<float>().subspan(0, 50), b.elements<float>());
  FillRandom(b, 6);
  EXPECT_NE(a.elements<float>().subspan(0, 50), b.elements<float>());
}

TEST(RandomFillTest, FloatsAreSpreadOverTheirRange) {
  for (DType dtype : {DType::Float(16), DType::BFloat16(), DType::Float(32),
                      DType::Float(64)}) {
    NDArray a = Make(20000, dtype);
    FillRandom(a, 1);
    double sum = 0;
    for (int64_t i = 0; i < a.num_elements(); ++i) {
      const double value = LoadElement(a.data(), dtype, i);
      ASSERT_GE(value, -1);
      ASSERT_LE(value, 1);
      sum += value;
    }
    EXPECT_LT(std::abs(sum / 20000), 0.05);
  }
}

TEST(RandomFillTest, SmallIntsReachBothEndsOfTheirRange) {
  for (DType dtype :
       {DType::Int(8), DType::Int(64), DType::Float(32), DType::BFloat16()}) {
    NDArray a = Make(1000, dtype);
    FillSmallInts(a, -3, 4, 9);
    std::set<double> seen;
    for (int64_t i = 0; i < 1000; ++i) {
      seen.insert(LoadElement(a.data(), dtype, i));
    }
    EXPECT_EQ(seen, (std::set<double>{-3, -2, -1, 0, 1, 2, 3, 4}));
  }
}

TEST(RandomFillTest, UnsignedAndBoolHaveDefaults) {
  NDArray a = Make(1000, DType::UInt(8));
  FillRandom(a, 1);
  EXPECT_EQ(
      std::set<int>(a.elements<uint8_t>().begin(), a.elements<uint8_t>().end())
          .size(),
      8u);
  NDArray b = Make(1000, DType::Bool());
  FillRandom(b, 1);
  int ones = 0;
  for (uint8_t value : b.elements<uint8_t>()) ones += value;
  EXPECT_GT(ones, 400);
  EXPECT_LT(ones, 600);
}

}  // namespace
}  // namespace kiln
