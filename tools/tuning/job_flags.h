// The jobs that `tune`'s flags ask for.
#ifndef KILN_TOOLS_TUNING_JOB_FLAGS_H_
#define KILN_TOOLS_TUNING_JOB_FLAGS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "kiln/ir/tensor/module.h"
#include "kiln/tools/support/bind_flags.h"
#include "kiln/tools/support/model.h"
#include "kiln/tools/tuning/job.h"

namespace kiln {

struct JobFlags {
  std::vector<std::string> workloads;
  std::string suite, module, einsum, shape, func;
  std::string space;       // a path
  bool rules = false;      // beside the space
  std::string weights;     // "3,1,2"
  bool is_auto = true;     // as in ProgramFlags
  Bindings bindings;       // of a model
  PrepareOptions prepare;  // of models
};

// What the graph function `entry` of a prepared model calls, or, for "", any
// public one. Functions of symbolic dimensions get the sizes with which they
// are called where the dimensions of `sampled` have the values of one of the
// samples; those without a size are named on standard error. InvalidArgument,
// with the way out, where there are no others.
struct SampledModel {
  const Module& module;
  std::string entry;
  std::string sampled;  // a graph function
  std::vector<DimValues> samples;
};
absl::StatusOr<std::vector<TuneJob>> ModelJobs(const SampledModel& model);

// Equal functions are merged. `module` takes the one that the jobs are
// functions of, and stays empty where there is none. Errors name the flag.
absl::StatusOr<std::vector<TuneJob>> LoadJobs(const JobFlags& flags,
                                              Module* module);

}  // namespace kiln

#endif  // KILN_TOOLS_TUNING_JOB_FLAGS_H_
