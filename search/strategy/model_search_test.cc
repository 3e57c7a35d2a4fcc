// The whole of a search but for measuring: a space of schedules, features, a
// model that learns, and evolution.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "kiln/base/machine.h"
#include "kiln/base/status_matchers.h"
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

// Times that depend on the program alone and that the estimate does not tell.
std::vector<double> MadeUpSeconds(const std::vector<Candidate>& candidates) {
  std::vector<double> seconds;
  for (const Candidate& candidate : candidates) {
    const Features features =
        ExtractFeatures(candidate.scheduled, Machine(), 2);
    const double bent = candidate.program_hash[0] % 4;
    seconds.push_back(features.estimate.seconds * (1 + 0.2 * bent));
  }
  return seconds;
}

// The programs of three batches, in order.
std::vector<std::string> Proposed(int threads, uint64_t seed) {
  TraceSpace space(*MakeWorkload("gmm:128,96,64"), 0);
  AddRuleSchedules(CpuRules(), {.registers = kAvx512Registers}, &space);
  ThreadPool pool(ThreadPool::Options{.num_threads = threads});
  BoostedModel model;
  ModelScorer scorer(&model, "gmm", Machine(), 2, &pool);
  EvolutionOptions options;
  options.population = 48;
  EvolutionarySearch search(&space, &scorer, seed, &pool, options);
  std::vector<std::string> hashes;
  for (int batch = 0; batch < 3; ++batch) {
    const SearchBatch next = search.Next(12);
    for (const Candidate& candidate : next.candidates) {
      hashes.push_back(candidate.program_hash);
    }
    KILN_EXPECT_OK(
        search.Observe(next.candidates, MadeUpSeconds(next.candidates)));
  }
  return hashes;
}

TEST(ModelSearchTest, TheNumberOfThreadsMakesNoDifference) {
  const std::vector<std::string> alone = Proposed(1, 7);
  EXPECT_EQ(alone.size(), 36u);
  EXPECT_EQ(Proposed(2, 7), alone);
  EXPECT_EQ(Proposed(5, 7), alone);
}

TEST(ModelSearchTest, AnotherSeedIsAnotherSearch) {
  EXPECT_NE(Proposed(2, 7), Proposed(2, 8));
}

}  // namespace
}  // namespace kiln
