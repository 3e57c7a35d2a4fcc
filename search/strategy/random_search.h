// Search by drawing points of a space, each program at most once.
#ifndef KILN_SEARCH_STRATEGY_RANDOM_SEARCH_H_
#define KILN_SEARCH_STRATEGY_RANDOM_SEARCH_H_

#include <cstdint>
#include <string>
#include <unordered_set>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kiln/base/thread_pool.h"
#include "kiln/search/space/space.h"
#include "kiln/search/strategy/strategy.h"

namespace kiln {

// Draws points in parallel.
class RandomSearch : public Strategy {
 public:
  // Draws in a row without a program not drawn before (be it an excluded one)
  // after which the space counts as used up.
  static constexpr int kMaxMisses = 2048;

  RandomSearch(const Space* space, uint64_t seed, ThreadPool* pool)
      : space_(space), seed_(seed), pool_(pool) {}

  void Exclude(const std::string& program_hash) override {
    excluded_.insert(program_hash);
  }
  SearchBatch Next(int count) override;
  absl::Status Observe(const std::vector<Candidate>&,
                       const std::vector<double>&) override {
    return absl::OkStatus();
  }

 private:
  // Draws the points [next_, next_ + count).
  std::vector<absl::StatusOr<Candidate>> Draw(int count);

  const Space* space_;
  uint64_t seed_;
  ThreadPool* pool_;
  uint64_t next_ = 0;
  int misses_ = 0;
  std::unordered_set<std::string> seen_, excluded_;
};

}  // namespace kiln

#endif  // KILN_SEARCH_STRATEGY_RANDOM_SEARCH_H_
