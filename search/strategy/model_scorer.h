// A scorer that asks a cost model, and remembers what it has seen: a search
// comes back to the same programs.
//
// A model errs alike on programs that are scheduled alike. While there are few
// measurements, what it misses of those of one alternative of the space, on
// average, is added to its word on the others.
#ifndef KILN_SEARCH_STRATEGY_MODEL_SCORER_H_
#define KILN_SEARCH_STRATEGY_MODEL_SCORER_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
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

  // Programs that cannot be fast come last, whatever the model says. A score is
  // 1 / seconds as far as the model's is.
  std::vector<double> Score(
      absl::Span<const Candidate* const> candidates) override;
  absl::Status Learn(absl::Span<const Candidate* const> candidates,
                     absl::Span<const double> seconds) override;

 private:
  struct Known {
    Features features;
    size_t alternative = 0;
    double score = 0;
    int64_t lessons = -1;  // that the model had had when it gave the score
  };
  // A measured program.
  struct Lesson {
    Features features;
    size_t alternative = 0;
    double seconds = 0;
  };

  // What is known of each, features at least.
  std::vector<Known*> Look(absl::Span<const Candidate* const> candidates);
  void Extract(absl::Span<const Candidate* const> candidates,
               absl::Span<Known* const> known);
  void Predict(absl::Span<Known* const> known);
  void Remember(const Known& known, double seconds);
  void FindMissed();

  CostModel* model_;
  std::string workload_;
  Machine machine_;
  int threads_;
  ThreadPool* pool_;
  std::unordered_map<std::string, Known> known_;  // by the program's hash
  int64_t lessons_ = 0;
  std::vector<Lesson> measured_;  // as long as they are few
  // By alternative: factors of time that the model misses.
  std::unordered_map<size_t, double> missed_;
};

}  // namespace kiln

#endif  // KILN_SEARCH_STRATEGY_MODEL_SCORER_H_
