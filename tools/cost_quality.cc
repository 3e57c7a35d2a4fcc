// cost_quality: how well the cost models rank what a tuning run has measured.
// Each program's trace is replayed and its features are taken; a model learns
// from the first programs and is judged by the later ones, as in a search,
// where the future is what counts. A random model is the floor of every column:
//
//     model    | learnt | known | spearman | pairs | recall@10 | recall@30 | ..
//     random   |     32 |    32 | about 0  | ~0.5  | ..
//     analytic |     32 |    32 | (learns nothing)  ..
//
// Ranks are compared, not times: a search only has to know which program to try
// next. A model gets a name in JudgeAll.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "kiln/base/file.h"
#include "kiln/base/machine.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/text/reader/reader.h"
#include "kiln/search/cost/features.h"
#include "kiln/search/cost/models.h"
#include "kiln/search/cost/quality.h"
#include "kiln/search/database/database.h"
#include "kiln/search/space/trace_space.h"
#include "kiln/tools/reporting/task_data.h"
#include "kiln/tools/support/main.h"
#include "kiln/vm/profile/machine_constants.h"

ABSL_FLAG(std::string, work_dir, "", "the folder of a tuning run");
ABSL_FLAG(double, train, 0.5,
          "the share of the programs, by age, that models learn from; all "
          "models are judged by the others");
ABSL_FLAG(uint64_t, seed, 0, "of the models");

namespace kiln {
namespace {

// The programs of one workload on one target, oldest first.
struct Measurements {
  std::string name;
  std::vector<Features> features;
  std::vector<double> seconds;
};

constexpr size_t kLeastPrograms = 4;

// A target's fingerprint ends with the threads that kernels use.
int ThreadsOf(const std::string& target) {
  const size_t at = target.rfind("threads=");
  return at == std::string::npos
             ? 1
             : std::max(1, std::atoi(target.c_str() + at + 8));
}

int IndexOf(const Module& module, const std::string& function) {
  for (size_t i = 0; i < module.functions.size(); ++i) {
    if (module.functions[i].name == function) return static_cast<int>(i);
  }
  return 0;
}

absl::StatusOr<Measurements> Collect(Database& database,
                                     const Workload& workload,
                                     const std::string& target,
                                     const Machine& machine) {
  KILN_ASSIGN_OR_RETURN(const Module module,
                        ParseModule("workload", workload.text));
  const int function = IndexOf(module, workload.func_name);
  Measurements out;
  out.name = absl::StrCat(workload.key.substr(0, 8), " ", workload.func_name,
                          ", ", ThreadsOf(target), " threads");
  RecordFilter filter;
  filter.workload_key = workload.key;
  filter.target = target;
  filter.verdict = Verdict::kOk;
  KILN_RETURN_IF_ERROR(
      database.ForEachRecord(filter, [&](const TuningRecord& record) {
        absl::StatusOr<Function> f =
            ReplayTrace(module, function, record.trace);
        KILN_RETURN_IF_ERROR(f.status());
        out.features.push_back(ExtractFeatures(*f, machine, ThreadsOf(target)));
        out.seconds.push_back(record.latency_min_ns * 1e-9);
        return absl::OkStatus();
      }));
  return out;
}

absl::Status Judge(const std::string& name, const Measurements& m) {
  KILN_ASSIGN_OR_RETURN(const std::unique_ptr<CostModel> model,
                        MakeCostModel(name, absl::GetFlag(FLAGS_seed)));
  const double share = std::clamp(absl::GetFlag(FLAGS_train), 0.0, 1.0);
  const size_t train = static_cast<size_t>(share * m.features.size());
  std::vector<MeasuredProgram> known;
  for (size_t i = 0; i < train; ++i) {
    known.push_back({&m.features[i], m.seconds[i]});
  }
  KILN_RETURN_IF_ERROR(model->Update("workload", known));
  std::vector<const Features*> rest;
  for (size_t i = train; i < m.features.size(); ++i) {
    rest.push_back(&m.features[i]);
  }
  const std::vector<double> scores = model->Predict(rest);
  const auto seconds = absl::MakeConstSpan(m.seconds).subspan(train);
  std::printf("  %-9s| %6zu | %5zu | %8.3f | %5.3f | %9.2f | %9.2f | %11.2f\n",
              name.c_str(), train, rest.size(),
              RankCorrelation(scores, seconds),
              PairwiseAccuracy(scores, seconds), RecallAt(10, scores, seconds),
              RecallAt(30, scores, seconds), BestShareAt(10, scores, seconds));
  return absl::OkStatus();
}

absl::Status JudgeAll(const Measurements& m) {
  std::printf("%s: %zu programs, %.1f to %.1f us\n", m.name.c_str(),
              m.features.size(),
              *std::min_element(m.seconds.begin(), m.seconds.end()) * 1e6,
              *std::max_element(m.seconds.begin(), m.seconds.end()) * 1e6);
  std::printf(
      "  model    | learnt | known | spearman | pairs | recall@10 | recall@30 "
      "| best of 10\n");
  for (const char* name : {"random", "analytic", "boosted"}) {
    KILN_RETURN_IF_ERROR(Judge(name, m));
  }
  return absl::OkStatus();
}

absl::StatusOr<int> Run() {
  if (absl::GetFlag(FLAGS_work_dir).empty()) {
    return absl::InvalidArgumentError(
        "name the folder of a tuning run with --work_dir");
  }
  const Machine machine = LoadOrMeasureMachine(DefaultMachinePath());
  const std::string path = CallerPath(absl::GetFlag(FLAGS_work_dir));
  KILN_ASSIGN_OR_RETURN(const std::unique_ptr<Database> database,
                        report::OpenWorkDir(path, "--work-dir"));
  KILN_ASSIGN_OR_RETURN(const std::vector<Workload> workloads,
                        database->AllWorkloads());
  bool any = false;
  for (const Workload& workload : workloads) {
    std::set<std::string> targets;
    RecordFilter filter;
    filter.workload_key = workload.key;
    KILN_RETURN_IF_ERROR(
        database->ForEachRecord(filter, [&](const TuningRecord& record) {
          targets.insert(record.target);
          return absl::OkStatus();
        }));
    for (const std::string& target : targets) {
      KILN_ASSIGN_OR_RETURN(const Measurements m,
                            Collect(*database, workload, target, machine));
      if (m.features.size() < kLeastPrograms) continue;
      KILN_RETURN_IF_ERROR(JudgeAll(m));
      any = true;
    }
  }
  if (!any) {
    return absl::FailedPreconditionError(
        absl::StrCat(path, " holds no task of ", kLeastPrograms,
                     " measured programs; tune more of them there"));
  }
  return kExitOk;
}

}  // namespace
}  // namespace kiln

int main(int argc, char** argv) {
  return kiln::RunTool(
      argc, argv,
      "cost_quality: Says how well each cost model ranks the programs that a "
      "tuning run measured.\n"
      "  cost_quality --work-dir DIR [--train 0.5]",
      &kiln::Run);
}
