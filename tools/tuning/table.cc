#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "kiln/tools/tuning/view.h"

namespace kiln {
namespace {

constexpr size_t kMostOfAName = 48;

// Without its middle where it is long: both ends of a workload's name tell it
// from others.
std::string ShortName(const std::string& name) {
  if (name.size() <= kMostOfAName) return name;
  const size_t kept = kMostOfAName - 3, head = (kept + 1) / 2;
  return absl::StrCat(name.substr(0, head), "...",
                      name.substr(name.size() - (kept - head)));
}

std::string DoneColumn(const TuneState& state) {
  if (!state.gave_up.empty()) return "no: cannot be measured";
  if (state.finished) return "Y";
  return state.interrupted ? "stopped" : "";
}

// Speed, latency and weighted latency; without a time they are not known.
std::string TimeColumns(const TuneState& state) {
  if (!state.best) {
    return absl::StrFormat("%14s | %12s | %21s", "N/A", "N/A", "N/A");
  }
  return absl::StrFormat("%14.4f | %12.4f | %21.4f", state.best_gflops(),
                         state.best_us(), state.weight * state.best_us());
}

}  // namespace

std::string ResultTable(const std::vector<TuneState>& states) {
  size_t width = 4;
  for (const TuneState& state : states) {
    width = std::max(width, state.task.size());
  }
  const int name = static_cast<int>(std::min(width, kMostOfAName));
  std::string table = absl::StrFormat(
      " ID | %*s | %12s | %6s | %14s | %12s | %21s | %6s | %s\n", name, "Name",
      "FLOP", "Weight", "Speed (GFLOPS)", "Latency (us)",
      "Weighted Latency (us)", "Trials", "Done");
  const std::string rule(table.size() - 1, '-');
  absl::StrAppend(&table, rule, "\n");
  int64_t trials = 0;
  double total_us = 0;
  for (const TuneState& state : states) {
    absl::StrAppendFormat(&table, "%3d | %*s | %12.0f | %6g | %s | %6d | %s\n",
                          state.id, name, ShortName(state.task), state.flop,
                          state.weight, TimeColumns(state), state.trials_done,
                          DoneColumn(state));
    trials += state.trials_done;
    total_us += state.weight * state.best_us();
  }
  absl::StrAppendFormat(&table, "%s\nTotal trials: %d\n", rule, trials);
  absl::StrAppendFormat(&table, "Total latency (us): %g\n", total_us);
  return table;
}

}  // namespace kiln
