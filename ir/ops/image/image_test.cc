// Resizing and sampling beside numbers worked out by hand. Most cases are of
// one row of pixels, of which each place is easy to tell:
//
//   0, 10, 20, 30 resized to 2, linear, half_pixel: 5, 25
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
using ::testing::HasSubstr;
using ::testing::Pointwise;
using Values = std::vector<double>;

const DType kF32 = DType::Float(32);

Values Result(const std::string& params, const std::string& call,
              std::vector<Tensor> args, const OutputSpec& output) {
  const auto got = RunLowered(params, call, std::move(args), {output});
  EXPECT_TRUE(got.ok()) << got.status().message();
  return got.ok() ? ValuesOf((*got)[0]) : Values();
}

auto Near(const Values& expected) {
  return Pointwise(DoubleNear(1e-4), expected);
}

// A row of pixels 0, 10, 20, 30 as an image, resized to `width`.
Values Row(int width, const std::string& attributes) {
  return Result("x: R.Tensor((1, 1, 1, \"w\"), \"float32\")",
                absl::StrCat("image.resize2d(x, R.shape([1, ", width, "]), ",
                             attributes, ")"),
                {TensorOf(kF32, {1, 1, 1, 4}, {0, 10, 20, 30})},
                {kF32, {1, 1, 1, width}});
}

TEST(ResizeTest, PlacesByEachTransformation) {
  const std::string linear =
      "method=\"linear\", coordinate_transformation_mode=";
  EXPECT_THAT(Row(2, linear + "\"half_pixel\""), Near({5, 25}));
  EXPECT_THAT(Row(8, linear + "\"half_pixel\""),
              Near({0, 2.5, 7.5, 12.5, 17.5, 22.5, 27.5, 30}));
  EXPECT_THAT(Row(3, linear + "\"align_corners\""), Near({0, 15, 30}));
  EXPECT_THAT(Row(1, linear + "\"align_corners\""), Near({0}));
  EXPECT_THAT(Row(3, linear + "\"asymmetric\""), Near({0, 40 / 3.0, 80 / 3.0}));
  EXPECT_THAT(Row(1, linear + "\"pytorch_half_pixel\""), Near({0}));
  EXPECT_THAT(Row(2, linear + "\"tf_half_pixel_for_nn\""), Near({10, 30}));
  EXPECT_THAT(
      Row(3, linear + "\"tf_crop_and_resize\", roi=[0.0, 0.5, 1.0, 1.5], "
                      "extrapolation_value=-7.0"),
      Near({15, 30, -7}));
}

TEST(ResizeTest, NearestPixelsByEachRounding) {
  const std::string nearest =
      "method=\"nearest_neighbor\", "
      "coordinate_transformation_mode=\"asymmetric\", rounding_method=";
  // Places 0, 0.5, 1, ... 3.5.
  EXPECT_THAT(Row(8, nearest + "\"floor\""),
              Near({0, 0, 10, 10, 20, 20, 30, 30}));
  EXPECT_THAT(Row(8, nearest + "\"ceil\""),
              Near({0, 10, 10, 20, 20, 30, 30, 30}));
  EXPECT_THAT(Row(8, nearest + "\"round_prefer_floor\""),
              Near({0, 0, 10, 10, 20, 20, 30, 30}));
  EXPECT_THAT(Row(8, nearest + "\"round_prefer_ceil\""),
              Near({0, 10, 10, 20, 20, 30, 30, 30}));
}

TEST(ResizeTest, CubicSplinesAndBlocksOfChannels) {
  // Halfway between pixels the weights are -3/32, 19/32, 19/32, -3/32.
  const std::string cubic =
      "method=\"cubic\", coordinate_transformation_mode=\"asymmetric\"";
  const Values row = Row(8, cubic);
  EXPECT_NEAR(row[2], 10, 1e-4);
  EXPECT_NEAR(row[3], (19 * 30 - 3 * 30) / 32.0, 1e-4);
  const Values excluded = Row(8, cubic + ", cubic_exclude=1");
  EXPECT_NEAR(excluded[1], (19 * 10 - 3 * 20) / (19 + 19 - 3.0), 1e-4);
  EXPECT_THAT(Result("x: R.Tensor((1, 1, 1, 2, 2), \"float32\")",
                     "image.resize2d(x, R.shape([1, 1]), layout=\"NCHW2c\")",
                     {TensorOf(kF32, {1, 1, 1, 2, 2}, {1, 2, 3, 6})},
                     {kF32, {1, 1, 1, 1, 2}}),
              Near({2, 4}));
}

TEST(ResizeTest, VolumesAndTypes) {
  EXPECT_THAT(
      Result("x: R.Tensor((1, 1, 2, 2, 2), \"float32\")",
             "image.resize3d(x, R.shape([1, 1, 1]))",
             {TensorOf(kF32, {1, 1, 2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8})},
             {kF32, {1, 1, 1, 1, 1}}),
      Near({4.5}));
  const DType i32 = DType::Int(32);
  EXPECT_THAT(
      Result("x: R.Tensor((1, 1, 1, 2), \"int32\")",
             "image.resize2d(x, R.shape([1, 1]), out_dtype=\"float32\")",
             {TensorOf(i32, {1, 1, 1, 2}, {1, 4})}, {kF32, {1, 1, 1, 1}}),
      Near({2.5}));
}

TEST(GridTest, AffineGridsSpanTheImage) {
  const Tensor theta = TensorOf(kF32, {1, 2, 3}, {1, 0, 0, 0, 2, 1});
  const std::string param = "t: R.Tensor((1, 2, 3), \"float32\")";
  EXPECT_THAT(Result(param, "image.affine_grid(t, R.shape([2, 3]))", {theta},
                     {kF32, {1, 2, 2, 3}}),
              Near({-1, 0, 1, -1, 0, 1, -1, -1, -1, 3, 3, 3}));
  EXPECT_THAT(Result(param,
                     "image.affine_grid(t, R.shape([1, 2]), "
                     "align_corners=False)",
                     {theta}, {kF32, {1, 2, 1, 2}}),
              Near({-0.5, 0.5, 1, 1}));
}

// A row of pixels 0, 10, 20, 30 sampled at places of the grid.
Values Sampled(const Values& x, const std::string& attributes) {
  const auto n = static_cast<int64_t>(x.size());
  Values grid = x;
  grid.resize(2 * x.size(), 0);  // y is 0
  return Result(absl::StrCat("x: R.Tensor((1, 1, 1, 4), \"float32\"), "
                             "g: R.Tensor((1, 2, 1, ",
                             n, "), \"float32\")"),
                "image.grid_sample(x, g, " + attributes + ")",
                {TensorOf(kF32, {1, 1, 1, 4}, {0, 10, 20, 30}),
                 TensorOf(kF32, {1, 2, 1, n}, grid)},
                {kF32, {1, 1, 1, n}});
}

TEST(GridTest, ImagesAreSampledAndPaddedByEachMode) {
  EXPECT_THAT(Sampled({-1, 0, 0.5, 1}, "method=\"bilinear\""),
              Near({0, 15, 22.5, 30}));
  EXPECT_THAT(Sampled({-1, 0.2, 1}, "method=\"nearest\""), Near({0, 20, 30}));
  // Place 4 of pixels 0 to 3.
  const double beyond = 5 / 3.0;
  EXPECT_THAT(Sampled({beyond}, "padding_mode=\"zeros\""), Near({0}));
  EXPECT_THAT(Sampled({beyond}, "padding_mode=\"border\""), Near({30}));
  EXPECT_THAT(Sampled({beyond}, "padding_mode=\"reflection\""), Near({20}));
  EXPECT_THAT(Sampled({0}, "method=\"bicubic\", padding_mode=\"border\""),
              Near({15}));
  EXPECT_THAT(Sampled({0.75}, "align_corners=False, padding_mode=\"border\""),
              Near({30}));
}

TEST(ImageTest, WhatMakesNoSenseIsRefused) {
  const std::string params =
      "x: R.Tensor((1, 2, 4, 4), \"float32\"), "
      "g: R.Tensor((1, 3, 4, 4), \"float32\")";
  const struct {
    const char* call;
    const char* reason;
  } kCases[] = {
      {"image.resize2d(x, R.shape([4]))", "have 2 extents"},
      {"image.resize2d(x, R.shape([4, 4]), layout=\"HW\")",
       "not those of NCHW"},
      {"image.resize2d(x, R.shape([4, 4]), method=\"best\")", "is \"best\""},
      {"image.resize2d(x, R.shape([4, -4]))", "extent of -4"},
      {"image.affine_grid(x, R.shape([4, 4]))", "have 3 dimensions"},
      {"image.grid_sample(x, g)", "the axes of the image are 2"},
      {"image.grid_sample(x, x, layout=\"NHWC\")", "NCHW or NCDHW"},
      {"image.grid_sample(x, x, padding_mode=\"wrap\")", "is \"wrap\""},
  };
  for (const auto& c : kCases) {
    EXPECT_THAT(RunLowered(params, c.call, {}, {}).status().message(),
                HasSubstr(c.reason))
        << c.call;
  }
}

}  // namespace
}  // namespace kiln
