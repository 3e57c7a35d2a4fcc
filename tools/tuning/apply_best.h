// What earlier runs found, without a new one.
#ifndef KILN_TOOLS_TUNING_APPLY_BEST_H_
#define KILN_TOOLS_TUNING_APPLY_BEST_H_

#include <vector>

#include "absl/status/statusor.h"
#include "kiln/tools/tuning/tune.h"

namespace kiln {

// The best known program of each job on the target, from the work directory's
// database and the request's records, written as RunTuneAll writes it. Nothing
// is measured. kNotFound says what is near where there is none
// (search/database/lookup.h).
absl::StatusOr<std::vector<TuneOutcome>> ApplyBest(
    const TuneAllRequest& request);

}  // namespace kiln

#endif  // KILN_TOOLS_TUNING_APPLY_BEST_H_
