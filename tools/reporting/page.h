// A report on a tuning run as one HTML page that needs nothing else.
#ifndef KILN_TOOLS_REPORTING_PAGE_H_
#define KILN_TOOLS_REPORTING_PAGE_H_

#include <optional>
#include <string>
#include <vector>

#include "kiln/base/machine.h"
#include "kiln/search/space/rule/register_tiles.h"
#include "kiln/tools/reporting/compare_runs.h"
#include "kiln/tools/reporting/task_data.h"

namespace kiln::report {

struct PageOptions {
  std::string title = "Tuning report";
  Machine machine;  // what predictions and roofs refer to
  // What rules made tiles for.
  Machine rules_for = {.vectors = kAvx512Registers};
  std::vector<PeerTime> peers;
  std::optional<RunComparison> against;  // with an earlier run
  std::string against_name;              // of that run, for people
};

// A table of all tasks, then for each: the best so far, the roofline,
// predictions, rejections, the value of rules, and the fastest schedule.
std::string RenderPage(const std::vector<TaskData>& tasks,
                       const PageOptions& options);

}  // namespace kiln::report

#endif  // KILN_TOOLS_REPORTING_PAGE_H_
