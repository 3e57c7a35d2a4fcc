#include "kiln/tools/tuning/progress.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "kiln/search/database/verdict.h"

namespace kiln {
namespace {

// Of all tasks.
struct Sum {
  int64_t done = 0, fresh = 0, total = 0;
  double seconds = 0;
};

Sum SumOf(const std::vector<TuneState>& states, const RunLimits& limits) {
  Sum sum;
  for (const TuneState& state : states) {
    sum.done += state.trials_done;
    sum.fresh += state.trials_done - state.trials_resumed;
    sum.total += state.finished
                     ? state.trials_done
                     : std::max(state.trials_done, state.trials_total);
    sum.seconds = std::max(sum.seconds, state.seconds);
  }
  sum.total = std::max(sum.done, std::min(sum.total, limits.trials));
  return sum;
}

std::string Duration(double seconds) {
  if (seconds < 120) return absl::StrFormat("%.0f s", seconds);
  if (seconds < 7200) return absl::StrFormat("%.0f min", seconds / 60);
  return absl::StrFormat("%.1f h", seconds / 3600);
}

// The sooner of all trials done and the time being up.
std::string TimeLeft(const Sum& sum, const RunLimits& limits) {
  double left = std::max(0.0, limits.seconds - sum.seconds);
  if (sum.fresh > 0) {
    const double each = sum.seconds / static_cast<double>(sum.fresh);
    left = std::min(left, each * static_cast<double>(sum.total - sum.done));
  }
  if (!std::isfinite(left) || sum.done == sum.total) return "";
  return absl::StrCat(", ", Duration(left), " left");
}

// "name: " in at most `width` columns.
std::string Prefix(const TuneState& state, size_t width) {
  const std::string id = absl::StrCat("#", state.id);
  if (width < id.size() + 8) return id + ": ";
  const std::string name = absl::StrCat(id, " ", state.task);
  if (name.size() + 2 <= width) return name + ": ";
  return name.substr(0, width - 5) + "...: ";
}

// With fewer operations for a byte, memory bounds a kernel whose data lie
// there: a common machine's peak over its bandwidth (base/machine.h), rounded
// up.
constexpr double kFewOperations = 4;

// The rate that tells more: of memory where few operations use each byte.
std::string Best(const TuneState& state, bool with_peak) {
  if (!state.best) return "";
  if (state.flop < kFewOperations * state.bytes) {
    return absl::StrFormat(", best %.1f GB/s", state.best_gbs());
  }
  std::string text =
      absl::StrFormat(", best %.1f GFLOP/s", state.best_gflops());
  if (with_peak && state.peak_gflops > 0) {
    absl::StrAppendFormat(&text, " (%.1f %% of peak)",
                          100 * state.peak_share());
  }
  return text;
}

}  // namespace

std::string FailureList(const TuneState& state) {
  std::string list;
  for (int i = 0; i < kNumVerdicts; ++i) {
    const auto verdict = static_cast<Verdict>(i);
    if (verdict == Verdict::kOk || state.counts[i] == 0) continue;
    absl::StrAppend(&list, list.empty() ? "" : ", ", state.counts[i], " ",
                    std::string(VerdictName(verdict)));
  }
  return list;
}

std::string ProgressLine(const std::vector<TuneState>& states, size_t task,
                         const RunLimits& limits, size_t width) {
  constexpr size_t kShortName = 16;
  const TuneState& state = states[task];
  const bool several = states.size() > 1;
  const Sum sum = SumOf(states, limits);
  const std::string trials =
      absl::StrFormat("trials %d/%d", sum.done, sum.total);
  const std::string left = TimeLeft(sum, limits);
  const std::string causes = FailureList(state);
  std::string failed = causes.empty() ? "" : ", " + causes;
  std::string rest = absl::StrCat(Best(state, true), left);
  const auto fits = [&] {
    const size_t name = several ? kShortName : 0;
    return name + trials.size() + failed.size() + rest.size() <= width;
  };
  if (!fits() && state.failed() > 0) {
    failed = absl::StrCat(", ", state.failed(), " failed");
  }
  if (!fits()) rest = absl::StrCat(Best(state, false), left);
  if (!fits()) failed.clear();
  if (!fits()) rest = Best(state, false);
  if (!fits()) rest.clear();
  const std::string line = absl::StrCat(trials, failed, rest);
  if (!several) return line.substr(0, width);
  const size_t room = width > line.size() ? width - line.size() : 0;
  return absl::StrCat(Prefix(state, room), line).substr(0, width);
}

}  // namespace kiln
