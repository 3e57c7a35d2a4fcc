// Sums, products and moments of small tensors.
#include <map>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kiln/base/status_matchers.h"
#include "kiln/ir/ops/testing/run_op.h"
#include "kiln/ir/text/printer/printer.h"

namespace kiln {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(ReductionTest, SumsOfBoolsAreWhetherOneIsTrue) {
  const std::map<std::string, Tensor> x = {
      {"x", Numbers({3, 2}, {1, 1, 0, 1, 0, 0}, DType::Bool())}};
  const std::string param = "x: R.Tensor((3, \"n\"), \"bool\")";
  EXPECT_THAT(ValuesOfOp(param, "sum(x, axis=[1])", x),
              IsOkAndHolds(ElementsAre(1, 1, 0)));
  EXPECT_THAT(ValuesOfOp(param, "prod(x, axis=[1])", x),
              IsOkAndHolds(ElementsAre(1, 0, 0)));
  EXPECT_THAT(ValuesOfOp(param, "cumsum(x, axis=0)", x),
              IsOkAndHolds(ElementsAre(1, 1, 1, 1, 1, 1)));
  EXPECT_THAT(ValuesOfOp(param, "cumprod(x, axis=0)", x),
              IsOkAndHolds(ElementsAre(1, 1, 0, 1, 0, 0)));
  EXPECT_THAT(ValuesOfOp(param, "add(x, x)", x),
              IsOkAndHolds(ElementsAre(1, 1, 0, 1, 0, 0)));
  EXPECT_THAT(ValuesOfOp(param, "multiply(x, x)", x),
              IsOkAndHolds(ElementsAre(1, 1, 0, 1, 0, 0)));
}

// A sum that wraps is 0 where an even number is true.
TEST(ReductionTest, SumsOfBoolsDoNotWrap) {
  KILN_ASSERT_OK_AND_ASSIGN(
      const Module module,
      LegalizedCall("x: R.Tensor((4,), \"bool\")", "sum(x)"));
  EXPECT_THAT(PrintModule(module), HasSubstr("x_red[()] or x["));
}

TEST(ReductionTest, MeansVariancesAndDeviations) {
  const std::map<std::string, Tensor> x = {
      {"x", Numbers({2, 3}, {1, 2, 6, 1001, 1001, 1001})}};
  const std::string param = "x: R.Tensor((\"n\", 3), \"float32\")";
  EXPECT_THAT(ValuesOfOp(param, "mean(x, axis=[1])", x),
              IsOkAndHolds(ElementsAre(3, 1001)));
  EXPECT_THAT(ValuesOfOp(param, "variance(x, axis=[-1], keepdims=True)", x),
              IsOkAndHolds(ElementsAre(DoubleNear(14.0 / 3, 1e-6), 0)));
  EXPECT_THAT(ValuesOfOp(param, "std(x, axis=[0])", x),
              IsOkAndHolds(ElementsAre(500, 499.5, 497.5)));
  EXPECT_THAT(ValuesOfOp(param, "variance(x)", x),
              IsOkAndHolds(ElementsAre(DoubleNear(249003.33333333334, 1))));
}

}  // namespace
}  // namespace kiln
