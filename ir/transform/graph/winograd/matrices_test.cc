#include "kiln/ir/transform/graph/winograd/matrices.h"

#include <random>

#include "gtest/gtest.h"

namespace kiln {
namespace {

std::vector<double> Times(const Matrix& m, const std::vector<double>& v) {
  std::vector<double> result;
  for (const std::vector<double>& row : m) {
    EXPECT_EQ(row.size(), v.size());
    double sum = 0;
    for (size_t i = 0; i < v.size(); ++i) sum += row[i] * v[i];
    result.push_back(sum);
  }
  return result;
}

std::vector<double> Random(size_t n, std::mt19937& rng) {
  std::uniform_real_distribution<double> uniform(-1, 1);
  std::vector<double> v(n);
  for (double& x : v) x = uniform(rng);
  return v;
}

TEST(WinogradMatricesTest, ProductsAreSlidingSums) {
  std::mt19937 rng(20);
  for (const int tile : {2, 4}) {
    const WinogradMatrices& m = WinogradMatricesOf(tile);
    ASSERT_EQ(m.tile, tile);
    const std::vector<double> d = Random(m.size(), rng);
    const std::vector<double> g = Random(kWinogradTaps, rng);
    std::vector<double> product = Times(m.input, d);
    const std::vector<double> taps = Times(m.kernel, g);
    for (size_t i = 0; i < product.size(); ++i) product[i] *= taps[i];
    const std::vector<double> y = Times(m.output, product);
    ASSERT_EQ(y.size(), tile);
    for (int i = 0; i < tile; ++i) {
      EXPECT_NEAR(y[i], d[i] * g[0] + d[i + 1] * g[1] + d[i + 2] * g[2], 1e-12);
    }
  }
}

}  // namespace
}  // namespace kiln
