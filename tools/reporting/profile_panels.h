// The parts of a page about a profile, each as HTML.
#ifndef KILN_TOOLS_REPORTING_PROFILE_PANELS_H_
#define KILN_TOOLS_REPORTING_PROFILE_PANELS_H_

#include <string>

#include "kiln/tools/reporting/compare_profiles.h"
#include "kiln/tools/reporting/profile_data.h"

namespace kiln::report {

// A bar for each of the longest ops, with what the machine allows at least
// marked in it, and one for all others; `against`, if it is not null, adds the
// times before.
std::string TimeBars(const ProfileData& data, const ProfileComparison* against);
// All ops: calls, time, share, rates, share of the roofline.
std::string OpTable(const ProfileData& data);
// The ops below what the machine allows; a sentence where nothing is known.
std::string ProfileRoofline(const ProfileData& data);
// All calls in order.
std::string CallTable(const ProfileData& data);

}  // namespace kiln::report

#endif  // KILN_TOOLS_REPORTING_PROFILE_PANELS_H_
