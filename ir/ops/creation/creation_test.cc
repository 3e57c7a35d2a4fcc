// Tensors made of nothing but numbers and shapes, by their elements.
#include <cmath>
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

TEST(CreationTest, OneValueFillsATensorAndIsConverted) {
  EXPECT_THAT(ValuesOfOp("v: R.Tensor((), \"float32\"), s: R.Shape([\"n\", 2])",
                         "full(R.shape([n, 2]), v, dtype=\"int32\")",
                         {{"v", Numbers({}, {2.75})}}, {{"n", 1}}),
              IsOkAndHolds(ElementsAre(2, 2)));
  EXPECT_THAT(ValuesOfOp("", "full((3,), R.const(1.5), dtype=\"float16\")"),
              IsOkAndHolds(ElementsAre(1.5, 1.5, 1.5)));
  EXPECT_THAT(ValuesOfOp("", "full((2,), R.const(7), dtype=\"bool\")"),
              IsOkAndHolds(ElementsAre(1, 1)));
  EXPECT_THAT(ValuesOfOp("", "full((2,), R.prim_value(-3), dtype=\"int8\")"),
              IsOkAndHolds(ElementsAre(-3, -3)));
  const std::map<std::string, Tensor> x = {{"x", Numbers({2}, {8, 9})}};
  const std::string param = "x: R.Tensor((\"n\",), \"float32\")";
  EXPECT_THAT(ValuesOfOp(param, "ones_like(x)", x),
              IsOkAndHolds(ElementsAre(1, 1)));
  EXPECT_THAT(ValuesOfOp(param, "zeros_like(x, dtype=\"int64\")", x),
              IsOkAndHolds(ElementsAre(0, 0)));
  EXPECT_THAT(ValuesOfOp(param, "full_like(x, R.const(4, \"int32\"))", x),
              IsOkAndHolds(ElementsAre(4, 4)));
  EXPECT_THAT(ValuesOfOp("", "ones((2, 0), \"float32\")"),
              IsOkAndHolds(ElementsAre()));
}

TEST(CreationTest, AnUnreadTensorIsNotPassed) {
  KILN_ASSERT_OK_AND_ASSIGN(const Module m,
                            LegalizedCall("x: R.Tensor((2, 3), \"float32\")",
                                          "full_like(x, R.const(2.0))"));
  ASSERT_EQ(m.functions.size(), 1u);
  EXPECT_EQ(m.functions[0].params.size(), 1u);
}

TEST(CreationTest, ProgressionsOfIntegersAndFloats) {
  EXPECT_THAT(ValuesOfOp("", "arange(1, 10, 4, \"int64\")"),
              IsOkAndHolds(ElementsAre(1, 5, 9)));
  EXPECT_THAT(ValuesOfOp("", "arange(5, 0, -2, \"int32\")"),
              IsOkAndHolds(ElementsAre(5, 3, 1)));
  EXPECT_THAT(ValuesOfOp("", "arange(3, 3, 1, \"int32\")"),
              IsOkAndHolds(ElementsAre()));
  EXPECT_THAT(ValuesOfOp("", "arange(5, 3, 1, \"int32\")"),
              IsOkAndHolds(ElementsAre()));
  EXPECT_THAT(
      ValuesOfOp("", "arange(0, T.float32(1.0), T.float32(0.25), \"float32\")"),
      IsOkAndHolds(ElementsAre(0, 0.25, 0.5, 0.75)));
  EXPECT_THAT(
      ValuesOfOp("n: T.int64", "arange(2, n, 3, \"float32\")", {}, {{"n", 9}}),
      IsOkAndHolds(ElementsAre(2, 5, 8)));
  EXPECT_THAT(ValuesOfOp("n: T.int64, k: T.int64", "arange(1, n, k, \"int64\")",
                         {}, {{"n", 8}, {"k", 3}}),
              IsOkAndHolds(ElementsAre(1, 4, 7)));
}

TEST(CreationTest, AFillOfUnknownRankIsRefused) {
  const std::string params =
      "x: R.Tensor((2,), \"float32\"), v: R.Tensor(dtype=\"float32\")";
  for (const char* call : {"full(R.shape([2]), v)", "full_like(x, v)"}) {
    EXPECT_THAT(LegalizedCall(params, call).status().message(),
                ::testing::HasSubstr("R.match_cast"))
        << call;
  }
}

TEST(CreationTest, AStepOfZeroAndTooManyNumbersAreRefused) {
  EXPECT_THAT(ValuesOfOp("", "arange(0, 3, 0, \"int64\")").status().message(),
              HasSubstr("step of 0"));
  EXPECT_THAT(ValuesOfOp("", "arange(0, T.float64(1e300), 1, \"float32\")")
                  .status()
                  .message(),
              HasSubstr("too many"));
  EXPECT_FALSE(ValuesOfOp("x: R.Tensor((2,), \"float32\")",
                          "full((2,), x, dtype=\"float32\")")
                   .ok());
  EXPECT_FALSE(ValuesOfOp("", "eye(-1, 2, 0, \"float32\")").ok());
  EXPECT_FALSE(ValuesOfOp("x: R.Tensor((2,), \"float32\")", "tril(x, 0)").ok());
}

TEST(CreationTest, DiagonalsAboveAndBelow) {
  EXPECT_THAT(ValuesOfOp("", "eye(2, 3, 1, \"int32\")"),
              IsOkAndHolds(ElementsAre(0, 1, 0, 0, 0, 1)));
  const Tensor x = Numbers({1, 2, 3}, {1, 2, 3, 4, 5, 6}, DType::Int(8));
  const std::string param = "x: R.Tensor((1, \"n\", 3), \"int8\")";
  EXPECT_THAT(ValuesOfOp(param, "tril(x, 0)", {{"x", x}}),
              IsOkAndHolds(ElementsAre(1, 0, 0, 4, 5, 0)));
  EXPECT_THAT(ValuesOfOp(param, "triu(x, 1)", {{"x", x}}),
              IsOkAndHolds(ElementsAre(0, 2, 3, 0, 0, 6)));
  EXPECT_THAT(
      ValuesOfOp(param + ", k: T.int64", "triu(x, k)", {{"x", x}}, {{"k", -1}}),
      IsOkAndHolds(ElementsAre(1, 2, 3, 4, 5, 6)));
  EXPECT_THAT(ValuesOfOp("x: R.Tensor((2, 2), \"float32\")", "eye_like(x, -1)",
                         {{"x", Numbers({2, 2}, {})}}),
              IsOkAndHolds(ElementsAre(0, 0, 1, 0)));
}

TEST(CreationTest, OneHotStandsOnTheAxis) {
  const Tensor x = Numbers({2}, {2, 0}, DType::Int(64));
  const std::string param = "x: R.Tensor((\"n\",), \"int64\")";
  EXPECT_THAT(ValuesOfOp(param,
                         "one_hot(x, R.prim_value(5), R.prim_value(1), "
                         "depth=3, axis=-1)",
                         {{"x", x}}),
              IsOkAndHolds(ElementsAre(1, 1, 5, 5, 1, 1)));
  EXPECT_THAT(ValuesOfOp(param,
                         "one_hot(x, R.prim_value(5), R.prim_value(1), "
                         "depth=3, axis=0)",
                         {{"x", x}}),
              IsOkAndHolds(ElementsAre(1, 5, 1, 1, 5, 1)));
}

TEST(CreationTest, HammingWindows) {
  KILN_ASSERT_OK_AND_ASSIGN(
      const std::vector<double> periodic,
      ValuesOfOp("n: T.int64",
                 "hamming_window(n, T.bool(True), T.float32(0.54), "
                 "T.float32(0.46), dtype=\"float32\")",
                 {}, {{"n", 4}}));
  for (int i = 0; i < 4; ++i) {
    EXPECT_NEAR(periodic[i], 0.54 - 0.46 * std::cos(2 * M_PI * i / 4), 1e-6);
  }
  EXPECT_THAT(ValuesOfOp("",
                         "hamming_window(1, T.bool(False), T.float32(0.5), "
                         "T.float32(0.5), dtype=\"float32\")"),
              IsOkAndHolds(ElementsAre(1)));
}

}  // namespace
}  // namespace kiln
