#include "kiln/tools/tuning/guide.h"

#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"
#include "kiln/search/cost/models.h"
#include "kiln/search/strategy/evolutionary_search.h"
#include "kiln/search/strategy/model_scorer.h"
#include "kiln/search/strategy/random_search.h"

namespace kiln {

absl::Status CheckGuide(const GuideOptions& options) {
  if (options.search != "evolutionary" && options.search != "random") {
    return absl::InvalidArgumentError(
        absl::StrCat("--search ", options.search,
                     " is not known; there are evolutionary ", "and random"));
  }
  return MakeCostModel(options.model, options.seed).status();
}

absl::StatusOr<Guide> MakeGuide(const GuideOptions& options,
                                const TuneTask& task, const Machine& machine,
                                ThreadPool* pool) {
  KILN_RETURN_IF_ERROR(CheckGuide(options));
  Guide guide;
  if (options.search == "random") {
    guide.strategy =
        std::make_unique<RandomSearch>(task.space, options.seed, pool);
    return guide;
  }
  KILN_ASSIGN_OR_RETURN(guide.model,
                        MakeCostModel(options.model, options.seed));
  guide.scorer = std::make_unique<ModelScorer>(
      guide.model.get(), task.workload.key, machine, task.num_threads, pool);
  guide.strategy = std::make_unique<EvolutionarySearch>(
      task.space, guide.scorer.get(), options.seed, pool);
  return guide;
}

}  // namespace kiln
