// How long each call of a run took, and what it had to do.
#ifndef KILN_TOOLS_GRAPH_PROFILE_H_
#define KILN_TOOLS_GRAPH_PROFILE_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace kiln {

// A call of a kernel or a packed function.
struct ProfiledCall {
  std::string callee;
  std::string variable;  // to which its result is bound
  double seconds = 0;    // the median over the runs
  // Of the tensors that it was given and gave, each once.
  double bytes_read = 0, bytes_written = 0;
  std::optional<double> flop;  // that it needs; none: not known
  bool flop_is_bound = false;  // an upper bound
  // In the run whose length is the median: since it began, and of the call.
  double start_s = 0, typical_s = 0;

  double bytes() const { return bytes_read + bytes_written; }
};

struct Profile {
  std::string function, target, cpu;
  int threads = 0;  // 0, and the texts empty: not told
  int runs = 0;     // that were timed, behind those that warm up
  // Of the whole function, the median of runs that nobody observed; 0: not
  // told.
  double run_s = 0;
  std::vector<ProfiledCall> calls;  // in order

  double CallSeconds() const;  // of all calls together
};

enum class ProfileForm { kTable, kJson, kChrome };

// "table", "json" or "chrome"; nullopt for "".
absl::StatusOr<std::optional<ProfileForm>> ParseProfileForm(
    const std::string& form);

// table: callees by their time, with shares and rates. json: profile.proto, one
// line. chrome: the calls of one run as events that chrome://tracing reads.
std::string ProfileText(const Profile& profile, ProfileForm form);

// What `json` printed. kInvalidArgument for what is no profile, names no call,
// or has a number that cannot be; the message names the call.
absl::StatusOr<Profile> ParseProfile(std::string_view json);

}  // namespace kiln

#endif  // KILN_TOOLS_GRAPH_PROFILE_H_
