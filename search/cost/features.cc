#include "kiln/search/cost/features.h"

namespace kiln {

Features ExtractFeatures(const Function& scheduled, const Machine& machine,
                         int threads) {
  const ProgramSummary summary = Summarize(scheduled);
  Features features;
  features.stores = StoreFeatures(summary, machine.line_bytes);
  features.estimate = EstimateTime(summary, machine, threads);
  return features;
}

}  // namespace kiln
