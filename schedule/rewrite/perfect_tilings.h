// Perfect tilings: ordered factorizations of an extent, counted exactly.
#ifndef KILN_SCHEDULE_REWRITE_PERFECT_TILINGS_H_
#define KILN_SCHEDULE_REWRITE_PERFECT_TILINGS_H_

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "kiln/base/random.h"

namespace kiln {

struct PrimePower {
  int64_t prime;
  int exponent;
};

// The prime factorization of a positive number, primes in ascending order.
// Any 64-bit number takes well under a millisecond but for two large primes,
// which Pollard's rho separates.
std::vector<PrimePower> Factorize(int64_t value);

// The divisors of the number, in ascending order.
std::vector<int64_t> Divisors(const std::vector<PrimePower>& primes);

// The ways to write `extent` as an ordered product of n factors of which the
// last is at most `max_innermost`. nullopt when there are 2^120 or more.
std::optional<unsigned __int128> CountTilings(int64_t extent, int n,
                                              int64_t max_innermost);

// One of them, each equally likely. The factors multiply to `extent`.
// nullopt when they cannot be counted.
std::optional<std::vector<int64_t>> SampleTiling(int64_t extent, int n,
                                                 int64_t max_innermost,
                                                 Random* random);

// Whether `tiles` is one of them.
bool IsTiling(const std::vector<int64_t>& tiles, int64_t extent, int n,
              int64_t max_innermost);

}  // namespace kiln

#endif  // KILN_SCHEDULE_REWRITE_PERFECT_TILINGS_H_
