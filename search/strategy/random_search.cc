#include "kiln/search/strategy/random_search.h"

#include <algorithm>

#include "absl/status/status.h"

namespace kiln {

std::vector<absl::StatusOr<Candidate>> RandomSearch::Draw(int count) {
  std::vector<absl::StatusOr<Candidate>> drawn(count,
                                               absl::UnknownError("not drawn"));
  pool_->ParallelFor(count, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      drawn[i] = space_->Sample(seed_, next_ + i);
    }
    return 0;
  });
  return drawn;
}

SearchBatch RandomSearch::Next(int count) {
  SearchBatch batch;
  while (static_cast<int>(batch.candidates.size()) < count) {
    const int wanted = count - static_cast<int>(batch.candidates.size());
    const int drawn_count = std::max(wanted, 8);
    std::vector<absl::StatusOr<Candidate>> drawn = Draw(drawn_count);
    for (absl::StatusOr<Candidate>& sample : drawn) {
      if (static_cast<int>(batch.candidates.size()) == count) break;
      const uint64_t index = next_++;
      ++misses_;
      if (!sample.ok()) {
        batch.refused.push_back(
            {index, std::string(sample.status().message())});
      } else if (seen_.insert(sample->program_hash).second) {
        misses_ = 0;
        if (excluded_.count(sample->program_hash)) continue;
        batch.indices.push_back(index);
        batch.candidates.push_back(*std::move(sample));
      }
    }
    if (misses_ >= kMaxMisses) {
      batch.exhausted = true;
      break;
    }
  }
  return batch;
}

}  // namespace kiln
