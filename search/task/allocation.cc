#include "kiln/search/task/allocation.h"

#include <algorithm>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace kiln {
namespace {

// The unfinished task with the fewest batches, the first of several.
int Fewest(absl::Span<const TaskProgress> tasks) {
  int fewest = -1;
  for (int i = 0; i < static_cast<int>(tasks.size()); ++i) {
    if (tasks[i].finished) continue;
    if (fewest < 0 || tasks[i].batches < tasks[fewest].batches) fewest = i;
  }
  return fewest;
}

class RoundRobin : public Allocation {
 public:
  std::string_view name() const override { return "round-robin"; }
  int Next(absl::Span<const TaskProgress> tasks,
           const Objective&) const override {
    return Fewest(tasks);
  }
};

class Gradient : public Allocation {
 public:
  std::string_view name() const override { return "gradient"; }
  int Next(absl::Span<const TaskProgress> tasks,
           const Objective& objective) const override {
    const int fewest = Fewest(tasks);
    if (fewest < 0 || tasks[fewest].batches == 0) return fewest;
    const std::vector<TaskTime> times = Times(tasks);
    int best = fewest;
    double most = -1;
    for (size_t i = 0; i < tasks.size(); ++i) {
      if (tasks[i].finished) continue;
      const double gain = objective.Slope(times, i) * Promise(tasks[i]);
      if (gain > most) {
        most = gain;
        best = static_cast<int>(i);
      }
    }
    return best;
  }

 private:
  static constexpr double kBackward = 0.2;  // weight of the past
  static constexpr int kWindow = 3;         // batches that are the past

  // A task that nothing ran of yet counts as one of a second, so that it is
  // tried again soon.
  static std::vector<TaskTime> Times(absl::Span<const TaskProgress> tasks) {
    std::vector<TaskTime> times;
    for (const TaskProgress& task : tasks) {
      times.push_back({task.weight, task.best.empty() ? 1 : task.best.back()});
    }
    return times;
  }

  // Seconds that the next batch may save.
  static double Promise(const TaskProgress& task) {
    if (task.best.empty()) return 1.0 / (1 + task.batches);
    const int last = static_cast<int>(task.best.size()) - 1;
    const int back = std::min(kWindow, last);
    const double past =
        back == 0 ? 0 : (task.best[last - back] - task.best[last]) / back;
    const double future = task.best[last] / static_cast<double>(last + 1);
    return kBackward * past + (1 - kBackward) * future;
  }
};

}  // namespace

absl::StatusOr<std::unique_ptr<Allocation>> MakeAllocation(
    std::string_view name) {
  if (name == "round-robin") return std::make_unique<RoundRobin>();
  if (name == "gradient") return std::make_unique<Gradient>();
  return absl::InvalidArgumentError(
      absl::StrCat("no allocation is called \"", std::string(name),
                   "\"; there are gradient and round-robin"));
}

}  // namespace kiln
