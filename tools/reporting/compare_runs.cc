// Tasks are matched by the program's key, not by name:
//
//   before              after
//   gmm:8,8,8   2 us    gmm:8,8,8   1 us      both, 2.00 times as fast
//   sfm:8,8     3 us                          missing
//                       nrm:8,8     4 us      new
#include "kiln/tools/reporting/compare_runs.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "kiln/tools/reporting/html.h"
#include "kiln/tools/support/columns.h"

namespace kiln::report {
namespace {

using Tasks = std::vector<TaskData>;

bool SameProgram(const TaskData& a, const TaskData& b) {
  return a.workload.key == b.workload.key &&
         a.workload.func_name == b.workload.func_name;
}

// Finds a partner in `before` for each task of `after`.
class Matcher {
 public:
  explicit Matcher(const Tasks& before) : before_(before) {}

  // The first that is not taken yet.
  template <typename Wanted>
  const TaskData* Take(Wanted wanted) {
    for (const TaskData& task : before_) {
      if (wanted(task) && taken_.insert(&task).second) return &task;
    }
    return nullptr;
  }
  bool IsTaken(const TaskData& task) const { return taken_.count(&task) != 0; }

 private:
  const Tasks& before_;
  std::set<const TaskData*> taken_;
};

std::vector<TaskPair> PairsOf(const Tasks& before, const Tasks& after) {
  Matcher matcher(before);
  std::vector<TaskPair> pairs;
  for (const TaskData& task : after) {
    pairs.push_back({matcher.Take([&](const TaskData& other) {
                       return SameProgram(other, task) &&
                              other.target == task.target;
                     }),
                     &task});
  }
  for (TaskPair& pair : pairs) {
    if (pair.before) continue;
    pair.before = matcher.Take([&](const TaskData& other) {
      return SameProgram(other, *pair.after) &&
             other.threads == pair.after->threads;
    });
  }
  for (const TaskData& task : before) {
    if (!matcher.IsTaken(task)) pairs.push_back({&task, nullptr});
  }
  return pairs;
}

// The distinct values of a property that are known, for people.
template <typename Property>
std::string AllOf(const Tasks& tasks, Property property) {
  std::set<std::string> values;
  for (const TaskData& task : tasks) {
    if (!property(task).empty()) values.insert(property(task));
  }
  return absl::StrJoin(values, " and ");
}

// Of a target without trials nothing is known.
std::vector<std::string> Warnings(const std::vector<TaskPair>& pairs,
                                  const Tasks& before, const Tasks& after) {
  std::vector<std::string> warnings;
  const auto machine = [](const TaskData& task) { return task.machine; };
  const std::string then = AllOf(before, machine), now = AllOf(after, machine);
  if (!then.empty() && !now.empty() && then != now) {
    warnings.push_back(
        absl::StrCat("the runs are of different machines, and their times do "
                     "not compare: ",
                     then, " before, ", now, " after"));
  }
  int other_target = 0;
  std::set<std::string> targets;
  for (const TaskPair& pair : pairs) {
    if (!pair.before || !pair.after) continue;
    const std::string &a = pair.before->target, &b = pair.after->target;
    if (a.empty() || b.empty() || a == b) continue;
    ++other_target;
    const std::string old_cpu = CpuOf(a), new_cpu = CpuOf(b);
    targets.insert(old_cpu == new_cpu
                       ? absl::StrCat(old_cpu, " with other features")
                       : absl::StrCat(old_cpu, " before, ", new_cpu, " after"));
  }
  if (other_target > 0) {
    warnings.push_back(absl::StrCat(
        other_target, other_target == 1 ? " task was" : " tasks were",
        " compiled for different targets: ", absl::StrJoin(targets, "; ")));
  }
  return warnings;
}

// Programs that both have, but never on as many threads.
void WarnOfThreads(RunComparison* result) {
  for (const TaskPair& added : result->pairs) {
    if (added.before) continue;
    for (const TaskPair& missing : result->pairs) {
      if (missing.after || !SameProgram(*added.after, *missing.before)) {
        continue;
      }
      result->warnings.push_back(absl::StrCat(
          added.after->name, " is not compared: ", missing.before->threads,
          " threads before, ", added.after->threads, " after"));
    }
  }
}

std::string Microseconds(const TaskData* task) {
  if (!task) return "";
  return task->best() ? absl::StrFormat("%.2f", task->best_us()) : "none";
}

// Without trials there is no target.
std::string ThreadsText(const TaskData& task) {
  return task.target.empty() ? "-" : absl::StrCat(task.threads);
}

std::string SpeedupText(const TaskPair& pair) {
  if (!pair.before || !pair.after) return pair.state();
  return pair.HasTimes() ? absl::StrFormat("%.3f", pair.Speedup()) : "";
}

std::string SumText(const RunComparison& c) {
  if (c.compared == 0) return "no task has a time in both runs";
  return absl::StrFormat(
      "%d %s in both, weighted: %.2f us before, %.2f us after, %.3f times as "
      "fast; geometric mean %.3f",
      c.compared, c.compared == 1 ? "task" : "tasks", c.before_us, c.after_us,
      c.Speedup(), c.geomean);
}

std::string HtmlRow(const TaskPair& pair) {
  const std::string speedup = SpeedupText(pair);
  const char* const style = !pair.HasTimes()      ? "quiet"
                            : pair.Speedup() >= 1 ? "faster"
                                                  : "slower";
  return absl::StrCat("<tr><td>", Escape(pair.any().name), "</td>",
                      NumberCell(ThreadsText(pair.any())),
                      NumberCell(absl::StrFormat("%g", pair.any().weight)),
                      NumberCell(Microseconds(pair.before)),
                      NumberCell(Microseconds(pair.after)),
                      "<td class=\"number\"><span class=\"", style, "\">",
                      speedup, "</span></td></tr>\n");
}

}  // namespace

bool TaskPair::HasTimes() const {
  return before && after && before->best() && after->best();
}

double TaskPair::Speedup() const {
  return HasTimes() ? before->best_us() / after->best_us() : 0;
}

const char* TaskPair::state() const {
  if (!before) return "new";
  return after ? "both" : "missing";
}

RunComparison CompareRuns(const Tasks& before, const Tasks& after) {
  RunComparison result;
  result.pairs = PairsOf(before, after);
  double logs = 0;
  for (const TaskPair& pair : result.pairs) {
    result.new_tasks += !pair.before;
    result.missing_tasks += !pair.after;
    if (!pair.HasTimes()) continue;
    ++result.compared;
    result.before_us += pair.after->weight * pair.before->best_us();
    result.after_us += pair.after->weight * pair.after->best_us();
    logs += std::log(pair.Speedup());
  }
  if (result.compared > 0) result.geomean = std::exp(logs / result.compared);
  result.warnings = Warnings(result.pairs, before, after);
  WarnOfThreads(&result);
  return result;
}

std::string ComparisonText(const RunComparison& comparison) {
  constexpr size_t kName = 32;
  std::string text =
      absl::StrFormat("%s %7s %6s %10s %10s %9s\n", FitColumns("Task", kName),
                      "Threads", "Weight", "Before us", "After us", "Speedup");
  const std::string rule(text.size() - 1, '-');
  absl::StrAppend(&text, rule, "\n");
  for (const TaskPair& pair : comparison.pairs) {
    absl::StrAppendFormat(&text, "%s %7s %6.4g %10s %10s %9s\n",
                          FitColumns(pair.any().name, kName),
                          ThreadsText(pair.any()), pair.any().weight,
                          Microseconds(pair.before), Microseconds(pair.after),
                          SpeedupText(pair));
  }
  absl::StrAppend(&text, rule, "\n", SumText(comparison), "\n");
  if (comparison.new_tasks + comparison.missing_tasks > 0) {
    absl::StrAppend(&text, comparison.new_tasks, " new, ",
                    comparison.missing_tasks, " missing\n");
  }
  for (const std::string& warning : comparison.warnings) {
    absl::StrAppend(&text, "warning: ", warning, "\n");
  }
  return text;
}

std::string ComparisonHtml(const RunComparison& comparison,
                           const std::string& against) {
  std::string html =
      absl::StrCat("<section>\n<h3>Against ", Escape(against), "</h3>\n<p>",
                   Escape(SumText(comparison)), "</p>\n");
  for (const std::string& warning : comparison.warnings) {
    absl::StrAppend(&html, "<p class=\"slower\">", Escape(warning), "</p>\n");
  }
  absl::StrAppend(&html,
                  "<table><thead><tr><th>task</th><th class=\"number\">threads"
                  "</th><th class=\"number\">weight</th><th class=\"number\">"
                  "before (µs)</th><th class=\"number\">after (µs)</th>"
                  "<th class=\"number\">speedup</th></tr></thead><tbody>\n");
  for (const TaskPair& pair : comparison.pairs) html += HtmlRow(pair);
  return html + "</tbody></table>\n</section>\n";
}

}  // namespace kiln::report
