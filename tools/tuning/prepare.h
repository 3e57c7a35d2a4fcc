// From a job to a task that can be searched.
#ifndef KILN_TOOLS_TUNING_PREPARE_H_
#define KILN_TOOLS_TUNING_PREPARE_H_

#include <memory>

#include "absl/status/statusor.h"
#include "kiln/base/machine.h"
#include "kiln/base/thread_pool.h"
#include "kiln/codegen/target/target.h"
#include "kiln/search/space/rule/rule_log.h"
#include "kiln/search/space/trace_space.h"
#include "kiln/search/task/task.h"
#include "kiln/tools/tuning/guide.h"
#include "kiln/tools/tuning/job.h"

namespace kiln {

// A task, and what it stands on. Not to be moved once made.
struct PreparedTask {
  std::unique_ptr<TraceSpace> space;
  TuneTask task;        // without data
  std::string grounds;  // of the data, once it was made
  Guide guide;
  RuleLog rule_log;  // what the rules tried in vain

  const Function& function() const;
};

// Everything that does not depend on measurements. The pool outlives the task.
// The error names the job: a schedule function that does not fit, or a function
// for which no schedule is known.
absl::StatusOr<std::unique_ptr<PreparedTask>> Prepare(const TuneJob& job,
                                                      const Target& target,
                                                      const GuideOptions& guide,
                                                      const Machine& machine,
                                                      ThreadPool* pool);

}  // namespace kiln

#endif  // KILN_TOOLS_TUNING_PREPARE_H_
