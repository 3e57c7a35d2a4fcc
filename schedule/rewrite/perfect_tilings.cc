// An extent with primes p^a has as many ordered factorizations into n parts as
// there are ways to hand a exponents to n parts, multiplied over the primes.
// The innermost factor is drawn first, with the number of ways that it leaves
// to the others as its weight; then each prime's exponents are drawn on their
// own, by cutting a row of a + n - 1 places at n - 1 of them.
#include "kiln/schedule/rewrite/perfect_tilings.h"

#include <algorithm>
#include <numeric>

namespace kiln {
namespace {

using Wide = unsigned __int128;
constexpr Wide kTooMany = Wide{1} << 120;

int64_t MulMod(int64_t a, int64_t b, int64_t m) {
  return static_cast<int64_t>(static_cast<Wide>(a) * static_cast<Wide>(b) %
                              static_cast<Wide>(m));
}

int64_t PowMod(int64_t base, int64_t exponent, int64_t m) {
  int64_t result = 1;
  for (; exponent > 0; exponent >>= 1) {
    if (exponent & 1) result = MulMod(result, base, m);
    base = MulMod(base, base, m);
  }
  return result;
}

// Miller and Rabin; these bases decide every 64-bit number.
bool IsPrime(int64_t n) {
  constexpr int64_t kBases[] = {2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37};
  int64_t odd = n - 1;
  int twos = 0;
  for (; odd % 2 == 0; odd /= 2) ++twos;
  for (int64_t base : kBases) {
    if (base % n == 0) continue;
    int64_t x = PowMod(base % n, odd, n);
    bool composite = x != 1 && x != n - 1;
    for (int i = 1; composite && i < twos; ++i) {
      x = MulMod(x, x, n);
      composite = x != n - 1;
    }
    if (composite) return false;
  }
  return true;
}

// A factor of a composite number, by Pollard's rho.
int64_t FindFactor(int64_t n) {
  for (int64_t step = 1;; ++step) {
    const auto next = [&](int64_t x) {
      return static_cast<int64_t>((static_cast<Wide>(MulMod(x, x, n)) + step) %
                                  static_cast<Wide>(n));
    };
    int64_t slow = 2, fast = 2, divisor = 1;
    while (divisor == 1) {
      slow = next(slow);
      fast = next(next(fast));
      divisor = std::gcd(slow > fast ? slow - fast : fast - slow, n);
    }
    if (divisor != n) return divisor;
  }
}

void SplitLarge(int64_t n, std::vector<int64_t>* primes) {
  if (n == 1) return;
  if (IsPrime(n)) {
    primes->push_back(n);
    return;
  }
  const int64_t factor = FindFactor(n);
  SplitLarge(factor, primes);
  SplitLarge(n / factor, primes);
}

Wide SaturatingMul(Wide a, Wide b) {
  if (a == 0 || b == 0) return 0;
  return a >= kTooMany / b ? kTooMany : a * b;
}

// n over k, or kTooMany.
Wide Binomial(int n, int k) {
  Wide result = 1;
  for (int i = 1; i <= k; ++i) {
    result = SaturatingMul(result, static_cast<Wide>(n - k + i));
    if (result == kTooMany) return kTooMany;
    result /= i;
  }
  return result;
}

// Ordered factorizations of value into n parts.
Wide CountOrdered(const std::vector<PrimePower>& primes, int64_t value, int n) {
  if (n == 0) return value == 1 ? 1 : 0;
  Wide count = 1;
  for (const PrimePower& power : primes) {
    int exponent = 0;
    for (; value % power.prime == 0; value /= power.prime) ++exponent;
    count = SaturatingMul(count, Binomial(exponent + n - 1, n - 1));
  }
  return count;
}

Wide DrawBelow(Wide bound, Random* random) {
  const Wide limit = ~Wide{0} - (~Wide{0} % bound + 1) % bound;
  while (true) {
    const Wide bits = static_cast<Wide>((*random)()) << 64 | (*random)();
    if (bits <= limit) return bits % bound;
  }
}

// Hands `exponent` copies of a prime to the first n tiles: each way of cutting
// is equally likely when each place is taken with the share of ways it leaves.
void Distribute(const PrimePower& power, int exponent, int n,
                std::vector<int64_t>* tiles, Random* random) {
  for (int tile = 0; tile < n; ++tile) {
    const int others = n - tile - 1;
    int take = exponent;
    if (others > 0) {
      Wide draw = DrawBelow(Binomial(exponent + others, others), random);
      for (take = 0;; ++take) {
        const Wide ways = Binomial(exponent - take + others - 1, others - 1);
        if (draw < ways) break;
        draw -= ways;
      }
    }
    for (int i = 0; i < take; ++i) (*tiles)[tile] *= power.prime;
    exponent -= take;
  }
}

// What each innermost factor leaves to the others.
struct Innermost {
  std::vector<int64_t> values;
  std::vector<Wide> ways;
  Wide total = 0;
};

Innermost CountInnermost(const std::vector<PrimePower>& primes, int64_t extent,
                         int n, int64_t max_innermost) {
  Innermost inner;
  for (int64_t divisor : Divisors(primes)) {
    if (divisor > max_innermost) break;
    const Wide ways = CountOrdered(primes, extent / divisor, n - 1);
    if (ways == 0) continue;
    inner.values.push_back(divisor);
    inner.ways.push_back(ways);
    inner.total =
        ways >= kTooMany - inner.total ? kTooMany : inner.total + ways;
  }
  return inner;
}

}  // namespace

std::vector<PrimePower> Factorize(int64_t value) {
  std::vector<PrimePower> powers;
  const auto take = [&](int64_t prime) {
    if (value % prime != 0) return;
    powers.push_back({prime, 0});
    for (; value % prime == 0; value /= prime) ++powers.back().exponent;
  };
  take(2);
  for (int64_t p = 3; p < 4096 && p * p <= value; p += 2) take(p);
  std::vector<int64_t> large;
  SplitLarge(value, &large);
  std::sort(large.begin(), large.end());
  for (int64_t prime : large) {
    if (powers.empty() || powers.back().prime != prime)
      powers.push_back({prime, 0});
    ++powers.back().exponent;
  }
  return powers;
}

std::vector<int64_t> Divisors(const std::vector<PrimePower>& primes) {
  std::vector<int64_t> divisors = {1};
  for (const PrimePower& power : primes) {
    const size_t before = divisors.size();
    for (size_t i = 0; i < before * power.exponent; ++i) {
      divisors.push_back(divisors[divisors.size() - before] * power.prime);
    }
  }
  std::sort(divisors.begin(), divisors.end());
  return divisors;
}

std::optional<Wide> CountTilings(int64_t extent, int n, int64_t max_innermost) {
  const Wide total =
      CountInnermost(Factorize(extent), extent, n, max_innermost).total;
  if (total >= kTooMany) return std::nullopt;
  return total;
}

std::optional<std::vector<int64_t>> SampleTiling(int64_t extent, int n,
                                                 int64_t max_innermost,
                                                 Random* random) {
  const std::vector<PrimePower> primes = Factorize(extent);
  const Innermost inner = CountInnermost(primes, extent, n, max_innermost);
  if (inner.total == 0 || inner.total >= kTooMany) return std::nullopt;
  Wide draw = DrawBelow(inner.total, random);
  size_t choice = 0;
  for (; draw >= inner.ways[choice]; ++choice) draw -= inner.ways[choice];
  std::vector<int64_t> tiles(n, 1);
  tiles.back() = inner.values[choice];
  int64_t rest = extent / tiles.back();
  for (const PrimePower& power : primes) {
    int exponent = 0;
    for (; rest % power.prime == 0; rest /= power.prime) ++exponent;
    Distribute(power, exponent, n - 1, &tiles, random);
  }
  return tiles;
}

bool IsTiling(const std::vector<int64_t>& tiles, int64_t extent, int n,
              int64_t max_innermost) {
  if (static_cast<int>(tiles.size()) != n || n < 1) return false;
  if (tiles.back() > max_innermost) return false;
  int64_t rest = extent;
  for (int64_t tile : tiles) {
    if (tile < 1 || rest % tile != 0) return false;
    rest /= tile;
  }
  return rest == 1;
}

}  // namespace kiln
