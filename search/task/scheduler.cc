// One loop: ask why to stop, ask the allocation for the next task, let its
// session measure a batch, tell the allocation what became of its best. The
// flight log of two tasks reads
//
//   pick 0   results ..     each task has a first batch,
//   pick 1   results ..     then whichever promises most
//   pick 1   results ..
//   stop "trials"
//
// Sessions know nothing of each other; budgets are kept here. The tasks that
// had no batch share the remaining trials. With several tasks a limit of time
// keeps back what the comparison of the finalists will take, up to a fifth of
// it. An interrupt skips these comparisons, so that the process ends soon.
#include "kiln/search/task/scheduler.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>

#include "kiln/base/status_macros.h"

namespace kiln {
namespace {

class Run {
 public:
  Run(absl::Span<const ScheduledTask> tasks, const TuneAllOptions& options,
      const Allocation& allocation, const Objective& objective,
      SessionParts parts)
      : options_(options),
        session_options_(options.session),
        allocation_(allocation),
        objective_(objective),
        parts_(std::move(parts)) {
    session_options_.stop = [this] { return Stopped() || TimeUp(); };
    for (size_t i = 0; i < tasks.size(); ++i) {
      sessions_.push_back(std::make_unique<Session>(
          static_cast<int>(i), *tasks[i].task, *tasks[i].strategy,
          session_options_, parts_));
      progress_.push_back({tasks[i].task->weight});
      over_.push_back(false);
    }
  }

  absl::StatusOr<std::vector<TuneState>> Go() {
    for (size_t i = 0; i < sessions_.size(); ++i) {
      KILN_RETURN_IF_ERROR(sessions_[i]->Resume());
      measured_ += sessions_[i]->state().trials_done;
      Look(i);
    }
    std::string why;
    while (why = WhyStop(), why.empty()) {
      const int next = allocation_.Next(progress_, objective_);
      KILN_RETURN_IF_ERROR(Step(next));
    }
    flight::Event event;
    event.mutable_stop()->set_why(why);
    KILN_RETURN_IF_ERROR(parts_.Log(std::move(event)));
    KILN_RETURN_IF_ERROR(End(why == "interrupt"));
    return States();
  }

 private:
  bool Stopped() {
    interrupted_ =
        interrupted_ || (options_.session.stop && options_.session.stop());
    return interrupted_;
  }

  bool TimeUp() const {
    if (options_.time_up) return options_.time_up();
    return parts_.Seconds() + Reserve() > options_.max_seconds;
  }

  // The stages of comparing the best of the unfinished tasks, one for each
  // halving. Of a single task it takes no notable part of the time.
  int64_t Stages() const {
    int64_t stages = 0;
    for (size_t i = 0; i < sessions_.size(); ++i) {
      if (sessions_.size() < 2 || over_[i]) continue;
      for (int64_t n = sessions_[i]->num_finalists(); n > 1; n /= 2) ++stages;
    }
    return stages;
  }

  // What they will take: a part of the time at most.
  double Reserve() const {
    return std::min(
        static_cast<double>(Stages()) * options_.session.turns.stage_seconds,
        0.2 * options_.max_seconds);
  }

  // Of the time that remains, what one of them may take.
  double StageSeconds() const {
    constexpr double kLeast = 0.03;
    const double most = options_.session.turns.stage_seconds;
    const int64_t stages = Stages();
    if (stages == 0) return most;
    return std::min(most,
                    std::max(kLeast, (options_.max_seconds - parts_.Seconds()) /
                                         static_cast<double>(stages)));
  }

  // Empty: go on.
  std::string WhyStop() {
    if (Stopped()) return "interrupt";
    if (allocation_.Next(progress_, objective_) < 0) return "done";
    if (measured_ >= options_.trials) return "trials";
    return TimeUp() ? "time" : "";
  }

  absl::Status Step(int next) {
    flight::Event event;
    event.mutable_pick()->set_task(next);
    KILN_RETURN_IF_ERROR(parts_.Log(std::move(event)));
    if (options_.picked) options_.picked(States(), next);
    Session& session = *sessions_[next];
    const int64_t before = session.state().trials_done;
    KILN_RETURN_IF_ERROR(session.Step(MostTrials(next)));
    measured_ += session.state().trials_done - before;
    ++progress_[next].batches;
    Look(next);
    if (!session.state().finished || Stopped()) return absl::OkStatus();
    over_[next] = true;
    return session.Finish();
  }

  // What a step may measure. Where no more trials are left than the tasks that
  // had no batch take, each of those gets its part.
  int64_t MostTrials(int task) const {
    const int64_t left = options_.trials - measured_;
    if (progress_[task].batches > 0) return left;
    int64_t waiting = 0;
    for (const TaskProgress& one : progress_) {
      waiting += !one.finished && one.batches == 0;
    }
    return std::max<int64_t>(1, left / std::max<int64_t>(1, waiting));
  }

  // Brings what the allocation sees of a task up to date.
  void Look(size_t i) {
    progress_[i].finished = sessions_[i]->state().finished;
    progress_[i].best.clear();
    for (double ns : sessions_[i]->history()) {
      progress_[i].best.push_back(ns * 1e-9);
    }
  }

  absl::Status End(bool interrupted) {
    for (size_t i = 0; i < sessions_.size(); ++i) {
      if (over_[i]) continue;
      if (interrupted) sessions_[i]->Interrupt();
      session_options_.turns.stage_seconds = StageSeconds();
      KILN_RETURN_IF_ERROR(interrupted ? sessions_[i]->Abandon()
                                       : sessions_[i]->Finish());
      over_[i] = true;
    }
    return absl::OkStatus();
  }

  std::vector<TuneState> States() const {
    std::vector<TuneState> states;
    for (const auto& session : sessions_) states.push_back(session->state());
    return states;
  }

  const TuneAllOptions& options_;
  SessionOptions session_options_;
  const Allocation& allocation_;
  const Objective& objective_;
  const SessionParts parts_;
  std::vector<std::unique_ptr<Session>> sessions_;
  std::vector<TaskProgress> progress_;
  std::vector<bool> over_;  // finished, and its best compared
  int64_t measured_ = 0;    // by earlier runs, too
  bool interrupted_ = false;
};

}  // namespace

absl::StatusOr<std::vector<TuneState>> TuneAll(
    absl::Span<const ScheduledTask> tasks, const TuneAllOptions& options,
    Database* database, Measurer* measurer, FlightSink* flight) {
  KILN_ASSIGN_OR_RETURN(std::unique_ptr<Allocation> allocation,
                        MakeAllocation("gradient"));
  KILN_ASSIGN_OR_RETURN(std::unique_ptr<Objective> objective,
                        MakeObjective("weighted-sum"));
  Run run(tasks, options,
          options.allocation ? *options.allocation : *allocation,
          options.objective ? *options.objective : *objective,
          {database, measurer, flight, std::chrono::steady_clock::now()});
  return run.Go();
}

}  // namespace kiln
