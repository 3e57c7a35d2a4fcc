// Pools beside loops over rows and columns of one channel, and the gradients of
// pools beside the same loops run backwards. A window is the list of elements
// that it has inside of the image:
//
//   size (3, 2), stride 2, padding 1, at (0, 0): rows 0 and 1, column 0
#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kiln/base/status_matchers.h"
#include "kiln/ir/ops/run_lowered.h"

namespace kiln {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Pair = std::array<int64_t, 2>;

const DType kF32 = DType::Float(32);

struct Pool {
  Pair extents, size;
  Pair stride = {1, 1}, dilation = {1, 1}, before = {0, 0}, after = {0, 0};
  bool rounds_up = false, counts_padding = false;
};

int64_t Places(const Pool& p, int d) {
  const int64_t room = p.extents[d] + p.before[d] + p.after[d] -
                       (p.size[d] - 1) * p.dilation[d] - 1;
  if (!p.rounds_up) return room / p.stride[d] + 1;
  const int64_t last = (room + p.stride[d] - 1) / p.stride[d];
  const bool begins_behind = last * p.stride[d] >= p.extents[d] + p.before[d];
  return begins_behind ? last : last + 1;
}

// The elements of the window at (y, x): their indices; how many count.
struct Window {
  std::vector<int64_t> elements;
  int64_t counted = 0;
};

Window WindowAt(const Pool& p, int64_t y, int64_t x) {
  Window window;
  for (int64_t ky = 0; ky < p.size[0]; ++ky) {
    for (int64_t kx = 0; kx < p.size[1]; ++kx) {
      const int64_t row = y * p.stride[0] + ky * p.dilation[0] - p.before[0];
      const int64_t column = x * p.stride[1] + kx * p.dilation[1] - p.before[1];
      const bool inside = row >= 0 && row < p.extents[0] && column >= 0 &&
                          column < p.extents[1];
      if (inside) window.elements.push_back(row * p.extents[1] + column);
      const bool is_padding =
          row < p.extents[0] + p.after[0] && column < p.extents[1] + p.after[1];
      window.counted += p.counts_padding ? is_padding : inside;
    }
  }
  window.counted = std::max<int64_t>(window.counted, 1);
  return window;
}

std::string Attributes(const Pool& p) {
  const auto list = [](const Pair& v) {
    return absl::StrCat("[", v[0], ", ", v[1], "]");
  };
  return absl::StrCat(
      "pool_size=", list(p.size), ", strides=", list(p.stride),
      ", dilation=", list(p.dilation), ", padding=[", p.before[0], ", ",
      p.before[1], ", ", p.after[0], ", ", p.after[1],
      "], ceil_mode=", p.rounds_up ? "True" : "False",
      ", count_include_pad=", p.counts_padding ? "True" : "False", ")");
}

std::string Image(const Pool& p, bool is_symbolic) {
  if (is_symbolic) return "x: R.Tensor((1, 1, \"h\", \"w\"), \"float32\")";
  return absl::StrCat("x: R.Tensor((1, 1, ", p.extents[0], ", ", p.extents[1],
                      "), \"float32\")");
}

void ExpectPooled(const Pool& p, bool is_symbolic) {
  SCOPED_TRACE(Attributes(p));
  const Tensor x = Wavy(kF32, {1, 1, p.extents[0], p.extents[1]});
  const int64_t rows = Places(p, 0), columns = Places(p, 1);
  for (const bool is_max : {true, false}) {
    KILN_ASSERT_OK_AND_ASSIGN(
        const std::vector<Tensor> got,
        RunLowered(Image(p, is_symbolic),
                   (is_max ? "nn.max_pool2d(x, " : "nn.avg_pool2d(x, ") +
                       Attributes(p),
                   {x}, {{kF32, {1, 1, rows, columns}}}));
    for (int64_t i = 0; i < rows * columns; ++i) {
      const Window window = WindowAt(p, i / columns, i % columns);
      if (window.elements.empty()) continue;
      double sum = 0, largest = -1e30;
      for (const int64_t e : window.elements) {
        sum += x.GetReal(e);
        largest = std::max(largest, x.GetReal(e));
      }
      EXPECT_NEAR(got[0].GetReal(i),
                  is_max ? largest : sum / static_cast<double>(window.counted),
                  1e-5)
          << i;
    }
  }
}

TEST(PoolingTest, PlacesPaddingAndDilation) {
  for (const bool is_symbolic : {false, true}) {
    ExpectPooled({{5, 6}, {3, 2}}, is_symbolic);
    Pool p = {{6, 7}, {3, 2}, {2, 3}, {1, 2}, {1, 1}, {0, 1}};
    ExpectPooled(p, is_symbolic);
    p.counts_padding = true;
    ExpectPooled(p, is_symbolic);
    p.rounds_up = true;
    ExpectPooled(p, is_symbolic);
    p.counts_padding = false;
    ExpectPooled(p, is_symbolic);
  }
}

TEST(PoolingTest, ALastWindowBeginsAheadOfTheEndOfTheData) {
  for (const int64_t stride : {2, 3, 4, 5}) {
    for (const int64_t extent : {5, 6, 7, 8, 9, 10}) {
      for (const bool is_symbolic : {false, true}) {
        Pool p = {{extent, extent + 1}, {3, 2}, {stride, stride}};
        p.rounds_up = true;
        p.after = {1, 3};
        ExpectPooled(p, is_symbolic);
        p.before = {1, 0};
        p.counts_padding = true;
        ExpectPooled(p, is_symbolic);
      }
    }
  }
}

TEST(PoolingTest, IntegersAndLayouts) {
  const DType i32 = DType::Int(32);
  KILN_ASSERT_OK_AND_ASSIGN(
      const std::vector<Tensor> mean,
      RunLowered("x: R.Tensor((1, 4, 2), \"int32\")",
                 "nn.avg_pool1d(x, pool_size=2, strides=2, layout=\"NWC\", "
                 "out_layout=\"NCW\")",
                 {TensorOf(i32, {1, 4, 2}, {1, 10, 4, 20, -3, 5, -4, 5})},
                 {{i32, {1, 2, 2}}}));
  EXPECT_THAT(ValuesOf(mean[0]), ElementsAre(2, -3, 15, 5));
  KILN_ASSERT_OK_AND_ASSIGN(
      const std::vector<Tensor> largest,
      RunLowered("x: R.Tensor((1, 1, 2, 2, 2), \"int32\")",
                 "nn.max_pool3d(x, pool_size=2)",
                 {TensorOf(i32, {1, 1, 2, 2, 2}, {1, 10, 4, 20, -3, 5, -4, 5})},
                 {{i32, {1, 1, 1, 1, 1}}}));
  EXPECT_THAT(ValuesOf(largest[0]), ElementsAre(20));
}

TEST(PoolingTest, AdaptiveWindowsCoverAnAxisEvenly) {
  for (const int64_t places : {1, 2, 3, 4, 5, 7, 9}) {
    for (const bool is_symbolic : {false, true}) {
      const Tensor x = Wavy(kF32, {1, 2, 7});
      KILN_ASSERT_OK_AND_ASSIGN(
          const std::vector<Tensor> got,
          RunLowered(is_symbolic ? "x: R.Tensor((1, 2, \"w\"), \"float32\")"
                                 : "x: R.Tensor((1, 2, 7), \"float32\")",
                     absl::StrCat("nn.adaptive_avg_pool1d(x, output_size=[",
                                  places, "])"),
                     {x}, {{kF32, {1, 2, places}}}));
      for (int64_t i = 0; i < 2 * places; ++i) {
        const int64_t begin = i % places * 7 / places;
        const int64_t end = ((i % places + 1) * 7 + places - 1) / places;
        double sum = 0;
        for (int64_t k = begin; k < end; ++k) {
          sum += x.GetReal(i / places * 7 + k);
        }
        EXPECT_NEAR(got[0].GetReal(i), sum / static_cast<double>(end - begin),
                    1e-5);
      }
    }
  }
}

TEST(PoolingTest, GradientsGoToTheElementsOfTheirWindow) {
  for (const bool rounds_up : {false, true}) {
    Pool p = {{5, 6}, {3, 2}, {2, 2}, {1, 1}, {1, 0}, {1, 1}};
    p.rounds_up = rounds_up;
    const int64_t rows = Places(p, 0), columns = Places(p, 1);
    const Tensor x = Wavy(kF32, {1, 1, 5, 6});
    const Tensor grad = Wavy(kF32, {1, 1, rows, columns}, 3);
    std::vector<double> of_max(30, 0), of_mean(30, 0);
    for (int64_t i = 0; i < rows * columns; ++i) {
      const Window window = WindowAt(p, i / columns, i % columns);
      if (window.elements.empty()) continue;
      of_max[*std::max_element(window.elements.begin(), window.elements.end(),
                               [&](int64_t a, int64_t b) {
                                 return x.GetReal(a) < x.GetReal(b);
                               })] += grad.GetReal(i);
      for (const int64_t e : window.elements) {
        of_mean[e] += grad.GetReal(i) / static_cast<double>(window.counted);
      }
    }
    const std::string params =
        absl::StrCat("g: R.Tensor((1, 1, ", rows, ", ", columns,
                     "), \"float32\"), ", Image(p, false));
    for (const bool is_max : {true, false}) {
      KILN_ASSERT_OK_AND_ASSIGN(
          const std::vector<Tensor> got,
          RunLowered(params,
                     absl::StrCat("grad.", is_max ? "max" : "avg",
                                  "_pool2d_backward(g, x, ", Attributes(p)),
                     {grad, x}, {{kF32, {1, 1, 5, 6}}}));
      for (int i = 0; i < 30; ++i) {
        EXPECT_NEAR(got[0].GetReal(i), (is_max ? of_max : of_mean)[i], 1e-5)
            << i << (is_max ? " of max" : " of mean");
      }
    }
  }
}

TEST(PoolingTest, WhatMakesNoSenseIsRefused) {
  const std::string params = "x: R.Tensor((1, 2, 4, 4), \"float32\")";
  const struct {
    const char* call;
    const char* reason;
  } kCases[] = {
      {"nn.max_pool2d(x, pool_size=[0, 1])", "at least one element"},
      {"nn.max_pool2d(x, pool_size=[9, 9])", "has to fit"},
      {"nn.avg_pool2d(x, layout=\"OIHW\")", "not those of NCHW"},
      {"nn.adaptive_avg_pool2d(x, output_size=[0, 2])", "is positive"},
      {"nn.adaptive_avg_pool2d(x, output_size=[1, 2, 3])", "hold 2 integers"},
  };
  for (const auto& c : kCases) {
    EXPECT_THAT(RunLowered(params, c.call, {}, {}).status().message(),
                HasSubstr(c.reason))
        << c.call;
  }
}

}  // namespace
}  // namespace kiln
