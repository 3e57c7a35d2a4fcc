// Choices, bits and activations, element by element, beside what the standard
// library or a line of C++ makes of the same numbers:
//
//   R.clip(x, -1.5, 2.5) of int8 {-128, -2, 3, 127}    {-1, -1, 2, 2}
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

TEST(ChoiceTest, ActivationsComputeTheirDefinitions) {
  const struct {
    const char* call;
    double (*reference)(double);
  } kCases[] = {
      {"nn.relu(x)", [](double x) { return std::fmax(x, 0); }},
      {"nn.relu6(x)", [](double x) { return std::fmin(std::fmax(x, 0), 6); }},
      {"nn.silu(x)", [](double x) { return x / (1 + std::exp(-x)); }},
      {"nn.gelu(x)",
       [](double x) { return x / 2 * (1 + std::erf(x / std::sqrt(2))); }},
      {"nn.gelu_tanh(x)",
       [](double x) {
         const double u = std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x);
         return x / 2 * (1 + std::tanh(u));
       }},
      {"nn.leakyrelu(x, alpha=0.25)",
       [](double x) { return x > 0 ? x : x / 4; }},
      {"nn.selu(x)",
       [](double x) {
         return 1.05070098 * (x > 0 ? x : 1.67326324 * std::expm1(x));
       }},
      {"nn.softplus(x, beta=2.0, threshold=5.0)",
       [](double x) {
         return 2 * x > 5 ? x : std::log1p(std::exp(2 * x)) / 2;
       }},
      {"acosh(R.add(R.square(x), R.const(1.0)))",
       [](double x) { return std::acosh(x * x + 1); }},
      {"asinh(x)", [](double x) { return std::asinh(x); }},
      {"sign(x)", [](double x) { return x > 0   ? 1.0
                                        : x < 0 ? -1.0
                                                : 0.0; }},
      {"clip(x, -1, 2)",
       [](double x) { return std::fmin(std::fmax(x, -1), 2); }},
  };
  const std::vector<double> values = {-3, -0.5, 0, 0.25, 1, 7};
  const std::map<std::string, Tensor> x = {{"x", Numbers({2, 3}, values)}};
  for (const auto& c : kCases) {
    const auto y =
        ValuesOfOp("x: R.Tensor((\"n\", 3), \"float32\")", c.call, x);
    ASSERT_TRUE(y.ok()) << c.call << y.status().message();
    for (size_t i = 0; i < values.size(); ++i) {
      EXPECT_NEAR((*y)[i], c.reference(values[i]), 2e-6) << c.call << values[i];
    }
  }
}

TEST(ChoiceTest, SlopesStandOnTheAxis) {
  const std::map<std::string, Tensor> tensors = {
      {"x", Numbers({2, 2}, {-1, -1, 2, -2})},
      {"a", Numbers({2}, {0.5, 3})},
      {"b", Numbers({1}, {10})}};
  const std::string params =
      "x: R.Tensor((\"n\", 2), \"float32\"), a: R.Tensor((2,), \"float32\"), "
      "b: R.Tensor((1,), \"float32\")";
  EXPECT_THAT(ValuesOfOp(params, "nn.prelu(x, a, axis=1)", tensors),
              IsOkAndHolds(ElementsAre(-0.5, -3, 2, -6)));
  EXPECT_THAT(ValuesOfOp(params, "nn.prelu(x, b, axis=0)", tensors),
              IsOkAndHolds(ElementsAre(-10, -10, 2, -20)));
  EXPECT_FALSE(LegalizedCall("x: R.Tensor((3, 2), \"float32\"), a: "
                             "R.Tensor((3,), \"float32\")",
                             "nn.prelu(x, a, axis=1)")
                   .ok());
}

TEST(ChoiceTest, ClippedIntegersStayInside) {
  const std::map<std::string, Tensor> x = {
      {"x", Numbers({4}, {-128, -2, 3, 127}, DType::Int(8))}};
  const std::string param = "x: R.Tensor((4,), \"int8\")";
  EXPECT_THAT(ValuesOfOp(param, "clip(x, T.float32(-1.5), T.float32(2.5))", x),
              IsOkAndHolds(ElementsAre(-1, -1, 2, 2)));
  EXPECT_THAT(ValuesOfOp(param, "clip(x, -1000, 1000)", x),
              IsOkAndHolds(ElementsAre(-128, -2, 3, 127)));
  EXPECT_THAT(ValuesOfOp(param, "clip(x, -5, T.float64(1e300))", x),
              IsOkAndHolds(ElementsAre(-5, -2, 3, 127)));
}

TEST(ChoiceTest, OfBoundsThatCrossTheLowerOneCounts) {
  const std::map<std::string, Tensor> x = {{"x", Numbers({3}, {-4, 1, 9})}};
  const std::string param =
      "x: R.Tensor((3,), \"float32\"), a: R.Prim(\"int64\"), b: "
      "R.Prim(\"int64\")";
  EXPECT_THAT(ValuesOfOp(param, "clip(x, 3, 2)", x, {{"a", 0}, {"b", 0}}),
              IsOkAndHolds(ElementsAre(3, 3, 3)));
  EXPECT_THAT(ValuesOfOp(param, "clip(x, a, b)", x, {{"a", 3}, {"b", 2}}),
              IsOkAndHolds(ElementsAre(3, 3, 3)));
}

TEST(ChoiceTest, NumbersThatAreNone) {
  const double inf = std::numeric_limits<double>::infinity();
  for (const DType dtype : {DType::Float(16), DType::Float(32)}) {
    const std::map<std::string, Tensor> x = {
        {"x", Numbers({4}, {1, -inf, std::nan(""), inf}, dtype)}};
    const std::string param = "x: R.Tensor((4,), \"" + dtype.ToString() + "\")";
    EXPECT_THAT(ValuesOfOp(param, "isinf(x)", x),
                IsOkAndHolds(ElementsAre(0, 1, 0, 1)));
    EXPECT_THAT(ValuesOfOp(param, "isnan(x)", x),
                IsOkAndHolds(ElementsAre(0, 0, 1, 0)));
    EXPECT_THAT(ValuesOfOp(param, "isfinite(x)", x),
                IsOkAndHolds(ElementsAre(1, 0, 0, 0)));
  }
}

TEST(ChoiceTest, LogicAndBits) {
  const std::map<std::string, Tensor> tensors = {
      {"x", Numbers({4}, {0, 6, -1, 0}, DType::Int(8))},
      {"y", Numbers({4}, {0, 3, 2, 5}, DType::Int(8))},
      {"p", Numbers({4}, {0, 0, 1, 1}, DType::Bool())},
      {"q", Numbers({4}, {0, 1, 0, 1}, DType::Bool())}};
  const struct {
    const char* call;
    std::vector<double> expected;
  } kCases[] = {
      {"logical_and(x, y)", {0, 1, 1, 0}},
      {"logical_or(x, y)", {0, 1, 1, 1}},
      {"logical_xor(x, y)", {0, 0, 0, 1}},
      {"logical_not(x)", {1, 0, 0, 1}},
      {"bitwise_and(x, y)", {0, 2, 2, 0}},
      {"bitwise_or(x, y)", {0, 7, -1, 5}},
      {"bitwise_xor(x, y)", {0, 5, -3, 5}},
      {"bitwise_not(x)", {-1, -7, 0, -1}},
      {"left_shift(y, y)", {0, 24, 8, -96}},
      {"right_shift(x, y)", {0, 0, -1, 0}},
      {"logical_and(p, q)", {0, 0, 0, 1}},
      {"logical_xor(p, q)", {0, 1, 1, 0}},
      {"logical_not(p)", {1, 1, 0, 0}},
      {"bitwise_or(p, q)", {0, 1, 1, 1}},
      {"bitwise_not(p)", {1, 1, 0, 0}},
      {"where(p, x, y)", {0, 3, -1, 0}},
      {"where(q, x, R.const(9, \"int8\"))", {9, 6, 9, 0}},
  };
  const std::string params =
      "x: R.Tensor((4,), \"int8\"), y: R.Tensor((4,), \"int8\"), p: "
      "R.Tensor((4,), \"bool\"), q: R.Tensor((4,), \"bool\")";
  for (const auto& c : kCases) {
    EXPECT_THAT(ValuesOfOp(params, c.call, tensors),
                IsOkAndHolds(ElementsAreArray(c.expected)))
        << c.call;
  }
}

TEST(ChoiceTest, ConstantNumbersStandInTheFunction) {
  KILN_ASSERT_OK_AND_ASSIGN(const Module m,
                            LegalizedCall("x: R.Tensor((\"n\",), \"float32\")",
                                          "multiply(R.const(0.5), x)"));
  ASSERT_EQ(m.functions.size(), 1u);
  EXPECT_EQ(m.functions[0].params.size(), 2u);
  EXPECT_THAT(
      ValuesOfOp("x: R.Tensor((\"n\",), \"float32\")",
                 "multiply(R.const(0.5), x)", {{"x", Numbers({2}, {3, 4})}}),
      IsOkAndHolds(ElementsAre(1.5, 2)));
}

TEST(ChoiceTest, LogAddExpIsFiniteWhereItCanBe) {
  const double inf = std::numeric_limits<double>::infinity();
  const std::map<std::string, Tensor> tensors = {
      {"x", Numbers({4}, {1000, -inf, 0, inf})},
      {"y", Numbers({4}, {1000, -inf, 1, 3})}};
  KILN_ASSERT_OK_AND_ASSIGN(
      const std::vector<double> z,
      ValuesOfOp("x: R.Tensor((4,), \"float32\"), y: R.Tensor((4,), "
                 "\"float32\")",
                 "log_add_exp(x, y)", tensors));
  EXPECT_NEAR(z[0], 1000 + std::log(2.0), 1e-4);
  EXPECT_EQ(z[1], -inf);
  EXPECT_NEAR(z[2], std::log(1 + std::exp(1.0)), 1e-6);
  EXPECT_EQ(z[3], inf);
}

TEST(ChoiceTest, IllTypedOperandsAreRefused) {
  const std::string params =
      "x: R.Tensor((4,), \"float32\"), i: R.Tensor((4,), \"int32\"), p: "
      "R.Tensor((4,), \"bool\")";
  for (const char* call :
       {"bitwise_and(x, x)", "bitwise_not(x)", "left_shift(x, x)",
        "where(x, x, x)", "where(p, x, i)", "nn.gelu(i)", "log_add_exp(i, i)",
        "clip(x, x, 3)", "nn.softplus(x, beta=0.0)"}) {
    EXPECT_FALSE(LegalizedCall(params, call).ok()) << call;
  }
}

}  // namespace
}  // namespace kiln
