// Tuning of functions with symbolic dimensions: one program for all sizes.
#ifndef KILN_TOOLS_TUNING_TUNE_SIZES_H_
#define KILN_TOOLS_TUNING_TUNE_SIZES_H_

#include <vector>

#include "absl/status/statusor.h"
#include "kiln/tools/tuning/tune.h"
#include "kiln/tools/tuning/view.h"

namespace kiln {

// As RunTuneAll, for jobs of which some have sizes (TuneJob::sizes). A function
// of such a job is tuned at each of its sizes as if that were its only one, in
// tasks of their own ("dense_n16"). Then the fastest schedules of each size
// and the default one are carried over to all sizes and timed at each
// ("dense_any_n16"); of these, the best program is the one that
// search/database/by_size.h makes. It is saved under the job's name, and found
// again by whoever looks up the function.
//
// One outcome for each job, in order; that of a job with sizes has the state at
// its largest size, and no best program where the run was stopped before
// schedules were timed at all sizes. The same request again goes on.
absl::StatusOr<std::vector<TuneOutcome>> RunTuneSizes(
    const TuneAllRequest& request, TuneView* view);

}  // namespace kiln

#endif  // KILN_TOOLS_TUNING_TUNE_SIZES_H_
