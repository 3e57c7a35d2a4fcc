// What a run over several tasks makes small.
#ifndef KILN_SEARCH_TASK_OBJECTIVE_H_
#define KILN_SEARCH_TASK_OBJECTIVE_H_

#include <memory>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace kiln {

// A task as an objective sees it.
struct TaskTime {
  double weight = 1;
  double seconds = 0;  // of one call; positive
};

class Objective {
 public:
  virtual ~Objective() = default;
  virtual std::string_view name() const = 0;
  virtual double Value(absl::Span<const TaskTime> tasks) const = 0;
  // By how much the value falls for each second that task `i` falls by.
  virtual double Slope(absl::Span<const TaskTime> tasks, size_t i) const = 0;
};

// "weighted-sum": the time of one pass, each task as often as its weight says.
// "max": the slowest task, by weighted time. "geomean": the weighted geometric
// mean, for which a tenth of any task counts alike. Another name is
// kInvalidArgument.
absl::StatusOr<std::unique_ptr<Objective>> MakeObjective(std::string_view name);

}  // namespace kiln

#endif  // KILN_SEARCH_TASK_OBJECTIVE_H_
