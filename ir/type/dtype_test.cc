#include "kiln/ir/type/dtype.h"

#include <gtest/gtest.h>

namespace kiln {
namespace {

TEST(DTypeTest, NamesRoundTrip) {
  for (const char* name :
       {"int8", "int16", "int32", "int64", "uint8", "uint64", "float16",
        "float32", "float64", "bfloat16", "bool", "handle", "float32x16",
        "int8x64", "boolx8", "void"}) {
    std::optional<DType> type = DType::FromString(name);
    ASSERT_TRUE(type.has_value()) << name;
    EXPECT_EQ(type->ToString(), name);
  }
}

TEST(DTypeTest, RefusesUnknownNamesWidthsAndLanes) {
  for (const char* name :
       {"", "int", "int7", "float8", "bfloat32", "floaty", "int32x", "int32x0",
        "int32y4", "int32x4x4", "int-8", "handle64", "int32x99999999999"}) {
    EXPECT_FALSE(DType::FromString(name).has_value()) << name;
  }
}

TEST(DTypeTest, BytesCountAllLanes) {
  EXPECT_EQ(DType::Float(32).WithLanes(16).bytes(), 64);
  EXPECT_EQ(DType::Bool().bytes(), 1);
}

}  // namespace
}  // namespace kiln
