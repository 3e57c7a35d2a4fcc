#include "kiln/search/task/objective.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace kiln {
namespace {

double Weighted(const TaskTime& task) { return task.weight * task.seconds; }

class WeightedSum : public Objective {
 public:
  std::string_view name() const override { return "weighted-sum"; }
  double Value(absl::Span<const TaskTime> tasks) const override {
    double sum = 0;
    for (const TaskTime& task : tasks) sum += Weighted(task);
    return sum;
  }
  double Slope(absl::Span<const TaskTime> tasks, size_t i) const override {
    return tasks[i].weight;
  }
};

class Slowest : public Objective {
 public:
  std::string_view name() const override { return "max"; }
  double Value(absl::Span<const TaskTime> tasks) const override {
    double most = 0;
    for (const TaskTime& task : tasks) most = std::max(most, Weighted(task));
    return most;
  }
  double Slope(absl::Span<const TaskTime> tasks, size_t i) const override {
    return Weighted(tasks[i]) == Value(tasks) ? tasks[i].weight : 0;
  }
};

class Geomean : public Objective {
 public:
  std::string_view name() const override { return "geomean"; }
  double Value(absl::Span<const TaskTime> tasks) const override {
    double logs = 0;
    for (const TaskTime& task : tasks) {
      logs += task.weight * std::log(task.seconds);
    }
    return tasks.empty() ? 0 : std::exp(logs / Weights(tasks));
  }
  double Slope(absl::Span<const TaskTime> tasks, size_t i) const override {
    return Value(tasks) * tasks[i].weight / (Weights(tasks) * tasks[i].seconds);
  }

 private:
  static double Weights(absl::Span<const TaskTime> tasks) {
    double sum = 0;
    for (const TaskTime& task : tasks) sum += task.weight;
    return sum;
  }
};

}  // namespace

absl::StatusOr<std::unique_ptr<Objective>> MakeObjective(
    std::string_view name) {
  if (name == "weighted-sum") return std::make_unique<WeightedSum>();
  if (name == "max") return std::make_unique<Slowest>();
  if (name == "geomean") return std::make_unique<Geomean>();
  return absl::InvalidArgumentError(
      absl::StrCat("no objective is called \"", std::string(name),
                   "\"; there are weighted-sum, max and geomean"));
}

}  // namespace kiln
