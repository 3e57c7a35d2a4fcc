// Guesses which candidates are fast, before they are compiled.
#ifndef KILN_SEARCH_STRATEGY_SCORER_H_
#define KILN_SEARCH_STRATEGY_SCORER_H_

#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "kiln/search/space/space.h"

namespace kiln {

class Scorer {
 public:
  virtual ~Scorer() = default;

  // A score for each, in order: higher for faster ones.
  virtual std::vector<double> Score(
      absl::Span<const Candidate* const> candidates) = 0;
  // Learns the seconds of one call, 0 for a failure.
  virtual absl::Status Learn(absl::Span<const Candidate* const> candidates,
                             absl::Span<const double> seconds) = 0;
};

}  // namespace kiln

#endif  // KILN_SEARCH_STRATEGY_SCORER_H_
