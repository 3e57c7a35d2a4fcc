#include "kiln/tools/tuning/apply_best.h"

#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "kiln/base/status_macros.h"
#include "kiln/search/database/by_size.h"
#include "kiln/search/database/database.h"
#include "kiln/search/database/lookup.h"
#include "kiln/search/database/record_file.h"
#include "kiln/search/measure/llvm_builder.h"
#include "kiln/search/task/task_work.h"
#include "kiln/tools/tuning/record_target.h"
#include "kiln/tools/tuning/save.h"
#include "kiln/tools/tuning/work_dir.h"

namespace kiln {
namespace {

absl::StatusOr<TuneOutcome> ApplyTo(const TuneJob& job, int id,
                                    const TuneAllRequest& request,
                                    Database& database, Builder& builder) {
  KILN_ASSIGN_OR_RETURN(const WorkDir dir,
                        WorkDir::Open(request.work_dir, job.name));
  const Function& function = *job.module.Find(job.function);
  BestProgram best;
  KILN_ASSIGN_OR_RETURN(
      best, FindBestBySize(database, function, RecordTarget(request.target)));
  TuneOutcome outcome;
  outcome.state.id = id;
  outcome.state.task = job.name;
  outcome.state.weight = job.weight;
  static_cast<TaskWork&>(outcome.state) = TaskWorkOf(function);
  outcome.state.finished = true;
  outcome.database = dir.database();
  outcome.task_dir = dir.task_dir();
  outcome.best = best.scheduled;
  outcome.best_trace = best.record.trace;
  outcome.state.best = std::move(best.record);
  KILN_RETURN_IF_ERROR(SaveBest(job.module, outcome.best, outcome.best_trace,
                                dir, nullptr, builder, request.target));
  return outcome;
}

}  // namespace

absl::StatusOr<std::vector<TuneOutcome>> ApplyBest(
    const TuneAllRequest& request) {
  if (request.jobs.empty()) {
    return absl::InvalidArgumentError("there is no function");
  }
  KILN_ASSIGN_OR_RETURN(const WorkDir dir,
                        WorkDir::Open(request.work_dir, request.jobs[0].name));
  std::unique_ptr<Database> database;
  KILN_ASSIGN_OR_RETURN(database, Database::Open(dir.database()));
  if (!request.records.empty()) {
    KILN_RETURN_IF_ERROR(
        RecordFile::Open(request.records, database.get()).status());
  }
  LlvmBuilder builder(request.target);
  std::vector<TuneOutcome> outcomes;
  for (const TuneJob& job : request.jobs) {
    KILN_ASSIGN_OR_RETURN(TuneOutcome outcome,
                          ApplyTo(job, static_cast<int>(outcomes.size()),
                                  request, *database, builder));
    outcomes.push_back(std::move(outcome));
  }
  return outcomes;
}

}  // namespace kiln
