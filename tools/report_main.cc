// bazel run //tools:report -- --work-dir kiln_work --output report.html
#include <cstdio>
#include <string>

#include "absl/flags/flag.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "kiln/base/file.h"
#include "kiln/base/status_macros.h"
#include "kiln/codegen/target/target.h"
#include "kiln/tools/reporting/page.h"
#include "kiln/tools/reporting/task_data.h"
#include "kiln/tools/support/default_schedule.h"
#include "kiln/tools/support/main.h"
#include "kiln/vm/profile/machine_constants.h"

ABSL_FLAG(std::string, work_dir, "kiln_work",
          "what tune (or bench) left behind");
ABSL_FLAG(std::string, bench, "",
          "a file that bench --json printed, for the times of libraries");
ABSL_FLAG(std::string, output, "",
          "where the page goes; - is stdout. Default: report.html in the work "
          "directory");
ABSL_FLAG(std::string, title, "Tuning report", "of the page");

namespace kiln {
namespace {

constexpr char kUsage[] =
    "Writes one HTML page, which needs nothing else, about a tuning run.\n"
    "  report --work-dir kiln_work [--bench bench.json] [--output report.html]";

absl::StatusOr<int> Report() {
  const std::string path = CallerPath(absl::GetFlag(FLAGS_work_dir));
  KILN_ASSIGN_OR_RETURN(const auto tasks, report::ReadWorkDir(path));
  report::PageOptions options;
  options.title = absl::GetFlag(FLAGS_title);
  options.registers = RegistersOf(HostTarget());
  const std::string bench = absl::GetFlag(FLAGS_bench);
  if (!bench.empty()) {
    KILN_ASSIGN_OR_RETURN(options.peers,
                          report::ReadBenchRows(CallerPath(bench)));
  }
  options.machine = LoadOrMeasureMachine(DefaultMachinePath());
  const std::string page = report::RenderPage(tasks, options);
  std::string output = absl::GetFlag(FLAGS_output);
  if (output == "-") {
    std::fwrite(page.data(), 1, page.size(), stdout);
    return kExitOk;
  }
  output = output.empty() ? path + "/report.html" : CallerPath(output);
  KILN_RETURN_IF_ERROR(WriteFileAtomically(output, page));
  std::printf("%zu tasks: %s\n", tasks.size(), output.c_str());
  return kExitOk;
}

}  // namespace
}  // namespace kiln

int main(int argc, char** argv) {
  return kiln::RunTool(argc, argv, kiln::kUsage, kiln::Report);
}
