// The suites that rivals are measured on.
#ifndef KILN_TOOLS_RIVALS_SUITE_H_
#define KILN_TOOLS_RIVALS_SUITE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace kiln::bench {

// A named workload and its dimensions.
struct SuiteCase {
  std::string workload;
  std::vector<int64_t> dims;
};

// Square products and those of fully connected layers; `shapes` is a list such
// as "512x512x512,128x768x3072" of m x n x k.
absl::StatusOr<std::vector<SuiteCase>> GemmSuite(const std::string& shapes);

// All shapes of all workloads of ir/te/workloads.h, or of those that `only`
// names: "c2d,dep", or single ones "c2d:56,56,64,64,1,1,0;dep".
absl::StatusOr<std::vector<SuiteCase>> AnsorSuite(const std::string& only);

}  // namespace kiln::bench

#endif  // KILN_TOOLS_RIVALS_SUITE_H_
