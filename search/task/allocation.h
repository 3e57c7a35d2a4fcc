// Which task of a run gets the next batch.
#ifndef KILN_SEARCH_TASK_ALLOCATION_H_
#define KILN_SEARCH_TASK_ALLOCATION_H_

#include <memory>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "kiln/search/task/objective.h"

namespace kiln {

// A task as an allocation sees it.
struct TaskProgress {
  double weight = 1;
  bool finished = false;
  int batches = 0;  // that it had, in this run
  // Seconds of the best program after each batch; an earlier run counts as one
  // batch. Empty while nothing ran.
  std::vector<double> best;
};

class Allocation {
 public:
  virtual ~Allocation() = default;
  virtual std::string_view name() const = 0;
  // The next task, or -1 when all are finished. A function of the arguments
  // alone.
  virtual int Next(absl::Span<const TaskProgress> tasks,
                   const Objective& objective) const = 0;
};

// "round-robin": the one with the fewest batches, in order. "gradient": after
// one batch each, the one whose next batch promises the objective most: a mix
// of what its last batches gained, and of what is left if time fell as
// 1 / batches (Ansor, OSDI 2020, section 6.1, without its term for similar
// tasks). Another name is kInvalidArgument.
absl::StatusOr<std::unique_ptr<Allocation>> MakeAllocation(
    std::string_view name);

}  // namespace kiln

#endif  // KILN_SEARCH_TASK_ALLOCATION_H_
