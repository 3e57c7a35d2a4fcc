// Checks that two programs compute the same.
#ifndef KILN_SCHEDULE_TESTING_EQUIVALENCE_H_
#define KILN_SCHEDULE_TESTING_EQUIVALENCE_H_

#include <cstdint>

#include "absl/status/status.h"
#include "kiln/ir/tensor/module.h"

namespace kiln {

// Interprets both on the same small random integers, so that sums are exact
// in any order, and compares every parameter afterwards. The error names the
// first element that differs, or the fault of a program.
absl::Status CheckSameResults(const Function& before, const Function& after,
                              uint64_t seed);

}  // namespace kiln

#endif  // KILN_SCHEDULE_TESTING_EQUIVALENCE_H_
