// Running sums and products, and the places of extremes.
#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kiln/base/status_matchers.h"
#include "kiln/ir/ops/testing/run_op.h"

namespace kiln {
namespace {

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::HasSubstr;

TEST(ScanTest, SumsAndProductsOfWhatCameBefore) {
  const std::map<std::string, Tensor> x = {
      {"x", Numbers({2, 3}, {1, 2, 3, 4, 5, 6}, DType::Int(32))}};
  const std::string param = "x: R.Tensor((\"n\", 3), \"int32\")";
  EXPECT_THAT(ValuesOfOp(param, "cumsum(x, axis=1)", x),
              IsOkAndHolds(ElementsAre(1, 3, 6, 4, 9, 15)));
  EXPECT_THAT(ValuesOfOp(param, "cumsum(x, axis=0)", x),
              IsOkAndHolds(ElementsAre(1, 2, 3, 5, 7, 9)));
  EXPECT_THAT(ValuesOfOp(param, "cumprod(x)", x),
              IsOkAndHolds(ElementsAre(1, 2, 6, 24, 120, 720)));
  EXPECT_THAT(ValuesOfOp(param, "cumsum(x, axis=-1, exclusive=True)", x),
              IsOkAndHolds(ElementsAre(0, 1, 3, 0, 4, 9)));
  EXPECT_THAT(ValuesOfOp(param, "cumprod(x, axis=1, exclusive=True)", x),
              IsOkAndHolds(ElementsAre(1, 1, 2, 1, 4, 20)));
  KILN_ASSERT_OK_AND_ASSIGN(
      const std::vector<Tensor> real,
      RunOp(param, "cumsum(x, axis=1, dtype=\"float32\")", x));
  EXPECT_EQ(real[0].dtype, DType::Float(32));
  EXPECT_THAT(ValuesOf(real[0]), ElementsAre(1, 3, 6, 4, 9, 15));
  EXPECT_FALSE(LegalizedCall(param, "cumsum(x, axis=2)").ok());
}

TEST(SearchTest, TheFirstOfEqualExtremesIsFound) {
  const double inf = std::numeric_limits<double>::infinity();
  const std::map<std::string, Tensor> x = {
      {"x", Numbers({2, 3}, {1, 7, 7, -inf, -inf, -inf})}};
  const std::string param = "x: R.Tensor((2, \"n\"), \"float32\")";
  EXPECT_THAT(ValuesOfOp(param, "argmax(x, axis=1)", x),
              IsOkAndHolds(ElementsAre(1, 0)));
  EXPECT_THAT(ValuesOfOp(param, "argmin(x, axis=1, keepdims=True)", x),
              IsOkAndHolds(ElementsAre(0, 0)));
  EXPECT_THAT(ValuesOfOp(param, "argmax(x, axis=0)", x),
              IsOkAndHolds(ElementsAre(0, 0, 0)));
  EXPECT_THAT(ValuesOfOp(param, "argmin(x)", x), IsOkAndHolds(ElementsAre(3)));
  EXPECT_THAT(ValuesOfOp(param, "argmax(x, keepdims=True)", x),
              IsOkAndHolds(ElementsAre(1)));
  EXPECT_THAT(
      ValuesOfOp("x: R.Tensor((4,), \"uint8\")", "argmax(x, axis=0)",
                 {{"x", Numbers({4}, {0, 200, 100, 200}, DType::UInt(8))}}),
      IsOkAndHolds(ElementsAre(1)));
}

}  // namespace
}  // namespace kiln
