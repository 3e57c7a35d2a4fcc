#include "kiln/search/strategy/model_scorer.h"

#include <atomic>
#include <cstddef>
#include <utility>

#include "kiln/search/cost/analytic.h"

namespace kiln {
namespace {

// Programs to remember, of some kilobytes each; beyond it all are forgotten.
constexpr size_t kMostKnown = 4096;

}  // namespace

void ModelScorer::Extract(absl::Span<const Candidate* const> candidates,
                          absl::Span<Known* const> known) {
  std::atomic<size_t> next{0};
  pool_->ParallelFor(pool_->num_threads(), [&](int64_t, int64_t) {
    for (size_t i = next++; i < candidates.size(); i = next++) {
      known[i]->features =
          ExtractFeatures(candidates[i]->scheduled, machine_, threads_);
    }
    return 0;
  });
}

std::vector<ModelScorer::Known*> ModelScorer::Look(
    absl::Span<const Candidate* const> candidates) {
  if (known_.size() > kMostKnown) known_.clear();
  std::vector<Known*> all, fresh;
  std::vector<const Candidate*> unseen;
  for (const Candidate* candidate : candidates) {
    const auto [entry, is_new] = known_.try_emplace(candidate->program_hash);
    all.push_back(&entry->second);
    if (!is_new) continue;
    fresh.push_back(&entry->second);
    unseen.push_back(candidate);
  }
  Extract(unseen, fresh);
  return all;
}

// Programs that cannot be fast come last, whatever the model says.
void ModelScorer::Predict(absl::Span<Known* const> known) {
  std::vector<const Features*> features;
  for (const Known* one : known) features.push_back(&one->features);
  const std::vector<double> scores = model_->Predict(features);
  for (size_t i = 0; i < known.size(); ++i) {
    known[i]->score = IsHopeless(known[i]->features.estimate) ? 0 : scores[i];
  }
}

std::vector<double> ModelScorer::Score(
    absl::Span<const Candidate* const> candidates) {
  const std::vector<Known*> all = Look(candidates);
  std::vector<Known*> stale;
  for (Known* one : all) {
    if (std::exchange(one->lessons, lessons_) != lessons_) stale.push_back(one);
  }
  Predict(stale);
  std::vector<double> scores;
  for (const Known* one : all) scores.push_back(one->score);
  return scores;
}

absl::Status ModelScorer::Learn(absl::Span<const Candidate* const> candidates,
                                absl::Span<const double> seconds) {
  const std::vector<Known*> all = Look(candidates);
  std::vector<MeasuredProgram> measured;
  for (size_t i = 0; i < all.size(); ++i) {
    measured.push_back({&all[i]->features, seconds[i]});
  }
  ++lessons_;
  return model_->Update(workload_, measured);
}

}  // namespace kiln
