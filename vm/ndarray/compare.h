// Comparing a result with what was expected.
#ifndef KILN_VM_NDARRAY_COMPARE_H_
#define KILN_VM_NDARRAY_COMPARE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "kiln/vm/ndarray/ndarray.h"

namespace kiln {

// An element agrees when |got - expected| <= atol + rtol * |expected|. Equal
// infinities agree, and NaN agrees with NaN if `equal_nan`; any other pair with
// an infinity or a NaN does not.
struct CompareOptions {
  double rtol = 1e-5;
  double atol = 1e-8;
  bool equal_nan = true;
};

struct Mismatch {
  std::vector<int64_t> index;
  std::string got;
  std::string expected;
  double absolute_error = 0;  // NaN where either value is.
  double relative_error = 0;  // absolute_error / |expected|.
};

struct CompareReport {
  int64_t num_elements = 0;
  int64_t num_mismatches = 0;
  Mismatch first;  // In row-major order.
  Mismatch worst;  // By how far the error exceeds its tolerance.

  bool ok() const { return num_mismatches == 0; }
  // "all 12 elements agree", or the number of mismatches, the first and the
  // worst of them.
  std::string ToString() const;
};

// Refuses arrays of different types or shapes.
absl::StatusOr<CompareReport> Compare(const NDArray& got,
                                      const NDArray& expected,
                                      const CompareOptions& options = {});

}  // namespace kiln

#endif  // KILN_VM_NDARRAY_COMPARE_H_
