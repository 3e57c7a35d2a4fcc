// Each element comes from a counter put through the mixing function of
// SplitMix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom Number
// Generators, 2014).
#include "kiln/vm/ndarray/random_fill.h"

#include "kiln/vm/ndarray/element.h"

namespace kiln {
namespace {

constexpr uint64_t kGolden = 0x9e3779b97f4a7c15;

uint64_t Mix(uint64_t x) {
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
  x = (x ^ x >> 27) * 0x94d049bb133111eb;
  return x ^ x >> 31;
}

// Uniform in [0, 1).
double Unit(uint64_t bits) { return static_cast<double>(bits >> 11) * 0x1p-53; }

bool IsFloat32(DType dtype) {
  return dtype.code() == TypeCode::kFloat && dtype.bits() == 32;
}

// Stores f(random bits) into every element.
template <typename F>
void Generate(const NDArray& array, uint64_t seed, F f) {
  const uint64_t start = Mix(seed + kGolden);
  const int64_t n = array.num_elements();
  if (IsFloat32(array.dtype())) {
    float* out = array.data_as<float>();
    for (int64_t i = 0; i < n; ++i) {
      out[i] = static_cast<float>(f(Mix(start + kGolden * i)));
    }
    return;
  }
  for (int64_t i = 0; i < n; ++i) {
    StoreElement(array.data(), array.dtype(), i, f(Mix(start + kGolden * i)));
  }
}

}  // namespace

void FillRandom(const NDArray& array, uint64_t seed) {
  const DType dtype = array.dtype();
  if (dtype.is_float()) return FillUniform(array, -1, 1, seed);
  if (dtype.is_bool()) return FillSmallInts(array, 0, 1, seed);
  FillSmallInts(array, dtype.is_uint() ? 0 : -8, 7, seed);
}

void FillUniform(const NDArray& array, double low, double high, uint64_t seed) {
  // 24 bits, so that rounding to float32 never reaches `high` in [-1, 1).
  Generate(array, seed, [=](uint64_t bits) {
    return low + (high - low) * Unit(bits >> 40 << 40);
  });
}

void FillSmallInts(const NDArray& array, int64_t low, int64_t high,
                   uint64_t seed) {
  const double count = static_cast<double>(high - low) + 1;
  Generate(array, seed, [=](uint64_t bits) {
    return static_cast<double>(low + static_cast<int64_t>(Unit(bits) * count));
  });
}

void FillNonZeroInts(const NDArray& array, int64_t magnitude, uint64_t seed) {
  const double count = 2 * static_cast<double>(magnitude);
  Generate(array, seed, [=](uint64_t bits) {
    const auto drawn = static_cast<int64_t>(Unit(bits) * count);
    return static_cast<double>(drawn < magnitude ? drawn - magnitude
                                                 : drawn - magnitude + 1);
  });
}

}  // namespace kiln
