// A scorer that asks a cost model.
#ifndef KILN_SEARCH_STRATEGY_MODEL_SCORER_H_
#define KILN_SEARCH_STRATEGY_MODEL_SCORER_H_

#include <string>
#include <vector>

#include "kiln/base/machine.h"
#include "kiln/base/thread_pool.h"
#include "kiln/search/cost/cost_model.h"
#include "kiln/search/cost/features.h"
#include "kiln/search/strategy/scorer.h"

namespace kiln {

class ModelScorer : public Scorer {
 public:
  // For programs of `workload` that `threads` threads of the machine will run.
  // The model and the pool outlive the scorer.
  ModelScorer(CostModel* model, std::string workload, const Machine& machine,
              int threads, ThreadPool* pool)
      : model_(model),
        workload_(std::move(workload)),
        machine_(machine),
        threads_(threads),
        pool_(pool) {}

  // Programs that cannot be fast come last, whatever the model says.
  std::vector<double> Score(
      absl::Span<const Candidate* const> candidates) override;
  absl::Status Learn(absl::Span<const Candidate* const> candidates,
                     absl::Span<const double> seconds) override;

 private:
  std::vector<Features> Extract(absl::Span<const Candidate* const> candidates);

  CostModel* model_;
  std::string workload_;
  Machine machine_;
  int threads_;
  ThreadPool* pool_;
};

}  // namespace kiln

#endif  // KILN_SEARCH_STRATEGY_MODEL_SCORER_H_
