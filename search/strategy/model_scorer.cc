#include "kiln/search/strategy/model_scorer.h"

#include <atomic>
#include <cmath>
#include <cstddef>
#include <utility>

#include "kiln/base/status_macros.h"
#include "kiln/search/cost/hopeless.h"

namespace kiln {
namespace {

// Programs to remember, of some kilobytes each; beyond it all are forgotten.
constexpr size_t kMostKnown = 4096;
// Measurements from which on the model is on its own.
constexpr size_t kMostMeasured = 64;
// How many measurements of an alternative count as much as the belief that the
// model is right: the square of what programs of one alternative differ by,
// over that of what alternatives differ by.
constexpr double kBelief = 0.4;

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
    entry->second.alternative = candidate->point.alternative;
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
    const auto missed = missed_.find(known[i]->alternative);
    const double factor = missed == missed_.end() ? 1 : missed->second;
    known[i]->score =
        IsHopeless(known[i]->features.estimate) ? 0 : scores[i] / factor;
  }
}

void ModelScorer::Remember(const Known& known, double seconds) {
  if (seconds <= 0 || measured_.size() > kMostMeasured) return;
  measured_.push_back({known.features, known.alternative, seconds});
}

void ModelScorer::FindMissed() {
  missed_.clear();
  if (measured_.empty() || measured_.size() > kMostMeasured) return;
  std::vector<const Features*> features;
  for (const Lesson& lesson : measured_) features.push_back(&lesson.features);
  const std::vector<double> scores = model_->Predict(features);
  std::vector<double> missed;
  double mean = 0;
  for (size_t i = 0; i < measured_.size(); ++i) {
    missed.push_back(std::log(measured_[i].seconds * scores[i]));
    mean += missed.back() / static_cast<double>(measured_.size());
  }
  std::unordered_map<size_t, double> counts;
  for (size_t i = 0; i < measured_.size(); ++i) {
    missed_[measured_[i].alternative] += missed[i] - mean;
    ++counts[measured_[i].alternative];
  }
  for (auto& [alternative, sum] : missed_) {
    sum = std::exp(sum / (counts[alternative] + kBelief));
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
    Remember(*all[i], seconds[i]);
  }
  ++lessons_;
  KILN_RETURN_IF_ERROR(model_->Update(workload_, measured));
  FindMissed();
  return absl::OkStatus();
}

}  // namespace kiln
