#include "kiln/tools/rivals/rounds.h"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <thread>

#include "kiln/base/check.h"
#include "kiln/base/clock.h"
#include "kiln/vm/profile/time_evaluator.h"

namespace kiln::bench {
namespace {

// Calls are timed together, for the clock's sake, but not more of them: what
// disturbs a machine comes every few milliseconds.
constexpr double kBatchSeconds = 2e-4;

// Keeps the times of each benchmark instead of printing.
class KeepTimes : public benchmark::BenchmarkReporter {
 public:
  bool ReportContext(const Context&) override { return true; }
  void ReportRuns(const std::vector<Run>& runs) override {
    for (const Run& run : runs) {
      if (run.run_type != Run::RT_Iteration) continue;
      const double us = run.real_accumulated_time / run.iterations * 1e6;
      us_[run.run_name.function_name].push_back(us);
    }
  }
  Timing Get(const std::string& name) {
    const std::vector<double>& us = us_[name];
    KILN_CHECK(!us.empty()) << name;
    const TimeResult all = Summarize(us);
    return {all.min_us, all.median_us, *std::max_element(us.begin(), us.end()),
            all.samples};
  }

 private:
  std::map<std::string, std::vector<double>> us_;
};

// Waits, and wakes the contender's own threads.
void Settle(const NamedCall& named, double seconds) {
  if (seconds <= 0) return;
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
  named.call();
}

double SecondsOf(const std::function<void()>& call, int times) {
  const double start = MonotonicSeconds();
  for (int i = 0; i < times; ++i) call();
  return MonotonicSeconds() - start;
}

// Seconds of one call in the best batch of a turn.
double BestBatch(const std::function<void()>& call, double turn_seconds) {
  double best = SecondsOf(call, 1);
  const int size =
      std::max(1, static_cast<int>(std::ceil(kBatchSeconds / best)));
  for (double spent = best; spent < turn_seconds;) {
    const double batch = SecondsOf(call, size);
    best = std::min(best, batch / size);
    spent += batch;
  }
  return best;
}

void Register(const NamedCall& named, const RoundOptions& options) {
  const auto run = [&named, &options](benchmark::State& state) {
    Settle(named, options.settle_seconds);
    for (auto _ : state) {
      state.SetIterationTime(BestBatch(named.call, options.seconds));
    }
  };
  benchmark::RegisterBenchmark(named.name.c_str(), run)
      ->UseManualTime()
      ->Iterations(1)
      ->Repetitions(named.repetitions > 0 ? named.repetitions
                                          : options.repetitions);
}

void InitializeOnce() {
  static const bool done = [] {
    static char name[] = "bench";
    static char interleave[] = "--benchmark_enable_random_interleaving=true";
    char* argv[] = {name, interleave, nullptr};
    int argc = 2;
    benchmark::Initialize(&argc, argv);
    return true;
  }();
  static_cast<void>(done);
}

}  // namespace

std::vector<Timing> TimesOf(const std::vector<NamedCall>& calls,
                            const RoundOptions& options) {
  InitializeOnce();
  for (const NamedCall& named : calls) Register(named, options);
  KeepTimes kept;
  benchmark::RunSpecifiedBenchmarks(&kept);
  benchmark::ClearRegisteredBenchmarks();
  std::vector<Timing> times;
  for (const NamedCall& named : calls) times.push_back(kept.Get(named.name));
  return times;
}

}  // namespace kiln::bench
