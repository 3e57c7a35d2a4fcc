// Genetic search: neighbours and mixtures of what was fast, by measured times
// alone; no model is asked.
//
// The first generation is drawn blindly. Of each later one the parents are all
// that was measured so far, drawn by speed (roulette wheel); a child is a
// mixture of two, and with a small chance a neighbour of that. (The tuner that
// AutoTVM has for templates, NeurIPS 2018.)
#ifndef KILN_SEARCH_STRATEGY_GENETIC_SEARCH_H_
#define KILN_SEARCH_STRATEGY_GENETIC_SEARCH_H_

#include <cstdint>
#include <string>
#include <unordered_set>
#include <vector>

#include "kiln/base/thread_pool.h"
#include "kiln/search/strategy/random_search.h"
#include "kiln/search/strategy/strategy.h"

namespace kiln {

struct GeneticOptions {
  int first_generation = 16;
  int parents = 32;  // the fastest so many
  double mutation = 0.3;
  int tries = 64;  // for a child that is new, before one is drawn blindly
};

class GeneticSearch : public Strategy {
 public:
  // All but the options outlive the search.
  GeneticSearch(const Space* space, uint64_t seed, ThreadPool* pool,
                GeneticOptions options = {});

  void Exclude(const std::string& program_hash) override;
  SearchBatch Next(int count) override;
  absl::Status Observe(const std::vector<Candidate>& candidates,
                       const std::vector<double>& seconds) override;

 private:
  struct Parent {
    double seconds;
    Point point;
  };

  absl::StatusOr<Candidate> Child(uint64_t number) const;

  const Space* space_;
  uint64_t seed_;
  GeneticOptions options_;
  RandomSearch blind_;
  uint64_t numbers_ = 0;
  std::vector<Parent> parents_;  // fastest first
  std::unordered_set<std::string> seen_;
};

}  // namespace kiln

#endif  // KILN_SEARCH_STRATEGY_GENETIC_SEARCH_H_
