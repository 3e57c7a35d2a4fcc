// What tasks were called when they were tuned.
#ifndef KILN_TOOLS_REPORTING_TASK_NAMES_H_
#define KILN_TOOLS_REPORTING_TASK_NAMES_H_

#include <string>
#include <vector>

#include "kiln/tools/reporting/task_data.h"

namespace kiln::report {

// Gives the tasks of a work directory the workload names ("gmm:3,5,7"), weights
// and machines of its flight logs, those of the last run that had them. A name
// that is that of the function says less than the signature, which stays.
// Without a flight log, and for lines that are none, nothing changes.
void NameAsTuned(const std::string& work_dir, std::vector<TaskData>* tasks);

}  // namespace kiln::report

#endif  // KILN_TOOLS_REPORTING_TASK_NAMES_H_
