// Replays recorded schedules and says where Kiln does something else.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <map>

#include "absl/flags/flag.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "kiln/base/file.h"
#include "kiln/base/status_macros.h"
#include "kiln/tests/conformance/case.h"
#include "kiln/tests/conformance/case_time.h"
#include "kiln/tools/support/main.h"

ABSL_FLAG(std::string, cases, "", "The file of cases, one JSON object a line.");
ABSL_FLAG(std::vector<std::string>, only, {},
          "Runs the cases whose steps use none but these primitives.");
ABSL_FLAG(std::vector<std::string>, id, {}, "Runs the cases of these ids.");
ABSL_FLAG(bool, execute, false,
          "Also runs the programs before and after on random data and compares "
          "the results.");
ABSL_FLAG(bool, time, false,
          "Also times the scheduled programs of cases that say how long the "
          "other compiler's took.");
ABSL_FLAG(bool, verbose, false, "Prints the first difference of each case.");
ABSL_FLAG(uint64_t, seed, 0, "Of the random data.");

namespace kiln {
namespace {

constexpr char kUsage[] =
    "Replays recorded schedules:\n"
    "  schedule_cases --cases FILE.jsonl [--only split,fuse,...] [--execute] "
    "[--time] [--verbose] [--id ID,...]\n"
    "Prints what became of each primitive's cases (same, refused as recorded, "
    "different, wrong) and the ids of the failed ones.";

constexpr int kNumVerdicts = 5;
constexpr const char* kVerdictNames[kNumVerdicts] = {
    "same", "refused", "different", "wrong", "skipped"};
using Counts = std::array<int, kNumVerdicts>;

struct Report {
  std::map<std::string, Counts> by_primitive;
  std::map<std::string, int> missing;
  Counts total = {};
  int executed = 0;
};

bool IsWanted(const ScheduleCase& c) {
  const auto has = [](const std::vector<std::string>& list,
                      const std::string& item) {
    return std::find(list.begin(), list.end(), item) != list.end();
  };
  const std::vector<std::string> ids = absl::GetFlag(FLAGS_id);
  const std::vector<std::string> only = absl::GetFlag(FLAGS_only);
  if (!ids.empty() && !has(ids, c.id)) return false;
  return only.empty() ||
         std::all_of(c.primitives.begin(), c.primitives.end(),
                     [&](const std::string& p) { return has(only, p); });
}

void Count(const ScheduleCase& c, const CaseResult& result, Report* report) {
  const int verdict = static_cast<int>(result.verdict);
  ++report->total[verdict];
  for (const std::string& primitive : c.primitives) {
    ++report->by_primitive[primitive][verdict];
  }
  if (result.verdict == CaseVerdict::kSkipped) ++report->missing[result.detail];
  report->executed += result.executed;
}

void PrintFailure(const ScheduleCase& c, const CaseResult& result) {
  const bool failed = result.verdict == CaseVerdict::kDifferent ||
                      result.verdict == CaseVerdict::kWrong;
  if (!failed) return;
  std::printf("%s %s (%s)\n", kVerdictNames[static_cast<int>(result.verdict)],
              c.id.c_str(), c.source.c_str());
  if (absl::GetFlag(FLAGS_verbose)) std::printf("%s\n", result.detail.c_str());
  std::fflush(stdout);
}

void PrintRow(const std::string& name, const Counts& counts) {
  std::printf("%-28s", name.c_str());
  for (int count : counts) std::printf("%10d", count);
  std::printf("\n");
}

int PrintReport(const Report& report) {
  std::printf("\n%-28s", "primitive");
  for (const char* name : kVerdictNames) std::printf("%10s", name);
  std::printf("\n");
  for (const auto& [name, counts] : report.by_primitive) PrintRow(name, counts);
  PrintRow("all cases", report.total);
  if (absl::GetFlag(FLAGS_execute)) {
    std::printf("%d cases were executed\n", report.executed);
  }
  for (const auto& [name, count] : report.missing) {
    std::printf("%d skipped: Kiln has no %s\n", count, name.c_str());
  }
  const int passed = report.total[0] + report.total[1];
  const int failed = report.total[2] + report.total[3];
  std::printf("%d passed, %d failed\n", passed, failed);
  return failed == 0 ? kExitOk : kExitError;
}

// Times what has a peer's time; the geometric mean of peer / Kiln is above 1
// where Kiln is faster.
void TimeCases(const std::vector<ScheduleCase>& cases) {
  double log_sum = 0;
  int count = 0;
  for (const ScheduleCase& c : cases) {
    if (!IsWanted(c) || c.peer_us <= 0 || c.refuses) continue;
    const absl::StatusOr<double> us = TimeCase(c);
    if (!us.ok()) {
      std::printf("%s: %s\n", c.id.c_str(),
                  std::string(us.status().message()).c_str());
      continue;
    }
    std::printf("%s: %.2f us, peer %.2f us, speed-up %.3f\n", c.id.c_str(), *us,
                c.peer_us, c.peer_us / *us);
    std::fflush(stdout);
    log_sum += std::log(c.peer_us / *us);
    ++count;
  }
  if (count > 0) {
    std::printf("%d timed, geometric mean of the speed-up %.3f\n", count,
                std::exp(log_sum / count));
  }
}

absl::StatusOr<int> Run() {
  const std::string path = absl::GetFlag(FLAGS_cases);
  if (path.empty()) {
    return absl::InvalidArgumentError("--cases FILE.jsonl is needed");
  }
  KILN_ASSIGN_OR_RETURN(std::string text, ReadFileOrStdin(CallerPath(path)));
  absl::StatusOr<std::vector<ScheduleCase>> cases = ParseCases(text);
  if (!cases.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ", ", cases.status().message()));
  }
  CaseOptions options;
  options.execute = absl::GetFlag(FLAGS_execute);
  options.seed = absl::GetFlag(FLAGS_seed);
  Report report;
  for (const ScheduleCase& c : *cases) {
    if (!IsWanted(c)) continue;
    const CaseResult result = RunCase(c, options);
    Count(c, result, &report);
    PrintFailure(c, result);
  }
  if (absl::GetFlag(FLAGS_time)) TimeCases(*cases);
  return PrintReport(report);
}

}  // namespace
}  // namespace kiln

int main(int argc, char** argv) {
  return kiln::RunTool(argc, argv, kiln::kUsage, kiln::Run);
}
