// Two runs of RunTuneAll, the second on what the first one found:
//
//   job        dense, of n rows, sizes n = 1, 16
//   first run  dense_n1, dense_n16: functions of known extents, a search each
//   carried    the few fastest traces of each, and the default schedule's, as
//              schedules of dense, which are checked and refused like others
//   second run dense_any_n1, dense_any_n16: dense itself, called with 1 and
//              with 16 rows; the space is a list of these traces, all measured
//   best       if n <= 4: one of them, else: another
//
// Jobs of known extents are in the first run only. Trials of both are records
// like any others: a run that was stopped goes on where it ended.
#include "kiln/tools/tuning/tune_sizes.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <limits>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "kiln/base/status_macros.h"
#include "kiln/base/thread_pool.h"
#include "kiln/ir/tensor/timed_size.h"
#include "kiln/ir/text/python/source.h"
#include "kiln/schedule/trace/carry_over.h"
#include "kiln/schedule/trace/print.h"
#include "kiln/search/database/by_size.h"
#include "kiln/search/database/database.h"
#include "kiln/search/database/lookup.h"
#include "kiln/search/measure/llvm_builder.h"
#include "kiln/search/task/open_tails.h"
#include "kiln/search/task/task_work.h"
#include "kiln/tools/support/default_schedule.h"
#include "kiln/tools/tuning/record_target.h"
#include "kiln/tools/tuning/save.h"
#include "kiln/tools/tuning/work_dir.h"
#include "kiln/vm/profile/machine_constants.h"

namespace kiln {
namespace {

// Schedules of each size that are timed at all sizes.
constexpr int64_t kCarriedOver = 4;
// Of the time, for the searches at single sizes.
constexpr double kFirstShare = 0.6;

// Passes on what both runs tell, up to their ends.
class BothRuns : public TuneView {
 public:
  explicit BothRuns(TuneView* view) : view_(view) {}
  void Limits(const RunLimits& limits) override { view_->Limits(limits); }
  void Start(const TuneTask& task, const std::string& target,
             const std::string& database, const TuneState& state) override {
    view_->Start(task, target, database, state);
  }
  void Refused(const TuneState& state,
               const std::vector<RuleRefusal>& refusals) override {
    view_->Refused(state, refusals);
  }
  void Picked(const std::vector<TuneState>& states, int task) override {
    view_->Picked(states, task);
  }
  void Found(const TuneTask& task, const TuneState& state, size_t programs,
             const std::vector<std::string>& notes) override {
    view_->Found(task, state, programs, notes);
  }
  void Trial(const TuneState& state, const TuningRecord& record) override {
    view_->Trial(state, record);
  }
  void Done(const TuneState& state) override { view_->Done(state); }
  void ComparingInModel() override { view_->ComparingInModel(); }
  void ComparedInModel(const RankedInModel& ranked) override {
    view_->ComparedInModel(ranked);
  }

 private:
  TuneView* view_;
};

// "n16", "n16_m4".
std::string SizeText(const Function& f, const DimSize& size) {
  const std::vector<Var> dims = SymbolicDims(f);
  std::string text;
  for (size_t i = 0; i < dims.size(); ++i) {
    absl::StrAppend(&text, i == 0 ? "" : "_", dims[i].name(), size[i]);
  }
  return text;
}

Module AtSize(Module module, const std::string& function, const DimSize& size) {
  Function* f = module.Find(function);
  *f = AtSize(*f, size);
  return module;
}

class SizesRun {
 public:
  SizesRun(const TuneAllRequest& request, TuneView* view)
      : request_(request), view_(view), both_(view) {}

  absl::StatusOr<std::vector<TuneOutcome>> Run() {
    KILN_RETURN_IF_ERROR(SearchSizes());
    if (request_.trials_per_task > 0 && !IsStopped()) {
      KILN_RETURN_IF_ERROR(TimeAtAllSizes());
    }
    std::vector<TuneState> states;
    for (size_t i = 0; i < request_.jobs.size(); ++i) {
      if (!request_.jobs[i].sizes.empty()) {
        KILN_RETURN_IF_ERROR(TakeBest(request_.jobs[i], &outcomes_[i]));
      }
      outcomes_[i].state.id = static_cast<int>(i);
      states.push_back(outcomes_[i].state);
    }
    view_->End(states);
    return std::move(outcomes_);
  }

 private:
  bool IsStopped() const { return request_.stop && request_.stop(); }

  double SecondsLeft() const {
    const std::chrono::duration<double> passed =
        std::chrono::steady_clock::now() - start_;
    return request_.max_seconds - passed.count();
  }

  absl::Status SearchSizes() {
    outcomes_.resize(request_.jobs.size());
    TuneAllRequest first = request_;
    first.max_seconds *= kFirstShare;
    first.model = nullptr;  // it has no size to run at
    first.jobs.clear();
    std::vector<size_t> places;  // of the request's jobs
    for (size_t i = 0; i < request_.jobs.size(); ++i) {
      for (TuneJob& job : JobsAtSizes(request_.jobs[i])) {
        first.jobs.push_back(std::move(job));
        places.push_back(i);
      }
    }
    KILN_ASSIGN_OR_RETURN(std::vector<TuneOutcome> outcomes,
                          RunTuneAll(first, &both_));
    for (size_t i = 0; i < places.size(); ++i) {
      outcomes_[places[i]] = std::move(outcomes[i]);
    }
    return absl::OkStatus();
  }

  static std::vector<TuneJob> JobsAtSizes(const TuneJob& job) {
    if (job.sizes.empty()) return {job};
    std::vector<TuneJob> jobs;
    const Function& f = *job.module.Find(job.function);
    for (const DimSize& size : job.sizes) {
      TuneJob& one = jobs.emplace_back(job);
      one.name = absl::StrCat(job.name, "_", SizeText(f, size));
      one.module = AtSize(job.module, job.function, size);
      one.weight = job.weight / static_cast<double>(job.sizes.size());
      one.sizes.clear();
    }
    return jobs;
  }

  absl::Status TimeAtAllSizes() {
    TuneAllRequest second = request_;
    second.jobs.clear();
    second.max_seconds = std::max(SecondsLeft(), 1.0);
    second.trials = std::numeric_limits<int64_t>::max();
    second.trials_per_task = second.trials;
    second.early_stopping = 0;
    second.guide.search = "grid";
    second.model = nullptr;
    std::vector<size_t> places;
    for (const size_t i : ByTime()) {
      KILN_ASSIGN_OR_RETURN(std::vector<TuneJob> jobs,
                            JobsAtAllSizes(request_.jobs[i]));
      for (TuneJob& job : jobs) {
        second.jobs.push_back(std::move(job));
        places.push_back(i);
      }
    }
    if (second.jobs.empty()) return absl::OkStatus();
    KILN_ASSIGN_OR_RETURN(std::vector<TuneOutcome> outcomes,
                          RunTuneAll(second, &both_));
    for (size_t i = 0; i < places.size(); ++i) {
      outcomes_[places[i]] = std::move(outcomes[i]);
    }
    return absl::OkStatus();
  }

  // The jobs with sizes, those first whose calls take most of the time.
  std::vector<size_t> ByTime() const {
    std::vector<size_t> jobs;
    for (size_t i = 0; i < request_.jobs.size(); ++i) {
      if (!request_.jobs[i].sizes.empty()) jobs.push_back(i);
    }
    const auto time = [&](size_t i) {
      return outcomes_[i].state.best_us() * request_.jobs[i].weight;
    };
    std::stable_sort(jobs.begin(), jobs.end(),
                     [&](size_t a, size_t b) { return time(a) > time(b); });
    return jobs;
  }

  absl::StatusOr<std::vector<TuneJob>> JobsAtAllSizes(const TuneJob& job) {
    KILN_ASSIGN_OR_RETURN(const std::vector<std::string> traces, Traces(job));
    std::string space;
    for (size_t i = 0; i < traces.size(); ++i) {
      absl::StrAppend(&space, i == 0 ? "" : "\n",
                      absl::StrReplaceAll(
                          traces[i], {{"def apply_trace(",
                                       absl::StrCat("def carried_", i, "(")}}));
    }
    std::vector<TuneJob> jobs;
    const Function& f = *job.module.Find(job.function);
    for (const DimSize& size : job.sizes) {
      if (traces.empty()) break;
      TuneJob& one = jobs.emplace_back(job);
      one.name = absl::StrCat(job.name, "_any_", SizeText(f, size));
      SetTimedSize(one.module.Find(job.function), size);
      SetTimedSizes(&one.module, job.sizes);
      one.space = python::Source("carried over", space);
      one.use_rules = false;
      one.sizes.clear();
    }
    return jobs;
  }

  // Schedules of the function at all sizes, all different; those that are
  // clumsy at borders only where there are no others.
  absl::StatusOr<std::vector<std::string>> Traces(const TuneJob& job) {
    KILN_ASSIGN_OR_RETURN(Database * database, OpenDatabase(job));
    std::vector<std::string> traces, clumsy;
    std::set<std::string> seen;
    const auto add = [&](const std::string& trace, const Function& f) {
      if (trace.empty() || !seen.insert(trace).second) return;
      const bool is_clumsy = HasTooManyTails(f) || MergesOpenAxes(f);
      (is_clumsy ? clumsy : traces).push_back(trace);
    };
    KILN_ASSIGN_OR_RETURN(const DefaultSchedule by_default, Default(job));
    add(by_default.trace, by_default.scheduled);
    for (const DimSize& size : job.sizes) {
      const Module at_size = AtSize(job.module, job.function, size);
      KILN_ASSIGN_OR_RETURN(
          const std::vector<BestProgram> best,
          FindBestAndFirst(*database, *at_size.Find(job.function),
                           RecordTarget(request_.target), kCarriedOver));
      for (const BestProgram& one : best) {
        const absl::StatusOr<CarriedOver> carried =
            CarryOver(one.record.trace, at_size, job.module);
        if (!carried.ok()) continue;
        // The module of a job has no other function.
        add(ToText(carried->trace), *carried->state.functions[0]);
      }
    }
    return traces.empty() ? clumsy : traces;
  }

  absl::StatusOr<DefaultSchedule> Default(const TuneJob& job) {
    return DefaultScheduleFor(job.module, job.function, request_.target);
  }

  absl::StatusOr<Database*> OpenDatabase(const TuneJob& job) {
    if (!database_) {
      KILN_ASSIGN_OR_RETURN(const WorkDir dir,
                            WorkDir::Open(request_.work_dir, job.name));
      KILN_ASSIGN_OR_RETURN(database_, Database::Open(dir.database()));
    }
    return database_.get();
  }

  // Looks the best program up, or takes the default one where nothing is
  // measured, and saves it.
  absl::Status TakeBest(const TuneJob& job, TuneOutcome* outcome) {
    outcome->best = Function();
    outcome->best_trace.clear();
    outcome->state.task = job.name;
    outcome->state.weight = job.weight;
    if (request_.trials_per_task == 0) {
      KILN_ASSIGN_OR_RETURN(DefaultSchedule best, Default(job));
      outcome->best = std::move(best.scheduled);
      outcome->best_trace = std::move(best.trace);
      return Save(job, outcome);
    }
    KILN_ASSIGN_OR_RETURN(Database * database, OpenDatabase(job));
    absl::StatusOr<BestProgram> best =
        FindBestBySize(*database, *job.module.Find(job.function),
                       RecordTarget(request_.target));
    if (absl::IsNotFound(best.status())) return absl::OkStatus();
    KILN_RETURN_IF_ERROR(best.status());
    outcome->best = std::move(best->scheduled);
    outcome->best_trace = best->record.trace;
    outcome->state.best = std::move(best->record);
    return Save(job, outcome);
  }

  absl::Status Save(const TuneJob& job, TuneOutcome* outcome) {
    KILN_ASSIGN_OR_RETURN(const WorkDir dir,
                          WorkDir::Open(request_.work_dir, job.name));
    outcome->database = dir.database();
    outcome->task_dir = dir.task_dir();
    LlvmBuilder builder(request_.target);
    return SaveBest(job.module, outcome->best, outcome->best_trace, dir,
                    /*measured=*/nullptr, builder, request_.target);
  }

  const TuneAllRequest& request_;
  TuneView* view_;
  BothRuns both_;
  const std::chrono::steady_clock::time_point start_ =
      std::chrono::steady_clock::now();
  std::unique_ptr<Database> database_;
  std::vector<TuneOutcome> outcomes_;
};

}  // namespace

absl::StatusOr<std::vector<TuneOutcome>> RunTuneSizes(
    const TuneAllRequest& request, TuneView* view) {
  const bool any_sizes =
      std::any_of(request.jobs.begin(), request.jobs.end(),
                  [](const TuneJob& job) { return !job.sizes.empty(); });
  if (!any_sizes) return RunTuneAll(request, view);
  if (!request.inputs.empty()) {
    return absl::InvalidArgumentError(
        "--input gives one size, and --bind others; leave one of them out");
  }
  return SizesRun(request, view).Run();
}

}  // namespace kiln
