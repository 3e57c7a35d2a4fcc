// How fast candidates are made: replay of a trace from its start and from a
// snapshot in its middle, and draws from a space.
#include <benchmark/benchmark.h>

#include <chrono>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "kiln/base/check.h"
#include "kiln/base/thread_pool.h"
#include "kiln/schedule/trace/print.h"
#include "kiln/search/space/script_space.h"
#include "kiln/tests/benchmark/matmul_space.h"

namespace kiln {
namespace {

const MatmulSpace& Space() {
  static const MatmulSpace& space = *new MatmulSpace(MakeMatmulSpace());
  return space;
}

// Replays instructions [first, end) of one point after the other.
void ReplayFrom(benchmark::State& state, size_t first) {
  const MatmulSpace& space = Space();
  const size_t end = space.trace.instructions.size();
  std::vector<State> snapshots;
  for (const Decisions& point : space.points) {
    State& snapshot = snapshots.emplace_back(space.start);
    KILN_CHECK(Replay(space.trace, 0, first, point, 0, &snapshot).ok());
  }
  size_t i = 0;
  for (auto _ : state) {
    const size_t point = i++ % space.points.size();
    State replayed = snapshots[point];
    benchmark::DoNotOptimize(
        Replay(space.trace, first, end, space.points[point], 0, &replayed));
  }
  state.counters["instructions"] = static_cast<double>(end - first);
}

void BM_Replay(benchmark::State& state) { ReplayFrom(state, 0); }
BENCHMARK(BM_Replay)
    ->Unit(benchmark::kMicrosecond)
    ->Repetitions(15)
    ->ReportAggregatesOnly();

void BM_ReplayFromMiddle(benchmark::State& state) {
  ReplayFrom(state, Space().trace.instructions.size() / 2);
}
BENCHMARK(BM_ReplayFromMiddle)
    ->Unit(benchmark::kMicrosecond)
    ->Repetitions(15)
    ->ReportAggregatesOnly();

// What each kind of instruction costs in a replay, as counters in nanoseconds
// a replay: its instructions of that kind together.
void BM_ReplaySteps(benchmark::State& state) {
  const MatmulSpace& space = Space();
  using Clock = std::chrono::steady_clock;
  std::map<std::string, double> spent;
  size_t i = 0;
  for (auto _ : state) {
    const Decisions& point = space.points[i++ % space.points.size()];
    State replayed = space.start;
    for (size_t k = 0; k < space.trace.instructions.size(); ++k) {
      const Clock::time_point before = Clock::now();
      KILN_CHECK(Replay(space.trace, k, k + 1, point, 0, &replayed).ok());
      const std::chrono::duration<double, std::nano> step =
          Clock::now() - before;
      spent[std::string(space.trace.instructions[k].kind->name)] +=
          step.count();
    }
  }
  for (const auto& [name, ns] : spent) {
    state.counters[name] =
        benchmark::Counter(ns, benchmark::Counter::kAvgIterations);
  }
}
BENCHMARK(BM_ReplaySteps)->Unit(benchmark::kMicrosecond);

void BM_Print(benchmark::State& state) {
  const MatmulSpace& space = Space();
  for (auto _ : state) {
    benchmark::DoNotOptimize(
        ToText(WithDecisions(space.trace, space.points[0])));
  }
}
BENCHMARK(BM_Print)->Unit(benchmark::kMicrosecond);

// 10,000 draws on two threads, and how many different programs they are.
void BM_Candidates(benchmark::State& state) {
  ThreadPool pool(ThreadPool::Options{.num_threads = 2});
  std::set<std::string> programs;
  for (auto _ : state) {
    state.PauseTiming();  // a space remembers what was drawn
    auto space = MakeScriptSpace(Space().module, 0, MatmulSpaceSource());
    KILN_CHECK(space.ok()) << space.status().ToString();
    std::vector<std::string> hashes(10000);
    state.ResumeTiming();
    pool.ParallelFor(hashes.size(), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        auto candidate = (*space)->Sample(7, i);
        if (candidate.ok()) hashes[i] = candidate->program_hash;
      }
      return 0;
    });
    programs = {hashes.begin(), hashes.end()};
  }
  state.counters["programs"] = static_cast<double>(programs.size());
}
BENCHMARK(BM_Candidates)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime()
    ->Iterations(3);

}  // namespace
}  // namespace kiln
