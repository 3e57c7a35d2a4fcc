#include "kiln/tools/tuning/view.h"

#include <google/protobuf/util/json_util.h>

#include <algorithm>
#include <cstdio>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "kiln/search/database/verdict.h"
#include "kiln/tools/tuning/event.pb.h"

namespace kiln {
namespace {

// "3 crash, 1 timeout": what failed, by cause; empty when nothing did.
std::string FailureList(const TuneState& state) {
  std::string list;
  for (int i = 0; i < kNumVerdicts; ++i) {
    const auto verdict = static_cast<Verdict>(i);
    if (verdict == Verdict::kOk || state.counts[i] == 0) continue;
    absl::StrAppend(&list, list.empty() ? "" : ", ", state.counts[i], " ",
                    std::string(VerdictName(verdict)));
  }
  return list;
}

std::string TimeLeft(const TuneState& state) {
  const int64_t done = state.trials_done - state.trials_resumed;
  const int64_t left = state.trials_total - state.trials_done;
  if (done <= 0 || left <= 0) return "";
  return absl::StrFormat(", %.0f s left", state.seconds / done * left);
}

std::string ProgressLine(const TuneState& state, bool with_time_left) {
  std::string line =
      absl::StrFormat("trials %d/%d", state.trials_done, state.trials_total);
  const std::string failures = FailureList(state);
  if (!failures.empty()) absl::StrAppend(&line, ", ", failures);
  if (state.best) {
    absl::StrAppendFormat(&line, ", best %.1f GFLOP/s", state.best_gflops());
    if (state.peak_gflops > 0) {
      absl::StrAppendFormat(&line, " (%.1f %% of peak)",
                            100 * state.peak_share());
    }
  }
  return with_time_left ? absl::StrCat(line, TimeLeft(state)) : line;
}

class Text : public TuneView {
 public:
  Text(bool is_terminal, bool quiet)
      : is_terminal_(is_terminal), quiet_(quiet) {}

  void Start(const TuneTask& task, const std::string& target,
             const std::string& database, const TuneState& state) override {
    if (quiet_) return;
    std::printf("tuning %s for %s\n", task.name.c_str(), target.c_str());
    if (state.trials_resumed > 0) {
      std::printf("resuming: %d trials are in %s\n",
                  static_cast<int>(state.trials_resumed), database.c_str());
    }
    std::fflush(stdout);
  }

  void Picked(const std::vector<TuneState>& states, int task) override {
    if (states.size() < 2) return;
    prefix_ =
        absl::StrFormat("#%d %s%s: ", task, states[task].task, AllLeft(states));
  }

  void Trial(const TuneState& state, const TuningRecord& record) override {
    if (quiet_) return;
    const std::string line = prefix_ + ProgressLine(state, prefix_.empty());
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

  void End(const std::vector<TuneState>& states) override {
    if (is_terminal_) std::printf("\r\033[K");
    std::printf("%s", ResultTable(states).c_str());
    double seconds = 0, check_seconds = 0;
    for (const TuneState& state : states) {
      PrintNotes(states.size() > 1 ? state.task + ": " : "", state);
      seconds = std::max(seconds, state.seconds);
      check_seconds += state.check_seconds;
    }
    std::printf("%.2f s in all, %.2f s of it checking outputs\n", seconds,
                check_seconds);
    std::fflush(stdout);
  }

 private:
  static void PrintNotes(const std::string& prefix, const TuneState& state) {
    const auto print = [&](const std::string& note) {
      std::printf("%s%s\n", prefix.c_str(), note.c_str());
    };
    const std::string failures = FailureList(state);
    if (!failures.empty()) print("failed: " + failures);
    if (!state.gave_up.empty()) print(state.gave_up);
    if (!state.grounds.empty()) print("outputs: " + state.grounds);
    if (state.exhausted) print("the space has no more programs");
    if (state.interrupted) print("stopped before all trials were done");
  }

  // Of all tasks: ", 320/3328 trials, 210 s left".
  static std::string AllLeft(const std::vector<TuneState>& states) {
    int64_t done = 0, fresh = 0, total = 0;
    double seconds = 0;
    for (const TuneState& state : states) {
      done += state.trials_done;
      fresh += state.trials_done - state.trials_resumed;
      total += state.finished ? state.trials_done : state.trials_total;
      seconds = std::max(seconds, state.seconds);
    }
    std::string text = absl::StrFormat(", %d/%d trials in all", done, total);
    if (fresh > 0) {
      absl::StrAppendFormat(&text, ", %.0f s left",
                            seconds / fresh * (total - done));
    }
    return text;
  }

  const bool is_terminal_, quiet_;
  std::string prefix_;
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
      event.set_gflops(state.flop / record.latency_min_ns);
    }
    event.set_best_latency_us(state.best_us());
    event.set_best_gflops(state.best_gflops());
    event.set_seconds(state.seconds);
    Print(event);
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
    google::protobuf::util::JsonPrintOptions options;
    options.always_print_primitive_fields = true;
    options.preserve_proto_field_names = true;
    std::string line;
    const auto status =
        google::protobuf::util::MessageToJsonString(message, &line, options);
    if (!status.ok()) line = "{\"event\":\"error\"}";
    std::printf("%s\n", line.c_str());
    std::fflush(stdout);
  }
};

}  // namespace

std::string ProgressLine(const TuneState& state) {
  return ProgressLine(state, true);
}

std::unique_ptr<TuneView> TextView(bool is_terminal, bool quiet) {
  return std::make_unique<Text>(is_terminal, quiet);
}

std::unique_ptr<TuneView> JsonView() { return std::make_unique<Json>(); }

}  // namespace kiln
