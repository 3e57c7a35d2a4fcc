// Reads recorded graph functions and says where Kiln finds something else: a
// row for each op or pass, and a line for each case that disagrees.
//
//   different 4bb1 (test_op_nn.py): gv is R.Tensor((2, 3), dtype="float32")
//   op or pass         same  refused  different  unread  unknown  failed
#include <array>
#include <cstdio>
#include <map>

#include "absl/flags/flag.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kiln/base/file.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/text/reader/reader.h"
#include "kiln/ir/transform/graph/passes.h"
#include "kiln/tests/conformance/graph_case.h"
#include "kiln/tests/conformance/graph_execute.h"
#include "kiln/tests/conformance/known_constants.h"
#include "kiln/tools/support/main.h"

ABSL_FLAG(std::string, cases, "", "The file of cases, one JSON object a line.");
ABSL_FLAG(std::vector<std::string>, only, {}, "Ops or passes, by name.");
ABSL_FLAG(std::vector<std::string>, id, {}, "Runs the cases of these ids.");
ABSL_FLAG(bool, execute, false,
          "Runs the modules of each pass, before and after, by the interpreter "
          "and by the virtual machine, and compares what they give.");
ABSL_FLAG(std::vector<std::string>, passes, {},
          "With --execute: what Kiln's passes of these names make of each "
          "module stands in the place of the recorded one after it.");
ABSL_FLAG(bool, verbose, false,
          "Prints all of each disagreement, not only its first line.");

namespace kiln {
namespace {

constexpr char kUsage[] =
    "Reads, infers and transforms recorded graph functions:\n"
    "  graph_cases --cases FILE.jsonl [--only R.add,LegalizeOps,...] "
    "[--id ID,...] [--execute [--passes dce,cse]] [--verbose]\n"
    "Prints each disagreement with its reason, then what became of the cases "
    "of each op or pass. Fails where a case disagrees; passes that are not "
    "there, or whose parameters are unknown, count as unknown.";

constexpr int kNumVerdicts = 6;
constexpr const char* kNames[kNumVerdicts] = {"same",   "refused", "different",
                                              "unread", "unknown", "failed"};
using Counts = std::array<int, kNumVerdicts>;

bool Has(const std::vector<std::string>& list, const std::string& item) {
  for (const std::string& entry : list) {
    if (entry == item) return true;
  }
  return list.empty();
}

void PrintRow(const std::string& name, const Counts& counts) {
  std::printf("%-36s", name.c_str());
  int cases = 0;
  for (const int count : counts) {
    std::printf("%10d", count);
    cases += count;
  }
  std::printf("%9.1f%%\n", 100.0 * (counts[0] + counts[1]) / cases);
}

absl::StatusOr<Module> Read(const GraphCase& c, const std::string& text) {
  KILN_ASSIGN_OR_RETURN(const Module module, ParseModule(c.id, text));
  return WithKnownConstants(module, text);
}

// The module that is compared with `before`.
absl::StatusOr<Module> After(const GraphCase& c, const Module& before) {
  const std::vector<std::string> passes = absl::GetFlag(FLAGS_passes);
  if (passes.empty()) return Read(c, c.after);
  return RunGraphPasses(before, passes);
}

// The modules of a pass on the same arguments.
Execution Execute(const GraphCase& c) {
  const absl::StatusOr<Module> before = Read(c, c.before);
  if (!before.ok()) return {};
  const absl::StatusOr<Module> after = After(c, *before);
  if (!after.ok()) {
    return {Execution::Outcome::kIncomplete,
            std::string(after.status().message())};
  }
  // Half precision keeps eleven bits of each number.
  const double relative = c.name == "ToMixedPrecision" ? 3e-2 : 2e-4;
  return ExecuteModules(*before, *after, /*seed=*/1, relative);
}

// What became of executions, by pass.
class ExecutionTable {
 public:
  // Whether it is no disagreement.
  bool Add(const GraphCase& c) {
    const Execution execution = Execute(c);
    const int outcome = static_cast<int>(execution.outcome);
    ++rows_[c.name][outcome];
    const bool is_different =
        execution.outcome == Execution::Outcome::kDifferent;
    if (is_different || absl::GetFlag(FLAGS_verbose)) {
      std::printf("run %s %s %s (%s): %s\n", kOutcomes[outcome], c.id.c_str(),
                  c.name.c_str(), c.source.c_str(), execution.detail.c_str());
    }
    return !is_different;
  }

  void Print() const {
    std::printf("\n%-36s", "executed");
    for (const char* name : kOutcomes) std::printf("%12s", name);
    std::printf("\n");
    for (const auto& [name, counts] : rows_) {
      std::printf("%-36s", name.c_str());
      for (const int count : counts) std::printf("%12d", count);
      std::printf("\n");
    }
  }

 private:
  static constexpr std::array<const char*, 3> kOutcomes = {"same", "different",
                                                           "incomplete"};
  std::map<std::string, std::array<int, 3>> rows_;
};

absl::StatusOr<int> Run() {
  KILN_ASSIGN_OR_RETURN(
      const std::string text,
      ReadFileOrStdin(CallerPath(absl::GetFlag(FLAGS_cases))));
  KILN_ASSIGN_OR_RETURN(const std::vector<GraphCase> cases,
                        ParseGraphCases(text));
  std::map<std::string, Counts> rows;
  Counts total = {};
  ExecutionTable executions;
  bool all_alike = true;
  for (const GraphCase& c : cases) {
    if (!Has(absl::GetFlag(FLAGS_only), c.name)) continue;
    if (!Has(absl::GetFlag(FLAGS_id), c.id)) continue;
    const GraphResult result = RunGraphCase(c);
    const int verdict = static_cast<int>(result.verdict);
    ++rows[c.name][verdict];
    ++total[verdict];
    if (absl::GetFlag(FLAGS_execute) && !c.is_inference) {
      all_alike = executions.Add(c) && all_alike;
      std::fflush(stdout);
    }
    if (verdict < 2) continue;
    const std::string detail =
        absl::GetFlag(FLAGS_verbose)
            ? result.detail + "\n" + c.before
            : result.detail.substr(0, result.detail.find('\n'));
    std::printf("%s %s %s (%s): %s\n", kNames[verdict], c.id.c_str(),
                c.name.c_str(), c.source.c_str(), detail.c_str());
  }
  std::printf("%-36s", "op or pass");
  for (const char* name : kNames) std::printf("%10s", name);
  std::printf("%10s\n", "agree");
  for (const auto& [name, counts] : rows) PrintRow(name, counts);
  if (rows.empty()) return absl::NotFoundError("no case has such a name or id");
  PrintRow("all", total);
  if (absl::GetFlag(FLAGS_execute)) executions.Print();
  const bool agrees = all_alike && total[2] + total[3] + total[5] == 0;
  return agrees ? kExitOk : kExitMismatch;
}

}  // namespace
}  // namespace kiln

int main(int argc, char** argv) {
  return kiln::RunTool(argc, argv, kiln::kUsage, kiln::Run);
}
