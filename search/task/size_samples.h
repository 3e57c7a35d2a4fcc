// Which schedules a function of symbolic extents takes, by estimates at a few
// sizes.
#ifndef KILN_SEARCH_TASK_SIZE_SAMPLES_H_
#define KILN_SEARCH_TASK_SIZE_SAMPLES_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kiln/base/machine.h"
#include "kiln/ir/tensor/module.h"

namespace kiln {

// `f` with all of its symbolic dimensions of one size.
Function AtSize(const Function& f, int64_t size);

// A schedule for all sizes: what was chosen for one, carried over.
struct CarriedSchedule {
  Function scheduled;
  std::string trace;
  bool is_clumsy = false;  // at borders, which estimates do not see
  double seconds = 0;      // of a call at the largest size, estimated
};

class SizeSamples {
 public:
  SizeSamples(const Machine& machine, int threads)
      : machine_(machine), threads_(threads) {}

  // In ascending order, with the time of the best schedule for this size alone;
  // where that is not known, the best of those that are added counts as such.
  void AddSize(int64_t size, std::optional<double> best_seconds) {
    sizes_.push_back({size, best_seconds});
  }
  // Keeps it only until there is one that is not clumsy, where it is.
  void AddSchedule(CarriedSchedule schedule);

  // The one whose estimated times of calls are nearest to the best of each
  // size, where one that is far off counts more than several that are nearly
  // there; or one for small sizes and one for large ones, as one function
  // (ir/transform/dispatch_by_size.h), where they are much nearer: with the
  // trace of the latter. nullopt where there is none.
  std::optional<CarriedSchedule> Best() const;

 private:
  struct Size {
    int64_t size;
    std::optional<double> best_seconds;
  };
  struct Choice {
    size_t small = 0, large = 0;  // schedules
    size_t first_large = 0;       // size; 0: all are
    double loss = 0;
  };

  double Seconds(const Function& f, int64_t size) const;
  // By schedule and size.
  std::vector<std::vector<double>> Losses() const;
  Choice BestOne(const std::vector<std::vector<double>>& losses) const;
  std::optional<Choice> BestTwo(
      const std::vector<std::vector<double>>& losses) const;
  std::optional<CarriedSchedule> Dispatched(const Choice& choice) const;

  const Machine& machine_;
  const int threads_;
  std::vector<Size> sizes_;
  std::vector<CarriedSchedule> schedules_;
  bool has_good_ = false;  // none of them is clumsy
};

}  // namespace kiln

#endif  // KILN_SEARCH_TASK_SIZE_SAMPLES_H_
