#include "kiln/tools/reporting/page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "kiln/base/file.h"
#include "kiln/base/sha256.h"
#include "kiln/base/status_matchers.h"
#include "kiln/ir/te/workloads.h"
#include "kiln/ir/text/printer/printer.h"
#include "kiln/search/database/database.h"
#include "kiln/search/space/rule/rule.h"
#include "kiln/search/space/rule_space.h"
#include "kiln/search/space/trace_space.h"
#include "kiln/tools/reporting/panels.h"
#include "kiln/tools/reporting/task_data.h"

namespace kiln::report {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

// A work directory of its own for each test, with a database.
class WorkDirTest : public testing::Test {
 protected:
  void SetUp() override {
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    path_ = absl::StrCat(testing::TempDir(), "/report_", test->name());
    KILN_EXPECT_OK(MakeFolders(path_));
    absl::StatusOr<std::unique_ptr<Database>> database =
        Database::Open(path_ + "/database.sqlite");
    KILN_EXPECT_OK(database.status());
    if (database.ok()) database_ = *std::move(database);
  }

  Workload Add(const Module& module) {
    Workload workload;
    workload.func_name = module.functions[0].name;
    workload.text = PrintModule(module);
    workload.key = Sha256Hex(workload.text);
    KILN_EXPECT_OK(database_->AddWorkload(workload));
    return workload;
  }

  TuningRecord Record(const Workload& workload, int number) {
    TuningRecord record;
    record.workload_key = workload.key;
    record.target = "x86_64 test-cpu threads=2";
    record.compiler_version = "test";
    record.program_hash = Sha256Hex(absl::StrCat(number));
    record.trial = number;
    record.created_ms = 1000 + number;
    return record;
  }

  void AddTimed(const Workload& workload, int number, double us,
                std::string trace) {
    TuningRecord record = Record(workload, number);
    record.trace = std::move(trace);
    record.decisions = "[4,<2>]";
    record.latency_min_ns = us * 1e3;
    record.latency_median_ns = us * 1.1e3;
    record.samples = 3;
    KILN_EXPECT_OK(database_->CommitTrial(record).status());
  }

  void AddFailed(const Workload& workload, int number, Verdict verdict,
                 std::string reason) {
    TuningRecord record = Record(workload, number);
    record.verdict = verdict;
    record.trace = absl::StrCat("# ", number);
    record.reason = std::move(reason);
    if (verdict == Verdict::kScheduleRefused) record.program_hash.clear();
    KILN_EXPECT_OK(database_->CommitTrial(record).status());
  }

  // Ten schedules that the rules make, slower and slower, and four failures.
  void AddProduct() {
    KILN_ASSERT_OK_AND_ASSIGN(const Module module,
                              MakeWorkload("gmm:128,128,128"));
    const Workload workload = Add(module);
    TraceSpace space(module, 0);
    AddRuleSchedules(CpuRules(), RuleContext{}, &space);
    int made = 0;
    for (uint64_t i = 0; made < 10; ++i) {
      const absl::StatusOr<Candidate> c = space.Sample(1, i);
      if (!c.ok()) continue;
      ++made;
      AddTimed(workload, made, 100 - made, space.TraceText(c->point));
    }
    AddFailed(workload, 11, Verdict::kWrongResult, "at (3, 4): 1.5e3, not 2");
    AddFailed(workload, 12, Verdict::kWrongResult, "at (7, 0): 0.5, not 22");
    AddFailed(workload, 13, Verdict::kTimeout, "ran for 5 s");
    AddFailed(workload, 14, Verdict::kScheduleRefused, "split: 3 < 4");
  }

  std::string Page(std::vector<PeerTime> peers = {}) {
    absl::StatusOr<std::vector<TaskData>> tasks = ReadWorkDir(path_);
    KILN_EXPECT_OK(tasks.status());
    if (!tasks.ok()) return "";
    PageOptions options;
    options.peers = std::move(peers);
    return RenderPage(*tasks, options);
  }

  std::string path_;
  std::unique_ptr<Database> database_;
};

// The contents of all elements that begin like this, without tags.
std::vector<std::string> TextsOf(const std::string& html,
                                 const std::string& open,
                                 const std::string& close) {
  std::vector<std::string> texts;
  size_t at = 0;
  while ((at = html.find(open, at)) != html.npos) {
    at = html.find('>', at) + 1;
    const std::string inside = html.substr(at, html.find(close, at) - at);
    std::string text;
    bool in_tag = false;
    for (char c : inside) {
      if (c == '<') in_tag = true;
      if (!in_tag) text += c;
      if (c == '>') in_tag = false;
    }
    texts.push_back(text);
  }
  return texts;
}

int Count(const std::string& html, const std::string& what) {
  int count = 0;
  for (size_t at = html.find(what); at != html.npos;
       at = html.find(what, at + 1)) {
    ++count;
  }
  return count;
}

TEST(RefusalListTest, NamesTheStepsThatWereRefusedToRules) {
  EXPECT_EQ(RefusalList({}), "");
  const std::string html = RefusalList(
      {{"register-tiling", "Z", "", "split: 3 < 4\n  for i", false, 2}});
  EXPECT_THAT(html,
              HasSubstr("title=\"split: 3 &lt; 4\n  for i\">"
                        "register-tiling of Z, 2 times: split: 3 &lt; 4<"));
}

TEST_F(WorkDirTest, APageHasAllPartsInOrder) {
  AddProduct();
  const std::string page = Page();
  EXPECT_THAT(TextsOf(page, "<h1", "</h1>"), ElementsAre("Tuning report"));
  EXPECT_THAT(TextsOf(page, "<h2", "</h2>"),
              ElementsAre("gmm:128,128,128 on 2 threads"));
  EXPECT_THAT(
      TextsOf(page, "<figcaption><b", "</b>"),
      ElementsAre("Best so far.", "Roofline.", "Predicted against measured.",
                  "What was rejected, and why."));
  EXPECT_THAT(TextsOf(page, "<h3", "</h3>"),
              ElementsAre("What each rule is worth", "The fastest schedule"));
  EXPECT_THAT(TextsOf(page, "<summary", "</summary>"),
              ElementsAre("The trace", "What the program became",
                          "How it differs from the program as written"));
  EXPECT_THAT(
      TextsOf(page, "<text class=\"axis", "</text>"),
      ElementsAre("time of a call (µs)", "speed (GFLOP/s)", "predicted (µs)"));
  // Three charts with a dot for each of the ten that ran, and the best one.
  EXPECT_EQ(Count(page, "<circle"), 31);
}

TEST_F(WorkDirTest, ThePageNeedsNothingElse) {
  AddProduct();
  const std::string page = Page();
  for (const char* outside : {"http:", "https:", "<script", "<link", "<img",
                              "src=", "@import", "url("}) {
    EXPECT_THAT(page, Not(HasSubstr(outside))) << outside;
  }
}

TEST_F(WorkDirTest, TheSummaryTellsTheBestAndWhatFailed) {
  AddProduct();
  const std::string page = Page();
  EXPECT_THAT(page, HasSubstr("90.0 µs at trial 10 of 13."));
  EXPECT_THAT(page, HasSubstr("3 of 13 programs failed; 1 schedule more"));
}

TEST_F(WorkDirTest, TheSummaryHasRatesOfArithmeticAndMemory) {
  AddProduct();
  // 4.19 MFLOP and 197 kB in 90 us.
  EXPECT_THAT(Page(), HasSubstr("<td class=\"number\">46.6</td>"
                                "<td class=\"number\">2.18</td>"));
}

TEST_F(WorkDirTest, WhatFiguresLeaveOutIsTold) {
  Add(*MakeWorkload("c1d:8,4,4,3,1,1:normwise"));
  EXPECT_THAT(Page(), HasSubstr("normwise errors allowed; "));
  EXPECT_THAT(Page(), HasSubstr("MFLOP are counted"));
}

TEST_F(WorkDirTest, AnEarlierRunStandsInAPartOfItsOwn) {
  AddProduct();
  KILN_ASSERT_OK_AND_ASSIGN(const auto tasks, ReadWorkDir(path_));
  PageOptions options;
  EXPECT_THAT(RenderPage(tasks, options), Not(HasSubstr("Against")));
  options.against = CompareRuns(tasks, tasks);
  options.against_name = "old & slow";
  EXPECT_THAT(RenderPage(tasks, options),
              HasSubstr("<h3>Against old &amp; slow</h3>"));
}

TEST_F(WorkDirTest, TheFlightLogTellsNamesWeightsAndMachines) {
  const Workload workload = Add(*MakeWorkload("gmm:3,5,7"));
  AddTimed(workload, 1, 5, "trace");
  const auto log = [&](const std::string& name) {
    return absl::StrCat(R"({"run":{"version":1,"machine":)"
                        R"("{\"version\":1,\"cpu\":\"Zen\",\"cores\":2}"}})",
                        "\nno JSON\n{\"task\":{\"name\":\"", name,
                        "\",\"weight\":3,\"key\":\"", workload.key,
                        "\",\"target\":\"x86_64 test-cpu threads=2\"}}\n");
  };
  // A function's name says less than the signature.
  KILN_ASSERT_OK(WriteFileAtomically(path_ + "/flight.jsonl", log("main")));
  KILN_ASSERT_OK_AND_ASSIGN(auto tasks, ReadWorkDir(path_));
  EXPECT_EQ(tasks[0].name, "main(X: 1×3×7, Y: 1×7×5, Z: 1×3×5)");
  EXPECT_EQ(tasks[0].weight, 3);
  KILN_ASSERT_OK(
      WriteFileAtomically(path_ + "/flight.7.jsonl", log("gmm:3,5,7")));
  KILN_ASSERT_OK_AND_ASSIGN(tasks, ReadWorkDir(path_));
  EXPECT_EQ(tasks[0].name, "gmm:3,5,7");
}

TEST_F(WorkDirTest, RejectionsThatDifferInNumbersAreOneCause) {
  AddProduct();
  const std::string page = Page();
  EXPECT_EQ(Count(page, "at (#, #): #, not #"), 1);
  EXPECT_THAT(page, HasSubstr("<td class=\"number\">2</td><td class=\"mono\">"
                              "wrong_result"));
  EXPECT_THAT(page, HasSubstr("ran for # s"));
  EXPECT_THAT(page, HasSubstr("split: # &lt; #"));
}

TEST_F(WorkDirTest, TrialsAreCountedForTheRulesThatMadeThem) {
  AddProduct();
  const std::string page = Page();
  EXPECT_THAT(page, HasSubstr("<td>register-tiling</td>"));
  // The three that failed have no trace that a rule makes.
  EXPECT_THAT(page, HasSubstr("<td>schedules from files</td>"));
}

TEST_F(WorkDirTest, PeersOfTheTaskAreDrawnAndCompared) {
  AddProduct();
  const std::string page = Page({{"gmm:128,128,128", 2, "A&B library", 180e-6},
                                 {"gmm:128,128,128", 1, "other threads", 1e-6},
                                 {"gmm:512,512,512", 2, "other shape", 1e-6}});
  EXPECT_THAT(page, HasSubstr("<span class=\"faster\">2.00 ×</span> A&amp;B"));
  EXPECT_THAT(page, HasSubstr(">A&amp;B library</text>"));
  EXPECT_THAT(page, Not(HasSubstr("other threads")));
  EXPECT_THAT(page, Not(HasSubstr("other shape")));
}

TEST_F(WorkDirTest, NamesFromTheDatabaseAreNeverMarkup) {
  KILN_ASSERT_OK_AND_ASSIGN(const Module module, MakeWorkload("nrm:8,8"));
  const Workload workload = Add(module);
  AddFailed(workload, 1, Verdict::kBuildError, "<img src=x onerror=alert(1)>");
  AddTimed(workload, 2, 5, "<script>alert(2)</script>");
  TuningRecord record = Record(workload, 3);
  record.target = "<script>alert(3)</script>";
  record.verdict = Verdict::kCrash;
  record.reason = "</section>";
  KILN_ASSERT_OK(database_->CommitTrial(record).status());
  const std::string page = Page();
  EXPECT_THAT(page, Not(HasSubstr("<script")));
  EXPECT_THAT(page, Not(HasSubstr("<img")));
  EXPECT_EQ(Count(page, "<section"), Count(page, "</section>"));
  EXPECT_THAT(page, HasSubstr("&lt;script&gt;alert(3)"));
}

TEST_F(WorkDirTest, ATraceThatAppliesNoMoreIsShownWithTheReason) {
  KILN_ASSERT_OK_AND_ASSIGN(const Module module, MakeWorkload("nrm:8,8"));
  AddTimed(Add(module), 1, 5, "this is no trace");
  const std::string page = Page();
  EXPECT_THAT(page, HasSubstr("this is no trace"));
  EXPECT_THAT(page, HasSubstr("does not apply any more"));
  EXPECT_THAT(page, HasSubstr("Fewer than two trials can be compared"));
}

TEST_F(WorkDirTest, AnEmptyDatabaseHasAPageThatSaysSo) {
  const std::string page = Page();
  EXPECT_THAT(page, HasSubstr("The database holds no task yet."));
  EXPECT_EQ(Count(page, "<h2"), 0);
}

TEST_F(WorkDirTest, ATaskWithoutTrialsHasASection) {
  KILN_ASSERT_OK_AND_ASSIGN(const Module module, MakeWorkload("nrm:8,8"));
  Add(module);
  const std::string page = Page();
  EXPECT_EQ(Count(page, "<h2"), 1);
  EXPECT_EQ(Count(page, "<svg"), 0);
  EXPECT_THAT(page, HasSubstr("No trial has succeeded so far."));
  EXPECT_THAT(page, HasSubstr("Nothing was rejected."));
}

TEST_F(WorkDirTest, ATaskWhereAllFailedShowsTheReasons) {
  KILN_ASSERT_OK_AND_ASSIGN(const Module module, MakeWorkload("nrm:8,8"));
  const Workload workload = Add(module);
  for (int i = 0; i < 3; ++i) {
    AddFailed(workload, i, Verdict::kCrash, "signal 11");
  }
  const std::string page = Page();
  EXPECT_THAT(page, HasSubstr("3 of 3 programs failed"));
  EXPECT_THAT(page, HasSubstr("signal #"));
  EXPECT_THAT(page, HasSubstr(">none</td>"));
  EXPECT_EQ(Count(page, "<circle"), 0);
}

TEST(ReadWorkDirTest, SaysWhereThereIsNoDatabase) {
  const std::string path = testing::TempDir() + "/nothing_here";
  EXPECT_THAT(ReadWorkDir(path).status(),
              StatusIs(absl::StatusCode::kNotFound,
                       HasSubstr("nothing_here/database.sqlite")));
  // And makes none.
  EXPECT_FALSE(ReadFile(path + "/database.sqlite").ok());
}

TEST(ReadWorkDirTest, RefusesAFileThatIsNoDatabase) {
  const std::string path = testing::TempDir() + "/no_database";
  KILN_ASSERT_OK(MakeFolders(path));
  KILN_ASSERT_OK(
      WriteFileAtomically(path + "/database.sqlite", "text, text, text"));
  EXPECT_THAT(ReadWorkDir(path).status(),
              StatusIs(absl::StatusCode::kDataLoss,
                       HasSubstr("no_database/database.sqlite")));
}

absl::StatusOr<std::vector<PeerTime>> Rows(const std::string& text) {
  const std::string path = testing::TempDir() + "/bench.json";
  KILN_EXPECT_OK(WriteFileAtomically(path, text));
  return ReadBenchRows(path);
}

TEST(ReadBenchRowsTest, KeepsTheRowsOfLibraries) {
  KILN_ASSERT_OK_AND_ASSIGN(const std::vector<PeerTime> rows,
                            Rows(
                                R"({"setup":{"cpu":"A","libraries":[]}}
{"workload":"gmm","shape":"2,3,4","threads":2,"contender":"X","us":1.5}
{"workload":"gmm","shape":"2,3,4","threads":2,"contender":"Kiln","us":1}
{"mean":"Kiln over X","threads":2,"geomean":1.5}
)"));
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].workload, "gmm:2,3,4");
  EXPECT_EQ(rows[0].threads, 2);
  EXPECT_NEAR(rows[0].seconds, 1.5e-6, 1e-12);
}

TEST(ReadBenchRowsTest, NamesTheLineThatIsWrong) {
  EXPECT_THAT(Rows("\nhello\n").status(),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("bench.json:2: the line is no JSON object")));
  for (const char* line :
       {"{}", R"({"workload":"a","shape":"1","threads":1,"contender":"X"})",
        R"({"workload":"a","shape":"1","threads":0,"contender":"X","us":1})",
        R"({"workload":1,"shape":2,"threads":"3","contender":4,"us":"5"})"}) {
    EXPECT_THAT(Rows(line).status(),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         HasSubstr("bench.json:1: the line lacks")))
        << line;
  }
  EXPECT_FALSE(ReadBenchRows(testing::TempDir() + "/nowhere").ok());
  EXPECT_THAT(Rows("").status(), StatusIs(absl::StatusCode::kInvalidArgument,
                                          HasSubstr("the file is empty")));
}

TEST_F(WorkDirTest, TasksHaveNamesThatTellThemApart) {
  for (const char* spec : {"gmm:128,128,128", "gmm:128,128,128:normwise",
                           "gmm:2,3,4", "gmm:2,3,4:normwise", "gmm:2,3,5"}) {
    Add(*MakeWorkload(spec));
  }
  KILN_ASSERT_OK_AND_ASSIGN(const auto tasks, ReadWorkDir(path_));
  std::set<std::string> names;
  for (const TaskData& task : tasks) names.insert(task.name);
  EXPECT_EQ(names.size(), 5u);
  EXPECT_TRUE(names.count("gmm:128,128,128:normwise"));
  EXPECT_TRUE(names.count("main(X: 1×2×4, Y: 1×4×3, Z: 1×2×3):normwise"));
}

}  // namespace
}  // namespace kiln::report
