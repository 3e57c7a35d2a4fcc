// A report on a profile of a model as one HTML page that needs nothing else.
#ifndef KILN_TOOLS_REPORTING_PROFILE_PAGE_H_
#define KILN_TOOLS_REPORTING_PROFILE_PAGE_H_

#include <optional>
#include <string>

#include "kiln/tools/reporting/compare_profiles.h"
#include "kiln/tools/reporting/profile_data.h"

namespace kiln::report {

struct ProfilePageOptions {
  std::string title = "Model profile";
  std::optional<ProfileComparison> against;  // with an earlier profile
  std::string against_name;                  // of that profile, for people
};

// The total, where the time goes, all ops against their rooflines, the
// comparison, and all calls.
std::string RenderProfilePage(const ProfileData& data,
                              const ProfilePageOptions& options);

// "main: 1.2 ms, median of 20 runs on 4 threads", and so on, in sentences.
std::string ProfileSummary(const ProfileData& data);

}  // namespace kiln::report

#endif  // KILN_TOOLS_REPORTING_PROFILE_PAGE_H_
