// What can be learned from the trials of a task.
#ifndef KILN_TOOLS_REPORTING_INSIGHT_H_
#define KILN_TOOLS_REPORTING_INSIGHT_H_

#include <string>
#include <vector>

#include "kiln/base/machine.h"
#include "kiln/search/space/rule/rule_log.h"
#include "kiln/tools/reporting/task_data.h"

namespace kiln::report {

// A program, timed and estimated by the analytic model.
struct Prediction {
  int trial = 0;                       // from 1
  double measured = 0, predicted = 0;  // seconds
};
// Of all trials that ran and whose trace still applies.
std::vector<Prediction> Predictions(const TaskData& task,
                                    const Machine& machine);

// Trials of one verdict with reasons that differ in numbers only.
struct Rejection {
  std::string verdict;  // "wrong_result"
  std::string cause;    // the reason, with # for numbers
  std::string example;  // the reason of the first
  int count = 0;
};
// The most frequent first, refused schedules among them.
std::vector<Rejection> Rejections(const TaskData& task);

// One way in which a rule dealt with a block, and what became of the programs
// where it did.
struct RuleVariant {
  std::string rule;             // "register-tiling"
  std::string block;            // "Z"
  std::string steps;            // "cache_read, transform_layout, split 48"
  std::vector<double> seconds;  // of the trials that ran, ascending
  int failed = 0;
  int among_best = 0;  // of the best tenth of all trials that ran
};

// Variants of each rule and block, in the order of rules; those of a kind are
// neighbours, the one with the fastest trial first. Trials whose schedule is
// none of the rules' (a schedule from a file) have the rule "", and come last.
// `refused` gets what the rules tried in vain.
std::vector<RuleVariant> RuleVariants(const TaskData& task,
                                      const Machine& machine, RuleLog* refused);

}  // namespace kiln::report

#endif  // KILN_TOOLS_REPORTING_INSIGHT_H_
