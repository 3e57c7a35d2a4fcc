// Agreement of a kernel's output with a trusted one, element by element.
#ifndef KILN_SEARCH_MEASURE_COMPARE_H_
#define KILN_SEARCH_MEASURE_COMPARE_H_

#include <cstdint>
#include <optional>
#include <string>

#include "kiln/ir/type/dtype.h"
#include "kiln/ir/type/tolerance.h"

namespace kiln {

// The least number with all its digits: smaller ones round in absolute steps.
// 0 for integers and bool.
double LeastNormal(DType dtype);

// What two orders of summing `reduction_length` terms (1: no reduction) may
// differ by, where the results' largest magnitude is `magnitude` (or
// LeastNormal): 32 units of the type's precision, times the square root of the
// length, since rounding errors add up like a random walk. Exact for integers
// and bool.
Tolerance ToleranceFor(DType dtype, int64_t reduction_length, double magnitude);

// The largest finite magnitude among `count` elements.
double LargestMagnitude(DType dtype, const void* data, int64_t count);

struct OutputMismatch {
  int64_t index = 0;  // The first of them.
  double got = 0;
  double expected = 0;
  int64_t count = 0;
  int64_t compared = 0;
};

// Compares `count` elements, or, where `max_elements` is positive and smaller,
// about that many, in runs of 64 spread evenly from the first to the last.
// nullopt where all of them agree. `dtype` is a scalar number or bool.
std::optional<OutputMismatch> CompareElements(DType dtype, const void* got,
                                              const void* expected,
                                              int64_t count,
                                              Tolerance tolerance,
                                              int64_t max_elements = 0);

// Such as "C[17] is 3.5, expected 3.25 (4 of 1024 compared
// elements differ)".
std::string ToString(const OutputMismatch& mismatch, const std::string& buffer);

}  // namespace kiln

#endif  // KILN_SEARCH_MEASURE_COMPARE_H_
