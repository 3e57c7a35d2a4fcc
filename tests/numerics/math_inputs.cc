#include "kiln/tests/numerics/math_inputs.h"

#include <algorithm>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "kiln/base/random.h"
#include "kiln/base/status_macros.h"

namespace kiln {
namespace {

constexpr uint64_t kAll = uint64_t{1} << 32;
constexpr uint64_t kChunk = uint64_t{1} << 18;  // inputs at a time
constexpr uint64_t kSeed = 1;

using Bits = std::vector<uint64_t>;

absl::StatusOr<MathError> MeasureOn(const MathKernel& kernel, const Bits& x,
                                    const Bits& y) {
  const absl::Span<const uint64_t> both[] = {x, y};
  return kernel.Measure(both);
}

// A random number; every second one between 2^-8 and 2^8 in magnitude.
uint64_t RandomBits(DType dtype, Random& random) {
  const uint64_t bits = random() >> (64 - dtype.bits());
  if (random() % 2 == 0) return bits;
  const bool is_half = dtype.bits() == 16 && dtype.code() == TypeCode::kFloat;
  const int digits = dtype.bits() == 64   ? 52
                     : dtype.bits() == 32 ? 23
                     : is_half            ? 10
                                          : 7;
  const int exponent_bits = dtype.bits() - 1 - digits;
  const uint64_t bias = (uint64_t{1} << (exponent_bits - 1)) - 1;
  const uint64_t mask = ((uint64_t{1} << exponent_bits) - 1) << digits;
  return (bits & ~mask) | (bias - 8 + random() % 17) << digits;
}

struct Pairs {
  Bits x, y;
};

Pairs SpecialInputs(const MathFunction& function, DType dtype) {
  const Bits special = SpecialBits(dtype);
  if (function.arity() == 1) return {special, special};
  Pairs pairs;
  for (const uint64_t x : special) {
    for (const uint64_t y : special) {
      pairs.x.push_back(x);
      pairs.y.push_back(y);
    }
  }
  return pairs;
}

// The inputs [first, last) of those counted by `stride`.
Pairs Inputs(const MathFunction& function, DType dtype, uint64_t stride,
             uint64_t first, uint64_t last) {
  Pairs pairs;
  Random random(kSeed, first);
  for (uint64_t i = first; i < last; ++i) {
    if (function.arity() == 1 && dtype.bits() <= 32) {
      pairs.x.push_back(i * stride);
      continue;
    }
    pairs.x.push_back(RandomBits(dtype, random));
    pairs.y.push_back(RandomBits(dtype, random));
  }
  return pairs;
}

uint64_t CountOf(const MathFunction& function, DType dtype, uint64_t stride) {
  if (function.arity() == 1 && dtype.bits() == 16) {
    return ((1 << 16) + stride - 1) / stride;
  }
  return (kAll + stride - 1) / stride;
}

}  // namespace

absl::StatusOr<MathError> MeasureMath(const MathFunction& function, DType dtype,
                                      const std::string& numerics,
                                      const Target& target, uint64_t stride,
                                      int threads) {
  KILN_ASSIGN_OR_RETURN(const MathKernel kernel,
                        MathKernel::Create(function, dtype, numerics, target));
  const Pairs special = SpecialInputs(function, dtype);
  KILN_ASSIGN_OR_RETURN(MathError error,
                        MeasureOn(kernel, special.x, special.y));
  const uint64_t count = CountOf(function, dtype, stride);
  std::vector<absl::StatusOr<MathError>> parts(threads, MathError());
  std::vector<std::thread> workers;
  for (int t = 0; t < threads; ++t) {
    workers.emplace_back([&, t] {
      for (uint64_t first = t * kChunk; first < count && parts[t].ok();
           first += threads * kChunk) {
        const Pairs inputs = Inputs(function, dtype, stride, first,
                                    std::min(count, first + kChunk));
        const auto part = MeasureOn(kernel, inputs.x, inputs.y);
        if (part.ok()) {
          parts[t]->Merge(*part);
        } else {
          parts[t] = part;
        }
      }
    });
  }
  for (std::thread& worker : workers) worker.join();
  for (const absl::StatusOr<MathError>& part : parts) {
    KILN_RETURN_IF_ERROR(part.status());
    error.Merge(*part);
  }
  return error;
}

}  // namespace kiln
