// How long a case's scheduled program takes, compiled by Kiln.
#ifndef KILN_TESTS_CONFORMANCE_CASE_TIME_H_
#define KILN_TESTS_CONFORMANCE_CASE_TIME_H_

#include "absl/status/statusor.h"
#include "kiln/tests/conformance/case.h"

namespace kiln {

// The median of one call in microseconds, on all cores, on random data.
absl::StatusOr<double> TimeCase(const ScheduleCase& c);

}  // namespace kiln

#endif  // KILN_TESTS_CONFORMANCE_CASE_TIME_H_
