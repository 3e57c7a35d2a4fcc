// bazel run //tools:report -- --work-dir kiln_work --output report.html
#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "kiln/base/file.h"
#include "kiln/base/status_macros.h"
#include "kiln/codegen/target/target.h"
#include "kiln/tools/reporting/compare_runs.h"
#include "kiln/tools/reporting/page.h"
#include "kiln/tools/reporting/rows.h"
#include "kiln/tools/reporting/task_data.h"
#include "kiln/tools/support/default_schedule.h"
#include "kiln/tools/support/main.h"
#include "kiln/vm/profile/machine_constants.h"

ABSL_FLAG(std::string, work_dir, "kiln_work",
          "what tune (or bench) left behind");
ABSL_FLAG(std::string, against, "",
          "the work directory of an earlier run, to compare with");
ABSL_FLAG(std::string, bench, "",
          "a file that bench --json printed, for the times of libraries");
ABSL_FLAG(std::string, output, "",
          "where the page goes; - is stdout. Default: report.html in the work "
          "directory; none with --json");
ABSL_FLAG(bool, json, false,
          "print one JSON object a line: tasks, and with --against pairs and "
          "their total");
ABSL_FLAG(std::string, title, "Tuning report", "of the page");

namespace kiln {
namespace {

using report::RunComparison;
using report::TaskData;

constexpr char kUsage[] =
    "Writes one HTML page, which needs nothing else, about a tuning run.\n"
    "  report --work-dir kiln_work [--bench bench.json] [--output "
    "report.html]\n"
    "  report --work-dir new --against old [--json]\n"
    "With --against the times of two runs stand side by side, task by task, "
    "here and in the page; above 1 the speedup says that the run of --work-dir "
    "is faster.\n"
    "Exit status: 0; 1 for an error.";

// One peak for each number of threads, by the estimator of all tools.
void MeasurePeaks(const Machine& machine, std::vector<TaskData>* tasks) {
  std::map<int, double> peaks;
  for (TaskData& task : *tasks) {
    double& peak = peaks[task.threads];
    if (peak == 0) peak = PeakGflops(machine, task.threads);
    task.peak_gflops = peak;
  }
}

void Print(const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
}

// Where the page goes: a path, "-", or "" where none is wanted.
std::string PagePath(const std::string& work_dir) {
  const std::string output = absl::GetFlag(FLAGS_output);
  if (output == "-") return output;
  if (!output.empty()) return CallerPath(output);
  return absl::GetFlag(FLAGS_json) ? "" : work_dir + "/report.html";
}

absl::Status WritePage(const std::vector<TaskData>& tasks,
                       const report::PageOptions& options,
                       const std::string& path) {
  if (path.empty()) return absl::OkStatus();
  const std::string page = report::RenderPage(tasks, options);
  if (path != "-") return WriteFileAtomically(path, page);
  Print(page);
  return absl::OkStatus();
}

void PrintSummary(const std::vector<TaskData>& tasks,
                  const report::PageOptions& options, const std::string& page) {
  if (absl::GetFlag(FLAGS_json)) {
    Print(report::TaskRows(tasks));
    if (options.against) Print(report::ComparisonRows(*options.against));
    return;
  }
  if (page == "-") return;
  if (options.against) Print(report::ComparisonText(*options.against));
  std::printf("%zu %s: %s\n", tasks.size(),
              tasks.size() == 1 ? "task" : "tasks", page.c_str());
}

absl::StatusOr<int> Report() {
  const std::string path = CallerPath(absl::GetFlag(FLAGS_work_dir));
  const std::string page = PagePath(path);
  if (page == "-" && absl::GetFlag(FLAGS_json)) {
    return absl::InvalidArgumentError(
        "--output - and --json both print; give --output a file");
  }
  KILN_ASSIGN_OR_RETURN(std::vector<TaskData> tasks, report::ReadWorkDir(path));
  report::PageOptions options;
  std::vector<TaskData> before;
  options.against_name = absl::GetFlag(FLAGS_against);
  if (!options.against_name.empty()) {
    KILN_ASSIGN_OR_RETURN(
        before,
        report::ReadWorkDir(CallerPath(options.against_name), "--against"));
    options.against = report::CompareRuns(before, tasks);
  }
  options.title = absl::GetFlag(FLAGS_title);
  options.rules_for = HostTarget().machine;
  const std::string bench = absl::GetFlag(FLAGS_bench);
  if (!bench.empty()) {
    KILN_ASSIGN_OR_RETURN(options.peers,
                          report::ReadBenchRows(CallerPath(bench)));
  }
  options.machine = LoadOrMeasureMachine(DefaultMachinePath());
  MeasurePeaks(options.machine, &tasks);
  KILN_RETURN_IF_ERROR(WritePage(tasks, options, page));
  PrintSummary(tasks, options, page);
  return kExitOk;
}

}  // namespace
}  // namespace kiln

int main(int argc, char** argv) {
  return kiln::RunTool(argc, argv, kiln::kUsage, kiln::Report);
}
