// Guesses which of many programs are fast.
//
//   std::vector<Features> features = ...;              // features.h
//   std::vector<double> scores = model.Predict(Pointers(features));
//   ... measure the best ...
//   KILN_RETURN_IF_ERROR(model.Update(workload_key, measured));
#ifndef KILN_SEARCH_COST_COST_MODEL_H_
#define KILN_SEARCH_COST_COST_MODEL_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "kiln/search/cost/features.h"

namespace kiln {

// A program and what came of it.
struct MeasuredProgram {
  const Features* features = nullptr;
  double seconds = 0;  // of one call; 0: it failed
};

class CostModel {
 public:
  virtual ~CostModel() = default;

  virtual std::string_view name() const = 0;

  // A score for each program, in order: positive, higher for faster ones, and
  // of meaning among programs of one workload only. A model that knows times
  // gives 1 / seconds. The score of a program depends on the program and on
  // what Update told, not on the others of the call nor on threads. Several
  // threads may call it at a time, but not during Update.
  virtual std::vector<double> Predict(
      absl::Span<const Features* const> programs) const = 0;

  // Learns from measurements of programs of the workload. The features may go
  // afterwards. Models that do not learn do nothing.
  virtual absl::Status Update(const std::string& workload,
                              absl::Span<const MeasuredProgram> measured) = 0;

  // Writes all that was learned to a file, and reads it back. A file of
  // another version or another table of features is kFailedPrecondition, a
  // damaged one kDataLoss, a missing one kNotFound; the model then stays as it
  // was. Models that do not learn write nothing.
  virtual absl::Status Save(const std::string& path) const = 0;
  virtual absl::Status Load(const std::string& path) = 0;
};

}  // namespace kiln

#endif  // KILN_SEARCH_COST_COST_MODEL_H_
