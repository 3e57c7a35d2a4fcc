// The models, by name.
#ifndef KILN_SEARCH_COST_MODELS_H_
#define KILN_SEARCH_COST_MODELS_H_

#include <cstdint>
#include <memory>
#include <string_view>

#include "absl/status/statusor.h"
#include "kiln/search/cost/cost_model.h"

namespace kiln {

// "random": a number from a hash of the program's features and the seed.
// "analytic": 1 / seconds of the estimate. "boosted": the estimate, corrected
// by trees that learn (boosted.h). Another name is kInvalidArgument.
absl::StatusOr<std::unique_ptr<CostModel>> MakeCostModel(std::string_view name,
                                                         uint64_t seed);

}  // namespace kiln

#endif  // KILN_SEARCH_COST_MODELS_H_
