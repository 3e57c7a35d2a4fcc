#include "kiln/schedule/rewrite/perfect_tilings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>
#include <vector>

namespace kiln {
namespace {

using ::testing::ElementsAre;

int64_t Product(const std::vector<PrimePower>& primes) {
  int64_t product = 1;
  for (const PrimePower& p : primes) {
    for (int i = 0; i < p.exponent; ++i) product *= p.prime;
  }
  return product;
}

// All tilings, by trying.
std::vector<std::vector<int64_t>> AllTilings(int64_t extent, int n,
                                             int64_t max_innermost) {
  if (n == 1) {
    if (extent > max_innermost) return {};
    return {{extent}};
  }
  std::vector<std::vector<int64_t>> all;
  for (int64_t first = 1; first <= extent; ++first) {
    if (extent % first != 0) continue;
    for (auto& rest : AllTilings(extent / first, n - 1, max_innermost)) {
      rest.insert(rest.begin(), first);
      all.push_back(std::move(rest));
    }
  }
  return all;
}

TEST(Factorize, SmallNumbersAndTheLargest) {
  EXPECT_TRUE(Factorize(1).empty());
  for (int64_t n = 2; n < 3000; ++n) {
    const auto primes = Factorize(n);
    ASSERT_EQ(Product(primes), n);
    for (size_t i = 1; i < primes.size(); ++i) {
      ASSERT_LT(primes[i - 1].prime, primes[i].prime);
    }
  }
  // 2^63 - 1 = 7^2 * 73 * 127 * 337 * 92737 * 649657.
  const auto largest = Factorize(std::numeric_limits<int64_t>::max());
  ASSERT_EQ(largest.size(), 6u);
  EXPECT_EQ(largest[0].exponent, 2);
  EXPECT_EQ(largest[5].prime, 649657);
}

TEST(Factorize, LargePrimesAndTheirProducts) {
  constexpr int64_t kPrime = 2305843009213693951;  // 2^61 - 1
  EXPECT_EQ(Factorize(kPrime).size(), 1u);
  constexpr int64_t kA = 2147483647, kB = 2147483629;
  const auto product = Factorize(kA * kB);
  ASSERT_EQ(product.size(), 2u);
  EXPECT_EQ(product[0].prime, kB);
  const auto square = Factorize(kB * kB);
  ASSERT_EQ(square.size(), 1u);
  EXPECT_EQ(square[0].exponent, 2);
}

TEST(Divisors, AreAllOfThemInOrder) {
  EXPECT_THAT(Divisors(Factorize(1)), ElementsAre(1));
  EXPECT_THAT(Divisors(Factorize(12)), ElementsAre(1, 2, 3, 4, 6, 12));
  EXPECT_EQ(Divisors(Factorize(int64_t{1} << 40)).size(), 41u);
}

TEST(CountTilings, AgreesWithTryingAll) {
  for (int64_t extent : {1, 2, 7, 12, 36, 64, 97, 120}) {
    for (int n = 1; n <= 4; ++n) {
      for (int64_t inner : {1, 3, 16, 1000}) {
        const auto count = CountTilings(extent, n, inner);
        ASSERT_TRUE(count);
        EXPECT_EQ(static_cast<uint64_t>(*count),
                  AllTilings(extent, n, inner).size())
            << extent << " into " << n << ", inner " << inner;
      }
    }
  }
}

TEST(SampleTiling, GivesOnlyTilings) {
  Random random(1);
  for (int64_t extent : {int64_t{1}, int64_t{13}, int64_t{128}, int64_t{720},
                         int64_t{1} << 40, int64_t{1000003} * 64}) {
    for (int n = 2; n <= 5; ++n) {
      for (int trial = 0; trial < 20; ++trial) {
        const auto tiles = SampleTiling(extent, n, 16, &random);
        ASSERT_TRUE(tiles);
        EXPECT_TRUE(IsTiling(*tiles, extent, n, 16));
      }
    }
  }
}

TEST(SampleTiling, PrimesGoOutwardsWhereTheInnermostIsLimited) {
  Random random(2);
  for (int trial = 0; trial < 50; ++trial) {
    const auto tiles = SampleTiling(97, 3, 16, &random);
    ASSERT_TRUE(tiles);
    EXPECT_EQ(tiles->back(), 1);
  }
  EXPECT_FALSE(SampleTiling(97, 1, 16, &random));
  EXPECT_THAT(*SampleTiling(97, 1, 97, &random), ElementsAre(97));
}

TEST(SampleTiling, RefusesWhatCannotBeCounted) {
  Random random(3);
  EXPECT_FALSE(
      CountTilings(int64_t{1} << 62, 64, int64_t{1} << 62).has_value() &&
      SampleTiling(0x7ffffffffffffff, 64, 1, &random) == std::nullopt);
}

// Pearson's statistic over all tilings stays below its mean plus five standard
// deviations; with a fixed seed this passes or fails for good.
TEST(SampleTiling, IsUniform) {
  struct Case {
    int64_t extent;
    int n;
    int64_t inner;
  };
  for (const Case& c : {Case{128, 2, 16}, Case{72, 3, 8}, Case{360, 3, 64},
                        Case{512, 4, 64}, Case{7 * 11 * 13, 3, 100}}) {
    const auto all = AllTilings(c.extent, c.n, c.inner);
    const int draws = 200 * static_cast<int>(all.size());
    std::map<std::vector<int64_t>, int> seen;
    Random random(2024, static_cast<uint64_t>(c.extent));
    for (int i = 0; i < draws; ++i) {
      const auto tiles = SampleTiling(c.extent, c.n, c.inner, &random);
      ASSERT_TRUE(tiles);
      ++seen[*tiles];
    }
    double chi2 = 0;
    for (const auto& tiles : all) {
      const double off = seen[tiles] - 200.0;
      chi2 += off * off / 200.0;
    }
    EXPECT_EQ(seen.size(), all.size());
    const double freedom = static_cast<double>(all.size()) - 1;
    EXPECT_LT(chi2, freedom + 5 * std::sqrt(2 * freedom)) << c.extent;
  }
}

TEST(IsTiling, SeesEveryFault) {
  EXPECT_TRUE(IsTiling({8, 16}, 128, 2, 16));
  EXPECT_FALSE(IsTiling({4, 32}, 128, 2, 16));
  EXPECT_FALSE(IsTiling({8, 8}, 128, 2, 16));
  EXPECT_FALSE(IsTiling({8, 16, 1}, 128, 2, 16));
  EXPECT_FALSE(IsTiling({-8, -16}, 128, 2, 16));
  EXPECT_FALSE(IsTiling({0, 16}, 128, 2, 16));
  EXPECT_FALSE(IsTiling({}, 128, 0, 16));
  EXPECT_FALSE(IsTiling({int64_t{1} << 40, int64_t{1} << 40}, 128, 2, 16));
}

}  // namespace
}  // namespace kiln
