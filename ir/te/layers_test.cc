// Each layer is interpreted on random numbers, and its output compared with a
// formula over the inputs written out here, element by element:
//
//   ExpectRows(RunLayer("add:2,9"), 9, of(row, column) = max(a + b, 0))
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "kiln/base/status_matchers.h"
#include "kiln/ir/interp/interp.h"
#include "kiln/ir/te/workloads.h"
#include "kiln/ir/work/work.h"

namespace kiln {
namespace {

using Values = std::vector<double>;

// The parameters of a layer after it ran on random numbers, the output last.
std::vector<Values> RunLayer(const std::string& spec) {
  const absl::StatusOr<Module> module = MakeWorkload(spec);
  EXPECT_TRUE(module.ok()) << module.status();
  const Function& f = module->functions[0];
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> uniform(-4, 4);
  std::vector<Tensor> args;
  for (const Param& param : f.params) {
    std::vector<int64_t> shape;
    for (const Expr& e : param.buffer->shape) shape.push_back(*AsInt(e));
    args.emplace_back(param.buffer->dtype, shape);
    for (int64_t i = 0; i < args.back().size(); ++i) {
      args.back().Set(i, uniform(random));
    }
  }
  KILN_EXPECT_OK(Interpret(f, args));
  std::vector<Values> values;
  for (const Tensor& tensor : args) {
    values.emplace_back();
    for (int64_t i = 0; i < tensor.size(); ++i) {
      values.back().push_back(tensor.GetReal(i));
    }
  }
  return values;
}

// The output is of(row, column) for `columns` columns.
template <typename Of>
void ExpectRows(const std::vector<Values>& args, int columns, Of of) {
  const Values& output = args.back();
  for (size_t at = 0; at < output.size(); ++at) {
    const double expected = of(at / columns, at % columns);
    EXPECT_NEAR(output[at], expected, 1e-5 * (1 + std::abs(expected)));
  }
}

TEST(LayersTest, DenseHasARowOfWeightsForEachOutput) {
  const auto args = RunLayer("den:3,4,5");
  ExpectRows(args, 4, [&](size_t i, size_t j) {
    double sum = 0;
    for (int k = 0; k < 5; ++k) sum += args[0][i * 5 + k] * args[1][j * 5 + k];
    return sum;
  });
  EXPECT_EQ(CountWork(MakeWorkload("den:3,4,5")->functions[0])->flop.value,
            2.0 * 3 * 4 * 5);
}

// Of 5 x 4 x 2, windows of 3 x 3, two apart, one beyond the border.
template <typename Combine>
void ExpectWindows(const std::string& spec, double first, Combine combine,
                   double scale) {
  const auto args = RunLayer(spec);
  ASSERT_EQ(args.back().size(), 3u * 2 * 2);
  ExpectRows(args, 2, [&](size_t pixel, size_t c) {
    const int h0 = static_cast<int>(pixel / 2) * 2 - 1;
    const int w0 = static_cast<int>(pixel % 2) * 2 - 1;
    double value = first;
    for (int h = std::max(h0, 0); h < std::min(h0 + 3, 5); ++h) {
      for (int w = std::max(w0, 0); w < std::min(w0 + 3, 4); ++w) {
        value = combine(value, args[0][(h * 4 + w) * 2 + c]);
      }
    }
    return value * scale;
  });
}

TEST(LayersTest, PoolingLooksAtWhatLiesInside) {
  ExpectWindows(
      "max:5,4,2,3,2,1", -1e30,
      [](double a, double b) { return std::max(a, b); }, 1);
  ExpectWindows(
      "avg:5,4,2,3,2,1", 0, [](double a, double b) { return a + b; }, 1.0 / 9);
}

double MeanOf(const Values& x, size_t row, int columns, double less,
              int power) {
  double sum = 0;
  for (int k = 0; k < columns; ++k) {
    sum += std::pow(x[row * columns + k] - less, power);
  }
  return sum / columns;
}

TEST(LayersTest, NormsAreThoseOfRows) {
  const auto layer = RunLayer("lnm:3,7");
  ExpectRows(layer, 7, [&](size_t i, size_t j) {
    const double mean = MeanOf(layer[0], i, 7, 0, 1);
    const double variance = MeanOf(layer[0], i, 7, mean, 2);
    return (layer[0][i * 7 + j] - mean) / std::sqrt(variance + 1e-5) *
               layer[1][j] +
           layer[2][j];
  });
  const auto rms = RunLayer("rms:3,7");
  ExpectRows(rms, 7, [&](size_t i, size_t j) {
    return rms[0][i * 7 + j] / std::sqrt(MeanOf(rms[0], i, 7, 0, 2) + 1e-5) *
           rms[1][j];
  });
}

TEST(LayersTest, WhatIsDoneToEachElement) {
  const auto gelu = RunLayer("gel:2,9");
  ExpectRows(gelu, 9, [&](size_t i, size_t j) {
    const double z = gelu[0][i * 9 + j] + gelu[1][j];
    return z / 2 * (1 + std::erf(z / std::sqrt(2)));
  });
  const auto sum = RunLayer("add:2,9");
  ExpectRows(sum, 9, [&](size_t i, size_t j) {
    return std::max(sum[0][i * 9 + j] + sum[1][i * 9 + j], 0.0);
  });
  const auto scaled = RunLayer("scl:2,9");
  ExpectRows(scaled, 9, [&](size_t i, size_t j) {
    return scaled[0][i * 9 + j] * scaled[1][j];
  });
  const auto hard = RunLayer("hsw:2,9");
  ExpectRows(hard, 9, [&](size_t i, size_t j) {
    const double x = hard[0][i * 9 + j];
    return x * std::clamp(x + 3, 0.0, 6.0) / 6;
  });
  const auto swish = RunLayer("swi:2,9");
  ExpectRows(swish, 9, [&](size_t i, size_t j) {
    const double x = swish[0][i * 9 + j];
    return x / (1 + std::exp(-x));
  });
}

TEST(LayersTest, EachHasADefaultAndWeightsOnlyWhereTheyAreConstant) {
  for (const WorkloadInfo& info : Layers()) {
    KILN_EXPECT_OK(MakeWorkload(info.name).status());
    EXPECT_EQ(HasWeights(info.name), info.name == "den") << info.name;
  }
  KILN_EXPECT_OK(MakeWorkload("den:8,8,8:layout_free").status());
  EXPECT_FALSE(MakeWorkload("gel:8,8:layout_free").ok());
  EXPECT_FALSE(MakeWorkload("max:2,2,8,5,1,0").ok());
}

}  // namespace
}  // namespace kiln
