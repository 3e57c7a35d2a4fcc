#include "kiln/tests/conformance/case.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kiln/base/status_matchers.h"

namespace kiln {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr char kBefore[] = R"(
@T.prim_func
def main(A: T.Buffer((8,), "float32"), C: T.Buffer((8,), "float32")):
    for i in range(8):
        with T.block("C"):
            vi = T.axis.spatial(8, i)
            C[vi] = A[vi] + T.float32(1)
)";

constexpr char kSplit[] = R"(
@T.prim_func
def main(A: T.Buffer((8,), "float32"), C: T.Buffer((8,), "float32")):
    for a, b in T.grid(2, 4):
        with T.block("C"):
            vi = T.axis.spatial(8, a * 4 + b)
            C[vi] = A[vi] + T.float32(1)
)";

ScheduleCase Case(const std::string& step, const std::string& after) {
  ScheduleCase c;
  c.id = "test";
  c.before = kBefore;
  c.steps =
      "def f(sch):\n  b = sch.get_block(\"C\")\n"
      "  i, = sch.get_loops(b)\n  " +
      step + "\n";
  c.after = after;
  c.refuses = after.empty();
  return c;
}

CaseOptions Executing() {
  CaseOptions options;
  options.execute = true;
  return options;
}

TEST(CaseTest, SameProgramIsSame) {
  const CaseResult result =
      RunCase(Case("sch.split(i, factors=[2, 4])", kSplit), Executing());
  EXPECT_EQ(result.verdict, CaseVerdict::kSame) << result.detail;
  EXPECT_TRUE(result.executed) << result.execution;
}

TEST(CaseTest, OtherProgramIsDifferentButNotWrong) {
  const CaseResult result =
      RunCase(Case("sch.split(i, factors=[4, 2])", kSplit), Executing());
  EXPECT_EQ(result.verdict, CaseVerdict::kDifferent);
  EXPECT_THAT(result.detail, HasSubstr("T.grid(4, 2)"));
}

TEST(CaseTest, ExpectedRefusalPasses) {
  const CaseResult result = RunCase(Case("sch.reorder(i, i)", ""), {});
  EXPECT_EQ(result.verdict, CaseVerdict::kRefused) << result.detail;
}

// A case that should be refused passes for the last step's own reason alone.
TEST(CaseTest, OnlyTheLastStepMayRefuse) {
  const CaseResult early =
      RunCase(Case("sch.reorder(i, i)\n  sch.fuse(i, i)", ""), {});
  EXPECT_EQ(early.verdict, CaseVerdict::kDifferent);
  EXPECT_THAT(early.detail, HasSubstr("refused before the last step"));
}

TEST(CaseTest, FaultsOfTheTextAreNoRefusals) {
  for (const char* step : {"sch.split(i, factors=[x])", "sch.split(i)",
                           "sch.split(i, wide=True)", "sch.split(i, [2, 4]"}) {
    EXPECT_EQ(RunCase(Case(step, ""), {}).verdict, CaseVerdict::kDifferent)
        << step;
  }
  ScheduleCase unread = Case("sch.reorder(i, i)", "");
  unread.before = "@T.prim_func\ndef main(:\n";
  EXPECT_EQ(RunCase(unread, {}).verdict, CaseVerdict::kDifferent);
}

TEST(CaseTest, SymbolicAndScalarParametersAreExecuted) {
  ScheduleCase c = Case("sch.split(i, factors=[None, 4])", "");
  c.before = R"(
@T.prim_func
def main(a: T.handle, x: T.float32, c: T.handle):
    n = T.int64()
    A = T.match_buffer(a, (n,), "float32")
    C = T.match_buffer(c, (n,), "float32")
    for i in range(n):
        with T.block("C"):
            vi = T.axis.spatial(n, i)
            C[vi] = A[vi] + x
)";
  c.refuses = false;
  c.after = c.before;
  const CaseResult result = RunCase(c, Executing());
  EXPECT_EQ(result.verdict, CaseVerdict::kDifferent) << result.detail;
  EXPECT_TRUE(result.executed) << result.execution;
  EXPECT_EQ(result.execution, "interpreted");
}

TEST(CaseTest, UnexpectedRefusalAndAcceptanceAreDifferences) {
  EXPECT_EQ(RunCase(Case("sch.reorder(i, i)", kSplit), {}).verdict,
            CaseVerdict::kDifferent);
  EXPECT_EQ(RunCase(Case("sch.split(i, factors=[2, 4])", ""), {}).verdict,
            CaseVerdict::kDifferent);
}

TEST(CaseTest, UnknownPrimitiveIsSkippedByName) {
  const CaseResult result = RunCase(Case("sch.levitate(i)", kSplit), {});
  EXPECT_EQ(result.verdict, CaseVerdict::kSkipped);
  EXPECT_EQ(result.detail, "levitate");
}

TEST(CaseTest, ReadsLinesAndNamesPrimitives) {
  KILN_ASSERT_OK_AND_ASSIGN(
      std::vector<ScheduleCase> cases,
      ParseCases(R"({"id": "a", "before": "x", "outcome": "refuse", )"
                 R"J("steps": "b = sch.get_block(\"C\")\nsch.fuse(i)", )J"
                 R"("intrins": {"n": {"desc": "d"}}, "peer_us": 2.5})"
                 "\n\n"));
  ASSERT_EQ(cases.size(), 1u);
  EXPECT_THAT(cases[0].primitives, ElementsAre("fuse"));
  EXPECT_TRUE(cases[0].refuses);
  EXPECT_EQ(cases[0].peer_us, 2.5);
}

TEST(CaseTest, MalformedLinesAreNamed) {
  for (const char* line :
       {"{", "[]", R"({"id": "a"})",
        R"({"id": "a", "before": "", "steps": "", "outcome": "maybe"})",
        R"({"id": "a", "before": "", "steps": "", "outcome": "same"})"}) {
    const auto cases = ParseCases(std::string("\n") + line);
    ASSERT_FALSE(cases.ok()) << line;
    EXPECT_THAT(cases.status().message(), HasSubstr("line 2"));
  }
}

}  // namespace
}  // namespace kiln
