// Faults in scheduled kernels, and what the checks of a trial say to each.
#ifndef KILN_TESTS_MUTATION_CAMPAIGN_H_
#define KILN_TESTS_MUTATION_CAMPAIGN_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "kiln/search/measure/runner.h"
#include "kiln/tests/mutation/mutate.h"

namespace kiln::mutation {

struct CampaignOptions {
  int faults = 6;  // in each workload, of different kinds in turn
  // Which kind comes first, and where faults are put.
  uint64_t seed = 0;
  int num_threads = 1;
  // Floating-point operations up to which the interpreter is asked about a
  // fault that no check found.
  double max_interpreted_flop = 4e8;
};

enum class Outcome {
  kCaught,
  // The machine code is that of the program without the fault, byte for byte.
  // Or the interpreter computes the same of the faulty program in every
  // element, from inputs that no check has used: bit for bit, or, where outputs
  // depend on how they are computed (ExactBuffers), but for rounding. A softmax
  // is the same whatever is taken for the maximum of a row.
  kEquivalent,
  kMissed
};

struct Row {
  std::string workload;
  FaultKind kind;
  std::string place;
  Outcome outcome;
  std::string verdict;  // of the trial, and which check it was
};

// Schedules the workload, lowers it, and for one fault after the other
// compiles what became of it and measures it as a trial is measured. `row` is
// told of each. An error where nothing can be measured, or where the kernel
// without a fault is not ok.
absl::Status Attack(const std::string& workload, Runner& runner,
                    const CampaignOptions& options,
                    const std::function<void(const Row&)>& row);

}  // namespace kiln::mutation

#endif  // KILN_TESTS_MUTATION_CAMPAIGN_H_
