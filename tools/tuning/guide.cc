#include "kiln/tools/tuning/guide.h"

#include <optional>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"
#include "kiln/search/cost/models.h"
#include "kiln/search/space/rule/rule.h"
#include "kiln/search/strategy/evolutionary_search.h"
#include "kiln/search/strategy/genetic_search.h"
#include "kiln/search/strategy/grid_search.h"
#include "kiln/search/strategy/model_scorer.h"
#include "kiln/search/strategy/random_search.h"
#include "kiln/search/task/default_schedule.h"
#include "kiln/tools/support/default_schedule.h"

namespace kiln {
namespace {

// How the strategies without a model are made; null for the one with.
using MakeStrategy = std::unique_ptr<Strategy> (*)(const Space*, uint64_t seed,
                                                   ThreadPool*);

struct SearchRow {
  std::string_view name;
  MakeStrategy make;
};

template <typename Search>
std::unique_ptr<Strategy> Make(const Space* space, uint64_t seed,
                               ThreadPool* pool) {
  return std::make_unique<Search>(space, seed, pool);
}

std::unique_ptr<Strategy> MakeGrid(const Space* space, uint64_t, ThreadPool*) {
  return std::make_unique<GridSearch>(space);
}

constexpr SearchRow kSearches[] = {
    {"evolutionary", nullptr},
    {"random", &Make<RandomSearch>},
    // What others call it: a trace, or a function that samples, carried out
    // with new choices each time.
    {"replay-trace", &Make<RandomSearch>},
    {"grid", &MakeGrid},
    {"genetic", &Make<GeneticSearch>},
};

absl::StatusOr<SearchRow> FindSearch(const std::string& name) {
  std::string names;
  for (const SearchRow& row : kSearches) {
    if (row.name == name) return row;
    absl::StrAppend(&names, names.empty() ? "" : ", ", std::string(row.name));
  }
  return absl::InvalidArgumentError(
      absl::StrCat("--search ", name, " is not known; there are ", names));
}

constexpr int kLeastPopulation = 16;
constexpr int kLeastDraws = 8;

// The first trial is what would be taken without any.
void SuggestDefault(const TuneTask& task, size_t blocks, const Machine& machine,
                    ThreadPool* pool, EvolutionarySearch* search) {
  DefaultScheduleOptions options = DefaultOptions(machine, task.num_threads);
  options.draws = CountForBlocks(options.draws, blocks, kLeastDraws);
  const absl::StatusOr<DefaultSchedule> best =
      BestEstimated(*task.space, machine, task.num_threads, pool, options);
  if (!best.ok()) return;
  const std::optional<Point> point = task.space->Locate(best->trace);
  if (!point) return;
  absl::StatusOr<Candidate> candidate = task.space->At(*point);
  if (candidate.ok()) search->Suggest(*std::move(candidate));
}

}  // namespace

absl::Status CheckGuide(const GuideOptions& options) {
  KILN_RETURN_IF_ERROR(FindSearch(options.search).status());
  return MakeCostModel(options.model, options.seed).status();
}

absl::StatusOr<Guide> MakeGuide(const GuideOptions& options,
                                const TuneTask& task, const Machine& machine,
                                ThreadPool* pool) {
  KILN_RETURN_IF_ERROR(CheckGuide(options));
  KILN_ASSIGN_OR_RETURN(const SearchRow row, FindSearch(options.search));
  Guide guide;
  if (row.make) {
    guide.strategy = row.make(task.space, options.seed, pool);
    return guide;
  }
  KILN_ASSIGN_OR_RETURN(guide.model,
                        MakeCostModel(options.model, options.seed));
  guide.scorer = std::make_unique<ModelScorer>(
      guide.model.get(), task.workload.key, machine, task.num_threads, pool);
  EvolutionOptions evolve;
  evolve.population =
      CountForBlocks(evolve.population, options.blocks, kLeastPopulation);
  auto evolution = std::make_unique<EvolutionarySearch>(
      task.space, guide.scorer.get(), options.seed, pool, evolve);
  SuggestDefault(task, options.blocks, machine, pool, evolution.get());
  guide.strategy = std::move(evolution);
  return guide;
}

}  // namespace kiln
