// A profile as text in three forms, and back from one of them. Of
//
//   {"calls":[{"callee":"dense","variable":"y","us":12.5,"bytes_read":4096,
//     "bytes_written":64,"flop":2048,"flop_is_bound":false}],"runs":20,...}
//
// the table is a line: 12.5 us, 100 %, 1 call, 0.16 GFLOP/s, 0.33 GB/s, dense.
// Files of earlier versions have callee, variable and us alone.
#include "kiln/tools/graph/profile.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "kiln/base/json.h"
#include "kiln/base/status_macros.h"
#include "kiln/tools/graph/profile.pb.h"
#include "kiln/tools/support/json_line.h"

namespace kiln {
namespace {

// The calls of a callee.
struct Row {
  double seconds = 0, bytes = 0;
  std::optional<double> flop = 0;
  int count = 0;

  void Add(const ProfiledCall& call) {
    seconds += call.seconds;
    bytes += call.bytes();
    flop = flop && call.flop ? std::optional(*flop + *call.flop) : std::nullopt;
    ++count;
  }
};

// "" where there is nothing to tell.
std::string RateText(std::optional<double> amount, double seconds) {
  if (!amount || *amount == 0 || seconds <= 0) return "";
  return absl::StrFormat("%.2f", *amount / seconds * 1e-9);
}

std::string Table(const Profile& profile) {
  std::map<std::string, Row> rows;
  for (const ProfiledCall& call : profile.calls) rows[call.callee].Add(call);
  std::vector<std::pair<std::string, Row>> sorted(rows.begin(), rows.end());
  std::sort(sorted.begin(), sorted.end(), [](auto& a, auto& b) {
    return std::pair(-a.second.seconds, a.first) <
           std::pair(-b.second.seconds, b.first);
  });
  const double total = profile.CallSeconds();
  std::string text = absl::StrFormat("%12s %7s %8s %9s %8s  %s\n", "us", "%",
                                     "calls", "GFLOP/s", "GB/s", "callee");
  for (const auto& [name, row] : sorted) {
    absl::StrAppendFormat(&text, "%12.2f %6.1f%% %8d %9s %8s  %s\n",
                          row.seconds * 1e6,
                          total > 0 ? 100 * row.seconds / total : 0, row.count,
                          RateText(row.flop, row.seconds),
                          RateText(row.bytes, row.seconds), name);
  }
  return text;
}

std::string Json(const Profile& profile) {
  graph_profile::Calls calls;
  calls.set_function(profile.function);
  calls.set_target(profile.target);
  calls.set_cpu(profile.cpu);
  calls.set_threads(profile.threads);
  calls.set_runs(profile.runs);
  calls.set_run_us(profile.run_s * 1e6);
  for (const ProfiledCall& call : profile.calls) {
    graph_profile::Call* out = calls.add_calls();
    out->set_callee(call.callee);
    out->set_variable(call.variable);
    out->set_us(call.seconds * 1e6);
    out->set_bytes_read(call.bytes_read);
    out->set_bytes_written(call.bytes_written);
    if (call.flop) out->set_flop(*call.flop);
    out->set_flop_is_bound(call.flop_is_bound);
  }
  return JsonLine(calls);
}

std::string Chrome(const Profile& profile) {
  graph_profile::Events events;
  for (const ProfiledCall& call : profile.calls) {
    graph_profile::Event* out = events.add_traceevents();
    out->set_name(call.callee);
    out->set_cat(call.variable);
    out->set_ph("X");
    out->set_ts(call.start_s * 1e6);
    out->set_dur(call.typical_s * 1e6);
    out->set_pid(1);
    out->set_tid(1);
  }
  return JsonLine(events);
}

// What a call cannot have; "" where all is well.
std::string FaultOf(const graph_profile::Call& call) {
  const auto is_amount = [](double x) { return std::isfinite(x) && x >= 0; };
  if (call.callee().empty()) return "has no callee";
  if (!is_amount(call.us())) return absl::StrCat("took ", call.us(), " us");
  if (!is_amount(call.bytes_read()) || !is_amount(call.bytes_written())) {
    return absl::StrCat("moved ", call.bytes_read(), " and ",
                        call.bytes_written(), " bytes");
  }
  if (!is_amount(call.flop()))
    return absl::StrCat("needs ", call.flop(), " FLOP");
  return "";
}

absl::Status Check(const graph_profile::Calls& calls) {
  if (calls.calls().empty()) {
    return absl::InvalidArgumentError("is a profile without calls");
  }
  if (!std::isfinite(calls.run_us()) || calls.run_us() < 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("tells of a run of ", calls.run_us(), " us"));
  }
  if (calls.threads() < 0 || calls.runs() < 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        "tells of ", calls.runs(), " runs on ", calls.threads(), " threads"));
  }
  for (int i = 0; i < calls.calls_size(); ++i) {
    const std::string fault = FaultOf(calls.calls(i));
    if (fault.empty()) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("has a wrong call ", i + 1, " of ", calls.calls_size(),
                     " (", calls.calls(i).callee(), "): it ", fault));
  }
  return absl::OkStatus();
}

ProfiledCall FromMessage(const graph_profile::Call& in) {
  ProfiledCall call;
  call.callee = in.callee();
  call.variable = in.variable();
  call.seconds = call.typical_s = in.us() * 1e-6;
  call.bytes_read = in.bytes_read();
  call.bytes_written = in.bytes_written();
  if (in.has_flop()) call.flop = in.flop();
  call.flop_is_bound = in.flop_is_bound();
  return call;
}

}  // namespace

double Profile::CallSeconds() const {
  double sum = 0;
  for (const ProfiledCall& call : calls) sum += call.seconds;
  return sum;
}

absl::StatusOr<std::optional<ProfileForm>> ParseProfileForm(
    const std::string& form) {
  if (form.empty()) return std::optional<ProfileForm>();
  if (form == "table") return std::optional(ProfileForm::kTable);
  if (form == "json") return std::optional(ProfileForm::kJson);
  if (form == "chrome") return std::optional(ProfileForm::kChrome);
  return absl::InvalidArgumentError(absl::StrCat(
      "--profile ", form, " is unknown; there are table, json and chrome"));
}

std::string ProfileText(const Profile& profile, ProfileForm form) {
  switch (form) {
    case ProfileForm::kTable:
      return Table(profile);
    case ProfileForm::kJson:
      return Json(profile);
    case ProfileForm::kChrome:
      return Chrome(profile);
  }
  return "";
}

absl::StatusOr<Profile> ParseProfile(std::string_view json) {
  graph_profile::Calls calls;
  const absl::Status read = FromJson(json, &calls);
  if (!read.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat("is no profile (", std::string(read.message()),
                     "); run model.kiln --profile json > FILE writes one"));
  }
  KILN_RETURN_IF_ERROR(Check(calls));
  Profile profile;
  profile.function = calls.function();
  profile.target = calls.target();
  profile.cpu = calls.cpu();
  profile.threads = calls.threads();
  profile.runs = calls.runs();
  profile.run_s = calls.run_us() * 1e-6;
  double start = 0;
  for (const graph_profile::Call& call : calls.calls()) {
    profile.calls.push_back(FromMessage(call));
    profile.calls.back().start_s = start;
    start += profile.calls.back().seconds;
  }
  return profile;
}

}  // namespace kiln
