#include "kiln/tools/reporting/insight.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <tuple>
#include <utility>

#include "kiln/search/cost/analytic.h"
#include "kiln/search/database/verdict.h"
#include "kiln/search/feature/summary.h"
#include "kiln/search/space/trace_space.h"

namespace kiln::report {
namespace {

constexpr size_t kCauseLength = 160;

// The text with # for each number, its first line.
std::string WithoutNumbers(std::string_view text) {
  std::string cause;
  bool in_number = false;
  for (char c : text.substr(0, text.find('\n'))) {
    const bool digit = std::isdigit(static_cast<unsigned char>(c));
    const bool goes_on = in_number && (c == '.' || c == 'e');
    if (digit && !in_number) cause += '#';
    if (!digit && !goes_on) cause += c;
    in_number = digit || goes_on;
  }
  return cause.substr(0, kCauseLength);
}

}  // namespace

std::vector<Prediction> Predictions(const TaskData& task,
                                    const Machine& machine) {
  std::vector<Prediction> all;
  for (size_t i = 0; i < task.trials.size(); ++i) {
    const TuningRecord& record = task.trials[i];
    if (record.verdict != Verdict::kOk) continue;
    const absl::StatusOr<Function> f =
        ReplayTrace(task.module, task.function, record.trace);
    if (!f.ok()) continue;
    const TimeEstimate estimate =
        EstimateTime(Summarize(*f), machine, task.threads);
    all.push_back({static_cast<int>(i) + 1, record.latency_min_ns * 1e-9,
                   estimate.seconds});
  }
  return all;
}

std::vector<Rejection> Rejections(const TaskData& task) {
  std::map<std::pair<std::string, std::string>, Rejection> causes;
  const auto add = [&](const TuningRecord& record) {
    if (record.verdict == Verdict::kOk) return;
    const std::string verdict(VerdictName(record.verdict));
    const std::string cause = WithoutNumbers(record.reason);
    Rejection& one = causes[{verdict, cause}];
    if (one.count++ == 0) one = {verdict, cause, record.reason, 1};
  };
  for (const TuningRecord& record : task.trials) add(record);
  for (const TuningRecord& record : task.refused) add(record);
  std::vector<Rejection> all;
  for (auto& [key, one] : causes) all.push_back(std::move(one));
  std::stable_sort(
      all.begin(), all.end(),
      [](const Rejection& a, const Rejection& b) { return a.count > b.count; });
  return all;
}

}  // namespace kiln::report
