#include "kiln/tools/tuning/view.h"

#include <google/protobuf/util/json_util.h>

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

class Text : public TuneView {
 public:
  explicit Text(bool is_terminal) : is_terminal_(is_terminal) {}

  void Start(const TuneTask& task, const std::string& target,
             const std::string& database, const TuneState& state) override {
    std::printf("tuning %s for %s\n", task.name.c_str(), target.c_str());
    if (state.trials_resumed > 0) {
      std::printf("resuming: %d trials are in %s\n",
                  static_cast<int>(state.trials_resumed), database.c_str());
    }
    std::fflush(stdout);
  }

  void Trial(const TuneState& state, const TuningRecord& record) override {
    if (is_terminal_) {
      std::printf("\r\033[K%s", ProgressLine(state).c_str());
      std::fflush(stdout);
      return;
    }
    const bool is_step =
        state.trials_done % 16 == 0 || state.trials_done == state.trials_total;
    if (is_step && record.verdict != Verdict::kScheduleRefused) {
      std::printf("%s\n", ProgressLine(state).c_str());
      std::fflush(stdout);
    }
  }

  void Done(const TuneState& state) override {
    if (is_terminal_) std::printf("\r\033[K");
    std::printf("%s", ResultTable(state).c_str());
    const std::string failures = FailureList(state);
    if (!failures.empty()) std::printf("failed: %s\n", failures.c_str());
    if (state.exhausted) std::printf("the space has no more programs\n");
    if (state.interrupted) std::printf("stopped before all trials were done\n");
    std::printf("%.2f s in all, %.2f s of it checking outputs\n", state.seconds,
                state.check_seconds);
    std::fflush(stdout);
  }

 private:
  const bool is_terminal_;
};

class Json : public TuneView {
 public:
  void Start(const TuneTask& task, const std::string& target,
             const std::string& database, const TuneState& state) override {
    tune::StartEvent event;
    event.set_event("start");
    event.set_task(task.name);
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

  void Done(const TuneState& state) override {
    tune::DoneEvent event;
    event.set_event("done");
    event.set_seconds(state.seconds);
    event.set_interrupted(state.interrupted);
    event.set_check_seconds(state.check_seconds);
    tune::TaskResult* task = event.add_tasks();
    task->set_name(state.task);
    task->set_flop(state.flop);
    task->set_latency_us(state.best_us());
    task->set_gflops(state.best_gflops());
    task->set_peak_share(state.peak_share());
    task->set_trials(static_cast<int>(state.trials_done));
    for (int i = 0; i < kNumVerdicts; ++i) {
      const auto verdict = static_cast<Verdict>(i);
      if (verdict == Verdict::kOk || state.counts[i] == 0) continue;
      (*task->mutable_failed())[std::string(VerdictName(verdict))] =
          static_cast<int>(state.counts[i]);
    }
    Print(event);
  }

 private:
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
  return absl::StrCat(line, TimeLeft(state));
}

std::string ResultTable(const TuneState& state) {
  std::string table =
      absl::StrFormat(" ID | %-28s | %12s | %9s | %12s | %6s | %s\n", "name",
                      "FLOP", "GFLOP/s", "latency (us)", "trials", "done");
  absl::StrAppendFormat(
      &table, "  0 | %-28s | %12.0f | %9.2f | %12.3f | %6d | %s\n", state.task,
      state.flop, state.best_gflops(), state.best_us(), state.trials_done,
      state.interrupted ? "stopped" : "yes");
  return table;
}

std::unique_ptr<TuneView> TextView(bool is_terminal) {
  return std::make_unique<Text>(is_terminal);
}

std::unique_ptr<TuneView> JsonView() { return std::make_unique<Json>(); }

}  // namespace kiln
