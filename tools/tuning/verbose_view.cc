#include <chrono>
#include <cstdio>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "kiln/search/database/verdict.h"
#include "kiln/tools/tuning/view.h"

namespace kiln {
namespace {

void Header(const char* title) {
  const std::string rule(70, '-');
  std::printf("%s\n------------------------------  [ %s ]\n%s\n", rule.c_str(),
              title, rule.c_str());
}

// Seconds since the epoch.
double Now() {
  return std::chrono::duration<double>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

class Verbose : public TuneView {
 public:
  void Start(const TuneTask& task, const std::string& target,
             const std::string& database, const TuneState& state) override {
    std::printf("Task %d: %s (weight %g) for %s\n", state.id, task.name.c_str(),
                task.weight, target.c_str());
    if (state.trials_resumed > 0) {
      std::printf("Loaded %d measurement records from %s for %s\n",
                  static_cast<int>(state.trials_resumed), database.c_str(),
                  task.name.c_str());
    }
    std::fflush(stdout);
  }

  void Refused(const TuneState&,
               const std::vector<RuleRefusal>& refusals) override {
    for (const RuleRefusal& refusal : refusals) {
      std::printf("Refused: %s\n", ToLine(refusal).c_str());
    }
    std::fflush(stdout);
  }

  void Picked(const std::vector<TuneState>& states, int task) override {
    started_ = states[task].seconds;
    if (states.size() < 2) return;
    std::printf("%sTask scheduler picks #%d: %s\n", ResultTable(states).c_str(),
                task, states[task].task.c_str());
  }

  void Found(const TuneTask& task, const TuneState& state, size_t programs,
             const std::vector<std::string>& notes) override {
    Header("Search");
    std::printf("Generate Sketches\t\t#s: %zu\n", task.space->size());
    for (size_t i = 0; i < notes.size(); ++i) {
      const bool is_last = i + 1 == notes.size();
      std::printf("%s%s\n", notes[i].c_str(),
                  is_last ? absl::StrFormat("\tTime elapsed: %.2f",
                                            state.seconds - started_)
                                .c_str()
                          : "");
    }
    Header("Measure");
    std::printf("Get %zu programs to measure:\n", programs);
    std::fflush(stdout);
  }

  void Trial(const TuneState& state, const TuningRecord& record) override {
    if (record.verdict == Verdict::kScheduleRefused) return;
    const bool ok = record.verdict == Verdict::kOk;
    const double gflops = state.Gflops(record.latency_min_ns);
    std::printf(
        "No: %d\tGFLOPS: %.2f / %.2f\tresults: MeasureResult(cost:[%.3g], "
        "error_no:%d, all_cost:%.2f, Tstamp:%.2f)\n",
        static_cast<int>(state.trials_done), gflops, state.best_gflops(),
        record.latency_min_ns * 1e-9, static_cast<int>(record.verdict),
        state.seconds - started_, Now());
    std::printf("%s\n",
                ok ? record.decisions.c_str()
                   : absl::StrCat(std::string(VerdictName(record.verdict)),
                                  ": ", record.reason)
                         .c_str());
    started_ = state.seconds;
    std::fflush(stdout);
  }

  void Done(const TuneState&) override {}

  void End(const std::vector<TuneState>& states) override {
    Header("Done");
    std::printf("%s", ResultTable(states).c_str());
    std::fflush(stdout);
  }

 private:
  double started_ = 0;  // when the last step ended, in seconds of the run
};

}  // namespace

std::unique_ptr<TuneView> VerboseView() { return std::make_unique<Verbose>(); }

}  // namespace kiln
