// Views are told of a run as it goes on, and print; none of them decides
// anything. Text writes one line over and over on a terminal, and one line for
// 16 trials elsewhere:
//
//   tuning gmm:512,512,512 for llvm ..
//   (the line of progress.h)
//   (at the end: ResultTable, a note for whatever a reader should know)
//
// Json prints each event as a message of event.proto, with fields of value 0,
// so that readers need no defaults:
// {"event":"trial","id":0,"task":"gmm:..",..}. What is shown in a new place
// needs a method of TuneView with an empty body, so that the other views stay
// as they are.
#include "kiln/tools/tuning/view.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "kiln/base/check.h"
#include "kiln/base/json.h"
#include "kiln/search/database/verdict.h"
#include "kiln/search/task/task_work.h"
#include "kiln/tools/tuning/event.pb.h"

namespace kiln {
namespace {

// Of the terminal, or of what a plain line should fit in. The last column stays
// free, since some terminals go to the next line there.
size_t Columns(bool is_terminal) {
  winsize size = {};
  const bool known = is_terminal &&
                     ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 &&
                     size.ws_col > 0;
  return known ? size.ws_col - 1 : 79;
}

class Text : public TuneView {
 public:
  Text(bool is_terminal, bool quiet)
      : is_terminal_(is_terminal), quiet_(quiet) {}

  void Limits(const RunLimits& limits) override { limits_ = limits; }

  void Start(const TuneTask& task, const std::string& target,
             const std::string& database, const TuneState& state) override {
    Keep(state);
    if (quiet_) return;
    std::printf("tuning %s for %s\n", task.name.c_str(), target.c_str());
    if (state.trials_resumed > 0) {
      std::printf("resuming: %d trials are in %s\n",
                  static_cast<int>(state.trials_resumed), database.c_str());
    }
    std::fflush(stdout);
  }

  void Trial(const TuneState& state, const TuningRecord& record) override {
    if (quiet_) return;
    Keep(state);
    const std::string line =
        ProgressLine(states_, state.id, limits_, Columns(is_terminal_));
    if (is_terminal_) {
      std::printf("\r\033[K%s", line.c_str());
      std::fflush(stdout);
      return;
    }
    const bool is_step =
        state.trials_done % 16 == 0 || state.trials_done == state.trials_total;
    if (is_step && record.verdict != Verdict::kScheduleRefused) {
      std::printf("%s\n", line.c_str());
      std::fflush(stdout);
    }
  }

  void Done(const TuneState&) override {}

  void ComparingInModel() override {
    if (quiet_) return;
    std::printf("%scomparing the fastest schedules in the model\n",
                is_terminal_ ? "\r\033[K" : "");
    std::fflush(stdout);
  }

  void ComparedInModel(const RankedInModel& ranked) override {
    in_model_ = ToString(ranked);
  }

  void End(const std::vector<TuneState>& states) override {
    if (is_terminal_) std::printf("\r\033[K");
    std::printf("%s", ResultTable(states).c_str());
    double seconds = 0, check_seconds = 0;
    for (const TuneState& state : states) {
      PrintNotes(states.size() > 1 ? state.task + ": " : "", state);
      seconds = std::max(seconds, state.seconds);
      check_seconds += state.check_seconds;
    }
    if (!in_model_.empty()) std::printf("%s\n", in_model_.c_str());
    std::printf("%.2f s in all, %.2f s of it checking outputs\n", seconds,
                check_seconds);
    std::fflush(stdout);
  }

 private:
  static void PrintNotes(const std::string& prefix, const TuneState& state) {
    const auto print = [&](const std::string& note) {
      std::printf("%s%s\n", prefix.c_str(), note.c_str());
    };
    const std::string work = WorkNotes(state);
    if (!work.empty()) print(work);
    const std::string failures = FailureList(state);
    if (!failures.empty()) print("failed: " + failures);
    if (!state.gave_up.empty()) print(state.gave_up);
    if (!state.grounds.empty()) print("outputs: " + state.grounds);
    if (state.exhausted) print("the space has no more programs");
    if (state.interrupted) print("stopped before all trials were done");
  }

  void Keep(const TuneState& state) {
    const auto count = static_cast<size_t>(state.id) + 1;
    if (states_.size() < count) states_.resize(count);
    states_[state.id] = state;
  }

  const bool is_terminal_, quiet_;
  RunLimits limits_;
  std::string in_model_;
  std::vector<TuneState> states_;  // of all tasks, as they were last seen
};

class Json : public TuneView {
 public:
  void Start(const TuneTask& task, const std::string& target,
             const std::string& database, const TuneState& state) override {
    tune::StartEvent event;
    event.set_event("start");
    event.set_id(state.id);
    event.set_task(task.name);
    event.set_weight(task.weight);
    event.set_target(target);
    event.set_flop(task.flop);
    event.set_flop_as_written(task.flop_as_written);
    event.set_bytes(task.bytes);
    event.set_normwise(task.normwise);
    event.set_peak_gflops(task.peak_gflops);
    event.set_trials(static_cast<int>(state.trials_total));
    event.set_resumed(static_cast<int>(state.trials_resumed));
    event.set_database(database);
    Print(event);
  }

  void Trial(const TuneState& state, const TuningRecord& record) override {
    tune::TrialEvent event;
    event.set_event("trial");
    event.set_id(state.id);
    event.set_task(state.task);
    event.set_trial(static_cast<int>(state.trials_done));
    event.set_verdict(std::string(VerdictName(record.verdict)));
    event.set_program(record.program_hash);
    event.set_reason(record.reason);
    event.set_latency_us(record.latency_min_ns * 1e-3);
    if (record.latency_min_ns > 0) {
      event.set_gflops(state.Gflops(record.latency_min_ns));
      event.set_gb_per_s(state.Gbs(record.latency_min_ns));
    }
    event.set_best_latency_us(state.best_us());
    event.set_best_gflops(state.best_gflops());
    event.set_seconds(state.seconds);
    Print(event);
  }

  void Refused(const TuneState& state,
               const std::vector<RuleRefusal>& refusals) override {
    for (const RuleRefusal& refusal : refusals) {
      tune::RefusalEvent event;
      event.set_event("refusal");
      event.set_id(state.id);
      event.set_task(state.task);
      event.set_rule(refusal.rule);
      event.set_block(refusal.block);
      event.set_attempt(refusal.attempt);
      event.set_reason(refusal.reason);
      event.set_goes_on(refusal.goes_on);
      event.set_times(refusal.times);
      Print(event);
    }
  }

  void Picked(const std::vector<TuneState>& states, int task) override {
    tune::PickEvent event;
    event.set_event("pick");
    event.set_id(task);
    event.set_task(states[task].task);
    event.set_seconds(states[task].seconds);
    Print(event);
  }

  void Done(const TuneState&) override {}

  void ComparedInModel(const RankedInModel& ranked) override {
    tune::InModelEvent event;
    event.set_event("in_model");
    event.set_skipped(ranked.skipped);
    event.set_functions(ranked.functions);
    event.set_changed(ranked.changed);
    event.set_before_us(ranked.before_s * 1e6);
    event.set_after_us(ranked.after_s * 1e6);
    Print(event);
  }

  void End(const std::vector<TuneState>& states) override {
    tune::DoneEvent event;
    event.set_event("done");
    for (const TuneState& state : states) {
      event.set_seconds(std::max(event.seconds(), state.seconds));
      event.set_interrupted(event.interrupted() || state.interrupted);
      event.set_check_seconds(event.check_seconds() + state.check_seconds);
      event.set_total_latency_us(event.total_latency_us() +
                                 state.weight * state.best_us());
      *event.add_tasks() = ResultOf(state);
    }
    Print(event);
  }

 private:
  static tune::TaskResult ResultOf(const TuneState& state) {
    tune::TaskResult task;
    task.set_id(state.id);
    task.set_name(state.task);
    task.set_flop(state.flop);
    task.set_weight(state.weight);
    task.set_latency_us(state.best_us());
    task.set_gflops(state.best_gflops());
    task.set_flop_as_written(state.flop_as_written);
    task.set_bytes(state.bytes);
    task.set_gb_per_s(state.best_gbs());
    task.set_normwise(state.normwise);
    task.set_peak_share(state.peak_share());
    task.set_trials(static_cast<int>(state.trials_done));
    task.set_done(state.finished);
    task.set_gave_up(state.gave_up);
    task.set_grounds(state.grounds);
    for (int i = 0; i < kNumVerdicts; ++i) {
      const auto verdict = static_cast<Verdict>(i);
      if (verdict == Verdict::kOk || state.counts[i] == 0) continue;
      (*task.mutable_failed())[std::string(VerdictName(verdict))] =
          static_cast<int>(state.counts[i]);
    }
    return task;
  }

  static void Print(const google::protobuf::Message& message) {
    const absl::StatusOr<std::string> line =
        ToJson(message, JsonDefaults::kWritten);
    KILN_CHECK(line.ok()) << line.status().message();
    std::printf("%s\n", line->c_str());
    std::fflush(stdout);
  }
};

}  // namespace

std::unique_ptr<TuneView> TextView(bool is_terminal, bool quiet) {
  return std::make_unique<Text>(is_terminal, quiet);
}

std::unique_ptr<TuneView> JsonView() { return std::make_unique<Json>(); }

}  // namespace kiln
