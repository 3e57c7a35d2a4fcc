// Reads recorded graph functions and says where Kiln finds something else: a
// row for each op or pass, and a line for each case that disagrees.
//
//   different 4bb1 (test_op_nn.py): gv is R.Tensor((2, 3), dtype="float32")
//   op or pass                     cases  same  refused  different  unread
#include <array>
#include <cstdio>
#include <map>

#include "absl/flags/flag.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kiln/base/file.h"
#include "kiln/base/status_macros.h"
#include "kiln/tests/conformance/graph_case.h"
#include "kiln/tools/support/main.h"

ABSL_FLAG(std::string, cases, "", "The file of cases, one JSON object a line.");
ABSL_FLAG(std::vector<std::string>, only, {}, "Ops or passes, by name.");
ABSL_FLAG(std::vector<std::string>, id, {}, "Runs the cases of these ids.");
ABSL_FLAG(bool, verbose, false,
          "Prints all of each disagreement, not only its first line.");

namespace kiln {
namespace {

constexpr char kUsage[] =
    "Reads, infers and transforms recorded graph functions:\n"
    "  graph_cases --cases FILE.jsonl [--only R.add,LegalizeOps,...] "
    "[--id ID,...] [--verbose]\n"
    "Prints each disagreement with its reason, then what became of the cases "
    "of each op or pass. Fails where a case disagrees.";

constexpr int kNumVerdicts = 4;
constexpr const char* kNames[kNumVerdicts] = {"same", "refused", "different",
                                              "unread"};
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

absl::StatusOr<int> Run() {
  KILN_ASSIGN_OR_RETURN(
      const std::string text,
      ReadFileOrStdin(CallerPath(absl::GetFlag(FLAGS_cases))));
  KILN_ASSIGN_OR_RETURN(const std::vector<GraphCase> cases,
                        ParseGraphCases(text));
  std::map<std::string, Counts> rows;
  Counts total = {};
  for (const GraphCase& c : cases) {
    if (!Has(absl::GetFlag(FLAGS_only), c.name)) continue;
    if (!Has(absl::GetFlag(FLAGS_id), c.id)) continue;
    const GraphResult result = RunGraphCase(c);
    const int verdict = static_cast<int>(result.verdict);
    ++rows[c.name][verdict];
    ++total[verdict];
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
  return total[2] + total[3] == 0 ? kExitOk : kExitMismatch;
}

}  // namespace
}  // namespace kiln

int main(int argc, char** argv) {
  return kiln::RunTool(argc, argv, kiln::kUsage, kiln::Run);
}
