// Made-up features for tests of models that learn.
#ifndef KILN_SEARCH_COST_TESTING_H_
#define KILN_SEARCH_COST_TESTING_H_

#include <cstdint>
#include <vector>

#include "kiln/search/cost/cost_model.h"

namespace kiln::testing {

// Programs of a few stores with random numbers, and times that their estimates
// tell half of: the other half hangs on some of the numbers.
struct MadeUpPrograms {
  MadeUpPrograms(uint64_t seed, int count);
  std::vector<const Features*> Pointers() const;
  std::vector<MeasuredProgram> Measured() const;

  std::vector<Features> features;
  std::vector<double> seconds;
};

}  // namespace kiln::testing

#endif  // KILN_SEARCH_COST_TESTING_H_
