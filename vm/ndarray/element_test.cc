#include "kiln/vm/ndarray/element.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace kiln {
namespace {

TEST(ElementTest, FloatsOf16BitsAreRoundedOnce) {
  const auto store = [](DType dtype, double value) {
    alignas(8) char memory[4] = {};
    StoreElement(memory, dtype, 1, value);
    return LoadElement(memory, dtype, 1);
  };
  // By way of a float this would be a tie, and round down.
  EXPECT_EQ(store(DType::BFloat16(), 1 + 0x1p-8 + 0x1p-40), 1 + 0x1p-7);
  EXPECT_EQ(store(DType::Float(16), 1 + 0x1p-11 + 0x1p-40), 1 + 0x1p-10);
  EXPECT_EQ(store(DType::Float(16), -65520), -INFINITY);
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
