// Every point of a space, one after the other: the odometer of its knobs, the
// last one fastest, schedule after schedule.
#ifndef KILN_SEARCH_STRATEGY_GRID_SEARCH_H_
#define KILN_SEARCH_STRATEGY_GRID_SEARCH_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_set>
#include <vector>

#include "absl/status/status.h"
#include "kiln/search/space/space.h"
#include "kiln/search/strategy/strategy.h"

namespace kiln {

class GridSearch : public Strategy {
 public:
  // The space outlives the search, and has knobs.
  explicit GridSearch(const Space* space) : space_(space) {}

  void Exclude(const std::string& program_hash) override {
    seen_.insert(program_hash);
  }
  SearchBatch Next(int count) override;
  absl::Status Observe(const std::vector<Candidate>&,
                       const std::vector<double>&) override {
    return absl::OkStatus();
  }

 private:
  // Moves on from the point that the walk led to.
  void Advance(const KnobWalk& walk);

  const Space* space_;
  size_t alternative_ = 0;
  Decisions wanted_;
  uint64_t number_ = 0;  // points so far
  std::unordered_set<std::string> seen_;
};

}  // namespace kiln

#endif  // KILN_SEARCH_STRATEGY_GRID_SEARCH_H_
