// The parts of a task's section, each as HTML.
#ifndef KILN_TOOLS_REPORTING_PANELS_H_
#define KILN_TOOLS_REPORTING_PANELS_H_

#include <string>
#include <vector>

#include "kiln/base/machine.h"
#include "kiln/search/space/rule/rule_log.h"
#include "kiln/tools/reporting/insight.h"
#include "kiln/tools/reporting/task_data.h"

namespace kiln::report {

// Every panel has a sentence where there is nothing to show.

// Times of the trials in order, the best of those so far, and the peers.
std::string CurvePanel(const TaskData& task,
                       const std::vector<PeerTime>& peers);
// GFLOP/s over operations for a byte, below what the machine allows.
std::string RooflinePanel(const TaskData& task, const Machine& machine,
                          const std::vector<PeerTime>& peers);
std::string PredictionPanel(const std::vector<Prediction>& predictions);
std::string RejectionPanel(const std::vector<Rejection>& rejections);
std::string RulesPanel(const std::vector<RuleVariant>& variants);
// What the rules tried in vain; empty where that is nothing.
std::string RefusalList(const std::vector<RuleRefusal>& refusals);
// The trace, the program that it makes and how that differs from the one as
// written.
std::string SchedulePanel(const TaskData& task);

// The peak of the task's threads in GFLOP/s; the machine's constants where it
// was not measured.
double PeakOf(const TaskData& task, const Machine& machine);

}  // namespace kiln::report

#endif  // KILN_TOOLS_REPORTING_PANELS_H_
