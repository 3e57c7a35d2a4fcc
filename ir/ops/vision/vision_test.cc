// Boxes and regions beside numbers worked out by hand, and loops in double.
//
//   boxes 0 and 1 overlap by 90 / 110, box 3 is of another class: 1, 3, 2 stay
//   a region that reaches far outside reads 0 there, and the image inside
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
using ::testing::ElementsAreArray;
using ::testing::HasSubstr;
using ::testing::Pointwise;
using Values = std::vector<double>;

const DType kF32 = DType::Float(32), kI32 = DType::Int(32);

TEST(BoxTest, RowsThatScoreComeFirst) {
  KILN_ASSERT_OK_AND_ASSIGN(
      const std::vector<Tensor> got,
      RunLowered("x: R.Tensor((1, \"n\", 3), \"float32\")",
                 "vision.get_valid_counts(x, score_threshold=0.5, id_index=0, "
                 "score_index=1)",
                 {TensorOf(kF32, {1, 4, 3},
                           {0, 0.9, 5, 1, 0.1, 6, -1, 0.8, 7, 2, 0.7, 8})},
                 {{kI32, {1}}, {kF32, {1, 4, 3}}, {kI32, {1, 4}}}));
  EXPECT_THAT(ValuesOf(got[0]), ElementsAre(2));
  EXPECT_THAT(ValuesOf(got[1]),
              Pointwise(DoubleNear(1e-6),
                        Values{0, 0.9, 5, 2, 0.7, 8, -1, -1, -1, -1, -1, -1}));
  EXPECT_THAT(ValuesOf(got[2]), ElementsAre(0, 3, -1, -1));
}

// Class, score, corners. Box 1 overlaps box 0 by 9/11 or so, box 3 as well but
// of another class; box 2 is apart; box 4 does not count.
const Values kBoxes = {0,  0.8, 0,  0,   10, 10,   0,  0.9, 0,  1,
                       10, 11,  0,  0.5, 20, 20,   30, 30,  1,  0.7,
                       0,  0,   10, 10,  0,  0.95, 0,  0,   10, 10};
constexpr char kNmsParams[] =
    "x: R.Tensor((1, \"n\", 6), \"float32\"), c: R.Tensor((1,), \"int32\"), "
    "i: R.Tensor((1, \"n\"), \"int32\")";

std::vector<Tensor> NmsArgs() {
  return {TensorOf(kF32, {1, 5, 6}, kBoxes), TensorOf(kI32, {1}, {4}),
          TensorOf(kI32, {1, 5}, {10, 11, 12, 13, 14})};
}

Values Kept(const std::string& attributes) {
  const auto got = RunLowered(
      kNmsParams, "vision.non_max_suppression(x, c, i" + attributes + ")",
      NmsArgs(), {{kI32, {1, 5}}, {kI32, {1, 1}}});
  EXPECT_TRUE(got.ok()) << got.status().message();
  if (!got.ok()) return {};
  Values kept = ValuesOf((*got)[0]);
  kept.push_back((*got)[1].GetReal(0));
  return kept;
}

TEST(BoxTest, TheBestOfBoxesThatOverlapIsKept) {
  EXPECT_THAT(Kept(""), ElementsAre(11, 13, 12, -1, -1, 3));
  EXPECT_THAT(Kept(", force_suppress=True"),
              ElementsAre(11, 12, -1, -1, -1, 2));
  EXPECT_THAT(Kept(", iou_threshold=0.95"), ElementsAre(11, 10, 13, 12, -1, 4));
  EXPECT_THAT(Kept(", top_k=2"), ElementsAre(11, -1, -1, -1, -1, 1));
  EXPECT_THAT(Kept(", score_threshold=0.6"),
              ElementsAre(11, 13, -1, -1, -1, 2));
  EXPECT_THAT(Kept(", max_output_size=1"), ElementsAre(11, -1, -1, -1, -1, 1));
}

TEST(BoxTest, BoxesThemselvesInPlaceOrToTheFront) {
  for (const bool to_front : {false, true}) {
    KILN_ASSERT_OK_AND_ASSIGN(
        const std::vector<Tensor> got,
        RunLowered(kNmsParams,
                   absl::StrCat("vision.non_max_suppression(x, c, i, "
                                "return_indices=False, invalid_to_bottom=",
                                to_front ? "True)" : "False)"),
                   NmsArgs(), {{kF32, {1, 5, 6}}}));
    Values scores;
    for (int row = 0; row < 5; ++row) {
      scores.push_back(got[0].GetReal(6 * row + 1));
    }
    const Values expected = to_front ? Values{0.9, 0.7, 0.5, -1, -1}
                                     : Values{0.9, -1, 0.7, 0.5, -1};
    EXPECT_THAT(scores, Pointwise(DoubleNear(1e-6), expected));
  }
}

TEST(BoxTest, AllClassesAreSuppressedOnTheirOwn) {
  KILN_ASSERT_OK_AND_ASSIGN(
      const std::vector<Tensor> got,
      RunLowered(
          "b: R.Tensor((1, 3, 4), \"float32\"), "
          "s: R.Tensor((1, 2, 3), \"float32\"), m: R.Tensor((1,), \"int64\"), "
          "o: R.Tensor((1,), \"float32\"), t: R.Tensor((1,), \"float32\")",
          "vision.all_class_non_max_suppression(b, s, m, o, t)",
          {TensorOf(kF32, {1, 3, 4}, {0, 0, 1, 1, 0, 0.1, 1, 1.1, 5, 5, 6, 6}),
           TensorOf(kF32, {1, 2, 3}, {0.9, 0.8, 0.7, 0.1, 0.6, 0.5}),
           TensorOf(DType::Int(64), {1}, {2}), TensorOf(kF32, {1}, {0.5}),
           TensorOf(kF32, {1}, {0.2})},
          {{DType::Int(64), {6, 3}}, {DType::Int(64), {1}}}));
  EXPECT_EQ(got[1].GetInt(0), 4);
  EXPECT_THAT(ValuesOf(got[0]), ElementsAreArray({0, 0, 0, 0, 0, 2, 0, 1, 1, 0,
                                                  1, 2, 0, 0, 0, 0, 0, 0}));
}

TEST(BoxTest, AnchorsAreMoved) {
  KILN_ASSERT_OK_AND_ASSIGN(
      const std::vector<Tensor> got,
      RunLowered("c: R.Tensor((1, 2, 1), \"float32\"), "
                 "m: R.Tensor((1, 4), \"float32\"), "
                 "a: R.Tensor((1, 1, 4), \"float32\")",
                 "vision.multibox_transform_loc(c, m, a, clip=True, "
                 "threshold=0.5, variances=[0.5, 1.0, 1.0, 1.0], "
                 "keep_background=False)",
                 {TensorOf(kF32, {1, 2, 1}, {0, 2}),
                  TensorOf(kF32, {1, 4}, {1, 0, 0, std::log(2.0)}),
                  TensorOf(kF32, {1, 1, 4}, {0.2, 0.2, 0.4, 0.6})},
                 {{kF32, {1, 1, 4}}, {kF32, {1, 2, 1}}}));
  // Center (0.3 + 0.5 * 0.2, 0.4), extents (0.2, 0.8).
  EXPECT_THAT(ValuesOf(got[0]),
              Pointwise(DoubleNear(1e-5), Values{0, 0.3, 0.8, 0.5}));
  EXPECT_THAT(ValuesOf(got[1]),
              Pointwise(DoubleNear(1e-5), Values{0, 1 / (1 + std::exp(-2.0))}));
}

// --- Regions of an image of 2 channels, 6 rows, 5 columns.

constexpr int64_t kRows = 6, kColumns = 5;

double Between(const Tensor& x, int64_t c, double y, double z) {
  if (y < -1 || z < -1 || y > kRows || z > kColumns) return 0;
  y = std::clamp(y, 0.0, kRows - 1.0);
  z = std::clamp(z, 0.0, kColumns - 1.0);
  const auto pixel = [&](double row, double column) {
    const auto r = std::min<int64_t>(static_cast<int64_t>(row), kRows - 1);
    const auto k =
        std::min<int64_t>(static_cast<int64_t>(column), kColumns - 1);
    return x.GetReal((c * kRows + r) * kColumns + k);
  };
  const double top = std::floor(y), left = std::floor(z);
  const double dy = y - top, dx = z - left;
  return (pixel(top, left) * (1 - dx) + pixel(top, left + 1) * dx) * (1 - dy) +
         (pixel(top + 1, left) * (1 - dx) + pixel(top + 1, left + 1) * dx) * dy;
}

// One bin of a region (x1, y1, x2, y2), scaled by 0.5.
double Bin(const Tensor& x, const Values& roi, int64_t c, int64_t ph,
           int64_t pw, int samples, bool aligned, bool is_mean) {
  const double shift = aligned ? 0.5 : 0;
  double extents[2], begin[2];
  int64_t counts[2];
  for (int d = 0; d < 2; ++d) {
    begin[d] = roi[1 - d] * 0.5 - shift;
    double whole = roi[3 - d] * 0.5 - roi[1 - d] * 0.5;
    if (!aligned) whole = std::max(whole, 1.0);
    extents[d] = whole / 2;
    counts[d] =
        samples > 0
            ? samples
            : std::max<int64_t>(static_cast<int64_t>(std::ceil(extents[d])), 0);
  }
  double sum = 0, largest = -1e30;
  for (int64_t i = 0; i < counts[0]; ++i) {
    for (int64_t j = 0; j < counts[1]; ++j) {
      const double y = begin[0] + static_cast<double>(ph) * extents[0] +
                       (static_cast<double>(i) + 0.5) * extents[0] /
                           static_cast<double>(counts[0]);
      const double z = begin[1] + static_cast<double>(pw) * extents[1] +
                       (static_cast<double>(j) + 0.5) * extents[1] /
                           static_cast<double>(counts[1]);
      const double value = Between(x, c, y, z);
      sum += value;
      largest = std::max(largest, value);
    }
  }
  const double count = static_cast<double>(counts[0] * counts[1]);
  return is_mean ? sum / std::max(count, 1.0) : largest;
}

TEST(RegionTest, AlignedRegionsAreReadBetweenPixels) {
  const Tensor x = Wavy(kF32, {1, 2, kRows, kColumns});
  const std::vector<Values> kRois = {
      {1, 2, 9, 7}, {-40, -30, 60, 50}, {4, 4, 4, 4}};
  Values rois;
  for (const Values& roi : kRois) {
    rois.push_back(0);
    rois.insert(rois.end(), roi.begin(), roi.end());
  }
  for (const int samples : {-1, 2})
    for (const bool aligned : {false, true})
      for (const bool is_mean : {true, false}) {
        const std::string call = absl::StrCat(
            "vision.roi_align(x, r, pooled_size=[2, 2], spatial_scale=0.5, "
            "sample_ratio=",
            samples, ", aligned=", aligned ? "True" : "False", ", mode=\"",
            is_mean ? "avg" : "max", "\")");
        KILN_ASSERT_OK_AND_ASSIGN(
            const std::vector<Tensor> got,
            RunLowered("x: R.Tensor((1, 2, \"h\", \"w\"), \"float32\"), "
                       "r: R.Tensor((\"k\", 5), \"float32\")",
                       call, {x, TensorOf(kF32, {3, 5}, rois)},
                       {{kF32, {3, 2, 2, 2}}}));
        for (int64_t i = 0; i < 24; ++i) {
          const Values& roi = kRois[i / 8];
          if (!is_mean && aligned && samples < 0 && i >= 16) continue;  // empty
          EXPECT_NEAR(got[0].GetReal(i),
                      Bin(x, roi, i / 4 % 2, i / 2 % 2, i % 2, samples, aligned,
                          is_mean),
                      1e-4)
              << call << " " << i;
        }
      }
}

// The bins of an image of 16 bits are those of float32, rounded once.
TEST(RegionTest, ShortFloatsAreSummedInMoreBits) {
  for (const char* mode : {"avg", "max"}) {
    const std::string call = absl::StrCat(
        "vision.roi_align(x, r, pooled_size=[1, 2], spatial_scale=1.0, "
        "sample_ratio=3, aligned=True, mode=\"",
        mode, "\")");
    const auto bins = [&](DType dtype) {
      const std::string type = dtype.ToString();
      return RunLowered(
          absl::StrCat("x: R.Tensor((1, 1, 4, 5), \"", type,
                       "\"), r: R.Tensor((1, 5), \"", type, "\")"),
          call,
          {Wavy(dtype, {1, 1, 4, 5}),
           TensorOf(dtype, {1, 5}, {0, 0, 0, 2.5, 3})},
          {{dtype, {1, 1, 1, 2}}});
    };
    KILN_ASSERT_OK_AND_ASSIGN(const std::vector<Tensor> wide, bins(kF32));
    KILN_ASSERT_OK_AND_ASSIGN(const std::vector<Tensor> narrow,
                              bins(DType::Float(16)));
    for (int64_t i = 0; i < 2; ++i) {
      EXPECT_NEAR(narrow[0].GetReal(i), wide[0].GetReal(i), 1e-3) << mode;
    }
  }
}

TEST(RegionTest, ChannelsMayStandLast) {
  const Tensor x = TensorOf(kF32, {1, 1, 2, 2}, {1, 10, 3, 30});
  KILN_ASSERT_OK_AND_ASSIGN(
      const std::vector<Tensor> got,
      RunLowered("x: R.Tensor((1, 1, 2, 2), \"float32\"), "
                 "r: R.Tensor((1, 5), \"float32\")",
                 "vision.roi_align(x, r, pooled_size=[1, 1], "
                 "spatial_scale=1.0, layout=\"NHWC\")",
                 {x, TensorOf(kF32, {1, 5}, {0, 0, 0, 1, 0})},
                 {{kF32, {1, 1, 1, 2}}}));
  EXPECT_THAT(ValuesOf(got[0]), ElementsAre(2, 20));
}

TEST(RegionTest, PooledRegionsAreTheLargestPixels) {
  const Tensor x = Wavy(kF32, {1, 2, kRows, kColumns});
  const Values roi = {0, 1, 0, 8, 9};  // pixels 1 (0.5) to 4, 0 to 5 (4.5)
  KILN_ASSERT_OK_AND_ASSIGN(
      const std::vector<Tensor> got,
      RunLowered("x: R.Tensor((1, 2, 6, 5), \"float32\"), "
                 "r: R.Tensor((1, 5), \"float32\")",
                 "vision.roi_pool(x, r, pooled_size=[2, 2], spatial_scale=0.5)",
                 {x, TensorOf(kF32, {1, 5}, roi)}, {{kF32, {1, 2, 2, 2}}}));
  const auto largest = [&](int64_t c, int64_t y, int64_t z, int64_t rows,
                           int64_t columns) {
    double value = -1e30;
    for (int64_t i = y; i < y + rows; ++i)
      for (int64_t j = z; j < z + columns; ++j)
        value = std::max(value, x.GetReal((c * kRows + i) * kColumns + j));
    return value;
  };
  for (int64_t c = 0; c < 2; ++c) {
    EXPECT_EQ(got[0].GetReal(4 * c), largest(c, 0, 1, 3, 2));
    EXPECT_EQ(got[0].GetReal(4 * c + 1), largest(c, 0, 3, 3, 2));
    EXPECT_EQ(got[0].GetReal(4 * c + 3), largest(c, 3, 3, 3, 2));
  }
}

TEST(VisionTest, WhatMakesNoSenseIsRefused) {
  const std::string params = std::string(kNmsParams) +
                             ", y: R.Tensor((1, 2, 4, 4), \"float32\"), "
                             "r: R.Tensor((3, 4), \"float32\")";
  const struct {
    const char* call;
    const char* reason;
  } kCases[] = {
      {"vision.get_valid_counts(x, score_index=6)", "`score_index` is 6"},
      {"vision.get_valid_counts(x, id_index=-2)", "`id_index` is -2"},
      {"vision.non_max_suppression(x, c, i, coord_start=3)", "0 to 2"},
      {"vision.non_max_suppression(x, i, i)", "1 dimensions"},
      {"vision.roi_align(y, r, pooled_size=[2, 2], spatial_scale=1.0)",
       "a region has 5"},
      {"vision.roi_pool(y, r, pooled_size=[0, 2], spatial_scale=1.0)",
       "a region has 5"},
      {"vision.multibox_transform_loc(x, r, x, variances=[1.0])",
       "of 4 coordinates"},
  };
  for (const auto& c : kCases) {
    EXPECT_THAT(RunLowered(params, c.call, {}, {}).status().message(),
                HasSubstr(c.reason))
        << c.call;
  }
}

}  // namespace
}  // namespace kiln
