#include "kiln/tools/reporting/compare_runs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

#include "kiln/search/database/record.h"
#include "kiln/tools/reporting/rows.h"
#include "kiln/tools/reporting/task_data.h"

namespace kiln::report {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

TaskData Task(const std::string& name, double us, double weight = 1) {
  TaskData task;
  task.name = name;
  task.workload.key = "key of " + name;
  task.workload.func_name = "main";
  task.target = "x86_64 zen +avx threads=2";
  task.threads = 2;
  task.weight = weight;
  TuningRecord record;
  record.latency_min_ns = us * 1e3;
  if (us <= 0) record.verdict = Verdict::kCrash;
  task.trials = {record};
  return task;
}

TEST(CompareRunsTest, TellsWhatBecameOfEachTask) {
  const std::vector<TaskData> before = {Task("a", 20), Task("gone", 1),
                                        Task("b", 5), Task("failed", 0)};
  const std::vector<TaskData> after = {Task("a", 10, 3), Task("b", 10),
                                       Task("failed", 4), Task("added", 7)};
  const RunComparison all = CompareRuns(before, after);
  std::vector<std::string> states;
  for (const TaskPair& pair : all.pairs) {
    states.push_back(pair.any().name + " " + pair.state());
  }
  EXPECT_THAT(states, ElementsAre("a both", "b both", "failed both",
                                  "added new", "gone missing"));
  EXPECT_EQ(all.pairs[0].Speedup(), 2);
  EXPECT_EQ(all.pairs[1].Speedup(), 0.5);
  EXPECT_EQ(all.pairs[2].Speedup(), 0);
  // The weights of the later run count; what has one time only does not.
  EXPECT_EQ(all.compared, 2);
  EXPECT_EQ(all.before_us, 65);
  EXPECT_EQ(all.after_us, 40);
  EXPECT_NEAR(all.geomean, 1, 1e-12);
  EXPECT_EQ(all.new_tasks, 1);
  EXPECT_EQ(all.missing_tasks, 1);
  EXPECT_THAT(all.warnings, IsEmpty());
}

TEST(CompareRunsTest, ProgramsMatchAndNotNames) {
  TaskData renamed = Task("main(A: 4)", 3);
  renamed.workload.key = "key of gmm:4,4,4";
  TaskData other = Task("gmm:4,4,4", 6);
  const std::vector<TaskData> before = {renamed}, after = {other};
  EXPECT_EQ(CompareRuns(before, after).compared, 1);
  other.workload.func_name = "second";
  const std::vector<TaskData> second = {other};
  EXPECT_EQ(CompareRuns(before, second).compared, 0);
}

TEST(CompareRunsTest, SaysThatMachinesAndTargetsDiffer) {
  std::vector<TaskData> before = {Task("a", 1)}, after = {Task("a", 1)};
  before[0].machine = "Zen, 4 cores";
  after[0].machine = "Lake, 2 cores";
  after[0].target = "x86_64 lake +avx threads=2";
  const RunComparison all = CompareRuns(before, after);
  EXPECT_EQ(all.compared, 1);
  EXPECT_THAT(
      all.warnings,
      ElementsAre(HasSubstr("do not compare: Zen, 4 cores before, Lake, 2 "),
                  HasSubstr("1 task was compiled for different targets: x86_64 "
                            "zen before, x86_64 lake after")));
  after[0].target = "x86_64 zen -avx threads=2";
  EXPECT_THAT(CompareRuns(before, after).warnings[1],
              HasSubstr("x86_64 zen with other features"));
}

TEST(CompareRunsTest, ATargetOfItsOwnIsPreferredAndThreadsAreNeverMixed) {
  TaskData zen = Task("a", 2), lake = Task("a", 8), one = Task("a", 9);
  lake.target = "x86_64 lake threads=2";
  one.target = "x86_64 zen +avx threads=1";
  one.threads = 1;
  const std::vector<TaskData> before = {lake, zen}, after = {zen, one};
  const RunComparison all = CompareRuns(before, after);
  EXPECT_EQ(all.pairs[0].Speedup(), 1);
  EXPECT_EQ(all.new_tasks, 1);
  EXPECT_EQ(all.missing_tasks, 1);
  EXPECT_THAT(all.warnings,
              ElementsAre("a is not compared: 2 threads before, 1 after"));
}

TEST(ComparisonTextTest, FitsATerminalAndTellsSums) {
  const std::vector<TaskData> before = {Task("main(X: 1×512)", 20),
                                        Task("gone" + std::string(80, 'x'), 1)};
  const std::vector<TaskData> after = {Task("main(X: 1×512)", 10)};
  const std::string text = ComparisonText(CompareRuns(before, after));
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line) && line[0] != '1';) {
    EXPECT_LE(line.size(), 81u) << line;  // one character has two bytes
  }
  EXPECT_THAT(text, HasSubstr("      20.00      10.00     2.000\n"));
  EXPECT_THAT(text, HasSubstr("       1.00              missing\n"));
  EXPECT_THAT(text, HasSubstr("1 task in both, weighted: 20.00 us before"));
  EXPECT_THAT(text, HasSubstr("0 new, 1 missing\n"));
}

TEST(ComparisonTextTest, SaysThatNothingCompares) {
  const std::vector<TaskData> none, after = {Task("a", 1)};
  EXPECT_THAT(ComparisonText(CompareRuns(none, after)),
              HasSubstr("no task has a time in both runs\n1 new, 0 missing"));
}

TEST(ComparisonHtmlTest, NamesAreNoMarkup) {
  const std::vector<TaskData> before = {Task("<b>", 20)};
  const std::vector<TaskData> after = {Task("<b>", 10)};
  const std::string html =
      ComparisonHtml(CompareRuns(before, after), "<script>");
  EXPECT_THAT(html, Not(HasSubstr("<b>")));
  EXPECT_THAT(html, Not(HasSubstr("<script")));
  EXPECT_THAT(html, HasSubstr("<span class=\"faster\">2.000</span>"));
}

TEST(RowsTest, TasksAndPairsAreJson) {
  std::vector<TaskData> before = {Task("a \"b\"", 20)};
  std::vector<TaskData> after = {Task("a \"b\"", 10, 2)};
  after[0].flop = 1e6;
  after[0].bytes = 5e5;
  after[0].peak_gflops = 200;
  after[0].normwise = true;
  const std::string tasks = TaskRows(after);
  EXPECT_THAT(tasks, HasSubstr(R"("task":"a \"b\"")"));
  EXPECT_THAT(tasks, HasSubstr(R"("gflops":100,"gb_per_s":50,)"
                               R"("peak_share":0.5,"normwise":true)"));
  const std::string pairs = ComparisonRows(CompareRuns(before, after));
  EXPECT_THAT(pairs, HasSubstr(R"("state":"both","before_us":20,)"
                               R"("after_us":10,"speedup":2})"));
  EXPECT_THAT(pairs, HasSubstr(R"({"row":"total","pairs":1,"before_us":40,)"));
}

}  // namespace
}  // namespace kiln::report
