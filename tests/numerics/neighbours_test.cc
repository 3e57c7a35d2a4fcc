// What a function gives for a number does not depend on the numbers beside it
// in a vector, not even on those that its formula does not hold for.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "kiln/base/status_matchers.h"
#include "kiln/codegen/target/target.h"
#include "kiln/ir/type/dtype.h"
#include "kiln/tests/numerics/math_error.h"

namespace kiln {
namespace {

using Bits = std::vector<uint64_t>;

Bits Reordered(const Bits& bits, const std::vector<size_t>& order) {
  Bits out;
  for (const size_t i : order) out.push_back(bits[i]);
  return out;
}

// Special numbers and ones of all exponents, in random order.
Bits Arguments(DType dtype, std::mt19937_64& random) {
  Bits bits = SpecialBits(dtype);
  for (int i = 0; i < 2000; ++i)
    bits.push_back(random() >> (64 - dtype.bits()));
  std::shuffle(bits.begin(), bits.end(), random);
  return bits;
}

void ExpectSameBesideOthers(const MathFunction& function, DType dtype) {
  std::mt19937_64 random(/*seed=*/5);
  KILN_ASSERT_OK_AND_ASSIGN(
      const MathKernel kernel,
      MathKernel::Create(function, dtype, "strict", HostTarget()));
  const std::vector<Bits> args = {Arguments(dtype, random),
                                  Arguments(dtype, random)};
  std::vector<size_t> order(args[0].size());
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), random);
  const std::vector<Bits> moved = {Reordered(args[0], order),
                                   Reordered(args[1], order)};
  const auto results = [&](const std::vector<Bits>& of) {
    std::vector<absl::Span<const uint64_t>> spans(
        of.begin(), of.begin() + function.arity());
    return kernel.Results(spans);
  };
  KILN_ASSERT_OK_AND_ASSIGN(const Bits first, results(args));
  KILN_ASSERT_OK_AND_ASSIGN(const Bits second, results(moved));
  EXPECT_EQ(Reordered(first, order), second)
      << function.name << " of " << dtype.ToString();
}

TEST(NeighboursTest, ALanesResultDoesNotDependOnOtherLanes) {
  for (const char* type : {"float16", "bfloat16", "float32", "float64"}) {
    for (const MathFunction& function : MathFunctions()) {
      ExpectSameBesideOthers(function, *DType::FromString(type));
    }
  }
}

}  // namespace
}  // namespace kiln
