// Search by drawing points of a space, each program at most once.
#ifndef KILN_SEARCH_STRATEGY_RANDOM_SEARCH_H_
#define KILN_SEARCH_STRATEGY_RANDOM_SEARCH_H_

#include <cstdint>
#include <string>
#include <unordered_set>
#include <vector>

#include "kiln/base/thread_pool.h"
#include "kiln/search/space/space.h"

namespace kiln {

// A point where a step of the schedule was refused.
struct RefusedSample {
  uint64_t index;
  std::string reason;
};

struct SearchBatch {
  std::vector<Candidate> candidates;
  std::vector<uint64_t> indices;       // of the candidates
  std::vector<RefusedSample> refused;  // met on the way
  // Thousands of draws in a row gave nothing new: the space is used up.
  bool exhausted = false;
};

// Draws points in parallel. What comes out depends on the seed alone, not on
// the number of threads.
class RandomSearch {
 public:
  // Draws in a row without a new program before the space counts as used up.
  static constexpr int kMaxMisses = 2048;

  RandomSearch(const Space* space, uint64_t seed, ThreadPool* pool)
      : space_(space), seed_(seed), pool_(pool) {}

  // Never again gives the program with this hash.
  void Exclude(const std::string& program_hash) { seen_.insert(program_hash); }

  // The next `count` programs, or fewer at the end of the space.
  SearchBatch Next(int count);

 private:
  // Draws the points [next_, next_ + count).
  std::vector<absl::StatusOr<Candidate>> Draw(int count);

  const Space* space_;
  uint64_t seed_;
  ThreadPool* pool_;
  uint64_t next_ = 0;
  int misses_ = 0;
  std::unordered_set<std::string> seen_;
};

}  // namespace kiln

#endif  // KILN_SEARCH_STRATEGY_RANDOM_SEARCH_H_
