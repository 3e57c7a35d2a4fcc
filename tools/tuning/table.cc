#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "kiln/tools/support/columns.h"
#include "kiln/tools/tuning/view.h"

namespace kiln {
namespace {

constexpr size_t kNameColumns = 24;

const char* DoneColumn(const TuneState& state) {
  if (!state.gave_up.empty()) return "no";
  if (state.finished) return "yes";
  return state.interrupted ? "no" : "";
}

// In 6 columns.
std::string WeightColumn(double weight) {
  const std::string text = absl::StrFormat("%6.6g", weight);
  return text.size() > 6 ? absl::StrFormat("%6.0e", weight) : text;
}

// Four digits, or more of a large number.
std::string Number(double value, int width) {
  const int digits = value >= 1e5 ? 0 : value >= 100 ? 1 : value >= 10 ? 2 : 3;
  return absl::StrFormat("%*.*f", width, digits, value);
}

// Time, GFLOP/s, GB/s and the share of the peak; "-" for what is not known.
std::string TimeColumns(const TuneState& state) {
  const auto column = [&](double value, int width) {
    return state.best && value > 0 ? Number(value, width)
                                   : absl::StrFormat("%*s", width, "-");
  };
  return absl::StrCat(
      column(state.best_us(), 10), " ", column(state.best_gflops(), 7), " ",
      column(state.best_gbs(), 6), " ", column(100 * state.peak_share(), 5));
}

}  // namespace

std::string ResultTable(const std::vector<TuneState>& states) {
  std::string table =
      absl::StrFormat("%3s %s %6s %10s %7s %6s %5s %6s %s\n", "ID",
                      FitColumns("Task", kNameColumns), "Weight", "us",
                      "GFLOP/s", "GB/s", "Peak%", "Trials", "Done");
  const std::string rule(table.size() - 1, '-');
  absl::StrAppend(&table, rule, "\n");
  int64_t trials = 0;
  double total_us = 0;
  for (const TuneState& state : states) {
    absl::StrAppendFormat(&table, "%3d %s %s %s %6d %s\n", state.id,
                          FitColumns(state.task, kNameColumns),
                          WeightColumn(state.weight), TimeColumns(state),
                          state.trials_done, DoneColumn(state));
    trials += state.trials_done;
    total_us += state.weight * state.best_us();
  }
  absl::StrAppendFormat(&table, "%s\nTotal trials: %d\n", rule, trials);
  absl::StrAppendFormat(&table, "Total latency (us): %g\n", total_us);
  return table;
}

}  // namespace kiln
