// What tests of tuning search through.
#ifndef KILN_SEARCH_TASK_TESTING_H_
#define KILN_SEARCH_TASK_TESTING_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "kiln/search/space/space.h"

namespace kiln {

// Programs 0 to size - 1, whose traces are their numbers. None has a body.
class NumberSpace : public Space {
 public:
  explicit NumberSpace(uint64_t size) : size_(size) {}
  absl::StatusOr<Candidate> Sample(uint64_t seed,
                                   uint64_t index) const override;
  absl::StatusOr<Candidate> At(const Point& point) const override;
  absl::StatusOr<Candidate> Mutate(const Point& point,
                                   uint64_t seed) const override;
  absl::StatusOr<Candidate> Cross(const Point& a, const Point& b,
                                  uint64_t seed) const override;
  std::string TraceText(const Point& point) const override;
  std::string DecisionText(const Point& point) const override;
  std::optional<Point> Locate(const std::string& trace) const override;

 private:
  uint64_t size_;
};

}  // namespace kiln

#endif  // KILN_SEARCH_TASK_TESTING_H_
