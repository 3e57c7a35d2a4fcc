#include "kiln/tools/graph/profile.h"

#include <algorithm>
#include <chrono>
#include <map>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "kiln/tools/graph/profile.pb.h"
#include "kiln/tools/support/json_line.h"

namespace kiln {
namespace {

double Now() {
  return std::chrono::duration<double>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

}  // namespace

absl::StatusOr<std::optional<Profile>> Profile::Parse(const std::string& form) {
  if (form.empty()) return std::optional<Profile>();
  if (form == "table") return std::optional(Profile(Form::kTable));
  if (form == "json") return std::optional(Profile(Form::kJson));
  if (form == "chrome") return std::optional(Profile(Form::kChrome));
  return absl::InvalidArgumentError(absl::StrCat(
      "--profile ", form, " is unknown; there are table, json and chrome"));
}

std::function<void(const std::string&, const std::string&, double)>
Profile::Observer() {
  return [calls = calls_](const std::string& callee, const std::string& label,
                          double seconds) {
    calls->push_back({callee, label, Now(), seconds});
  };
}

std::string Profile::Text() const {
  switch (form_) {
    case Form::kTable:
      return Table();
    case Form::kJson:
      return Json();
    case Form::kChrome:
      return Chrome();
  }
  return "";
}

std::string Profile::Table() const {
  struct Row {
    double seconds = 0;
    int count = 0;
  };
  std::map<std::string, Row> rows;
  double total = 0;
  for (const Call& call : *calls_) {
    rows[call.callee].seconds += call.seconds;
    ++rows[call.callee].count;
    total += call.seconds;
  }
  std::vector<std::pair<std::string, Row>> sorted(rows.begin(), rows.end());
  std::sort(sorted.begin(), sorted.end(), [](auto& a, auto& b) {
    return a.second.seconds > b.second.seconds;
  });
  std::string text =
      absl::StrFormat("%12s %7s %8s  %s\n", "us", "%", "calls", "callee");
  for (const auto& [name, row] : sorted) {
    absl::StrAppend(
        &text, absl::StrFormat("%12.2f %6.1f%% %8d  %s\n", row.seconds * 1e6,
                               total > 0 ? 100 * row.seconds / total : 0,
                               row.count, name));
  }
  return text;
}

std::string Profile::Json() const {
  graph_profile::Calls calls;
  for (const Call& call : *calls_) {
    graph_profile::Call* out = calls.add_calls();
    out->set_callee(call.callee);
    out->set_variable(call.label);
    out->set_us(call.seconds * 1e6);
  }
  return JsonLine(calls);
}

std::string Profile::Chrome() const {
  graph_profile::Events events;
  const double start =
      calls_->empty() ? 0 : (*calls_)[0].end_s - (*calls_)[0].seconds;
  for (const Call& call : *calls_) {
    graph_profile::Event* out = events.add_traceevents();
    out->set_name(call.callee);
    out->set_cat(call.label);
    out->set_ph("X");
    out->set_ts((call.end_s - call.seconds - start) * 1e6);
    out->set_dur(call.seconds * 1e6);
    out->set_pid(1);
    out->set_tid(1);
  }
  return JsonLine(events);
}

}  // namespace kiln
