// All that cost models look at in a program.
#ifndef KILN_SEARCH_COST_FEATURES_H_
#define KILN_SEARCH_COST_FEATURES_H_

#include "kiln/base/machine.h"
#include "kiln/ir/tensor/module.h"
#include "kiln/search/cost/analytic.h"
#include "kiln/search/feature/store_features.h"

namespace kiln {

struct Features {
  FeatureMatrix stores;
  TimeEstimate estimate;
};

// Of a scheduled function that `threads` threads of `machine` will run. Costs
// some tens of microseconds. Thread-safe.
Features ExtractFeatures(const Function& scheduled, const Machine& machine,
                         int threads);

}  // namespace kiln

#endif  // KILN_SEARCH_COST_FEATURES_H_
