// The roofline of a call is that of its operations and its tensors; an op sums
// up its calls. Of calls of one op
//
//   dense y   20 us   1 MFLOP   least 10 us, by FMA
//   dense z   30 us   2 MFLOP   least 20 us, by L3
//
// it is 50 us, 3 MFLOP, 30 us, which is 60 % of the roofline, mostly by L3. A
// call of which something is not known makes that of the op not known: shares
// are of all of an op, or there are none.
#include "kiln/tools/reporting/profile_data.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "kiln/base/file.h"
#include "kiln/base/status_macros.h"

namespace kiln::report {
namespace {

std::optional<Roofline> RooflineOfCall(const ProfiledCall& call,
                                       const ProfileData& data) {
  if (!call.flop || *call.flop + call.bytes() <= 0) return std::nullopt;
  return RooflineOf({*call.flop, call.bytes_read, call.bytes_written},
                    data.threads(), data.machine, data.peak_gflops);
}

// Adds up calls; unknown and known make unknown.
class OpSum {
 public:
  void Add(const CallData& call) {
    ++op_.calls;
    op_.name = call.callee;
    op_.seconds += call.seconds;
    op_.bytes += call.bytes();
    op_.flop_is_bound = op_.flop_is_bound || call.flop_is_bound;
    op_.flop = Sum(op_.flop, call.flop);
    if (!call.roofline) {
      op_.least_s.reset();
      return;
    }
    op_.least_s = Sum(op_.least_s, call.roofline->seconds);
    if (call.roofline->seconds <= longest_ && !op_.by.empty()) return;
    longest_ = call.roofline->seconds;
    op_.by = call.roofline->by();
  }
  OpData Get() const {
    OpData op = op_;
    if (!op.least_s) op.by.clear();
    return op;
  }

 private:
  static std::optional<double> Sum(std::optional<double> a,
                                   std::optional<double> b) {
    return a && b ? std::optional(*a + *b) : std::nullopt;
  }

  OpData op_;
  double longest_ = 0;
};

std::vector<OpData> OpsOf(const std::vector<CallData>& calls) {
  std::map<std::string, OpSum> sums;
  for (const CallData& call : calls) sums[call.callee].Add(call);
  std::vector<OpData> ops;
  for (const auto& [name, sum] : sums) ops.push_back(sum.Get());
  std::sort(ops.begin(), ops.end(), [](const OpData& a, const OpData& b) {
    return std::pair(-a.seconds, a.name) < std::pair(-b.seconds, b.name);
  });
  return ops;
}

std::vector<std::string> WarningsOf(const ProfileData& data) {
  std::vector<std::string> warnings;
  const Profile& profile = data.profile;
  if (!profile.cpu.empty() && profile.cpu != data.machine.cpu) {
    warnings.push_back(
        absl::StrCat("the profile was taken on another machine, ", profile.cpu,
                     "; rooflines are those of this one, ", data.machine.cpu));
  }
  if (profile.threads > data.machine.cores) {
    warnings.push_back(absl::StrCat("the profile was taken on ",
                                    profile.threads,
                                    " threads, and this "
                                    "machine has ",
                                    data.machine.cores));
  }
  if (profile.runs == 0) {
    warnings.push_back(
        "the profile is of an earlier version: it tells times of one run, and "
        "neither bytes nor operations; take it anew");
  }
  return warnings;
}

}  // namespace

double CallData::RooflineShare() const {
  return roofline && seconds > 0 ? roofline->seconds / seconds : 0;
}

double OpData::Gflops() const {
  return seconds > 0 ? flop.value_or(0) / seconds * 1e-9 : 0;
}

double OpData::Gbs() const { return seconds > 0 ? bytes / seconds * 1e-9 : 0; }

double OpData::RooflineShare() const {
  return seconds > 0 ? least_s.value_or(0) / seconds : 0;
}

double ProfileData::RooflineShare() const {
  double known_s = 0, least_s = 0;
  for (const OpData& op : ops) {
    if (!op.least_s) continue;
    known_s += op.seconds;
    least_s += *op.least_s;
  }
  return known_s > 0 ? least_s / known_s : 0;
}

double ProfileData::KnownShare() const {
  double known_s = 0;
  for (const OpData& op : ops) known_s += op.least_s ? op.seconds : 0;
  return seconds > 0 ? known_s / seconds : 0;
}

absl::StatusOr<Profile> ReadProfile(const std::string& path,
                                    const std::string& flag) {
  const absl::StatusOr<std::string> text = ReadFileOrStdin(path);
  if (!text.ok()) {
    return absl::Status(text.status().code(),
                        absl::StrCat(flag, ": ", text.status().message()));
  }
  absl::StatusOr<Profile> profile = ParseProfile(*text);
  if (profile.ok()) return profile;
  return absl::Status(
      profile.status().code(),
      absl::StrCat(flag, " ", path, " ", profile.status().message()));
}

ProfileData Analyze(const std::string& path, Profile profile,
                    const Machine& machine, double peak_gflops) {
  ProfileData data;
  data.path = path;
  data.profile = std::move(profile);
  data.machine = machine;
  data.peak_gflops = peak_gflops;
  for (const ProfiledCall& call : data.profile.calls) {
    data.calls.push_back({call, RooflineOfCall(call, data)});
  }
  data.ops = OpsOf(data.calls);
  data.seconds = data.profile.CallSeconds();
  data.warnings = WarningsOf(data);
  return data;
}

}  // namespace kiln::report
