// A report on a profile as JSON, one object a line: see report_rows.proto.
#ifndef KILN_TOOLS_REPORTING_PROFILE_ROWS_H_
#define KILN_TOOLS_REPORTING_PROFILE_ROWS_H_

#include <string>

#include "kiln/tools/reporting/compare_profiles.h"
#include "kiln/tools/reporting/profile_data.h"

namespace kiln::report {

// The ops and the whole.
std::string ProfileRows(const ProfileData& data);
// The ops of both, calls of one of them, and their total.
std::string ComparisonRows(const ProfileComparison& comparison);

}  // namespace kiln::report

#endif  // KILN_TOOLS_REPORTING_PROFILE_ROWS_H_
