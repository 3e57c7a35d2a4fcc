// What guides a tuning run: a strategy, and what that stands on.
#ifndef KILN_TOOLS_TUNING_GUIDE_H_
#define KILN_TOOLS_TUNING_GUIDE_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "kiln/base/machine.h"
#include "kiln/base/thread_pool.h"
#include "kiln/search/cost/cost_model.h"
#include "kiln/search/strategy/scorer.h"
#include "kiln/search/strategy/strategy.h"
#include "kiln/search/task/task.h"

namespace kiln {

struct GuideOptions {
  std::string search = "evolutionary";
  std::string model = "boosted";  // or analytic, random
  uint64_t seed = 0;
  // Of the function. The more, the fewer programs are looked at for a trial:
  // each takes as long as the function is.
  size_t blocks = 1;
  // Asked before each draw; null: never.
  std::function<bool()> stop = nullptr;
};

// Valid for one run of one task.
struct Guide {
  std::unique_ptr<CostModel> model;  // null: none is asked
  std::unique_ptr<Scorer> scorer;
  std::unique_ptr<Strategy> strategy;
};

// The task's space and the pool outlive the guide. kInvalidArgument for a name
// that is not known.
absl::StatusOr<Guide> MakeGuide(const GuideOptions& options,
                                const TuneTask& task, const Machine& machine,
                                ThreadPool* pool);

// OK for names that MakeGuide knows; the error lists them.
absl::Status CheckGuide(const GuideOptions& options);

}  // namespace kiln

#endif  // KILN_TOOLS_TUNING_GUIDE_H_
