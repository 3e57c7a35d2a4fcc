#include "kiln/search/strategy/grid_search.h"

#include "absl/status/statusor.h"

namespace kiln {

void GridSearch::Advance(const KnobWalk& walk) {
  wanted_.assign(walk.made.size(), {});
  size_t turned = walk.knobs.size();
  while (turned > 0) {
    const Knob& knob = walk.knobs[turned - 1];
    if (knob.chosen + 1 < knob.choices.size()) break;
    --turned;
  }
  if (turned == 0) {
    ++alternative_;
    wanted_.clear();
    return;
  }
  for (size_t i = 0; i < turned; ++i) {
    const Knob& knob = walk.knobs[i];
    wanted_[knob.step] = knob.choices[knob.chosen + (i + 1 == turned ? 1 : 0)];
  }
}

SearchBatch GridSearch::Next(int count) {
  SearchBatch batch;
  while (static_cast<int>(batch.candidates.size()) < count) {
    if (alternative_ >= space_->size()) {
      batch.exhausted = true;
      break;
    }
    const KnobWalk walk = space_->Knobs(alternative_, wanted_);
    const uint64_t number = number_++;
    if (!walk.refusal.ok()) {
      batch.refused.push_back({number, std::string(walk.refusal.message())});
    } else {
      absl::StatusOr<Candidate> candidate =
          space_->At({alternative_, walk.made});
      if (candidate.ok() && seen_.insert(candidate->program_hash).second) {
        batch.candidates.push_back(*std::move(candidate));
        batch.indices.push_back(number);
      }
    }
    Advance(walk);
  }
  return batch;
}

}  // namespace kiln
