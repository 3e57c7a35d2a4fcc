#include "kiln/tools/tuning/tune_model.h"

#include <cstdint>
#include <utility>
#include <vector>

#include "kiln/base/status_macros.h"
#include "kiln/tools/tuning/job.h"
#include "kiln/tools/tuning/job_flags.h"
#include "kiln/tools/tuning/tune.h"
#include "kiln/tools/tuning/tune_sizes.h"

namespace kiln {
namespace {

// Of each task; time ends most runs.
constexpr int64_t kMostTrials = 1000;

}  // namespace

absl::Status TuneModel(const Module& prepared, const TuneModelRequest& request,
                       TuneView* view) {
  TuneAllRequest all;
  KILN_ASSIGN_OR_RETURN(
      std::vector<TuneJob> jobs,
      ModelJobs({prepared, "", request.sampled, request.samples}));
  all.jobs = Merge(std::move(jobs));
  all.model = &prepared;
  all.target = request.target;
  all.trials_per_task = kMostTrials;
  all.max_seconds = request.seconds;
  all.work_dir = request.work_dir;
  all.stop = request.stop;
  return RunTuneSizes(all, view).status();
}

}  // namespace kiln
