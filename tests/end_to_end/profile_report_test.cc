// Models from text to a page about their time, with the tools that a user
// calls: `compile`, `run --profile json`, `report --profile`. What has to hold
// of any run: two ops, the operations of two layers, shares that add up to 1;
// how long they take is not looked at.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "kiln/base/file.h"
#include "kiln/base/json.h"
#include "kiln/base/status_matchers.h"
#include "kiln/tests/end_to_end/tuning.h"
#include "kiln/tests/support/subprocess.h"
#include "kiln/tools/reporting/report_rows.pb.h"

namespace kiln {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::ProcessResult;
using testing::RunProcess;
using testing::WorkFolder;

// Of any number of rows.
constexpr char kTwoLayers[] = R"(
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("n", 64), "float32"), w: R.Tensor((64, 96), "float32"), b: R.Tensor((96,), "float32"), v: R.Tensor((96, 64), "float32")):
        h = R.nn.relu(R.add(R.matmul(x, w), b))
        y = R.matmul(h, v)
        return y
)";

class ProfileReportTest : public ::testing::Test {
 protected:
  std::string Path(const std::string& name) const {
    return absl::StrCat(folder_.path(), "/", name);
  }

  void Write(const std::string& name, const std::string& text) {
    KILN_ASSERT_OK(WriteFileAtomically(Path(name), text));
  }

  std::string Read(const std::string& name) {
    const auto text = ReadFile(Path(name));
    KILN_EXPECT_OK(text);
    return text.ok() ? *text : "";
  }

  // The profile of the model, scheduled in that way, for 24 rows.
  void Profile(const std::string& schedule, const std::string& runner,
               const std::string& name) {
    Write("model.py", kTwoLayers);
    const ProcessResult compiled =
        RunProcess({"tools/compile", Path("model.py"), "-o", Path("m.kiln"),
                    "--schedule", schedule});
    ASSERT_EQ(compiled.status, 0) << compiled.err;
    const ProcessResult run = RunProcess(
        {runner, Path("m.kiln"), "--profile", "json", "--threads", "1",
         "--input", "random:24x64xf32", "--input", "random:64x96xf32",
         "--input", "random:96xf32", "--input", "random:96x64xf32"});
    ASSERT_EQ(run.status, 0) << run.err;
    Write(name, run.out);
  }

  ProcessResult Report(const std::vector<std::string>& flags,
                       const testing::ProcessOptions& options = {}) {
    std::vector<std::string> argv = {"tools/report"};
    argv.insert(argv.end(), flags.begin(), flags.end());
    return RunProcess(argv, options);
  }

  void ExpectRefused(const std::vector<std::string>& flags,
                     const std::string& reason) {
    const ProcessResult result = Report(flags);
    EXPECT_EQ(result.status, 1) << reason;
    EXPECT_THAT(result.err, HasSubstr(reason));
    EXPECT_EQ(result.out, "");
  }

  WorkFolder folder_;
};

// The rows of that kind.
template <typename Row>
std::vector<Row> RowsOf(const std::string& text, const std::string& kind) {
  std::vector<Row> rows;
  const std::string begin = absl::StrCat("{\"row\":\"", kind, "\",");
  for (const auto line : absl::StrSplit(text, '\n')) {
    if (!absl::StartsWith(line, begin)) continue;
    KILN_EXPECT_OK(FromJson(std::string(line), &rows.emplace_back()));
  }
  return rows;
}

TEST_F(ProfileReportTest, AModelAgainstItsRoofline) {
  Profile("default", "tools/run_model", "p.json");
  const ProcessResult result = Report({"--profile", Path("p.json"), "--json"});
  ASSERT_EQ(result.status, 0) << result.err;
  const auto ops = RowsOf<report::rows::Op>(result.out, "op");
  ASSERT_EQ(ops.size(), 2);
  double share = 0, flop = 0;
  for (const report::rows::Op& op : ops) {
    EXPECT_EQ(op.calls(), 1);
    EXPECT_GT(op.roofline_share(), 0) << op.op();
    EXPECT_NE(op.roofline_by(), "");
    share += op.share();
    flop += op.flop();
  }
  EXPECT_NEAR(share, 1, 1e-9);
  EXPECT_EQ(flop, 24 * (96 * (2 * 64 + 2) + 64 * 2 * 96));
  const auto profiles = RowsOf<report::rows::Profile>(result.out, "profile");
  ASSERT_EQ(profiles.size(), 1);
  EXPECT_EQ(profiles[0].threads(), 1);
  EXPECT_EQ(profiles[0].known_share(), 1);
  EXPECT_GT(profiles[0].run_us(), 0);
  // No page where rows are asked for.
  EXPECT_EQ(testing::ListFolder(folder_.path()).count("p.html"), 0);
}

TEST_F(ProfileReportTest, ThePageStandsBesideTheProfile) {
  Profile("none", "tools/run", "layers.v1.json");
  const ProcessResult result =
      Report({"--profile", "layers.v1.json", "--title", "Two <layers>"},
             {.folder = folder_.path()});
  ASSERT_EQ(result.status, 0) << result.err;
  EXPECT_THAT(result.out, AllOf(HasSubstr("2 calls of 2 ops"),
                                HasSubstr("\nlayers.v1.html\n")));
  const std::string page = Read("layers.v1.html");
  EXPECT_THAT(page, HasSubstr("<h1>Two &lt;layers&gt;</h1>"));
  EXPECT_THAT(page, HasSubstr("fused_matmul_add_relu"));
  EXPECT_THAT(page, Not(HasSubstr("Against")));
  const ProcessResult piped = Report({"--profile", "-", "--output", "-"},
                                     {.stdin_text = Read("layers.v1.json")});
  EXPECT_EQ(piped.status, 0) << piped.err;
  EXPECT_THAT(piped.out, HasSubstr("fused_matmul_add_relu"));
}

TEST_F(ProfileReportTest, BeforeAndAfter) {
  Profile("none", "tools/run_model", "before.json");
  Profile("default", "tools/run_model", "after.json");
  const std::vector<std::string> flags = {"--profile", Path("after.json"),
                                          "--against", Path("before.json"),
                                          "--output",  Path("page.html")};
  const ProcessResult result = Report(flags);
  ASSERT_EQ(result.status, 0) << result.err;
  EXPECT_THAT(result.out,
              AllOf(HasSubstr("fused_matmul_add_relu"), HasSubstr("whole run:"),
                    Not(HasSubstr("new")), Not(HasSubstr("warning"))));
  EXPECT_THAT(Read("page.html"),
              AllOf(HasSubstr(absl::StrCat("Against ", Path("before.json"))),
                    HasSubstr("class=\"time before\"")));
  std::vector<std::string> rows = flags;
  rows.push_back("--json");
  const ProcessResult json = Report(rows);
  EXPECT_EQ(RowsOf<report::rows::OpPair>(json.out, "op_pair").size(), 2);
  const auto totals =
      RowsOf<report::rows::ProfileTotal>(json.out, "profile_total");
  ASSERT_EQ(totals.size(), 1);
  EXPECT_EQ(totals[0].calls(), 2);
  EXPECT_NEAR(totals[0].run_speedup(),
              totals[0].run_before_us() / totals[0].run_after_us(), 1e-9);
}

TEST_F(ProfileReportTest, WhatIsNoProfileIsRefused) {
  Write("p.json", "{\"calls\":[{\"callee\":\"f\",\"us\":1}]}");
  Write("text.json", kTwoLayers);
  Write("empty.json", "{\"calls\":[]}");
  Write("negative.json", "{\"calls\":[{\"callee\":\"f\",\"us\":-1}]}");
  Write("nan.json", "{\"calls\":[{\"callee\":\"f\",\"us\":\"NaN\"}]}");
  const std::string good = Path("p.json");
  ExpectRefused({"--profile", Path("none.json")}, "none.json: No such file");
  ExpectRefused({"--profile", folder_.path()}, folder_.path());
  ExpectRefused({"--profile", Path("text.json")}, "text.json is no profile");
  ExpectRefused({"--profile", Path("empty.json")}, "without calls");
  ExpectRefused({"--profile", Path("negative.json")}, "it took -1 us");
  ExpectRefused({"--profile", good, "--against", Path("nan.json")},
                absl::StrCat("--against ", Path("nan.json"), " has a wrong"));
  ExpectRefused({"--profile", good, "--work-dir", folder_.path()},
                "--work-dir of a tuning run");
  ExpectRefused({"--profile", good, "--bench", good}, "--bench of a tuning");
  ExpectRefused({"--profile", "-"}, "--output FILE.html");
  ExpectRefused({"--profile", "-", "--against", "-"}, "cannot both be stdin");
  ExpectRefused({"--profile", good, "--json", "--output", "-"}, "both print");
  ExpectRefused({"--profile", good, "--output", Path("no/such/p.html")},
                "p.html");
}

}  // namespace
}  // namespace kiln
