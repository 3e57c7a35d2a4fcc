// A run on small whole numbers, whose sums come out the same in any order, so
// that a single term that is left out of a million shows.
#ifndef KILN_SEARCH_MEASURE_WHOLE_NUMBERS_H_
#define KILN_SEARCH_MEASURE_WHOLE_NUMBERS_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "kiln/ir/tensor/module.h"
#include "kiln/vm/ndarray/ndarray.h"

namespace kiln {

// Which buffers of `f` have one right value for each element, whatever the
// order of sums and wherever products and sums are contracted, if the buffers
// that it is called with hold whole numbers of at most these magnitudes: one
// for each tensor parameter, in order, 0 for those that hold nothing.
//
// Sums of whole numbers are exact as long as no partial sum passes 2^p, with p
// the precision of the type (24 for float32, 11 for float16, 8 for bfloat16).
// One rounding of an exact value (a cast, a square root) is still the same
// everywhere; quotients, exponentials and what follows them are not.
std::vector<bool> ExactBuffers(const Function& f,
                               absl::Span<const double> magnitudes);

// The largest of 3, 2 and 1 with which as many written buffers are exact as
// with 1. `is_drawn`: the tensor parameters that take such numbers; `others`:
// the magnitudes of those that do not.
int64_t LargestExactMagnitude(const Function& f,
                              const std::vector<bool>& is_drawn,
                              const std::vector<double>& others);

// Whole numbers uniform in [-magnitude, magnitude] but never 0, so that a
// factor that is left out shows; positive ones for unsigned types.
void FillWholeNumbers(const NDArray& array, int64_t magnitude, uint64_t seed);

}  // namespace kiln

#endif  // KILN_SEARCH_MEASURE_WHOLE_NUMBERS_H_
