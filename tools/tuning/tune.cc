// A run is made from the outside in. First what may fail or must come first:
// folders, worker processes (forked while there are no threads), database,
// lock, flight log. Then each job becomes a task with a space, a strategy and a
// cost model; the search is TuneAll's (search/task/scheduler.h); at the end
// each best program is replayed from its trace and saved.
//
//   job → PreparedTask → trials → state.best → best.py, trace.py, kernel.o
//
// With --trials 0 nothing is measured, and the trace is the analytic model's
// choice. Whatever is seen of the run goes through Progress: the view, tune.log
// and the file of records hear of the same trials. A failed write there ends
// the run with an error after the search, so that no trial is lost to it.
#include "kiln/tools/tuning/tune.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <set>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "kiln/base/status_macros.h"
#include "kiln/base/thread_pool.h"
#include "kiln/codegen/host/signature.h"
#include "kiln/search/database/database.h"
#include "kiln/search/database/lookup.h"
#include "kiln/search/database/record_file.h"
#include "kiln/search/measure/fault.h"
#include "kiln/search/measure/llvm_builder.h"
#include "kiln/search/measure/local_runner.h"
#include "kiln/search/measure/reference_task.h"
#include "kiln/search/space/trace_space.h"
#include "kiln/search/task/default_schedule.h"
#include "kiln/search/task/flight_log.h"
#include "kiln/search/task/measurer.h"
#include "kiln/search/task/scheduler.h"
#include "kiln/search/task/task_work.h"
#include "kiln/tools/support/arguments.h"
#include "kiln/tools/support/default_schedule.h"
#include "kiln/tools/tuning/prepare.h"
#include "kiln/tools/tuning/rank_in_model.h"
#include "kiln/tools/tuning/ranked_in_model.h"
#include "kiln/tools/tuning/save.h"
#include "kiln/tools/tuning/work_dir.h"
#include "kiln/vm/profile/machine_constants.h"

namespace kiln {
namespace {

bool EverySecond(int64_t call) { return call % 2 == 1; }

// All that a run stands on, in the order in which it has to be made: workers
// are forked before there are threads.
struct Bench {
  WorkDirLock lock;
  std::unique_ptr<LocalRunner> local;
  std::unique_ptr<FaultInjectingRunner> faulty;
  std::unique_ptr<Database> database;
  std::unique_ptr<RecordFile> records;  // null: none
  std::unique_ptr<FlightLog> flight;
  std::unique_ptr<LlvmBuilder> builder;
  std::unique_ptr<ThreadPool> pool;
  Machine machine;
  double peak_gflops = 0;
  Runner* runner = nullptr;
};

absl::StatusOr<Bench> MakeBench(const TuneAllRequest& request,
                                const WorkDir& dir) {
  Bench bench;
  KILN_ASSIGN_OR_RETURN(bench.local,
                        LocalRunner::Create({.stop = request.stop}));
  bench.runner = bench.local.get();
  if (request.inject_faults) {
    bench.faulty =
        std::make_unique<FaultInjectingRunner>(bench.local.get(), &EverySecond);
    bench.runner = bench.faulty.get();
  }
  KILN_ASSIGN_OR_RETURN(bench.database, Database::Open(dir.database()));
  if (!request.records.empty()) {
    KILN_ASSIGN_OR_RETURN(
        bench.records, RecordFile::Open(request.records, bench.database.get()));
  }
  bench.lock = WorkDirLock::Take(dir.path());
  std::string flight_log = dir.flight_log();
  if (const pid_t other = bench.lock.other(); other != 0) {
    flight_log = dir.flight_log(getpid());
    std::fprintf(stderr,
                 "tune: warning: process %d tunes in %s as well; both go on, "
                 "and their times may disturb each other; the flight log of "
                 "this one is %s\n",
                 static_cast<int>(other), dir.path().c_str(),
                 flight_log.c_str());
  }
  KILN_ASSIGN_OR_RETURN(bench.flight, FlightLog::Open(flight_log));
  bench.builder = std::make_unique<LlvmBuilder>(request.target);
  bench.machine = MeasuredMachine(request.target);
  bench.peak_gflops = PeakGflops(bench.machine, request.target.num_cores);
  bench.pool = std::make_unique<ThreadPool>();
  return bench;
}

// The trusted side of a task, on what the user gave or on random numbers.
absl::StatusOr<std::shared_ptr<const MeasureTask>> MakeData(
    const Function& f, const std::vector<std::string>& inputs, Bench& bench) {
  ReferenceOptions options;
  if (!inputs.empty()) {
    KILN_ASSIGN_OR_RETURN(const KernelSignature signature, MakeSignature(f));
    KILN_ASSIGN_OR_RETURN(const std::vector<PackedValue> args,
                          ArgumentsFor(f, signature, inputs, options.seed));
    KILN_ASSIGN_OR_RETURN(options.contents, ToContents(signature, args));
  }
  return MakeReferenceTask(f, *bench.builder, *bench.runner, options);
}

using PreparedTasks = std::vector<std::unique_ptr<PreparedTask>>;

absl::StatusOr<PreparedTasks> PrepareAll(const TuneAllRequest& request,
                                         Bench& bench) {
  PreparedTasks all;
  GuideOptions guide = request.guide;
  guide.stop = request.stop;
  for (const TuneJob& job : request.jobs) {
    KILN_ASSIGN_OR_RETURN(
        std::unique_ptr<PreparedTask> one,
        Prepare(job, request.target, guide, bench.machine, bench.pool.get()));
    one->task.peak_gflops = bench.peak_gflops;
    one->task.make_data = [prepared = one.get(), &request, &bench] {
      auto data = MakeData(prepared->function(), request.inputs, bench);
      if (data.ok()) prepared->grounds = (*data)->grounds();
      return data;
    };
    all.push_back(std::move(one));
  }
  return all;
}

// One line of the log for a trial.
std::string LogLine(const TuneState& state, const TuningRecord& record) {
  std::string line =
      absl::StrFormat("%8.3f s  trial %d  %s", state.seconds, state.trials_done,
                      std::string(VerdictName(record.verdict)));
  if (record.verdict == Verdict::kOk) {
    return absl::StrCat(
        line, absl::StrFormat("  %.3f us  ", record.latency_min_ns * 1e-3),
        RatesText(state, record.latency_min_ns), "  ", record.decisions);
  }
  absl::StrAppend(&line, "  ", record.reason);
  if (record.verdict == Verdict::kWrongResult) {
    absl::StrAppend(&line, "\n", record.trace);
  }
  return line;
}

// Shows what happens, and writes it down.
class Progress {
 public:
  Progress(const PreparedTasks& tasks, const std::vector<WorkDir>& dirs,
           const TuneAllRequest& request, RecordFile* records, TuneView* view)
      : tasks_(tasks),
        dirs_(dirs),
        request_(request),
        records_(records),
        view_(view) {}

  void operator()(const TuneState& state, const TuningRecord* record) {
    const WorkDir& dir = dirs_[state.id];
    if (started_.insert(state.id).second) {
      view_->Start(tasks_[state.id]->task, request_.target.ToString(),
                   dir.database(), state);
      TellRefusals(state, dir);
    }
    if (!record) return;
    view_->Trial(state, *record);
    if (log_status_.ok()) log_status_ = dir.Log(LogLine(state, *record));
    if (log_status_.ok() && records_) {
      log_status_ = records_->Append(tasks_[state.id]->task.workload, *record);
    }
  }

  // A later line of the same program counts.
  void Revised(const TuneState& state, const TuningRecord& record) {
    if (!records_ || !log_status_.ok()) return;
    log_status_ = records_->Append(tasks_[state.id]->task.workload, record);
  }

  const absl::Status& log_status() const { return log_status_; }

 private:
  // Schedules that are not there, since a step was refused to a rule.
  void TellRefusals(const TuneState& state, const WorkDir& dir) {
    const std::vector<RuleRefusal>& refusals =
        tasks_[state.id]->rule_log.refusals();
    view_->Refused(state, refusals);
    for (const RuleRefusal& refusal : refusals) {
      if (!log_status_.ok()) return;
      log_status_ = dir.Log(absl::StrCat("refused: ", ToLine(refusal)));
    }
  }

  const PreparedTasks& tasks_;
  const std::vector<WorkDir>& dirs_;
  const TuneAllRequest& request_;
  RecordFile* records_;
  TuneView* view_;
  std::set<int> started_;
  absl::Status log_status_;
};

flight::Event RunEvent(const TuneAllRequest& request,
                       const SessionOptions& session, const Bench& bench) {
  flight::Event event;
  flight::Run& run = *event.mutable_run();
  run.set_version(kFlightVersion);
  run.set_target(request.target.ToString());
  run.set_machine(MachineToJson(bench.machine));
  run.set_compiler(bench.builder->CompilerVersion());
  run.set_seed(request.guide.seed);
  run.set_search(request.guide.search);
  run.set_model(request.guide.model);
  run.set_allocation(request.allocation);
  run.set_objective(request.objective);
  run.set_trials_per_task(session.trials);
  run.set_trials(request.trials);
  run.set_early_stopping(session.early_stopping);
  run.set_batch(session.batch);
  run.set_finalists(session.finalists);
  return event;
}

flight::Event TaskEvent(int id, const TuneJob& job, const TuneTask& task) {
  flight::Event event;
  flight::Task& log = *event.mutable_task();
  log.set_id(id);
  log.set_name(job.name);
  log.set_module(task.workload.text);
  log.set_function(job.function);
  log.set_weight(job.weight);
  if (job.space) {
    log.set_space_name(job.space->name());
    log.set_space(job.space->text());
  }
  log.set_rules(!job.space || job.use_rules);
  log.set_key(task.workload.key);
  log.set_target(task.target);
  return event;
}

absl::Status LogBegin(const TuneAllRequest& request,
                      const SessionOptions& session, const PreparedTasks& tasks,
                      Bench& bench) {
  KILN_RETURN_IF_ERROR(bench.flight->Write(RunEvent(request, session, bench)));
  for (size_t i = 0; i < tasks.size(); ++i) {
    KILN_RETURN_IF_ERROR(bench.flight->Write(
        TaskEvent(static_cast<int>(i), request.jobs[i], tasks[i]->task)));
  }
  return absl::OkStatus();
}

// Of the run, for a comparison in the model.
double SecondsInModel(const TuneAllRequest& request) {
  constexpr double kShare = 0.2, kMost = 60;
  return request.model ? std::min(request.max_seconds * kShare, kMost) : 0;
}

absl::StatusOr<std::vector<TuneState>> Search(const TuneAllRequest& request,
                                              const PreparedTasks& tasks,
                                              Progress& progress,
                                              TuneView* view, Bench& bench) {
  KILN_ASSIGN_OR_RETURN(std::unique_ptr<Allocation> allocation,
                        MakeAllocation(request.allocation));
  KILN_ASSIGN_OR_RETURN(std::unique_ptr<Objective> objective,
                        MakeObjective(request.objective));
  TuneAllOptions options;
  options.session.trials = request.trials_per_task;
  options.session.seed = request.guide.seed;
  options.session.early_stopping = request.early_stopping;
  options.session.stop = request.stop;
  options.session.progress = [&](const TuneState& state,
                                 const TuningRecord* record) {
    progress(state, record);
  };
  options.session.revised = [&](const TuneState& state,
                                const TuningRecord& record) {
    progress.Revised(state, record);
  };
  options.session.found = [&](const TuneState& state, const SearchBatch& batch,
                              const std::vector<std::string>& notes) {
    view->Found(tasks[state.id]->task, state, batch.candidates.size(), notes);
  };
  options.trials = request.trials;
  options.max_seconds = request.max_seconds - SecondsInModel(request);
  options.allocation = allocation.get();
  options.objective = objective.get();
  options.picked = [&](const std::vector<TuneState>& states, int picked) {
    view->Picked(states, picked);
  };
  view->Limits({request.trials, request.max_seconds});
  KILN_RETURN_IF_ERROR(LogBegin(request, options.session, tasks, bench));
  std::vector<ScheduledTask> scheduled;
  for (const auto& one : tasks) {
    scheduled.push_back({&one->task, one->guide.strategy.get()});
  }
  LiveMeasurer measurer(bench.builder.get(), bench.runner);
  return TuneAll(scheduled, options, bench.database.get(), &measurer,
                 bench.flight.get());
}

// What was compared of a task goes to the file of records, and the best into
// its state.
absl::Status TakeRanks(const PreparedTask& task, Bench& bench,
                       Progress& progress, TuneState* state) {
  KILN_ASSIGN_OR_RETURN(
      const std::vector<BestProgram> best,
      FindBestAndFirst(*bench.database, task.function(), task.task.target,
                       RankInModelRequest().schedules));
  if (best.empty()) return absl::OkStatus();
  for (const BestProgram& one : best) progress.Revised(*state, one.record);
  if (state->best && state->best->id != best[0].record.id) {
    state->best_kernel.reset();
  }
  state->best = best[0].record;
  return absl::OkStatus();
}

absl::Status CompareInModel(const TuneAllRequest& request,
                            const PreparedTasks& tasks, Progress& progress,
                            TuneView* view, Bench& bench,
                            std::vector<TuneState>* states) {
  if (!request.model || (request.stop && request.stop())) {
    return absl::OkStatus();
  }
  view->ComparingInModel();
  KILN_ASSIGN_OR_RETURN(const RankedInModel ranked,
                        RankInModel(*request.model, *bench.database,
                                    {.target = request.target,
                                     .seconds = SecondsInModel(request),
                                     .stop = request.stop}));
  view->ComparedInModel(ranked);
  if (!ranked.skipped.empty()) return absl::OkStatus();
  for (size_t i = 0; i < tasks.size(); ++i) {
    KILN_RETURN_IF_ERROR(TakeRanks(*tasks[i], bench, progress, &(*states)[i]));
  }
  return absl::OkStatus();
}

absl::Status WriteBest(const PreparedTask& task, const WorkDir& dir,
                       Bench& bench, const Target& target, TuneOutcome* tuned) {
  const Module& module = task.space->module();
  int index = 0;
  while (&module.functions[index] != &task.function()) ++index;
  KILN_ASSIGN_OR_RETURN(tuned->best,
                        ReplayTrace(module, index, tuned->best_trace));
  return SaveBest(module, tuned->best, tuned->best_trace, dir,
                  tuned->state.best_kernel.get(), *bench.builder, target);
}

// Writes what the run found for a task.
absl::Status Save(const PreparedTask& task, const WorkDir& dir, Bench& bench,
                  const Target& target, TuneOutcome* outcome) {
  outcome->database = dir.database();
  outcome->task_dir = dir.task_dir();
  if (const CostModel* model = task.guide.model.get()) {
    KILN_RETURN_IF_ERROR(model->Save(dir.File("model")));
  }
  if (outcome->state.best) {
    outcome->best_trace = outcome->state.best->trace;
  } else if (outcome->state.trials_total == 0) {
    KILN_ASSIGN_OR_RETURN(
        DefaultSchedule best,
        BestEstimated(*task.space, bench.machine, task.task.num_threads,
                      bench.pool.get(),
                      DefaultOptions(bench.machine, task.task.num_threads)));
    outcome->best_trace = std::move(best.trace);
  } else {
    return absl::OkStatus();
  }
  return WriteBest(task, dir, bench, target, outcome);
}

absl::StatusOr<std::vector<WorkDir>> OpenDirs(const TuneAllRequest& request) {
  if (request.jobs.empty()) {
    return absl::InvalidArgumentError("there is no function to tune");
  }
  if (!request.inputs.empty() && request.jobs.size() > 1) {
    return absl::InvalidArgumentError(
        "--input is for one function; choose it with --func");
  }
  std::vector<WorkDir> dirs;
  for (const TuneJob& job : request.jobs) {
    KILN_ASSIGN_OR_RETURN(WorkDir dir,
                          WorkDir::Open(request.work_dir, job.name));
    dirs.push_back(std::move(dir));
  }
  return dirs;
}

}  // namespace

absl::StatusOr<std::vector<TuneOutcome>> RunTuneAll(
    const TuneAllRequest& request, TuneView* view) {
  KILN_RETURN_IF_ERROR(CheckRunsHere(request.target));
  KILN_ASSIGN_OR_RETURN(std::vector<WorkDir> dirs, OpenDirs(request));
  KILN_ASSIGN_OR_RETURN(Bench bench, MakeBench(request, dirs[0]));
  KILN_ASSIGN_OR_RETURN(PreparedTasks tasks, PrepareAll(request, bench));
  Progress progress(tasks, dirs, request, bench.records.get(), view);
  KILN_ASSIGN_OR_RETURN(std::vector<TuneState> states,
                        Search(request, tasks, progress, view, bench));
  KILN_RETURN_IF_ERROR(progress.log_status());
  if (states.size() == 1 && !states[0].gave_up.empty()) {
    return absl::FailedPreconditionError(states[0].gave_up);
  }
  KILN_RETURN_IF_ERROR(
      CompareInModel(request, tasks, progress, view, bench, &states));
  KILN_RETURN_IF_ERROR(progress.log_status());
  std::vector<TuneOutcome> outcomes(tasks.size());
  for (size_t i = 0; i < tasks.size(); ++i) {
    states[i].grounds = tasks[i]->grounds;
    outcomes[i].state = states[i];
    KILN_RETURN_IF_ERROR(
        Save(*tasks[i], dirs[i], bench, request.target, &outcomes[i]));
    view->Done(states[i]);
  }
  view->End(states);
  return outcomes;
}

absl::StatusOr<TuneOutcome> RunTune(const TuneRequest& request,
                                    TuneView* view) {
  TuneAllRequest all;
  all.jobs = {{.name = request.name,
               .module = request.module,
               .function = request.function,
               .space = request.space,
               .use_rules = request.use_rules}};
  all.target = request.target;
  all.trials_per_task = request.trials;
  all.guide = request.guide;
  all.max_seconds = request.max_seconds;
  all.work_dir = request.work_dir;
  all.stop = request.stop;
  all.inject_faults = request.inject_faults;
  KILN_ASSIGN_OR_RETURN(std::vector<TuneOutcome> outcomes,
                        RunTuneAll(all, view));
  return std::move(outcomes[0]);
}

Module Assemble(const Module& module, const std::vector<TuneJob>& jobs,
                const std::vector<TuneOutcome>& outcomes) {
  Module best = module;
  for (size_t i = 0; i < jobs.size(); ++i) {
    if (outcomes[i].best_trace.empty()) continue;
    std::vector<std::string> names = jobs[i].same;
    names.push_back(jobs[i].function);
    for (const std::string& name : names) {
      Function* function = best.Find(name);
      if (!function) continue;
      const AttrMap attrs = function->attrs;
      *function = outcomes[i].best;
      function->name = name;
      function->attrs = attrs;
    }
  }
  return best;
}

}  // namespace kiln
