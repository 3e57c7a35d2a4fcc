// One list holds all individuals of a batch, best score first and each program
// once; a generation draws parents from its front and merges the children in:
//
//   elites (measured) + fresh points  → scored, sorted
//   parents, by rank                  → 85 % neighbours, 15 % mixtures
//   children                          → scored, merged      (3 times)
//   the first that are new            → the batch; 15 % of it drawn blindly
//
// Individual number n draws from the stream of its number, so that the threads,
// which make individuals in any order, make the same ones on every run.
#include "kiln/search/strategy/evolutionary_search.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_format.h"
#include "kiln/base/random.h"

namespace kiln {
namespace {

constexpr uint64_t kEvolutionStream = 1;  // RandomSearch has stream 0

}  // namespace

EvolutionarySearch::EvolutionarySearch(const Space* space, Scorer* scorer,
                                       uint64_t seed, ThreadPool* pool,
                                       EvolutionOptions options)
    : space_(space),
      scorer_(scorer),
      seed_(seed),
      pool_(pool),
      options_(options),
      blind_(space, seed, pool) {}

void EvolutionarySearch::Suggest(Candidate candidate) {
  suggested_.push_back(
      {std::make_shared<const Candidate>(std::move(candidate))});
}

void EvolutionarySearch::Exclude(const std::string& program_hash) {
  proposed_.insert(program_hash);
  blind_.Exclude(program_hash);
}

absl::Status EvolutionarySearch::Observe(
    const std::vector<Candidate>& candidates,
    const std::vector<double>& seconds) {
  std::vector<const Candidate*> pointers;
  for (size_t i = 0; i < candidates.size(); ++i) {
    pointers.push_back(&candidates[i]);
    if (seconds[i] <= 0) continue;
    measured_.emplace_back(seconds[i],
                           std::make_shared<const Candidate>(candidates[i]));
  }
  std::stable_sort(
      measured_.begin(), measured_.end(),
      [](const auto& a, const auto& b) { return a.first < b.first; });
  if (static_cast<int>(measured_.size()) > options_.elites) {
    measured_.resize(options_.elites);
  }
  return scorer_->Learn(pointers, seconds);
}

absl::StatusOr<Candidate> EvolutionarySearch::Fresh(const Population&,
                                                    uint64_t number) const {
  return space_->Sample(RandomBits(seed_, kEvolutionStream, 0), number);
}

// Parents are drawn from a population sorted by score, the first ones more
// often: the rank is the smaller of two draws.
absl::StatusOr<Candidate> EvolutionarySearch::Child(const Population& parents,
                                                    uint64_t number) const {
  Random random(RandomBits(seed_, kEvolutionStream, 1), number);
  auto parent = [&]() -> const Point& {
    const uint64_t a = random.Below(parents.size());
    const uint64_t b = random.Below(parents.size());
    return parents[std::min(a, b)].candidate->point;
  };
  const Point& first = parent();
  const bool cross = random.Unit() < options_.cross_share;
  const uint64_t seed = random();
  return cross ? space_->Cross(first, parent(), seed)
               : space_->Mutate(first, seed);
}

EvolutionarySearch::Population EvolutionarySearch::Make(
    int count, const Population& parents, Draw draw) {
  std::vector<absl::StatusOr<Candidate>> drawn(count,
                                               absl::UnknownError("not drawn"));
  std::atomic<int> next{0};  // some draws cost much more than others
  pool_->ParallelFor(pool_->num_threads(), [&](int64_t, int64_t) {
    for (int i = next++; i < count; i = next++) {
      drawn[i] = (this->*draw)(parents, numbers_ + i);
    }
    return 0;
  });
  numbers_ += count;
  stats_.replayed += count;
  Population made;
  for (absl::StatusOr<Candidate>& candidate : drawn) {
    if (!candidate.ok()) {
      ++stats_.refused;
      continue;
    }
    made.push_back({std::make_shared<const Candidate>(*std::move(candidate))});
  }
  return made;
}

void EvolutionarySearch::Score(Population* population) {
  std::vector<const Candidate*> pointers;
  for (const Individual& one : *population) {
    pointers.push_back(one.candidate.get());
  }
  const std::vector<double> scores = scorer_->Score(pointers);
  for (size_t i = 0; i < scores.size(); ++i) {
    (*population)[i].score = scores[i];
  }
}

EvolutionarySearch::Population EvolutionarySearch::Elites() const {
  Population elites;
  for (const auto& [seconds, candidate] : measured_) {
    elites.push_back({candidate});
  }
  return elites;
}

// All individuals of all generations, best score first, each program once.
EvolutionarySearch::Population EvolutionarySearch::Evolve() {
  Population all = Elites();
  for (Individual& one :
       Make(options_.population, {}, &EvolutionarySearch::Fresh)) {
    all.push_back(std::move(one));
  }
  Score(&all);
  std::unordered_set<std::string> known;
  auto add = [&](Population&& more) {
    for (Individual& one : more) {
      if (known.insert(one.candidate->program_hash).second) {
        all.push_back(std::move(one));
      }
    }
    std::stable_sort(all.begin(), all.end(),
                     [](const Individual& a, const Individual& b) {
                       return a.score > b.score;
                     });
  };
  add(std::exchange(all, {}));
  Note(0, all);
  for (int i = 0; i < options_.generations && !all.empty(); ++i) {
    const size_t size =
        std::min<size_t>(all.size(), static_cast<size_t>(options_.population));
    Population parents = measured_.empty() ? InTurns(all) : all;
    parents.resize(std::min(parents.size(), size));
    Population children =
        Make(options_.population, parents, &EvolutionarySearch::Child);
    Score(&children);
    add(std::move(children));
    Note(i + 1, all);
  }
  return all;
}

void EvolutionarySearch::Note(int generation, const Population& all) {
  const int64_t size =
      std::min<int64_t>(static_cast<int64_t>(all.size()), options_.population);
  if (generation == 0) {
    notes_.push_back(
        absl::StrFormat("Sample Initial Population\t#s: %d\tfail_ct: %d",
                        all.size(), stats_.refused));
  }
  if (size == 0) return;
  notes_.push_back(absl::StrFormat(
      "GA Iter: %d\tMax score: %.4g\tMin score: %.4g\t#Pop: %d\t#M+: %d\t#M-: "
      "%d",
      generation, all[0].score, all[size - 1].score, size,
      stats_.replayed - stats_.refused, stats_.refused));
}

// The best of each alternative, then the second of each, and so on; without
// those out of reach.
EvolutionarySearch::Population EvolutionarySearch::InTurns(
    const Population& ranked) const {
  std::unordered_map<size_t, int> before;  // of the same alternative
  std::unordered_set<size_t> out_of_reach;
  std::vector<std::pair<int, const Individual*>> turns;
  for (const Individual& one : ranked) {
    const size_t alternative = one.candidate->point.alternative;
    const int turn = before[alternative]++;
    if (turn == 0 && one.score * options_.out_of_reach < ranked[0].score) {
      out_of_reach.insert(alternative);
    }
    if (out_of_reach.count(alternative) == 0) turns.emplace_back(turn, &one);
  }
  std::stable_sort(
      turns.begin(), turns.end(),
      [](const auto& a, const auto& b) { return a.first < b.first; });
  Population result;
  for (const auto& [turn, one] : turns) result.push_back(*one);
  return result;
}

void EvolutionarySearch::ProposeOne(const Individual& one, SearchBatch* batch) {
  blind_.Exclude(one.candidate->program_hash);
  if (batch->candidates.empty()) stats_.best_score = one.score;
  stats_.worst_score = one.score;
  batch->candidates.push_back(*one.candidate);
  batch->indices.push_back(numbers_++);
}

// The best that are new, at most `most_alike` of one alternative.
void EvolutionarySearch::Propose(const Population& ranked, int count,
                                 int most_alike, SearchBatch* batch) {
  std::unordered_map<size_t, int> alike;
  for (const Individual& one : ranked) {
    if (static_cast<int>(batch->candidates.size()) >= count) return;
    if (alike[one.candidate->point.alternative] >= most_alike) continue;
    if (!proposed_.insert(one.candidate->program_hash).second) continue;
    ++alike[one.candidate->point.alternative];
    ProposeOne(one, batch);
  }
}

void EvolutionarySearch::ProposeScored(int count, SearchBatch* batch) {
  Population suggested = std::exchange(suggested_, {});
  Score(&suggested);
  Propose(suggested, count, count, batch);
  const Population ranked = Evolve();
  const auto share = [count](double part) {
    return static_cast<int>(std::ceil(count * part));
  };
  if (measured_.empty()) {
    Propose(InTurns(ranked), count, count, batch);
  } else if (static_cast<int>(measured_.size()) < options_.few) {
    Propose(ranked, count, share(options_.alternative_share), batch);
  } else {
    Propose(ranked, count - share(options_.blind_share), count, batch);
  }
}

SearchBatch EvolutionarySearch::Next(int count) {
  stats_ = {};
  notes_.clear();
  SearchBatch batch;
  ProposeScored(count, &batch);
  notes_.push_back(
      absl::StrFormat("EvolutionarySearch\t\t#s: %d", batch.candidates.size()));
  SearchBatch rest =
      blind_.Next(count - static_cast<int>(batch.candidates.size()));
  for (size_t i = 0; i < rest.candidates.size(); ++i) {
    proposed_.insert(rest.candidates[i].program_hash);
    batch.candidates.push_back(std::move(rest.candidates[i]));
    batch.indices.push_back(rest.indices[i]);
  }
  batch.refused = std::move(rest.refused);
  batch.exhausted = rest.exhausted;
  return batch;
}

}  // namespace kiln
