// Trees that learn how far the analytic estimate is off.
//
// The logarithm of a program's time is that of its estimate, plus the sum over
// its stores of what gradient-boosted trees make of each store's numbers: those
// of store_features.h, and those of the store's estimate. With no data it is
// the analytic model. Errors are weighed by speed, so that the fast programs,
// between which a search has to choose, count most. What all programs of a
// workload have in common makes no difference.
//
// The trees are XGBoost's; after Ansor's objective, whose unit is the program
// and not the store. Training is on one thread and seeded: the same updates
// give the same model.
#ifndef KILN_SEARCH_COST_BOOSTED_H_
#define KILN_SEARCH_COST_BOOSTED_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "kiln/search/cost/cost_model.h"

namespace kiln {

struct BoostedOptions {
  uint64_t seed = 0;
  int max_depth = 4;
  double eta = 0.1;
  double min_child_weight = 0.05;
  double lambda = 5;
  double columns_per_tree = 0.3;
  // Trees of a model that is trained anew: when there is half as much data
  // again as the last time; and those added when there is a twelfth more.
  int rounds = 80;
  int added_rounds = 12;
  int max_rounds = 240;
  // False: learn times from nothing, without the estimate.
  bool from_estimate = true;
};

class BoostedModel : public CostModel {
 public:
  explicit BoostedModel(BoostedOptions options = {});
  ~BoostedModel() override;

  std::string_view name() const override { return "boosted"; }
  std::vector<double> Predict(
      absl::Span<const Features* const> programs) const override;
  absl::Status Update(const std::string& workload,
                      absl::Span<const MeasuredProgram> measured) override;
  absl::Status Save(const std::string& path) const override;
  absl::Status Load(const std::string& path) override;

  // Programs that it learned from.
  int64_t size() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace kiln

#endif  // KILN_SEARCH_COST_BOOSTED_H_
