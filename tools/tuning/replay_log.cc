#include "kiln/tools/tuning/replay_log.h"

#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"
#include "kiln/base/thread_pool.h"
#include "kiln/codegen/target/target.h"
#include "kiln/ir/text/python/source.h"
#include "kiln/ir/text/reader/reader.h"
#include "kiln/search/database/database.h"
#include "kiln/search/database/verdict.h"
#include "kiln/search/task/flight_replay.h"
#include "kiln/search/task/scheduler.h"
#include "kiln/tools/tuning/prepare.h"
#include "kiln/vm/profile/machine_constants.h"

namespace kiln {
namespace {

using PreparedTasks = std::vector<std::unique_ptr<PreparedTask>>;

absl::StatusOr<TuneJob> JobOf(const flight::Task& log) {
  TuneJob job;
  job.name = log.name();
  KILN_ASSIGN_OR_RETURN(
      job.module,
      ParseModule(absl::StrCat("<module of ", log.name(), ">"), log.module()));
  job.function = log.function();
  job.weight = log.weight();
  job.use_rules = log.rules();
  if (!log.space().empty()) {
    job.space = python::Source(log.space_name(), log.space());
  }
  return job;
}

absl::StatusOr<PreparedTasks> PrepareAll(
    const std::vector<flight::Event>& events, ThreadPool* pool) {
  const flight::Run& run = events[0].run();
  KILN_ASSIGN_OR_RETURN(const Target target, ParseTarget(run.target()));
  KILN_ASSIGN_OR_RETURN(const Machine machine, MachineFromJson(run.machine()));
  const GuideOptions guide = {run.search(), run.model(), run.seed()};
  PreparedTasks tasks;
  for (const flight::Event& event : events) {
    if (!event.has_task()) continue;
    KILN_ASSIGN_OR_RETURN(const TuneJob job, JobOf(event.task()));
    KILN_ASSIGN_OR_RETURN(std::unique_ptr<PreparedTask> task,
                          Prepare(job, target, guide, machine, pool));
    // The text may be printed in another way since; what was recorded counts.
    task->task.workload.key = event.task().key();
    task->task.target = event.task().target();
    tasks.push_back(std::move(task));
  }
  if (!tasks.empty()) return tasks;
  return absl::InvalidArgumentError("the run of the flight log has no task");
}

// The trials of earlier runs, as they were in the database.
absl::Status AddEarlier(const std::vector<flight::Event>& events,
                        const PreparedTasks& tasks, Database* database) {
  for (const auto& task : tasks) {
    KILN_RETURN_IF_ERROR(database->AddWorkload(task->task.workload));
  }
  for (const flight::Event& event : events) {
    if (!event.has_earlier()) continue;
    const flight::Program& log = event.earlier();
    const std::optional<Verdict> verdict = ParseVerdict(log.verdict());
    const bool known =
        log.task() >= 0 && log.task() < static_cast<int>(tasks.size());
    if (!verdict || !known) {
      return absl::InvalidArgumentError(
          absl::StrCat("flight log: an earlier trial of task ", log.task(),
                       " with the verdict \"", log.verdict(), "\""));
    }
    const TuneTask& task = tasks[log.task()]->task;
    TuningRecord record;
    record.workload_key = task.workload.key;
    record.target = task.target;
    record.program_hash = log.program();
    record.trace = log.trace();
    record.decisions = log.decisions();
    record.verdict = *verdict;
    record.reason = log.reason();
    record.latency_min_ns = log.min_ns();
    record.latency_median_ns = log.median_ns();
    record.latency_spread_ns = log.spread_ns();
    record.samples = log.samples();
    record.paired_ratio = log.paired_ratio();
    record.ranked_ns = log.ranked_ns();
    KILN_RETURN_IF_ERROR(database->CommitTrial(record).status());
  }
  return absl::OkStatus();
}

TuneAllOptions OptionsOf(const flight::Run& run, FlightReplay& replay) {
  TuneAllOptions options;
  options.session.trials = run.trials_per_task();
  options.session.seed = run.seed();
  options.session.early_stopping = run.early_stopping();
  options.session.batch = run.batch();
  options.session.finalists = run.finalists();
  options.session.stop = [&replay] { return replay.Interrupted(); };
  options.time_up = [&replay] { return replay.TimeUp(); };
  options.trials = run.trials();
  return options;
}

}  // namespace

absl::StatusOr<ReplayedRun> ReplayRun(const std::vector<flight::Event>& events,
                                      int threads) {
  const flight::Run& run = events[0].run();
  ThreadPool pool({.num_threads = threads});
  KILN_ASSIGN_OR_RETURN(const PreparedTasks tasks, PrepareAll(events, &pool));
  KILN_ASSIGN_OR_RETURN(std::unique_ptr<Database> database,
                        Database::InMemory());
  KILN_RETURN_IF_ERROR(AddEarlier(events, tasks, database.get()));
  KILN_ASSIGN_OR_RETURN(std::unique_ptr<Allocation> allocation,
                        MakeAllocation(run.allocation()));
  KILN_ASSIGN_OR_RETURN(std::unique_ptr<Objective> objective,
                        MakeObjective(run.objective()));
  FlightReplay replay(events);
  TuneAllOptions options = OptionsOf(run, replay);
  options.allocation = allocation.get();
  options.objective = objective.get();
  std::vector<ScheduledTask> scheduled;
  for (const auto& task : tasks) {
    scheduled.push_back({&task->task, task->guide.strategy.get()});
  }
  ReplayedRun result;
  KILN_ASSIGN_OR_RETURN(
      result.states,
      TuneAll(scheduled, options, database.get(), &replay, &replay));
  result.events = replay.compared();
  if (replay.at_end()) return result;
  return absl::FailedPreconditionError(
      "the search ends before its flight log does");
}

}  // namespace kiln
