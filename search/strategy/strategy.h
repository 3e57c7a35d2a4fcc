// Which points of a space to measure next.
#ifndef KILN_SEARCH_STRATEGY_STRATEGY_H_
#define KILN_SEARCH_STRATEGY_STRATEGY_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
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

// What a strategy proposes depends on its seed and on what it was told, not on
// the number of threads.
class Strategy {
 public:
  virtual ~Strategy() = default;

  // Never again gives the program with this hash.
  virtual void Exclude(const std::string& program_hash) = 0;
  // The next `count` programs, or fewer at the end of the space.
  virtual SearchBatch Next(int count) = 0;
  // What the last call of Next did, in lines for people.
  virtual std::vector<std::string> Notes() const { return {}; }
  // What became of candidates, of this run or of an earlier one: the seconds
  // of one call, 0 for a failure.
  virtual absl::Status Observe(const std::vector<Candidate>& candidates,
                               const std::vector<double>& seconds) = 0;
};

}  // namespace kiln

#endif  // KILN_SEARCH_STRATEGY_STRATEGY_H_
