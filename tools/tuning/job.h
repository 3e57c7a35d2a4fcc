// What a tuning run is asked to do: functions, each with its space and weight.
#ifndef KILN_TOOLS_TUNING_JOB_H_
#define KILN_TOOLS_TUNING_JOB_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "kiln/ir/tensor/module.h"
#include "kiln/ir/tensor/timed_size.h"
#include "kiln/ir/text/python/source.h"

namespace kiln {

struct TuneJob {
  std::string name;      // for people and for files
  Module module;         // holds the function
  std::string function;  // which one to tune
  // A schedule function; none: that of the rules alone.
  std::optional<python::Source> space;
  bool use_rules = false;  // the rules' schedules beside those of `space`
  double weight = 1;       // calls of it
  // Where the function has symbolic dimensions: sizes at which schedules of it
  // are timed, ascending.
  std::vector<DimSize> sizes = {};
  // Other functions that are the same but for names, merged into this one.
  std::vector<std::string> same = {};
};

// The job of one tensor function, which stands alone in its module, under the
// rules' schedules.
TuneJob JobOf(const Function& function);

// A job for each tensor function of the module. Where there are graph
// functions, for each that they call, `entry` alone where it is given; the
// weight is the number of calls (call_counts.h).
std::vector<TuneJob> JobsOf(const Module& module,
                            const std::string& entry = "");

// The job of a named workload, "gmm:512,512,512" or "gmm", with the space that
// is built in for it.
absl::StatusOr<TuneJob> JobOfWorkload(const std::string& workload);

// The workloads of a suite: "ansor" (13 classes of operators with 4 shapes
// each) or "gemm" (products only). kInvalidArgument names what there is.
absl::StatusOr<std::vector<std::string>> SuiteWorkloads(std::string_view suite);

// One job for all whose functions are equal up to names: the first one's, with
// the sum of the weights and the sizes of all. Names that come twice are told
// apart by a number.
std::vector<TuneJob> Merge(std::vector<TuneJob> jobs);

}  // namespace kiln

#endif  // KILN_TOOLS_TUNING_JOB_H_
