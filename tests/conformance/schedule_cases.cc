// Replays recorded schedules and says where Kiln does something else. One loop
// over the cases: RunCase (case.h) judges, everything here selects, counts and
// prints:
//
//   explained split_3 (source): the first difference
//     because the reason in the file of --explained
//   primitive       same  refused  different  wrong  skipped  explained  agree
//
// A case counts in the row of each primitive that it uses. A verdict that is
// added to CaseVerdict needs its name in kVerdictNames and its place in
// PrintReport.
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
ABSL_FLAG(std::vector<std::string>, allow_missing, {},
          "Primitives that Kiln does not have: cases that use one are skipped "
          "without failing the run.");
ABSL_FLAG(std::string, explained, "",
          "A file with lines \"ID: reason\": cases where Kiln differs for a "
          "good reason. Wrong programs are never explained.");
ABSL_FLAG(bool, execute, false,
          "Also runs the programs before and after on random data and compares "
          "the results.");
ABSL_FLAG(bool, time, false,
          "Also times the scheduled programs of cases that say how long the "
          "other compiler's took.");
ABSL_FLAG(bool, verbose, false,
          "Prints all of each disagreement, not only its first line.");
ABSL_FLAG(uint64_t, seed, 0, "Of the random data.");

namespace kiln {
namespace {

constexpr char kUsage[] =
    "Replays recorded schedules:\n"
    "  schedule_cases --cases FILE.jsonl [--only split,fuse,...] [--execute] "
    "[--time] [--verbose] [--id ID,...] [--allow_missing tensorize,...] "
    "[--explained FILE]\n"
    "Prints each disagreement with its reason, then what became of each "
    "primitive's cases (same, refused as recorded, different, wrong). Fails "
    "where a case disagrees without an explanation, or is skipped for a "
    "primitive that --allow_missing does not name.";

// CaseVerdict, and differences that are explained.
constexpr int kNumVerdicts = 6;
constexpr int kExplained = 5;
constexpr const char* kVerdictNames[kNumVerdicts] = {
    "same", "refused", "different", "wrong", "skipped", "explained"};
using Explanations = std::map<std::string, std::string>;
using Counts = std::array<int, kNumVerdicts>;

struct Report {
  std::map<std::string, Counts> by_primitive;
  std::map<std::string, int> missing;
  Counts total = {};
  int executed = 0;
};

bool Has(const std::vector<std::string>& list, const std::string& item) {
  return std::find(list.begin(), list.end(), item) != list.end();
}

bool IsWanted(const ScheduleCase& c) {
  const std::vector<std::string> ids = absl::GetFlag(FLAGS_id);
  const std::vector<std::string> only = absl::GetFlag(FLAGS_only);
  if (!ids.empty() && !Has(ids, c.id)) return false;
  return only.empty() ||
         std::all_of(c.primitives.begin(), c.primitives.end(),
                     [&](const std::string& p) { return Has(only, p); });
}

absl::StatusOr<Explanations> ReadExplanations() {
  Explanations explanations;
  const std::string path = absl::GetFlag(FLAGS_explained);
  if (path.empty()) return explanations;
  KILN_ASSIGN_OR_RETURN(std::string text, ReadFileOrStdin(CallerPath(path)));
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    if (line.empty() || line[0] == '#') continue;
    const size_t colon = line.find(": ");
    if (colon == line.npos) {
      return absl::InvalidArgumentError(
          absl::StrCat(path, ": \"", line, "\" is not \"ID: reason\""));
    }
    explanations.emplace(line.substr(0, colon), line.substr(colon + 2));
  }
  return explanations;
}

// What the report counts the case as.
int Outcome(const ScheduleCase& c, const CaseResult& result,
            const Explanations& explanations) {
  const bool explained = result.verdict == CaseVerdict::kDifferent &&
                         explanations.count(c.id) != 0;
  return explained ? kExplained : static_cast<int>(result.verdict);
}

void Count(const ScheduleCase& c, const CaseResult& result, int outcome,
           Report* report) {
  ++report->total[outcome];
  for (const std::string& primitive : c.primitives) {
    ++report->by_primitive[primitive][outcome];
  }
  if (result.verdict == CaseVerdict::kSkipped) ++report->missing[result.detail];
  report->executed += result.executed;
}

void PrintDisagreement(const ScheduleCase& c, const CaseResult& result,
                       int outcome, const Explanations& explanations) {
  const bool failed = result.verdict == CaseVerdict::kDifferent ||
                      result.verdict == CaseVerdict::kWrong;
  if (!failed) return;
  const bool verbose = absl::GetFlag(FLAGS_verbose);
  const std::string detail = result.detail.substr(
      0, verbose ? std::string::npos : result.detail.find('\n'));
  std::printf("%s %s (%s): %s\n", kVerdictNames[outcome], c.id.c_str(),
              c.source.c_str(), detail.c_str());
  if (outcome == kExplained) {
    std::printf("  because %s\n", explanations.at(c.id).c_str());
  }
  std::fflush(stdout);
}

void PrintRow(const std::string& name, const Counts& counts) {
  std::printf("%-28s", name.c_str());
  for (int count : counts) std::printf("%10d", count);
  const int agree = counts[0] + counts[1] + counts[kExplained];
  const int judged = agree + counts[2] + counts[3];
  if (judged > 0) std::printf("%9.1f%%", 100.0 * agree / judged);
  std::printf("\n");
}

// Cases skipped for primitives that nobody allowed to be missing.
int PrintMissing(const Report& report) {
  const std::vector<std::string> allowed = absl::GetFlag(FLAGS_allow_missing);
  int unexpected = 0;
  for (const auto& [name, count] : report.missing) {
    std::printf("%d skipped: Kiln has no %s\n", count, name.c_str());
    if (!Has(allowed, name)) unexpected += count;
  }
  if (unexpected > 0) {
    std::printf(
        "%d of them fail the run; --allow_missing names what may be missing\n",
        unexpected);
  }
  return unexpected;
}

int PrintReport(const Report& report) {
  std::printf("\n%-28s", "primitive");
  for (const char* name : kVerdictNames) std::printf("%10s", name);
  std::printf("%10s\n", "agree");
  for (const auto& [name, counts] : report.by_primitive) PrintRow(name, counts);
  PrintRow("all cases", report.total);
  if (absl::GetFlag(FLAGS_execute)) {
    std::printf("%d cases were executed\n", report.executed);
  }
  const int missing = PrintMissing(report);
  const int passed =
      report.total[0] + report.total[1] + report.total[kExplained];
  const int failed = report.total[2] + report.total[3] + missing;
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
  KILN_ASSIGN_OR_RETURN(const Explanations explanations, ReadExplanations());
  CaseOptions options;
  options.execute = absl::GetFlag(FLAGS_execute);
  options.seed = absl::GetFlag(FLAGS_seed);
  Report report;
  for (const ScheduleCase& c : *cases) {
    if (!IsWanted(c)) continue;
    const CaseResult result = RunCase(c, options);
    const int outcome = Outcome(c, result, explanations);
    Count(c, result, outcome, &report);
    PrintDisagreement(c, result, outcome, explanations);
  }
  if (absl::GetFlag(FLAGS_time)) TimeCases(*cases);
  return PrintReport(report);
}

}  // namespace
}  // namespace kiln

int main(int argc, char** argv) {
  return kiln::RunTool(argc, argv, kiln::kUsage, kiln::Run);
}
