// Evolutionary search: neighbours of what is good, chosen by a guess of their
// speed.
//
// For each batch a population of measured and of fresh points evolves for a few
// generations: parents are drawn by rank of score, children are neighbours of
// one parent or mixtures of two. The best programs that were never proposed
// are proposed, with a share of points drawn blindly, from which the scorer
// learns where it is wrong. (The scheme of Ansor, OSDI 2020, section 5.)
//
// A scorer that has seen no times may be wrong about whole alternatives of the
// space. So as long as nothing is measured they evolve side by side, and the
// best of each is proposed before a second of any; and one alternative has no
// more than its share of the batches that follow, until there are a few times.
#ifndef KILN_SEARCH_STRATEGY_EVOLUTIONARY_SEARCH_H_
#define KILN_SEARCH_STRATEGY_EVOLUTIONARY_SEARCH_H_

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "kiln/base/thread_pool.h"
#include "kiln/search/strategy/random_search.h"
#include "kiln/search/strategy/scorer.h"
#include "kiln/search/strategy/strategy.h"

namespace kiln {

struct EvolutionOptions {
  int population = 256;
  int generations = 3;
  int elites = 64;            // measured points that take part
  double cross_share = 0.15;  // of the children; the others have one parent
  double blind_share = 0.15;  // of what is proposed
  // While fewer programs than this are measured, nothing is drawn blindly, and
  // an alternative has `alternative_share` of a batch at most.
  int few = 10;
  double alternative_share = 0.6;
  // Alternatives whose best scores so many times less than the best of all are
  // not tried for a start.
  double out_of_reach = 4;
};

// What one call of Next saw, for people.
struct EvolutionStats {
  int64_t replayed = 0;
  int64_t refused = 0;
  double best_score = 0;
  double worst_score = 0;  // of those proposed by score
};

class EvolutionarySearch : public Strategy {
 public:
  // All but the options outlive the search.
  EvolutionarySearch(const Space* space, Scorer* scorer, uint64_t seed,
                     ThreadPool* pool, EvolutionOptions options = {});

  // Proposed before all others, unless it was excluded.
  void Suggest(Candidate candidate);
  void Exclude(const std::string& program_hash) override;
  SearchBatch Next(int count) override;
  absl::Status Observe(const std::vector<Candidate>& candidates,
                       const std::vector<double>& seconds) override;

  // The population, each generation and the time they took, as Ansor's log
  // has them.
  std::vector<std::string> Notes() const override { return notes_; }

  const EvolutionStats& stats() const { return stats_; }

 private:
  struct Individual {
    std::shared_ptr<const Candidate> candidate;
    double score = 0;
  };
  using Population = std::vector<Individual>;
  using Draw = absl::StatusOr<Candidate> (EvolutionarySearch::*)(
      const Population& parents, uint64_t number) const;

  // `count` points by `draw`, in parallel; refusals and repeats left out.
  Population Make(int count, const Population& parents, Draw draw);
  absl::StatusOr<Candidate> Fresh(const Population& parents,
                                  uint64_t number) const;
  absl::StatusOr<Candidate> Child(const Population& parents,
                                  uint64_t number) const;
  void Score(Population* population);
  Population Elites() const;
  Population Evolve();
  void Note(int generation, const Population& all);
  void ProposeOne(const Individual& one, SearchBatch* batch);
  void Propose(const Population& ranked, int count, int most_alike,
               SearchBatch* batch);
  void ProposeScored(int count, SearchBatch* batch);
  Population InTurns(const Population& ranked) const;

  const Space* space_;
  Scorer* scorer_;
  uint64_t seed_;
  ThreadPool* pool_;
  EvolutionOptions options_;
  RandomSearch blind_;
  uint64_t numbers_ = 0;  // drawn so far
  Population suggested_;
  std::unordered_set<std::string> proposed_;
  std::vector<std::pair<double, std::shared_ptr<const Candidate>>> measured_;
  EvolutionStats stats_;
  std::vector<std::string> notes_;
};

}  // namespace kiln

#endif  // KILN_SEARCH_STRATEGY_EVOLUTIONARY_SEARCH_H_
