// A profile of a model, beside what the machine allows.
#ifndef KILN_TOOLS_REPORTING_PROFILE_DATA_H_
#define KILN_TOOLS_REPORTING_PROFILE_DATA_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "kiln/base/machine.h"
#include "kiln/tools/graph/profile.h"
#include "kiln/vm/profile/roofline.h"

namespace kiln::report {

struct CallData : ProfiledCall {
  // None where it is not known what the call has to do.
  std::optional<Roofline> roofline;

  double RooflineShare() const;  // 0: not known
};

// An op is a kernel or a packed function: all calls of it. What is not known of
// one of them is not known of all.
struct OpData {
  std::string name;
  int calls = 0;
  double seconds = 0, bytes = 0;
  std::optional<double> flop = 0;
  bool flop_is_bound = false;
  std::optional<double> least_s = 0;  // that the machine allows
  std::string by;  // what the call with the longest such time waits for

  double Gflops() const;         // 0: none, or not known
  double Gbs() const;            // the same
  double RooflineShare() const;  // the same
};

struct ProfileData {
  std::string path;  // for people
  Profile profile;
  Machine machine;         // that rooflines refer to
  double peak_gflops = 0;  // of the profile's threads
  std::vector<CallData> calls;
  std::vector<OpData> ops;  // the longest first
  double seconds = 0;       // of all calls
  // Why figures may not be what they seem.
  std::vector<std::string> warnings;

  int threads() const { return profile.threads > 0 ? profile.threads : 1; }
  // Of all ops whose roofline is known, and their part of the time.
  double RooflineShare() const;
  double KnownShare() const;
};

// Reads what `run --profile json` printed; - is stdin. `flag` is the one that
// named the file. Errors are those of the file and of ParseProfile, with both.
absl::StatusOr<Profile> ReadProfile(const std::string& path,
                                    const std::string& flag);

ProfileData Analyze(const std::string& path, Profile profile,
                    const Machine& machine, double peak_gflops);

}  // namespace kiln::report

#endif  // KILN_TOOLS_REPORTING_PROFILE_DATA_H_
