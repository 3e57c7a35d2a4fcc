// A program is one convolution with its kernel bound; what the pass makes of it
// is interpreted beside it:
//
//   y = R.nn.conv2d(x, w, padding=1, data_layout="NHWC", kernel_layout="HWIO")
//
// Errors are measured against sums in float64.
#include "kiln/ir/transform/graph/winograd/winograd.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iostream>
#include <string>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "kiln/base/random.h"
#include "kiln/base/status_matchers.h"
#include "kiln/ir/graph/constant.h"
#include "kiln/ir/graph_interp/graph_interp.h"
#include "kiln/ir/graph_interp/value.h"
#include "kiln/ir/interp/tensor.h"
#include "kiln/ir/ops/infer.h"
#include "kiln/ir/text/printer/printer.h"
#include "kiln/ir/transform/graph/bind.h"
#include "kiln/ir/transform/graph/pass_testing.h"
#include "kiln/ir/transform/graph/same_results.h"

namespace kiln {
namespace {

constexpr char kNormwiseLine[] =
    "    R.func_attr({\"numerics\": \"normwise\"})\n";

struct Case {
  std::string data = "(2, 7, 9, 3)";
  std::vector<int64_t> kernel = {3, 3, 3, 5};
  std::string attrs = "padding=1";
  bool is_normwise = true;
  std::string dtype = "float32";
};

// A kernel of small numbers of both signs.
graph::Expr Taps(const std::vector<int64_t>& shape, DType dtype) {
  Random random(11);
  std::vector<Expr> values(graph::CountElements(shape));
  for (Expr& value : values) {
    value = Float(0.125 * static_cast<double>(random.Below(17)) - 1, dtype);
  }
  return *graph::MakeConstant(dtype, shape, values);
}

Module ModuleOf(const Case& c, const graph::Expr& taps) {
  const std::vector<int64_t>& shape = taps.As<graph::ConstantNode>()->shape;
  std::string kernel;
  for (const int64_t extent : shape) absl::StrAppend(&kernel, extent, ", ");
  const std::string text = absl::StrCat(
      "@R.function\ndef main(x: R.Tensor(", c.data, ", \"", c.dtype,
      "\"), w: R.Tensor((", kernel, "), \"", c.dtype, "\")):\n",
      c.is_normwise ? kNormwiseLine : "", "    with R.dataflow():\n",
      "        y = R.nn.conv2d(x, w, data_layout=\"NHWC\", "
      "kernel_layout=\"HWIO\", ",
      c.attrs, ")\n        R.output(y)\n    return y\n");
  absl::StatusOr<Module> bound =
      BindParams(*InferModule(ReadModule(text)), "main", {{"w", taps}});
  EXPECT_TRUE(bound.ok()) << bound.status();
  absl::StatusOr<Module> inferred = InferModule(*bound);
  EXPECT_TRUE(inferred.ok()) << inferred.status();
  return *std::move(inferred);
}

Module ModuleOf(const Case& c) {
  const DType dtype = DType::Float(c.dtype == "float32" ? 32 : 64);
  return ModuleOf(c, Taps(c.kernel, dtype));
}

TEST(WinogradTest, ResultsStay) {
  for (const char* padding : {"0", "1", "(1, 0, 2, 3)"}) {
    for (const char* data :
         {"(1, 4, 4, 3)", "(2, 7, 9, 3)", "(3, 12, 3, 3)", "(1, 6, 10, 3)"}) {
      for (const int tile : {2, 4}) {
        SCOPED_TRACE(absl::StrCat(data, " padding ", padding, " tile ", tile));
        Case c;
        c.data = data;
        c.attrs = absl::StrCat("padding=", padding);
        const Module before = ModuleOf(c);
        KILN_ASSERT_OK_AND_ASSIGN(const Module after,
                                  UseWinograd(before, {.tile = tile}));
        EXPECT_EQ(after.functions.size(), 3);
        KILN_EXPECT_OK(SameResults(before, after, /*seed=*/5));
      }
    }
  }
}

TEST(WinogradTest, BatchAndImageMayBeSymbolic) {
  Case c;
  c.data = "(\"n\", \"h\", \"w\", 3)";
  const Module before = ModuleOf(c);
  for (const int tile : {2, 4}) {
    KILN_ASSERT_OK_AND_ASSIGN(const Module after,
                              UseWinograd(before, {.tile = tile}));
    EXPECT_EQ(after.functions.size(), 3);
    for (const auto& [n, h, w] :
         {std::tuple(1, 4, 4), std::tuple(2, 5, 9), std::tuple(3, 1, 2)}) {
      KILN_EXPECT_OK(
          SameResults(before, after, 7, {{"n", n}, {"h", h}, {"w", w}}));
    }
  }
}

Tensor RandomTensor(const std::vector<int64_t>& shape, Random& random) {
  Tensor tensor(DType::Float(32), shape);
  for (int64_t i = 0; i < tensor.size(); ++i) {
    tensor.Set(i, 2 * random.Unit() - 1);
  }
  return tensor;
}

graph::Expr AsConstant(const Tensor& tensor) {
  std::vector<Expr> values;
  for (int64_t i = 0; i < tensor.size(); ++i) {
    values.push_back(Float(tensor.GetReal(i), tensor.dtype));
  }
  return *graph::MakeConstant(tensor.dtype, tensor.shape, values);
}

// The sums, without padding, in float64.
std::vector<double> Convolved(const Tensor& x, const Tensor& w) {
  const int64_t size = x.shape[1], in = w.shape[2], out = w.shape[3];
  std::vector<double> y;
  for (int64_t h = 0; h + 2 < size; ++h) {
    for (int64_t v = 0; v + 2 < size; ++v) {
      for (int64_t o = 0; o < out; ++o) {
        double sum = 0;
        for (int64_t t = 0; t < 9 * in; ++t) {
          const int64_t r = t / in / 3, s = t / in % 3, i = t % in;
          sum += x.GetReal(((h + r) * size + v + s) * in + i) *
                 w.GetReal(t * out + o);
        }
        y.push_back(sum);
      }
    }
  }
  return y;
}

// The largest error, in units of 2^-24 of the largest element of the result;
// with a tile of 0, of the sums in order.
double LargestError(int tile, uint64_t seed) {
  Random random(seed);
  const Tensor x = RandomTensor({1, 14, 14, 64}, random);
  const Tensor w = RandomTensor({3, 3, 64, 8}, random);
  Case c;
  c.data = "(1, 14, 14, 64)";
  c.attrs = "padding=0";
  c.is_normwise = tile > 0;
  const Module module =
      *UseWinograd(ModuleOf(c, AsConstant(w)), {.tile = tile});
  const absl::StatusOr<graph::Value> result =
      graph::InterpretGraph(module, "main", {graph::TensorOf(x)});
  EXPECT_TRUE(result.ok()) << result.status();
  const Tensor& y = *std::get<graph::TensorValue>(*result);
  const std::vector<double> exact = Convolved(x, w);
  double error = 0, most = 0;
  for (size_t i = 0; i < exact.size(); ++i) {
    error = std::max(error, std::abs(y.GetReal(i) - exact[i]));
    most = std::max(most, std::abs(exact[i]));
  }
  return error / most * 0x1p24;
}

TEST(WinogradTest, ErrorsAreSmallBesideTheLargestElements) {
  for (const uint64_t seed : {1, 2, 3}) {
    const double of_two = LargestError(2, seed);
    const double of_four = LargestError(4, seed);
    std::cout << "seed " << seed << ": sums " << LargestError(0, seed)
              << ", F(2, 3) " << of_two << ", F(4, 3) " << of_four
              << " of 2^-24\n";
    EXPECT_LT(of_two, 15);
    EXPECT_LT(of_four, 150);
  }
}

TEST(WinogradTest, EqualConvolutionsShareFunctions) {
  Module module = ModuleOf({});
  module.graph_functions.push_back(module.graph_functions[0]);
  KILN_ASSERT_OK_AND_ASSIGN(const Module after,
                            UseWinograd(module, {.tile = 4}));
  EXPECT_EQ(after.functions.size(), 3);
}

TEST(WinogradTest, SomeStay) {
  const Case kept[] = {
      {.is_normwise = false},
      {.attrs = "padding=1, strides=2"},
      {.attrs = "dilation=2"},
      {.kernel = {1, 1, 3, 5}},
      {.kernel = {5, 5, 3, 5}, .attrs = "padding=2"},
      {.kernel = {3, 3, 1, 6}, .attrs = "groups=3"},
      {.attrs = "out_layout=\"NCHW\""},
      {.dtype = "float64"},
  };
  for (const Case& c : kept) {
    const Module module = ModuleOf(c);
    KILN_ASSERT_OK_AND_ASSIGN(const Module after,
                              UseWinograd(module, {.tile = 2}));
    EXPECT_TRUE(after.functions.empty()) << PrintModule(module);
  }
}

TEST(WinogradTest, TilesAreUsedWhereTheySave) {
  const auto tile = [](int64_t size, int64_t in, int64_t out) {
    TiledConvolution conv;
    conv.batch = Int(1);
    conv.height = conv.width = conv.out_height = conv.out_width = Int(size);
    conv.in_channels = in;
    conv.out_channels = out;
    return FastestTile(conv);
  };
  EXPECT_EQ(tile(56, 64, 64), 4);
  EXPECT_EQ(tile(14, 256, 256), 4);
  EXPECT_EQ(tile(7, 512, 512), 2);
  EXPECT_EQ(tile(4, 512, 512), 0);  // the kernel takes the time
  EXPECT_EQ(tile(224, 3, 64), 0);   // the transforms do
  EXPECT_EQ(tile(1, 256, 256), 0);
}

}  // namespace
}  // namespace kiln
