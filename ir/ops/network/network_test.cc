// Softmax, normalization, losses and the like beside direct computations in
// double. Inputs are chosen so that a formula that is not sound shows: elements
// whose exponential overflows, means that are large beside the deviations,
// classes that are ignored and lie outside.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kiln/base/status_matchers.h"
#include "kiln/ir/ops/run_lowered.h"

namespace kiln {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pointwise;
using Values = std::vector<double>;

const DType kF32 = DType::Float(32);

// What the call leaves in its only output.
Values Result(const std::string& params, const std::string& call,
              std::vector<Tensor> args, const OutputSpec& output) {
  const auto got = RunLowered(params, call, std::move(args), {output});
  EXPECT_TRUE(got.ok()) << got.status().message();
  return got.ok() ? ValuesOf((*got)[0]) : Values();
}

std::string Refusal(const std::string& params, const std::string& call) {
  return std::string(RunLowered(params, call, {}, {}).status().message());
}

auto Near(const Values& expected, double tolerance = 1e-5) {
  return Pointwise(DoubleNear(tolerance), expected);
}

TEST(NetworkTest, SoftmaxSurvivesLargeElements) {
  const std::string param = "x: R.Tensor((\"n\", 3), \"float32\")";
  const Tensor x = TensorOf(kF32, {2, 3}, {1000, 1001, 999, -5, 0, 2});
  Values shares, logs;
  for (int row = 0; row < 2; ++row) {
    const double largest = row == 0 ? 1001 : 2;
    double sum = 0;
    for (int k = 0; k < 3; ++k)
      sum += std::exp(x.GetReal(3 * row + k) - largest);
    for (int k = 0; k < 3; ++k) {
      const double below = x.GetReal(3 * row + k) - largest;
      shares.push_back(std::exp(below) / sum);
      logs.push_back(below - std::log(sum));
    }
  }
  EXPECT_THAT(Result(param, "nn.softmax(x)", {x}, {kF32, {2, 3}}),
              Near(shares));
  EXPECT_THAT(Result(param, "nn.log_softmax(x, axis=1)", {x}, {kF32, {2, 3}}),
              Near(logs));
  const DType f16 = DType::Float(16);
  EXPECT_THAT(Result("x: R.Tensor((3,), \"float16\")", "nn.softmax(x, axis=0)",
                     {TensorOf(f16, {3}, {-5, 0, 2})}, {f16, {3}}),
              Near({shares[3], shares[4], shares[5]}, 1e-3));
}

// (x - mean) / sqrt(variance + epsilon) of the elements at `at`, in place.
void Normalize(const std::vector<size_t>& at, double epsilon, Values* x) {
  double mean = 0, variance = 0;
  for (const size_t i : at) mean += (*x)[i] / static_cast<double>(at.size());
  for (const size_t i : at) {
    variance +=
        ((*x)[i] - mean) * ((*x)[i] - mean) / static_cast<double>(at.size());
  }
  for (const size_t i : at) {
    (*x)[i] = ((*x)[i] - mean) / std::sqrt(variance + epsilon);
  }
}

TEST(NetworkTest, LayersAreNormalizedOverTheirAxes) {
  // A mean that is large beside the deviations, as one pass would lose them.
  Tensor x = Wavy(kF32, {2, 2, 3});
  for (int i = 0; i < 12; ++i) x.Set(i, x.GetReal(i) + 1000);
  const Tensor gamma = TensorOf(kF32, {2, 3}, {1, 2, 3, 4, 5, 6});
  const Tensor beta = TensorOf(kF32, {2, 3}, {0, 1, 0, 1, 0, 1});
  Values expected = ValuesOf(x);
  Normalize({0, 1, 2, 3, 4, 5}, 0.5, &expected);
  Normalize({6, 7, 8, 9, 10, 11}, 0.5, &expected);
  for (int i = 0; i < 12; ++i) {
    expected[i] = expected[i] * gamma.GetReal(i % 6) + beta.GetReal(i % 6);
  }
  EXPECT_THAT(Result("x: R.Tensor((\"n\", 2, 3), \"float32\"), "
                     "g: R.Tensor((2, 3), \"float32\"), "
                     "b: R.Tensor((2, 3), \"float32\")",
                     "nn.layer_norm(x, g, b, axes=[-2, -1], epsilon=0.5)",
                     {x, gamma, beta}, {kF32, {2, 2, 3}}),
              Near(expected, 1e-3));
}

TEST(NetworkTest, GroupsAndInstancesShareTheirChannelsFactors) {
  const std::string params =
      "x: R.Tensor((1, 4, 2), \"float32\"), g: R.Tensor((4,), \"float32\"), "
      "b: R.Tensor((4,), \"float32\")";
  const Tensor x = Wavy(kF32, {1, 4, 2});
  const Tensor gamma = TensorOf(kF32, {4}, {1, 2, 3, 4});
  const Tensor beta = TensorOf(kF32, {4}, {0, 0, 1, 1});
  const auto scaled = [&](Values values) {
    for (int i = 0; i < 8; ++i) {
      values[i] = values[i] * gamma.GetReal(i / 2) + beta.GetReal(i / 2);
    }
    return values;
  };
  Values groups = ValuesOf(x), instances = ValuesOf(x);
  Normalize({0, 1, 2, 3}, 1e-5, &groups);
  Normalize({4, 5, 6, 7}, 1e-5, &groups);
  for (size_t c = 0; c < 4; ++c)
    Normalize({2 * c, 2 * c + 1}, 1e-5, &instances);
  EXPECT_THAT(Result(params,
                     "nn.group_norm(x, g, b, num_groups=2, channel_axis=1, "
                     "axes=[2])",
                     {x, gamma, beta}, {kF32, {1, 4, 2}}),
              Near(scaled(groups), 1e-4));
  EXPECT_THAT(
      Result(params, "nn.instance_norm(x, g, b, channel_axis=1, axes=[2])",
             {x, gamma, beta}, {kF32, {1, 4, 2}}),
      Near(scaled(instances), 1e-3));
}

TEST(NetworkTest, RootsOfMeanSquares) {
  const Tensor x = TensorOf(kF32, {2, 2}, {3, 4, -1, 7});
  const Tensor weight = TensorOf(kF32, {2}, {2, 10});
  Values expected;
  for (int i = 0; i < 4; ++i) {
    const double root = std::sqrt(i < 2 ? 12.5 : 25);
    expected.push_back(x.GetReal(i) * weight.GetReal(i % 2) / root);
  }
  EXPECT_THAT(Result("x: R.Tensor((2, 2), \"float32\"), "
                     "w: R.Tensor((2,), \"float32\")",
                     "nn.rms_norm(x, w, axes=[-1], epsilon=0.0)", {x, weight},
                     {kF32, {2, 2}}),
              Near(expected));
}

TEST(NetworkTest, BatchesMoveTheMomentsInTrainingOnly) {
  const std::string params =
      "x: R.Tensor((2, 2, 2), \"float32\"), g: R.Tensor((2,), \"float32\"), "
      "b: R.Tensor((2,), \"float32\"), m: R.Tensor((2,), \"float32\"), "
      "v: R.Tensor((2,), \"float32\")";
  const Tensor x = TensorOf(kF32, {2, 2, 2}, {1, 3, 0, 0, 5, 7, 2, 2});
  const std::vector<Tensor> args = {
      x, TensorOf(kF32, {2}, {1, 2}), TensorOf(kF32, {2}, {0, 1}),
      TensorOf(kF32, {2}, {10, 20}), TensorOf(kF32, {2}, {4, 9})};
  const std::vector<OutputSpec> outputs = {
      {kF32, {2, 2, 2}}, {kF32, {2}}, {kF32, {2}}};
  const std::string call = "nn.batch_norm(x, g, b, m, v, axis=1, epsilon=0.0, ";
  KILN_ASSERT_OK_AND_ASSIGN(
      const std::vector<Tensor> trained,
      RunLowered(params, call + "momentum=0.25, training=True)", args,
                 outputs));
  const double root = std::sqrt(5);  // of channel 0: 1, 3, 5, 7
  EXPECT_THAT(ValuesOf(trained[0]),
              Near({-3 / root, -1 / root, -1, -1, 1 / root, 3 / root, 3, 3}));
  EXPECT_THAT(ValuesOf(trained[1]), Near({8.5, 15.25}));
  EXPECT_THAT(ValuesOf(trained[2]), Near({4.25, 7}));
  KILN_ASSERT_OK_AND_ASSIGN(
      const std::vector<Tensor> used,
      RunLowered(params, call + "momentum=0.25, training=False)", args,
                 outputs));
  EXPECT_NEAR(used[0].GetReal(0), -4.5, 1e-5);
  EXPECT_NEAR(used[0].GetReal(2), 1 + 2 * -20 / 3.0, 1e-4);
  EXPECT_THAT(ValuesOf(used[1]), ElementsAre(10, 20));
}

TEST(NetworkTest, LossesSkipTheIgnoredClass) {
  const std::string params =
      "x: R.Tensor((\"n\", 3, 2), \"float32\"), "
      "t: R.Tensor((\"n\", 2), \"int64\"), w: R.Tensor((3,), \"float32\")";
  const std::vector<Tensor> args = {
      TensorOf(kF32, {2, 3, 2}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}),
      TensorOf(DType::Int(64), {2, 2}, {0, 2, -100, 1}),
      TensorOf(kF32, {3}, {1, 10, 2})};
  const std::string call = "nn.nll_loss(x, t, w, reduction=";
  EXPECT_THAT(Result(params, call + "\"none\")", args, {kF32, {2, 2}}),
              ElementsAre(-1, -12, 0, -100));
  EXPECT_THAT(Result(params, call + "\"sum\")", args, {kF32, {}}),
              ElementsAre(-113));
  EXPECT_THAT(Result(params, call + "\"mean\")", args, {kF32, {}}),
              Near({-113 / 13.0}));
  EXPECT_THAT(
      Result(
          "x: R.Tensor((3,), \"float32\"), t: R.Tensor((), \"int32\")",
          "nn.nll_loss(x, t)",
          {TensorOf(kF32, {3}, {1, 2, 3}), TensorOf(DType::Int(32), {}, {2})},
          {kF32, {}}),
      ElementsAre(-3));
  const std::string grad = "g: R.Tensor((), \"float32\"), " + params;
  std::vector<Tensor> grad_args = args;
  grad_args.insert(grad_args.begin(), TensorOf(kF32, {}, {26}));
  EXPECT_THAT(Result(grad, "grad.nll_loss_backward(g, x, t, w)", grad_args,
                     {kF32, {2, 3, 2}}),
              ElementsAre(-2, 0, 0, 0, 0, -4, 0, 0, 0, -20, 0, 0));
}

TEST(NetworkTest, CrossEntropyIsAMeanOverTheBatch) {
  EXPECT_THAT(Result("x: R.Tensor((\"n\", 2), \"float32\"), "
                     "y: R.Tensor((\"n\", 2), \"float32\")",
                     "nn.cross_entropy_with_logits(x, y)",
                     {TensorOf(kF32, {2, 2}, {1, 2, 3, 4}),
                      TensorOf(kF32, {2, 2}, {1, 0, 0.5, 0.5})},
                     {kF32, {}}),
              ElementsAre(-2.25));
}

TEST(NetworkTest, PaddingByEachMode) {
  const std::string param = "x: R.Tensor((\"n\",), \"float32\")";
  const Tensor x = TensorOf(kF32, {3}, {1, 2, 3});
  const struct {
    const char* mode;
    Values expected;
  } kCases[] = {{"constant", {9, 9, 1, 2, 3, 9}},
                {"replicate", {1, 1, 1, 2, 3, 3}},
                {"reflect", {3, 2, 1, 2, 3, 2}},
                {"circular", {2, 3, 1, 2, 3, 1}}};
  for (const auto& c : kCases) {
    EXPECT_THAT(
        Result(param,
               absl::StrCat("nn.pad(x, pad_width=[2, 1], pad_value=9.0, "
                            "pad_mode=\"",
                            c.mode, "\")"),
               {x}, {kF32, {6}}),
        Near(c.expected))
        << c.mode;
  }
}

TEST(NetworkTest, PixelsAreShuffledAndBatchesFlattened) {
  EXPECT_THAT(Result("x: R.Tensor((4, 1, 2), \"float32\")",
                     "nn.pixel_shuffle(x, upscale_factor=2)",
                     {TensorOf(kF32, {4, 1, 2}, {1, 2, 3, 4, 5, 6, 7, 8})},
                     {kF32, {1, 2, 4}}),
              ElementsAre(1, 3, 2, 4, 5, 7, 6, 8));
  EXPECT_THAT(
      Result("x: R.Tensor((2, \"a\", 2), \"float32\")", "nn.batch_flatten(x)",
             {TensorOf(kF32, {2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8})},
             {kF32, {2, 4}}),
      ElementsAre(1, 2, 3, 4, 5, 6, 7, 8));
}

TEST(NetworkTest, NothingIsDroppedOutsideOfTraining) {
  const Tensor x = Wavy(DType::Float(32), {2, 3});
  KILN_ASSERT_OK_AND_ASSIGN(
      const std::vector<Tensor> got,
      RunLowered("x: R.Tensor((2, \"n\"), \"float32\")",
                 "nn.dropout(x, rate=0.5)", {x},
                 {{DType::Float(32), {2, 3}}, {DType::Float(32), {2, 3}}}));
  EXPECT_EQ(ValuesOf(got[0]), ValuesOf(x));
  EXPECT_EQ(ValuesOf(got[1]), std::vector<double>(6, 1));
}

TEST(NetworkTest, NarrowFloatsHoldWhatIsTooLargeAtTheirBounds) {
  const Tensor q = TensorOf(DType::Int(8), {2}, {100, -100});
  KILN_ASSERT_OK_AND_ASSIGN(
      const std::vector<Tensor> got,
      RunLowered("x: R.Tensor((2,), \"int8\"), s: R.Tensor((1,), \"float16\"), "
                 "z: R.Tensor((1,), \"int8\")",
                 "dequantize(x, s, z, out_dtype=\"float16\", axis=0)",
                 {q, TensorOf(DType::Float(16), {1}, {4096}),
                  TensorOf(DType::Int(8), {1}, {0})},
                 {{DType::Float(16), {2}}}));
  EXPECT_EQ(ValuesOf(got[0]), (std::vector<double>{65504, -65504}));
}

TEST(NetworkTest, QuantizedNumbersAreRoundedAndClipped) {
  const DType i8 = DType::Int(8);
  EXPECT_THAT(
      Result("x: R.Tensor((2, 2), \"float32\"), "
             "s: R.Tensor((2,), \"float32\"), z: R.Tensor((2,), \"int8\")",
             "quantize(x, s, z, out_dtype=\"int8\", axis=1)",
             {TensorOf(kF32, {2, 2}, {1.2, 2, -300, 5}),
              TensorOf(kF32, {2}, {0.5, 2}), TensorOf(i8, {2}, {1, -1})},
             {i8, {2, 2}}),
      ElementsAre(3, 0, -128, 2));
  EXPECT_THAT(
      Result("q: R.Tensor((2, 2), \"int8\"), s: R.Tensor((), \"float32\"), "
             "z: R.Tensor((), \"int8\")",
             "dequantize(q, s, z)",
             {TensorOf(i8, {2, 2}, {1, 2, -128, 127}),
              TensorOf(kF32, {}, {0.5}), TensorOf(i8, {}, {-1})},
             {kF32, {2, 2}}),
      ElementsAre(1, 1.5, -63.5, 64));
}

TEST(NetworkTest, ZeroPointsMayBeFractions) {
  EXPECT_THAT(
      Result("q: R.Tensor((3,), \"int8\"), s: R.Tensor((), \"float32\"), "
             "z: R.Tensor((), \"float16\")",
             "dequantize(q, s, z, axis=0)",
             {TensorOf(DType::Int(8), {3}, {1, 0, -3}), TensorOf(kF32, {}, {2}),
              TensorOf(DType::Float(16), {}, {0.5})},
             {kF32, {3}}),
      ElementsAre(1, -1, -7));
}

TEST(NetworkTest, GradientsOfTakenRowsAreAdded) {
  EXPECT_THAT(
      Result("g: R.Tensor((3, 2), \"float32\"), "
             "x: R.Tensor((\"n\", 2), \"float32\"), "
             "i: R.Tensor((3,), \"int32\")",
             "grad.take_backward(g, x, i, axis=0)",
             {TensorOf(kF32, {3, 2}, {1, 2, 3, 4, 5, 6}), Wavy(kF32, {4, 2}),
              TensorOf(DType::Int(32), {3}, {2, 0, 2})},
             {kF32, {4, 2}}),
      ElementsAre(3, 4, 0, 0, 6, 8, 0, 0));
  EXPECT_THAT(
      Result("g: R.Tensor((2,), \"float32\"), "
             "x: R.Tensor((3,), \"float32\"), i: R.Tensor((2,), \"int64\")",
             "grad.take_backward(g, x, i)",
             {TensorOf(kF32, {2}, {1, 2}), Wavy(kF32, {3}),
              TensorOf(DType::Int(64), {2}, {1, 1})},
             {kF32, {3}}),
      ElementsAre(0, 3, 0));
}

// Indices -1 and 4 of four rows.
TEST(NetworkTest, GradientsOfRowsTakenFromOutsideGoWhereTheseCameFrom) {
  const struct {
    const char* mode;
    std::vector<double> expected;
  } kCases[] = {
      {"clip", {1, 0, 4, 2}}, {"wrap", {2, 0, 4, 1}}, {"nan", {0, 0, 4, 0}}};
  for (const auto& c : kCases) {
    EXPECT_EQ(Result("g: R.Tensor((3,), \"float32\"), "
                     "x: R.Tensor((\"n\",), \"float32\"), "
                     "i: R.Tensor((3,), \"int64\")",
                     absl::StrCat("grad.take_backward(g, x, i, axis=0, mode=\"",
                                  c.mode, "\")"),
                     {TensorOf(kF32, {3}, {1, 2, 4}), Wavy(kF32, {4}),
                      TensorOf(DType::Int(64), {3}, {-1, 4, 2})},
                     {kF32, {4}}),
              c.expected)
        << c.mode;
  }
}

TEST(NetworkTest, WhatMakesNoSenseIsRefused) {
  const std::string image = "x: R.Tensor((1, 6, 4, 4), \"float32\")";
  const struct {
    std::string params;
    const char* call;
    const char* reason;
  } kCases[] = {
      {"x: R.Tensor((2,), \"int32\")", "nn.softmax(x)", "of floats"},
      {image, "nn.softmax(x, axis=4)", "axis 4 is outside"},
      {image, "nn.pad(x, pad_width=[1, 1])", "has to have 1 dimensions"},
      {image, "nn.pad(x, pad_width=[1, 1, 1])", "two numbers"},
      {image, "nn.pad(x, pad_width=[0, 0, 0, 0, 0, 0, 0, -1])", "at least 0"},
      {image, "nn.pixel_shuffle(x, upscale_factor=4)", "no multiple"},
      {image, "nn.pixel_shuffle(x, upscale_factor=0)", "is positive"},
      {image, "nn.layer_norm(x, axes=[1])", "takes 3 arguments"},
      {image, "nn.rms_norm(x, axes=[1])", "takes 2 arguments"},
      {image, "nn.batch_norm(x, axis=1)", "takes 5 arguments"},
      {image + ", t: R.Tensor((1, 4, 4), \"int64\"), w: R.Tensor((6, 1), "
               "\"float32\")",
       "grad.nll_loss_backward(x, x, t, w)", "has to have 1 dimensions"},
      {image + ", t: R.Tensor((2,), \"int64\")",
       "grad.take_backward(t, x, t, axis=1)", "has to have 4 dimensions"},
      {image + ", g: R.Tensor((6,), \"float32\")",
       "nn.group_norm(x, g, g, num_groups=4, channel_axis=1, axes=[2, 3])",
       "no multiple of the 4 groups"},
      {image + ", g: R.Tensor((6,), \"float32\")",
       "nn.layer_norm(x, g, g, axes=[2])", "what it meets has"},
      {image + ", g: R.Tensor(dtype=\"float32\")",
       "nn.rms_norm(x, g, axes=[2])", "state its rank"},
      {image + ", t: R.Tensor((1, 4, 4), \"float32\")", "nn.nll_loss(x, t)",
       "of an integer type"},
      {image + ", t: R.Tensor((1, 4, 4), \"int64\")",
       "nn.nll_loss(x, t, reduction=\"median\")", "none, sum or mean"},
      {image + ", s: R.Tensor((5,), \"float32\"), z: R.Tensor((5,), \"int8\")",
       "quantize(x, s, z, axis=1)", "the axis of the data has"},
  };
  for (const auto& c : kCases) {
    EXPECT_THAT(Refusal(c.params, c.call), HasSubstr(c.reason)) << c.call;
  }
}

}  // namespace
}  // namespace kiln
