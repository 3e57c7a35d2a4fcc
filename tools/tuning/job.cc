#include "kiln/tools/tuning/job.h"

#include <cctype>
#include <map>
#include <set>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/te/workloads.h"
#include "kiln/ir/tensor/canonical.h"
#include "kiln/tools/tuning/call_counts.h"

namespace kiln {
namespace {

// The products of networks, as N, M, K: squares, and the layers of
// transformers and of convolutional networks (tpp-mlir's benchmark set).
constexpr const char* kGemms[] = {
    "128,128,128",    "256,256,256",    "512,512,512",   "1024,1024,1024",
    "2048,2048,2048", "512,32,512",     "128,768,768",   "128,3072,768",
    "128,768,3072",   "128,768,2304",   "128,1024,1024", "128,1024,4096",
    "128,4096,1024",  "256,768,768",    "256,3072,768",  "256,768,3072",
    "256,768,2304",   "256,1024,1024",  "256,1024,4096", "256,4096,1024",
    "1024,1024,512",  "1024,2560,1024", "1024,352,512",  "1024,512,256"};

const Function& FunctionOf(const TuneJob& job) {
  return *job.module.Find(job.function);
}

std::vector<std::string> AnsorSuite() {
  std::vector<std::string> names;
  for (const WorkloadInfo& workload : Workloads()) {
    for (const std::vector<int64_t>& shape : workload.shapes) {
      names.push_back(
          absl::StrCat(workload.name, ":", absl::StrJoin(shape, ",")));
    }
  }
  return names;
}

}  // namespace

TuneJob JobOf(const Function& function) {
  TuneJob job{function.name, Module(), function.name};
  job.module.functions.push_back(function);
  job.use_rules = true;
  return job;
}

std::vector<TuneJob> JobsOf(const Module& module, const std::string& entry) {
  const bool is_model = !module.graph_functions.empty();
  const std::map<std::string, double> calls = CallCounts(module, entry);
  std::vector<TuneJob> jobs;
  for (const Function& f : module.functions) {
    const auto count = calls.find(f.name);
    if (is_model && count == calls.end()) continue;
    jobs.push_back(JobOf(f));
    if (is_model) jobs.back().weight = count->second;
  }
  return jobs;
}

absl::StatusOr<TuneJob> JobOfWorkload(const std::string& workload) {
  TuneJob job;
  KILN_ASSIGN_OR_RETURN(job.module, MakeWorkload(workload));
  job.name = workload;
  job.function = job.module.functions[0].name;
  job.use_rules = true;
  return job;
}

absl::StatusOr<std::vector<std::string>> SuiteWorkloads(
    std::string_view suite) {
  if (suite == "ansor") return AnsorSuite();
  if (suite == "gemm") {
    std::vector<std::string> names;
    for (const char* shape : kGemms)
      names.push_back(absl::StrCat("gmm:", shape));
    return names;
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "no suite is called \"", std::string(suite),
      "\"; there are ansor (13 operators, 4 shapes each) and gemm"));
}

std::vector<TuneJob> Merge(std::vector<TuneJob> jobs) {
  std::vector<TuneJob> merged;
  std::map<std::string, size_t> places;  // by canonical form
  for (TuneJob& job : jobs) {
    const auto [place, is_new] =
        places.emplace(CanonicalForm(FunctionOf(job)), merged.size());
    if (is_new) {
      merged.push_back(std::move(job));
      continue;
    }
    TuneJob& first = merged[place->second];
    first.weight += job.weight;
    std::set<DimSize> sizes(first.sizes.begin(), first.sizes.end());
    sizes.insert(job.sizes.begin(), job.sizes.end());
    first.sizes.assign(sizes.begin(), sizes.end());
    first.same.push_back(job.function);
  }
  std::set<std::string> names;
  for (TuneJob& job : merged) {
    const std::string name = job.name;
    for (int i = 2; !names.insert(job.name).second; ++i) {
      job.name = absl::StrCat(name, "_", i);
    }
  }
  return merged;
}

}  // namespace kiln
