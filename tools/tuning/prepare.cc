#include "kiln/tools/tuning/prepare.h"

#include <functional>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/tensor/timed_size.h"
#include "kiln/search/database/workload.h"
#include "kiln/search/space/rule/block_info.h"
#include "kiln/search/space/rule/rule.h"
#include "kiln/search/space/rule/rule_context.h"
#include "kiln/search/space/rule_space.h"
#include "kiln/search/space/script_space.h"
#include "kiln/search/task/task_work.h"
#include "kiln/tools/support/default_schedule.h"
#include "kiln/tools/tuning/record_target.h"

namespace kiln {
namespace {

absl::StatusOr<int> FunctionIndex(const Module& module,
                                  const std::string& name) {
  for (size_t i = 0; i < module.functions.size(); ++i) {
    if (module.functions[i].name == name) return static_cast<int>(i);
  }
  return absl::NotFoundError(
      absl::StrCat("the module has no function \"", name, "\""));
}

absl::Status FillSpace(const TuneJob& job, const Target& target, int function,
                       const std::function<bool()>& stop,
                       PreparedTask* prepared) {
  TraceSpace* space = prepared->space.get();
  if (job.space) {
    KILN_RETURN_IF_ERROR(AddScript(*job.space, space));
  }
  if (!job.space || job.use_rules) {
    RuleContext context = RuleContextFor(target.machine, function);
    context.stop = stop;
    context.log = &prepared->rule_log;
    AddRuleSchedules(CpuRules(), context, space);
  }
  if (stop && stop()) {
    return absl::CancelledError(
        absl::StrCat("interrupted before the schedules of ", job.name,
                     " were made: no trial was run, and nothing was written"));
  }
  if (space->size() > 0) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat(
      "no schedule is known for ", job.name, "; give one with --space FILE"));
}

}  // namespace

const Function& PreparedTask::function() const {
  return *space->module().Find(task.workload.func_name);
}

absl::StatusOr<std::unique_ptr<PreparedTask>> Prepare(const TuneJob& job,
                                                      const Target& target,
                                                      const GuideOptions& guide,
                                                      const Machine& machine,
                                                      ThreadPool* pool) {
  KILN_ASSIGN_OR_RETURN(const int function,
                        FunctionIndex(job.module, job.function));
  auto prepared = std::make_unique<PreparedTask>();
  prepared->space = std::make_unique<TraceSpace>(job.module, function);
  prepared->space->DrawUntil(guide.stop);
  KILN_RETURN_IF_ERROR(
      FillSpace(job, target, function, guide.stop, prepared.get()));
  TuneTask& task = prepared->task;
  task.name = job.name;
  task.workload = WorkloadOf(job.module, job.function);
  task.num_threads = target.num_cores;
  task.target = RecordTarget(target);
  static_cast<TaskWork&>(task) =
      TaskWorkOf(AtTimedSize(job.module.functions[function]));
  task.weight = job.weight;
  task.space = prepared->space.get();
  GuideOptions of_task = guide;
  of_task.blocks = RootBlocks(job.module.functions[function]).size();
  KILN_ASSIGN_OR_RETURN(prepared->guide,
                        MakeGuide(of_task, task, machine, pool));
  return prepared;
}

}  // namespace kiln
