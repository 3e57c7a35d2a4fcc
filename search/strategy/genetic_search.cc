#include "kiln/search/strategy/genetic_search.h"

#include <algorithm>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kiln/base/random.h"

namespace kiln {
namespace {

constexpr uint64_t kGeneticStream = 2;  // random draws have 0, evolution 1

}  // namespace

GeneticSearch::GeneticSearch(const Space* space, uint64_t seed,
                             ThreadPool* pool, GeneticOptions options)
    : space_(space),
      seed_(seed),
      options_(options),
      blind_(space, seed, pool) {}

void GeneticSearch::Exclude(const std::string& program_hash) {
  seen_.insert(program_hash);
  blind_.Exclude(program_hash);
}

absl::Status GeneticSearch::Observe(const std::vector<Candidate>& candidates,
                                    const std::vector<double>& seconds) {
  for (size_t i = 0; i < candidates.size(); ++i) {
    if (seconds[i] > 0) parents_.push_back({seconds[i], candidates[i].point});
  }
  std::stable_sort(
      parents_.begin(), parents_.end(),
      [](const Parent& a, const Parent& b) { return a.seconds < b.seconds; });
  if (static_cast<int>(parents_.size()) > options_.parents) {
    parents_.resize(options_.parents);
  }
  return absl::OkStatus();
}

absl::StatusOr<Candidate> GeneticSearch::Child(uint64_t number) const {
  Random random(RandomBits(seed_, kGeneticStream, 0), number);
  double total = 0;
  for (const Parent& parent : parents_) total += 1 / parent.seconds;
  const auto draw = [&]() -> const Point& {
    double at = random.Unit() * total;
    for (const Parent& parent : parents_) {
      if ((at -= 1 / parent.seconds) < 0) return parent.point;
    }
    return parents_.back().point;
  };
  const Point& first = draw();
  const Point& second = draw();
  const bool mutate = random.Unit() < options_.mutation;
  const uint64_t seed = random();
  absl::StatusOr<Candidate> child = space_->Cross(first, second, seed);
  if (!child.ok() || !mutate) return child;
  return space_->Mutate(child->point, random());
}

SearchBatch GeneticSearch::Next(int count) {
  SearchBatch batch;
  const bool first =
      static_cast<int>(parents_.size()) < options_.first_generation;
  for (int i = 0; !first && i < count; ++i) {
    for (int attempt = 0; attempt < options_.tries; ++attempt) {
      const uint64_t number = numbers_++;
      absl::StatusOr<Candidate> child = Child(number);
      if (!child.ok() || !seen_.insert(child->program_hash).second) continue;
      blind_.Exclude(child->program_hash);
      batch.indices.push_back(number);
      batch.candidates.push_back(*std::move(child));
      break;
    }
  }
  SearchBatch rest =
      blind_.Next(count - static_cast<int>(batch.candidates.size()));
  for (size_t i = 0; i < rest.candidates.size(); ++i) {
    seen_.insert(rest.candidates[i].program_hash);
    batch.candidates.push_back(std::move(rest.candidates[i]));
    batch.indices.push_back(rest.indices[i]);
  }
  batch.refused = std::move(rest.refused);
  batch.exhausted = rest.exhausted;
  return batch;
}

}  // namespace kiln
