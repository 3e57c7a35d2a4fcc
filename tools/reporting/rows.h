// A report as JSON, one object a line: see report_rows.proto.
#ifndef KILN_TOOLS_REPORTING_ROWS_H_
#define KILN_TOOLS_REPORTING_ROWS_H_

#include <string>
#include <vector>

#include "kiln/tools/reporting/compare_runs.h"
#include "kiln/tools/reporting/task_data.h"

namespace kiln::report {

std::string TaskRows(const std::vector<TaskData>& tasks);
// The pairs and their total.
std::string ComparisonRows(const RunComparison& comparison);

}  // namespace kiln::report

#endif  // KILN_TOOLS_REPORTING_ROWS_H_
