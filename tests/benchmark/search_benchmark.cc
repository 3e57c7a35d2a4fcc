// How many candidates a second an evolutionary search looks at: drawn, mutated
// or crossed, replayed, de-duplicated, turned into features and scored by a
// model that learns from each batch. The argument is the number of threads; the
// iterations are the batches of a search of 64 trials, from its start.
#include <benchmark/benchmark.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kiln/base/check.h"
#include "kiln/base/machine.h"
#include "kiln/base/thread_pool.h"
#include "kiln/ir/te/workloads.h"
#include "kiln/search/cost/boosted.h"
#include "kiln/search/cost/features.h"
#include "kiln/search/space/rule/rule.h"
#include "kiln/search/space/rule_space.h"
#include "kiln/search/space/trace_space.h"
#include "kiln/search/strategy/evolutionary_search.h"
#include "kiln/search/strategy/model_scorer.h"

namespace kiln {
namespace {

constexpr int kBatch = 16;
constexpr int kThreadsOfKernels = 2;

// What the tuner searches.
std::unique_ptr<TraceSpace> MakeSpace(const std::string& workload) {
  auto module = MakeWorkload(workload);
  KILN_CHECK(module.ok()) << module.status().ToString();
  auto space = std::make_unique<TraceSpace>(*module, 0);
  AddRuleSchedules(CpuRules(), {.registers = kAvx512Registers}, space.get());
  return space;
}

// Times that a model can learn: those of the estimate, bent a little.
std::vector<double> MadeUpSeconds(const std::vector<Candidate>& candidates,
                                  const Machine& machine) {
  std::vector<double> seconds;
  for (const Candidate& candidate : candidates) {
    const Features features =
        ExtractFeatures(candidate.scheduled, machine, kThreadsOfKernels);
    const double bent = candidate.program_hash[0] % 4;
    seconds.push_back(features.estimate.seconds * (1 + 0.1 * bent));
  }
  return seconds;
}

void Search(benchmark::State& state, const std::string& workload) {
  const std::unique_ptr<TraceSpace> space = MakeSpace(workload);
  ThreadPool pool(
      ThreadPool::Options{.num_threads = static_cast<int>(state.range(0))});
  const Machine machine;
  BoostedModel model;
  ModelScorer scorer(&model, workload, machine, kThreadsOfKernels, &pool);
  EvolutionarySearch search(space.get(), &scorer, 1, &pool);
  int64_t looked_at = 0;
  for (auto _ : state) {
    SearchBatch batch = search.Next(kBatch);
    looked_at += search.stats().replayed;
    state.PauseTiming();
    const std::vector<double> seconds =
        MadeUpSeconds(batch.candidates, machine);
    KILN_CHECK(search.Observe(batch.candidates, seconds).ok());
    state.ResumeTiming();
  }
  state.SetItemsProcessed(looked_at);
}

void BM_SearchGmm(benchmark::State& state) { Search(state, "gmm:512,512,512"); }
BENCHMARK(BM_SearchGmm)
    ->Arg(1)
    ->Arg(2)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime()
    ->Iterations(4);

void BM_SearchCbr(benchmark::State& state) {
  Search(state, "cbr:56,56,64,64,3,1,1");
}
BENCHMARK(BM_SearchCbr)
    ->Arg(1)
    ->Arg(2)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime()
    ->Iterations(4);

}  // namespace
}  // namespace kiln
