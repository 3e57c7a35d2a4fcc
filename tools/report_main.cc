// bazel run //tools:report -- --work-dir kiln_work --output report.html
// bazel run //tools:report -- --profile p.json --against q.json
//
// Either way: read, compare where that is asked for, measure what the machine
// allows, write the page, print a summary or rows.
#include <algorithm>
#include <cstdio>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "kiln/base/file.h"
#include "kiln/base/machine.h"
#include "kiln/base/status_macros.h"
#include "kiln/codegen/target/target.h"
#include "kiln/tools/graph/profile.h"
#include "kiln/tools/reporting/compare_profiles.h"
#include "kiln/tools/reporting/compare_runs.h"
#include "kiln/tools/reporting/page.h"
#include "kiln/tools/reporting/profile_data.h"
#include "kiln/tools/reporting/profile_page.h"
#include "kiln/tools/reporting/profile_rows.h"
#include "kiln/tools/reporting/rows.h"
#include "kiln/tools/reporting/task_data.h"
#include "kiln/tools/support/default_schedule.h"
#include "kiln/tools/support/main.h"
#include "kiln/vm/profile/machine_constants.h"

ABSL_FLAG(std::string, work_dir, "",
          "what tune (or bench) left behind. Default: kiln_work");
ABSL_FLAG(std::string, profile, "",
          "a file that run --profile json printed; - is stdin");
ABSL_FLAG(std::string, against, "",
          "the work directory of an earlier run, or an earlier profile, to "
          "compare with");
ABSL_FLAG(std::string, bench, "",
          "a file that bench --json printed, for the times of libraries");
ABSL_FLAG(std::string, output, "",
          "where the page goes; - is stdout. Default: report.html in the work "
          "directory, or beside the profile with its name; none with --json");
ABSL_FLAG(
    bool, json, false,
    "print one JSON object a line: tasks or ops, and with --against pairs "
    "and their total");
ABSL_FLAG(std::string, title, "", "of the page");

namespace kiln {
namespace {

using report::ProfileData;
using report::TaskData;

constexpr char kUsage[] =
    "Writes one HTML page, which needs nothing else, about a tuning run or a "
    "model.\n"
    "  report --work-dir kiln_work [--bench bench.json] [--output "
    "report.html]\n"
    "  report --work-dir new --against old [--json]\n"
    "  report --profile p.json [--against q.json] [--output p.html] [--json]\n"
    "A profile is what run model.kiln --profile json > p.json wrote: where the "
    "time of a model goes, op by op beside what the machine allows.\n"
    "With --against the times of two runs or profiles stand side by side, task "
    "by task or op by op, here and in the page; above 1 the speedup says that "
    "the one of --work-dir or --profile is faster.\n"
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
absl::StatusOr<std::string> PagePath(const std::string& by_default) {
  const std::string output = absl::GetFlag(FLAGS_output);
  const bool json = absl::GetFlag(FLAGS_json);
  if (output == "-" && json) {
    return absl::InvalidArgumentError(
        "--output - and --json both print; give --output a file");
  }
  if (!output.empty()) return CallerPath(output);
  return json ? "" : by_default;
}

absl::Status WritePage(const std::string& page, const std::string& path) {
  if (path != "-") return WriteFileAtomically(path, page);
  Print(page);
  return absl::OkStatus();
}

std::string Title(const std::string& by_default) {
  const std::string title = absl::GetFlag(FLAGS_title);
  return title.empty() ? by_default : title;
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

absl::StatusOr<int> ReportRun() {
  const std::string work_dir = absl::GetFlag(FLAGS_work_dir);
  const std::string path =
      CallerPath(work_dir.empty() ? "kiln_work" : work_dir);
  KILN_ASSIGN_OR_RETURN(const std::string page,
                        PagePath(path + "/report.html"));
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
  options.title = Title(options.title);
  options.rules_for = HostTarget().machine;
  const std::string bench = absl::GetFlag(FLAGS_bench);
  if (!bench.empty()) {
    KILN_ASSIGN_OR_RETURN(options.peers,
                          report::ReadBenchRows(CallerPath(bench)));
  }
  options.machine = LoadOrMeasureMachine(DefaultMachinePath());
  MeasurePeaks(options.machine, &tasks);
  if (!page.empty()) {
    KILN_RETURN_IF_ERROR(WritePage(report::RenderPage(tasks, options), page));
  }
  PrintSummary(tasks, options, page);
  return kExitOk;
}

absl::Status CheckProfileFlags() {
  for (const auto& [flag, value] :
       {std::pair("--work-dir", absl::GetFlag(FLAGS_work_dir)),
        std::pair("--bench", absl::GetFlag(FLAGS_bench))}) {
    if (value.empty()) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("--profile is of a model and ", flag,
                     " of a tuning run; a page is about one of the two"));
  }
  if (absl::GetFlag(FLAGS_profile) == "-" &&
      absl::GetFlag(FLAGS_against) == "-") {
    return absl::InvalidArgumentError(
        "--profile and --against cannot both be stdin");
  }
  return absl::OkStatus();
}

// The page of p.json is p.html beside it.
absl::StatusOr<std::string> ProfilePagePath(const std::string& path) {
  const size_t name = path.rfind('/') + 1;
  const size_t dot = path.rfind('.');
  const bool has_ending = dot != path.npos && dot > name;
  KILN_ASSIGN_OR_RETURN(
      const std::string page,
      PagePath(path == "-"
                   ? ""
                   : absl::StrCat(has_ending ? path.substr(0, dot) : path,
                                  ".html")));
  if (!page.empty() || absl::GetFlag(FLAGS_json)) return page;
  return absl::InvalidArgumentError(
      "--profile - needs --output FILE.html, or --json");
}

absl::StatusOr<Profile> Read(const std::string& path, const std::string& flag) {
  return report::ReadProfile(CallerPath(path), flag);
}

ProfileData Analyze(const std::string& path, Profile profile,
                    const Machine& machine) {
  const double peak = PeakGflops(machine, std::max(profile.threads, 1));
  return report::Analyze(path, std::move(profile), machine, peak);
}

void PrintProfile(const ProfileData& data,
                  const report::ProfilePageOptions& options,
                  const std::string& page) {
  if (absl::GetFlag(FLAGS_json)) {
    Print(report::ProfileRows(data));
    if (options.against) Print(report::ComparisonRows(*options.against));
    return;
  }
  if (page == "-") return;
  if (options.against) Print(report::ComparisonText(*options.against));
  for (const std::string& warning : data.warnings) {
    std::printf("warning: %s\n", warning.c_str());
  }
  std::printf("%s\n%s\n", report::ProfileSummary(data).c_str(), page.c_str());
}

absl::StatusOr<int> ReportProfile() {
  KILN_RETURN_IF_ERROR(CheckProfileFlags());
  const std::string path = absl::GetFlag(FLAGS_profile);
  KILN_ASSIGN_OR_RETURN(const std::string page,
                        ProfilePagePath(CallerPath(path)));
  const std::string against = absl::GetFlag(FLAGS_against);
  KILN_ASSIGN_OR_RETURN(Profile profile, Read(path, "--profile"));
  std::optional<Profile> before;
  if (!against.empty()) {
    KILN_ASSIGN_OR_RETURN(before, Read(against, "--against"));
  }
  const Machine machine = LoadOrMeasureMachine(DefaultMachinePath());
  const ProfileData data = Analyze(path, std::move(profile), machine);
  report::ProfilePageOptions options;
  options.title = Title(options.title);
  options.against_name = against;
  if (before) {
    options.against = report::CompareProfiles(
        Analyze(against, *std::move(before), machine), data);
  }
  if (!page.empty()) {
    KILN_RETURN_IF_ERROR(
        WritePage(report::RenderProfilePage(data, options), page));
  }
  PrintProfile(data, options, page);
  return kExitOk;
}

absl::StatusOr<int> Report() {
  return absl::GetFlag(FLAGS_profile).empty() ? ReportRun() : ReportProfile();
}

}  // namespace
}  // namespace kiln

int main(int argc, char** argv) {
  return kiln::RunTool(argc, argv, kiln::kUsage, kiln::Report);
}
