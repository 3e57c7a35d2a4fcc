// Comparing a result with what was expected.
#ifndef KILN_VM_NDARRAY_COMPARE_H_
#define KILN_VM_NDARRAY_COMPARE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "kiln/ir/type/tolerance.h"
#include "kiln/vm/ndarray/ndarray.h"

namespace kiln {

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

// Elements agree as Agree of tolerance.h says; integers of 64 bits are
// subtracted exactly. Refuses arrays of different types or shapes.
absl::StatusOr<CompareReport> Compare(const NDArray& got,
                                      const NDArray& expected,
                                      Tolerance tolerance);

}  // namespace kiln

#endif  // KILN_VM_NDARRAY_COMPARE_H_
