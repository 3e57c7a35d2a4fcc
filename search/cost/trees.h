// Gradient-boosted trees over dense rows: XGBoost's C API with statuses.
#ifndef KILN_SEARCH_COST_TREES_H_
#define KILN_SEARCH_COST_TREES_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace kiln {

struct TreeOptions {
  int columns = 1;  // of every row
  uint64_t seed = 0;
  int max_depth = 4;
  double eta = 0.1;
  double min_child_weight = 0.05;
  double lambda = 5;
  // The share of the columns that a tree may use. Which, follows from the seed
  // and from how many trees this object has added.
  double columns_per_tree = 0.3;
};

// Derivatives of the loss by the predictions of the rows.
struct Gradients {
  std::vector<float> first, second;
};

class Trees {
 public:
  static absl::StatusOr<std::unique_ptr<Trees>> Create(
      const TreeOptions& options);
  ~Trees();
  Trees(const Trees&) = delete;
  Trees& operator=(const Trees&) = delete;

  // Adds `rounds` trees, each of which lessens a loss whose derivatives
  // `gradients` gives for the predictions so far.
  template <typename F>
  absl::Status Boost(absl::Span<const float> values, int rounds, F gradients);

  // The sum of the leaves of each row. Not from two threads at a time.
  absl::StatusOr<std::vector<float>> Predict(
      absl::Span<const float> values) const;

  // The trees as bytes, and back.
  absl::StatusOr<std::string> Serialize() const;
  absl::Status Deserialize(const std::string& bytes);

 private:
  Trees() = default;
  absl::Status Start(absl::Span<const float> values);
  absl::StatusOr<std::vector<float>> Margins();
  absl::Status AddTree(Gradients* gradients);
  void Stop();

  int columns_ = 1;
  void* booster_ = nullptr;
  void* matrix_ = nullptr;  // while boosting
  size_t rows_ = 0;
};

template <typename F>
absl::Status Trees::Boost(absl::Span<const float> values, int rounds,
                          F gradients) {
  absl::Status status = Start(values);
  for (int i = 0; i < rounds && status.ok(); ++i) {
    absl::StatusOr<std::vector<float>> margins = Margins();
    status = margins.status();
    if (!status.ok()) break;
    Gradients next = gradients(*margins);
    status = AddTree(&next);
  }
  Stop();
  return status;
}

}  // namespace kiln

#endif  // KILN_SEARCH_COST_TREES_H_
