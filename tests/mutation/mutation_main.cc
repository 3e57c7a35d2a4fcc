// Prints what the checks of trials say to faulty kernels, one line for each:
//
//   bazel run -c opt //tests/mutation -- [faults for each shape] [workload...]
//
// Without workloads, every named one in all of its shapes. Exits with 1 where a
// fault was missed.
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "kiln/ir/te/workloads.h"
#include "kiln/search/measure/local_runner.h"
#include "kiln/tests/mutation/campaign.h"

namespace kiln::mutation {
namespace {

std::vector<std::string> AllShapes() {
  std::vector<std::string> specs;
  for (const WorkloadInfo& info : Workloads()) {
    for (const std::vector<int64_t>& shape : info.shapes) {
      specs.push_back(absl::StrCat(info.name, ":", absl::StrJoin(shape, ",")));
    }
  }
  return specs;
}

const char* NameOf(Outcome outcome) {
  switch (outcome) {
    case Outcome::kCaught:
      return "caught";
    case Outcome::kEquivalent:
      return "equivalent";
    case Outcome::kMissed:
      return "MISSED";
  }
  return "";
}

int Main(int argc, char** argv) {
  CampaignOptions options;
  if (argc > 1) options.faults = std::atoi(argv[1]);
  options.num_threads = static_cast<int>(std::thread::hardware_concurrency());
  std::vector<std::string> specs(argv + std::min(argc, 2), argv + argc);
  if (specs.empty()) specs = AllShapes();
  LocalRunnerOptions runner_options;
  runner_options.deadline_s = 120;
  auto runner = LocalRunner::Create(runner_options);
  if (!runner.ok()) {
    std::fprintf(stderr, "%s\n", runner.status().ToString().c_str());
    return 1;
  }
  std::map<Outcome, int> counts;
  bool failed = false;
  for (const std::string& spec : specs) {
    const absl::Status status =
        Attack(spec, **runner, options, [&](const Row& row) {
          ++counts[row.outcome];
          std::printf(
              "%-28s | %-28s | %-40s | %-10s | %s\n", row.workload.c_str(),
              std::string(FaultName(row.kind)).c_str(), row.place.c_str(),
              NameOf(row.outcome), row.verdict.c_str());
          std::fflush(stdout);
        });
    ++options.seed;
    if (status.ok()) continue;
    failed = true;
    std::printf("%s: %s\n", spec.c_str(), status.ToString().c_str());
  }
  std::printf("%d caught, %d equivalent, %d missed\n", counts[Outcome::kCaught],
              counts[Outcome::kEquivalent], counts[Outcome::kMissed]);
  return failed || counts[Outcome::kMissed] > 0 ? 1 : 0;
}

}  // namespace
}  // namespace kiln::mutation

int main(int argc, char** argv) { return kiln::mutation::Main(argc, argv); }
