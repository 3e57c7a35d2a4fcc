// Convolutions in any layout beside loops over (batch, channel, row, column):
// each element of data and kernel is written where the layout says, the result
// read from there.
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kiln/base/status_matchers.h"
#include "kiln/ir/ops/layout.h"
#include "kiln/ir/ops/run_lowered.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;
using Four = std::array<int64_t, 4>;

// A tensor over four axes, held in a layout.
struct Held {
  Layout layout;
  std::string names;
  Four extents;

  std::vector<Expr> Exprs(const Four& values) const {
    std::vector<Expr> list;
    for (const int64_t value : values) list.push_back(Int(value));
    return list;
  }
  std::vector<int64_t> Shape() const {
    std::vector<int64_t> shape;
    for (const Expr& e : layout.Extents(names, Exprs(extents))) {
      shape.push_back(*AsInt(e));
    }
    return shape;
  }
  int64_t Offset(const Four& at) const {
    int64_t offset = 0;
    const std::vector<int64_t> shape = Shape();
    const std::vector<Expr> indices = layout.Indices(names, Exprs(at));
    for (size_t d = 0; d < shape.size(); ++d) {
      offset = offset * shape[d] + *AsInt(indices[d]);
    }
    return offset;
  }
};

struct Conv {
  Four data, kernel;  // N C H W, O I H W
  std::array<int64_t, 2> stride = {1, 1}, dilation = {1, 1};
  std::array<int64_t, 2> before = {0, 0}, after = {0, 0};
  int64_t groups = 1;
  std::string data_layout = "NCHW", kernel_layout = "OIHW", out_layout = "NCHW";
  DType in = DType::Float(32), out = DType::Float(32);
  bool is_transposed = false;
  std::array<int64_t, 2> output_padding = {0, 0};
  bool is_symbolic = false;
};

Held HeldAs(const std::string& layout, const std::string& names,
            const Four& extents) {
  return {*Layout::Parse(layout), names, extents};
}

Four ResultExtents(const Conv& c) {
  Four out = {c.data[0], c.kernel[0], 0, 0};
  if (c.is_transposed) out[1] = c.kernel[0] * c.groups;
  for (int d = 0; d < 2; ++d) {
    const int64_t reach = (c.kernel[2 + d] - 1) * c.dilation[d];
    const int64_t pad = c.before[d] + c.after[d];
    out[2 + d] = c.is_transposed
                     ? (c.data[2 + d] - 1) * c.stride[d] + reach + 1 - pad +
                           c.output_padding[d]
                     : (c.data[2 + d] + pad - reach - 1) / c.stride[d] + 1;
  }
  return out;
}

// Calls visit(n, f, y, x, channel of the data, of the kernel, row, column of
// the data, taps) for each product of the result.
template <typename F>
void ForEachProduct(const Conv& c, const Four& out, const F& visit) {
  const int64_t inputs = c.data[1] / c.groups, outputs = out[1] / c.groups;
  for (int64_t n = 0; n < out[0]; ++n)
    for (int64_t f = 0; f < out[1]; ++f)
      for (int64_t y = 0; y < out[2]; ++y)
        for (int64_t x = 0; x < out[3]; ++x)
          for (int64_t r = 0; r < inputs; ++r)
            for (int64_t ky = 0; ky < c.kernel[2]; ++ky)
              for (int64_t kx = 0; kx < c.kernel[3]; ++kx)
                visit(Four{n, f, y, x}, f / outputs * inputs + r, r,
                      Four{0, 0, ky, kx});
}

// The row (or column) of the data that a tap reads; -1: none.
int64_t Source(const Conv& c, int d, int64_t place, int64_t tap) {
  const int64_t reach = tap * c.dilation[d];
  int64_t at = place * c.stride[d] + reach - c.before[d];
  if (c.is_transposed) {
    at = place + c.before[d] - reach;
    if (at < 0 || at % c.stride[d] != 0) return -1;
    at /= c.stride[d];
  }
  return at >= 0 && at < c.data[2 + d] ? at : -1;
}

std::vector<double> Expected(const Conv& c, const Four& out, const Held& data,
                             const Held& kernel, const Tensor& x,
                             const Tensor& w) {
  const auto read = [](const Tensor& t, int64_t i) {
    return t.dtype.is_float() ? t.GetReal(i) : static_cast<double>(t.GetInt(i));
  };
  std::vector<double> sums(out[0] * out[1] * out[2] * out[3], 0);
  ForEachProduct(
      c, out,
      [&](const Four& at, int64_t channel, int64_t own, const Four& tap) {
        const int64_t row = Source(c, 0, at[2], tap[2]);
        const int64_t column = Source(c, 1, at[3], tap[3]);
        if (row < 0 || column < 0) return;
        const int64_t o = c.is_transposed ? at[1] % c.kernel[0] : at[1];
        const int64_t i = c.is_transposed ? channel : own;
        const int64_t index =
            ((at[0] * out[1] + at[1]) * out[2] + at[2]) * out[3] + at[3];
        sums[index] += read(x, data.Offset({at[0], channel, row, column})) *
                       read(w, kernel.Offset({o, i, tap[2], tap[3]}));
      });
  return sums;
}

std::string Param(const std::string& name, const std::vector<int64_t>& shape,
                  DType dtype, bool is_symbolic) {
  std::vector<std::string> extents;
  for (size_t d = 0; d < shape.size(); ++d) {
    extents.push_back(is_symbolic && shape[d] > 1
                          ? absl::StrCat("\"", name, d, "\"")
                          : absl::StrCat(shape[d]));
  }
  return absl::StrCat(name, ": R.Tensor((", absl::StrJoin(extents, ", "),
                      ",), \"", dtype.ToString(), "\")");
}

std::string CallText(const Conv& c) {
  const auto list = [](const auto& values) {
    return absl::StrCat("[", absl::StrJoin(values, ", "), "]");
  };
  std::vector<int64_t> padding(c.before.begin(), c.before.end());
  padding.insert(padding.end(), c.after.begin(), c.after.end());
  return absl::StrCat(
      c.is_transposed ? "nn.conv2d_transpose" : "nn.conv2d",
      "(x, w, strides=", list(c.stride), ", padding=", list(padding),
      c.is_transposed
          ? absl::StrCat(", output_padding=", list(c.output_padding))
          : "",
      ", dilation=", list(c.dilation), ", groups=", c.groups,
      ", data_layout=\"", c.data_layout, "\", kernel_layout=\"",
      c.kernel_layout, "\", out_layout=\"", c.out_layout, "\", out_dtype=\"",
      c.out.ToString(), "\")");
}

void ExpectComputed(const Conv& c) {
  SCOPED_TRACE(CallText(c));
  Four kernel_extents = c.kernel;
  const Held data = HeldAs(c.data_layout, "NCHW", c.data);
  const Held kernel = HeldAs(c.kernel_layout, "OIHW", kernel_extents);
  const Four out = ResultExtents(c);
  const Held result = HeldAs(c.out_layout, "NCHW", out);
  const Tensor x = Wavy(c.in, data.Shape()), w = Wavy(c.in, kernel.Shape(), 5);
  KILN_ASSERT_OK_AND_ASSIGN(
      const std::vector<Tensor> got,
      RunLowered(Param("x", data.Shape(), c.in, c.is_symbolic) + ", " +
                     Param("w", kernel.Shape(), c.in, false),
                 CallText(c), {x, w}, {{c.out, result.Shape()}}));
  const std::vector<double> values = ValuesOf(got[0]);
  const std::vector<double> expected = Expected(c, out, data, kernel, x, w);
  int64_t index = 0;
  for (int64_t n = 0; n < out[0]; ++n)
    for (int64_t f = 0; f < out[1]; ++f)
      for (int64_t y = 0; y < out[2]; ++y)
        for (int64_t z = 0; z < out[3]; ++z)
          EXPECT_NEAR(values[result.Offset({n, f, y, z})], expected[index++],
                      1e-4)
              << n << " " << f << " " << y << " " << z;
}

TEST(ConvolutionTest, PaddingStridesAndDilation) {
  ExpectComputed({{2, 3, 5, 6}, {4, 3, 3, 2}});
  ExpectComputed({{1, 2, 7, 6}, {3, 2, 3, 2}, {2, 3}, {2, 1}, {1, 0}, {2, 3}});
}

TEST(ConvolutionTest, GroupsReadTheirOwnChannels) {
  Conv c = {{1, 6, 4, 4}, {4, 3, 3, 3}};
  c.groups = 2;
  c.before = c.after = {1, 1};
  ExpectComputed(c);
}

TEST(ConvolutionTest, LayoutsAreThoseOfTheCall) {
  Conv c = {{2, 4, 4, 5}, {6, 4, 3, 2}};
  c.data_layout = "NHWC";
  c.kernel_layout = "HWIO";
  c.out_layout = "NHWC";
  c.before = {1, 0};
  ExpectComputed(c);
  c.data_layout = "NCHW2c";
  c.kernel_layout = "OIHW2i3o";
  c.out_layout = "NHWC3c";
  ExpectComputed(c);
}

TEST(ConvolutionTest, SymbolicExtents) {
  Conv c = {{2, 3, 5, 6}, {4, 3, 3, 2}};
  c.before = {1, 1};
  c.stride = {2, 1};
  c.is_symbolic = true;
  ExpectComputed(c);
}

TEST(ConvolutionTest, SumsHaveTheTypeThatTheCallSays) {
  Conv c = {{1, 3, 4, 4}, {2, 3, 2, 2}};
  c.in = DType::Int(8);
  c.out = DType::Int(32);
  ExpectComputed(c);
  c.in = DType::Float(16);
  c.out = DType::Float(32);
  ExpectComputed(c);
  c.in = c.out = DType::Float(64);
  ExpectComputed(c);
}

TEST(ConvolutionTest, TransposedSpreadsTheData) {
  Conv c = {{1, 2, 3, 4}, {3, 2, 3, 2}};
  c.is_transposed = true;
  c.kernel_layout = "IOHW";
  ExpectComputed(c);
  c.stride = {2, 3};
  c.output_padding = {1, 2};
  c.dilation = {1, 2};
  c.before = {1, 0};
  c.after = {2, 1};
  ExpectComputed(c);
  c.before = {3, 0};  // more than the kernel reaches
  ExpectComputed(c);
  c.data_layout = "NHWC2c";
  c.out_layout = "NHWC";
  ExpectComputed(c);
}

TEST(ConvolutionTest, TransposedGroups) {
  Conv c = {{1, 4, 3, 3}, {3, 4, 2, 2}};
  c.is_transposed = true;
  c.groups = 2;
  c.stride = {2, 2};
  c.kernel_layout = "IOHW";
  ExpectComputed(c);
}

TEST(ConvolutionTest, OneAndThreeSpatialAxes) {
  const DType f32 = DType::Float(32);
  const Tensor x = TensorOf(f32, {1, 1, 4}, {1, 2, 3, 4});
  const Tensor w = TensorOf(f32, {1, 1, 2}, {1, 10});
  const std::string params =
      "x: R.Tensor((1, 1, 4), \"float32\"), "
      "w: R.Tensor((1, 1, 2), \"float32\")";
  KILN_ASSERT_OK_AND_ASSIGN(
      const std::vector<Tensor> plain,
      RunLowered(params, "nn.conv1d(x, w)", {x, w}, {{f32, {1, 1, 3}}}));
  EXPECT_THAT(ValuesOf(plain[0]), ::testing::ElementsAre(21, 32, 43));
  KILN_ASSERT_OK_AND_ASSIGN(
      const std::vector<Tensor> spread,
      RunLowered(params, "nn.conv1d_transpose(x, w, strides=2)", {x, w},
                 {{f32, {1, 1, 8}}}));
  EXPECT_THAT(ValuesOf(spread[0]),
              ::testing::ElementsAre(1, 10, 2, 20, 3, 30, 4, 40));
  KILN_ASSERT_OK_AND_ASSIGN(
      const std::vector<Tensor> cube,
      RunLowered("x: R.Tensor((1, 1, 2, 2, 2), \"float32\"), "
                 "w: R.Tensor((1, 1, 2, 2, 2), \"float32\")",
                 "nn.conv3d(x, w)",
                 {TensorOf(f32, {1, 1, 2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8}),
                  TensorOf(f32, {1, 1, 2, 2, 2}, {1, 0, 0, 0, 0, 0, 0, 2})},
                 {{f32, {1, 1, 1, 1, 1}}}));
  EXPECT_EQ(ValuesOf(cube[0])[0], 17);
}

TEST(ConvolutionTest, WhatMakesNoSenseIsRefused) {
  const std::string params =
      "x: R.Tensor((1, 4, 5, 5), \"float32\"), "
      "w: R.Tensor((4, 4, 3, 3), \"float32\")";
  const struct {
    const char* call;
    const char* reason;
  } kCases[] = {
      {"nn.conv2d(x, w, strides=[0, 1])", "`strides` has 0"},
      {"nn.conv2d(x, w, padding=[1, 1, 1])", "`padding` has 3 numbers"},
      {"nn.conv2d(x, w, padding=[-1, 0])", "`padding` has -1"},
      {"nn.conv2d(x, w, padding=2147483647)", "more bytes than an int64"},
      {"nn.conv2d(x, w, groups=0)", "at least one group"},
      {"nn.conv2d(x, w, groups=2)", "not those of the data"},
      {"nn.conv2d(x, w, dilation=[9, 9])", "extent of -13"},
      {"nn.conv2d(x, w, data_layout=\"NCWW\")", "names an axis twice"},
      {"nn.conv2d(x, w, data_layout=\"NCHW2c\")", "has 5 dimensions, not 4"},
      {"nn.conv2d_transpose(x, w, output_padding=[1, 1])", "below the stride"},
  };
  for (const auto& c : kCases) {
    EXPECT_THAT(RunLowered(params, c.call, {}, {}).status().message(),
                HasSubstr(c.reason))
        << c.call;
  }
}

}  // namespace
}  // namespace kiln
