// Reproducible contents for tensors: element i depends on the seed and i only.
#ifndef KILN_VM_NDARRAY_RANDOM_FILL_H_
#define KILN_VM_NDARRAY_RANDOM_FILL_H_

#include <cstdint>

#include "kiln/vm/ndarray/ndarray.h"

namespace kiln {

// Floats uniform in [-1, 1); integers uniform in [-8, 8), or [0, 8) where
// unsigned; bools even.
void FillRandom(const NDArray& array, uint64_t seed);

// Floats uniform in [low, high).
void FillUniform(const NDArray& array, double low, double high, uint64_t seed);

// Whole numbers uniform in [low, high], in elements of any type. Sums of
// products of small ones are exact in floats, so that results can be compared
// for equality whatever the order of summation. Unsigned types and bool take
// what StoreElement (element.h) makes of negative ones.
void FillSmallInts(const NDArray& array, int64_t low, int64_t high,
                   uint64_t seed);

// Whole numbers uniform in [-magnitude, magnitude] without 0.
void FillNonZeroInts(const NDArray& array, int64_t magnitude, uint64_t seed);

}  // namespace kiln

#endif  // KILN_VM_NDARRAY_RANDOM_FILL_H_
