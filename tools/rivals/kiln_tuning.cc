#include "kiln/tools/rivals/kiln_tuning.h"

#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"
#include "kiln/tools/rivals/kiln_kernel.h"
#include "kiln/tools/tuning/tune.h"

namespace kiln::bench {
namespace {

// Shows nothing.
class QuietView : public TuneView {
 public:
  void Start(const TuneTask&, const std::string&, const std::string&,
             const TuneState&) override {}
  void Trial(const TuneState&, const TuningRecord&) override {}
  void Done(const TuneState&) override {}
};

}  // namespace

absl::StatusOr<TunedKernel> TuneKernel(const KilnOptions& options,
                                       TuningCase what) {
  const TuneRequest request{.name = what.name,
                            .module = std::move(what.module),
                            .function = "main",
                            .target = WithThreads(options.target, what.threads),
                            .trials = options.trials,
                            .work_dir = options.work_dir,
                            .stop = options.stop};
  QuietView view;
  KILN_ASSIGN_OR_RETURN(TuneOutcome outcome, RunTune(request, &view));
  if (outcome.best_trace.empty() && options.stop && options.stop()) {
    return absl::CancelledError(
        absl::StrCat("interrupted while tuning ", request.name,
                     "; the same command goes on from there"));
  }
  if (outcome.best_trace.empty()) {
    return absl::InternalError(absl::StrCat("no kernel for ", request.name,
                                            "; see ", outcome.task_dir,
                                            "/tune.log"));
  }
  return TunedKernel{std::move(outcome.best), outcome.state.best_us()};
}

}  // namespace kiln::bench
