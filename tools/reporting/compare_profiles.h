// Two profiles of a model, op by op.
#ifndef KILN_TOOLS_REPORTING_COMPARE_PROFILES_H_
#define KILN_TOOLS_REPORTING_COMPARE_PROFILES_H_

#include <string>
#include <vector>

#include "kiln/tools/reporting/profile_data.h"

namespace kiln::report {

// Calls of an op that both profiles have.
struct OpChange {
  std::string name;
  int calls = 0;
  double before_s = 0, after_s = 0;

  // Above 1: it became faster. 0: one of the two took no time.
  double Speedup() const;
};

// A call that one profile has.
struct LoneCall {
  ProfiledCall call;
  bool is_new = false;  // else it is missing

  const char* state() const { return is_new ? "new" : "missing"; }
};

struct ProfileComparison {
  std::vector<OpChange> ops;    // the longest before first
  std::vector<LoneCall> alone;  // in order, new ones first
  OpChange matched;             // all of `ops` together
  // All calls, and the whole runs; 0 where a profile does not tell runs.
  OpChange all, run;
  // Why times may not compare: other machines, targets, numbers of threads.
  std::vector<std::string> warnings;
};

// Matches calls by callee and variable; the second call of the same with the
// second, and so on.
ProfileComparison CompareProfiles(const ProfileData& before,
                                  const ProfileData& after);

// A table in 80 columns, the sums and the warnings.
std::string ComparisonText(const ProfileComparison& comparison);
// A section of the page about the profile beside the one of the file `against`.
std::string ComparisonHtml(const ProfileComparison& comparison,
                           const std::string& against);

}  // namespace kiln::report

#endif  // KILN_TOOLS_REPORTING_COMPARE_PROFILES_H_
