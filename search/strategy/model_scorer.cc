#include "kiln/search/strategy/model_scorer.h"

#include "kiln/search/cost/analytic.h"

namespace kiln {

std::vector<Features> ModelScorer::Extract(
    absl::Span<const Candidate* const> candidates) {
  std::vector<Features> features(candidates.size());
  pool_->ParallelFor(
      static_cast<int64_t>(candidates.size()), [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
          features[i] =
              ExtractFeatures(candidates[i]->scheduled, machine_, threads_);
        }
        return 0;
      });
  return features;
}

std::vector<double> ModelScorer::Score(
    absl::Span<const Candidate* const> candidates) {
  const std::vector<Features> features = Extract(candidates);
  std::vector<const Features*> pointers;
  for (const Features& f : features) pointers.push_back(&f);
  std::vector<double> scores = model_->Predict(pointers);
  for (size_t i = 0; i < scores.size(); ++i) {
    if (IsHopeless(features[i].estimate)) scores[i] = 0;
  }
  return scores;
}

absl::Status ModelScorer::Learn(absl::Span<const Candidate* const> candidates,
                                absl::Span<const double> seconds) {
  const std::vector<Features> features = Extract(candidates);
  std::vector<MeasuredProgram> measured;
  for (size_t i = 0; i < features.size(); ++i) {
    measured.push_back({&features[i], seconds[i]});
  }
  return model_->Update(workload_, measured);
}

}  // namespace kiln
