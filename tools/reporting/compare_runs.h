// Two tuning runs, task by task.
#ifndef KILN_TOOLS_REPORTING_COMPARE_RUNS_H_
#define KILN_TOOLS_REPORTING_COMPARE_RUNS_H_

#include <string>
#include <vector>

#include "kiln/tools/reporting/task_data.h"

namespace kiln::report {

// A task of both runs, or of one.
struct TaskPair {
  const TaskData* before = nullptr;  // null: new
  const TaskData* after = nullptr;   // null: missing

  const TaskData& any() const { return after ? *after : *before; }
  // Both ran it with success.
  bool HasTimes() const;
  // Above 1: it became faster. 0: one of the two has no time.
  double Speedup() const;
  // "both", "new" or "missing".
  const char* state() const;
};

// Of pairs that have two times where not said otherwise. Sums are weighted.
struct RunComparison {
  std::vector<TaskPair> pairs;  // all, those of `after` first, in its order
  int compared = 0;
  double before_us = 0, after_us = 0;
  double geomean = 0;  // of the speedups; 0: none is compared
  int new_tasks = 0, missing_tasks = 0;
  // Why times may not compare: other machines, targets, numbers of threads.
  std::vector<std::string> warnings;

  double Speedup() const { return after_us > 0 ? before_us / after_us : 0; }
};

// Pairs tasks of one program and number of threads, first those for one target.
// Both runs have to outlive the result.
RunComparison CompareRuns(const std::vector<TaskData>& before,
                          const std::vector<TaskData>& after);

// A table in 80 columns, the sums and the warnings.
std::string ComparisonText(const RunComparison& comparison);
// A section of the page about the run beside the one at the path `against`.
std::string ComparisonHtml(const RunComparison& comparison,
                           const std::string& against);

}  // namespace kiln::report

#endif  // KILN_TOOLS_REPORTING_COMPARE_RUNS_H_
