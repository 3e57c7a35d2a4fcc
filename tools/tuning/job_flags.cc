// What a module holds decides what is tuned: of a model the tensor functions
// that its graph functions call once ops are legalized, else each tensor
// function. relu(x) and relu(y) of one shape are one job with the weight 2.
// --bind n=1,16 gives functions of symbolic dimensions the sizes at which they
// are timed: those with which the model calls them where n is 1 and 16.
#include "kiln/tools/tuning/job_flags.h"

#include <cstdio>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "kiln/base/file.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/tensor/automatic.h"
#include "kiln/tools/support/program.h"
#include "kiln/tools/tuning/call_sizes.h"

namespace kiln {
namespace {

bool ManyWorkloads(const JobFlags& flags) {
  return !flags.suite.empty() || flags.workloads.size() > 1;
}

// Several workloads, or a suite.
absl::StatusOr<std::vector<TuneJob>> WorkloadJobs(const JobFlags& flags) {
  std::vector<std::string> names = flags.workloads;
  if (!flags.suite.empty()) {
    KILN_ASSIGN_OR_RETURN(std::vector<std::string> suite,
                          SuiteWorkloads(flags.suite));
    names.insert(names.end(), suite.begin(), suite.end());
  }
  std::vector<TuneJob> jobs;
  for (const std::string& name : names) {
    absl::StatusOr<TuneJob> job = JobOfWorkload(name);
    if (!job.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat("--workload: ", job.status().message()));
    }
    jobs.push_back(*std::move(job));
  }
  return jobs;
}

std::vector<std::string> DimNames(const TuneJob& job) {
  std::vector<std::string> names;
  for (const Var& dim : SymbolicDims(*job.module.Find(job.function))) {
    names.push_back(dim.name());
  }
  return names;
}

// Sizes by the names of functions.
using SizesOf = std::map<std::string, std::set<DimSize>>;

std::string WayOut(const std::set<std::string>& dims, bool has_samples) {
  if (has_samples) return "no value of --bind tells their size";
  return absl::StrCat("extents depend on ", absl::StrJoin(dims, ", "),
                      "; --bind ", absl::StrJoin(dims, "=16,"),
                      "=16 tunes the model at a size, --bind ", *dims.begin(),
                      "=1,16,128 for all sizes");
}

// Those of known extents, and those of symbolic ones with their sizes.
absl::StatusOr<std::vector<TuneJob>> WithSizes(std::vector<TuneJob> jobs,
                                               const SizesOf& sizes,
                                               bool has_samples) {
  std::vector<TuneJob> known;
  std::vector<std::string> others;
  std::set<std::string> dims;
  for (TuneJob& job : jobs) {
    const std::vector<std::string> names = DimNames(job);
    const auto found = sizes.find(job.function);
    if (!names.empty() && found == sizes.end()) {
      dims.insert(names.begin(), names.end());
      others.push_back(job.function);
      continue;
    }
    if (!names.empty()) {
      job.sizes.assign(found->second.begin(), found->second.end());
    }
    known.push_back(std::move(job));
  }
  if (others.empty()) return known;
  const std::string why = absl::StrCat(absl::StrJoin(others, ", "), ": ",
                                       WayOut(dims, has_samples));
  if (known.empty()) return absl::InvalidArgumentError(why);
  std::fprintf(stderr, "not tuned: %s\n", why.c_str());
  return known;
}

}  // namespace

absl::StatusOr<std::vector<TuneJob>> ModelJobs(const SampledModel& model) {
  SizesOf sizes;
  for (const DimValues& sample : model.samples) {
    for (auto& [name, found] : CallSizes(model.module, model.sampled, sample)) {
      sizes[name].merge(found);
    }
  }
  return WithSizes(JobsOf(model.module, model.entry), sizes,
                   !model.samples.empty());
}

namespace {

// The jobs of a model: all, those of one graph function, or one function.
absl::StatusOr<std::vector<TuneJob>> JobsOfModel(const JobFlags& flags,
                                                 Module* module) {
  SampledModel model{*module, "", "", {}};
  KILN_ASSIGN_OR_RETURN(model.samples, SampledSizes(*module, flags.bindings));
  if (!model.samples.empty()) {
    KILN_ASSIGN_OR_RETURN(model.sampled,
                          BoundFunction(*module, flags.bindings));
  }
  KILN_ASSIGN_OR_RETURN(*module, PrepareModel(*module, flags.prepare));
  const std::string& func = flags.func;
  const bool is_graph = func.empty() || module->FindGraph(func);
  if (is_graph) model.entry = func;
  if (is_graph && JobsOf(*module, model.entry).empty()) {
    return absl::InvalidArgumentError(absl::StrCat(
        func.empty() ? "no graph function" : func,
        " calls no tensor function, also where its ops are legalized; "
        "opt --module FILE --passes legalize prints what it calls"));
  }
  KILN_ASSIGN_OR_RETURN(std::vector<TuneJob> jobs, ModelJobs(model));
  if (is_graph) return jobs;
  for (TuneJob& job : jobs) {
    if (job.function == func) return std::vector<TuneJob>{std::move(job)};
  }
  KILN_ASSIGN_OR_RETURN(const Function* chosen, ChooseFunction(*module, func));
  return std::vector<TuneJob>{JobOf(*chosen)};
}

// Gives a tensor function the sizes that the samples say, by names.
absl::Status TakeSizes(const std::vector<DimValues>& samples, TuneJob* job) {
  const std::vector<std::string> names = DimNames(*job);
  if (names.empty()) return absl::OkStatus();
  std::set<DimSize> sizes;
  for (const DimValues& sample : samples) {
    DimSize size;
    for (const std::string& name : names) {
      const auto found = sample.find(name);
      if (found == sample.end()) {
        return absl::InvalidArgumentError(absl::StrCat(
            "--bind gives no size of ", name, ", a dimension of ",
            job->function, "; --bind ", absl::StrJoin(names, "=16,"), "=16"));
      }
      size.push_back(found->second);
    }
    sizes.insert(std::move(size));
  }
  job->sizes.assign(sizes.begin(), sizes.end());
  return absl::OkStatus();
}

// Every name is a dimension of some function.
absl::Status CheckNames(const std::vector<DimValues>& samples,
                        const std::vector<TuneJob>& jobs) {
  std::set<std::string> known;
  for (const TuneJob& job : jobs) {
    for (const std::string& name : DimNames(job)) known.insert(name);
  }
  for (const auto& [name, size] : samples.front()) {
    if (known.count(name) > 0) continue;
    return absl::NotFoundError(
        absl::StrCat("--bind: no function that is tuned has a dimension "
                     "called ",
                     name));
  }
  return absl::OkStatus();
}

absl::Status TakeSizes(const JobFlags& flags, const Module& module,
                       std::vector<TuneJob>* jobs) {
  KILN_ASSIGN_OR_RETURN(const std::vector<DimValues> samples,
                        SampledSizes(module, flags.bindings));
  if (samples.empty()) return absl::OkStatus();
  KILN_RETURN_IF_ERROR(CheckNames(samples, *jobs));
  for (TuneJob& job : *jobs) KILN_RETURN_IF_ERROR(TakeSizes(samples, &job));
  return absl::OkStatus();
}

// What one module holds, or one function of it.
absl::StatusOr<std::vector<TuneJob>> ModuleJobs(const JobFlags& flags,
                                                Module* module) {
  const std::string workload =
      flags.workloads.empty() ? "" : flags.workloads[0];
  KILN_ASSIGN_OR_RETURN(*module, LoadProgram({flags.module, workload,
                                              flags.einsum, flags.shape}));
  if (!workload.empty()) {
    KILN_ASSIGN_OR_RETURN(TuneJob job, JobOfWorkload(workload));
    return std::vector<TuneJob>{std::move(job)};
  }
  Bindings bindings = flags.bindings;
  bindings.samples = true;
  KILN_ASSIGN_OR_RETURN(*module, Bound(std::move(*module), bindings));
  if (!module->graph_functions.empty()) return JobsOfModel(flags, module);
  std::vector<TuneJob> jobs = JobsOf(*module);
  if (jobs.empty() || !flags.func.empty()) {
    KILN_ASSIGN_OR_RETURN(const Function* chosen,
                          ChooseFunction(*module, flags.func));
    jobs = {JobOf(*chosen)};
  }
  if (!flags.einsum.empty()) jobs[0].name = "einsum";
  KILN_RETURN_IF_ERROR(TakeSizes(flags, *module, &jobs));
  return jobs;
}

absl::Status TakeSpace(const JobFlags& flags, std::vector<TuneJob>* jobs) {
  if (flags.space.empty()) return absl::OkStatus();
  KILN_ASSIGN_OR_RETURN(const std::string text,
                        ReadFileOrStdin(CallerPath(flags.space)));
  for (TuneJob& job : *jobs) {
    job.space = python::Source(flags.space, text);
    job.use_rules = flags.rules;
  }
  return absl::OkStatus();
}

absl::Status TakeWeights(const JobFlags& flags, std::vector<TuneJob>* jobs) {
  if (flags.weights.empty()) return absl::OkStatus();
  const std::vector<std::string> weights = absl::StrSplit(flags.weights, ',');
  if (weights.size() != jobs->size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("--weights has ", weights.size(), " numbers for ",
                     jobs->size(), " functions"));
  }
  for (size_t i = 0; i < weights.size(); ++i) {
    double& weight = (*jobs)[i].weight;
    if (!absl::SimpleAtod(weights[i], &weight) || !(weight > 0) ||
        weight > 1e12) {
      return absl::InvalidArgumentError(absl::StrCat(
          "--weights: \"", weights[i], "\" is no positive number"));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::vector<TuneJob>> LoadJobs(const JobFlags& flags,
                                              Module* module) {
  const bool other = !flags.module.empty() || !flags.einsum.empty();
  if (ManyWorkloads(flags) && other) {
    return absl::InvalidArgumentError(
        "--suite and several --workload go with neither --module nor "
        "--einsum; tune those in a run of their own");
  }
  KILN_ASSIGN_OR_RETURN(
      std::vector<TuneJob> jobs,
      ManyWorkloads(flags) ? WorkloadJobs(flags) : ModuleJobs(flags, module));
  if (!flags.is_auto) {
    SetAuto(module, false);
    for (TuneJob& job : jobs) SetAuto(&job.module, false);
  }
  KILN_RETURN_IF_ERROR(TakeSpace(flags, &jobs));
  KILN_RETURN_IF_ERROR(TakeWeights(flags, &jobs));
  return Merge(std::move(jobs));
}

}  // namespace kiln
