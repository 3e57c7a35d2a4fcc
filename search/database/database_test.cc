#include "kiln/search/database/database.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>

#include <limits>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "kiln/base/status_matchers.h"
#include "kiln/search/database/testing.h"

namespace kiln {
namespace {

using ::kiln::testing::FailedRecord;
using ::kiln::testing::OkRecord;
using ::kiln::testing::SomeWorkload;
using ::kiln::testing::TempFolder;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class DatabaseTest : public ::testing::Test {
 protected:
  void SetUp() override {
    KILN_ASSERT_OK_AND_ASSIGN(database_, Database::Open(folder_.File("t.db")));
    KILN_ASSERT_OK(database_->AddWorkload(SomeWorkload()));
  }

  std::vector<std::string> TopPrograms(int64_t k) {
    std::vector<std::string> programs;
    const TuningRecord any = OkRecord("p", 1);
    const std::vector<TuningRecord> top =
        database_->TopK(any.workload_key, any.target, k).value();
    for (const TuningRecord& record : top) {
      programs.push_back(record.program_hash);
    }
    return programs;
  }

  TempFolder folder_;
  std::unique_ptr<Database> database_;
};

void ExpectEqual(const TuningRecord& a, const TuningRecord& b) {
  EXPECT_EQ(a.workload_key, b.workload_key);
  EXPECT_EQ(a.target, b.target);
  EXPECT_EQ(a.compiler_version, b.compiler_version);
  EXPECT_EQ(a.program_hash, b.program_hash);
  EXPECT_EQ(a.trace, b.trace);
  EXPECT_EQ(a.decisions, b.decisions);
  EXPECT_EQ(a.verdict, b.verdict);
  EXPECT_EQ(a.reason, b.reason);
  EXPECT_EQ(a.latency_min_ns, b.latency_min_ns);
  EXPECT_EQ(a.latency_median_ns, b.latency_median_ns);
  EXPECT_EQ(a.latency_spread_ns, b.latency_spread_ns);
  EXPECT_EQ(a.samples, b.samples);
  EXPECT_EQ(a.seed, b.seed);
  EXPECT_EQ(a.trial, b.trial);
  EXPECT_EQ(a.created_ms, b.created_ms);
  EXPECT_EQ(a.paired_ratio, b.paired_ratio);
  EXPECT_EQ(a.ranked_ns, b.ranked_ns);
}

TEST_F(DatabaseTest, ARecordReadsBackAsItWasCommittedAfterReopening) {
  TuningRecord record = OkRecord("p0", 1234.5);
  record.trace += std::string("\0tail", 5);
  record.paired_ratio = 1.5;
  record.ranked_ns = 2000;
  KILN_ASSERT_OK_AND_ASSIGN(const int64_t id, database_->CommitTrial(record));
  database_.reset();
  KILN_ASSERT_OK_AND_ASSIGN(database_, Database::Open(folder_.File("t.db")));
  KILN_ASSERT_OK_AND_ASSIGN(
      const TuningRecord best,
      database_->Best(record.workload_key, record.target));
  EXPECT_EQ(best.id, id);
  ExpectEqual(best, record);
}

TEST_F(DatabaseTest, TopKRanksOnlyOkRecordsOfTheSameTarget) {
  TuningRecord other_target = OkRecord("other", 1);
  other_target.target = "llvm -mcpu=skylake";
  for (const TuningRecord& record :
       {OkRecord("slow", 30), FailedRecord("bad", Verdict::kTimeout),
        OkRecord("fast", 10), OkRecord("middle", 20), other_target,
        OkRecord("tied", 10)}) {
    KILN_ASSERT_OK(database_->CommitTrial(record));
  }
  EXPECT_THAT(TopPrograms(3), ElementsAre("fast", "tied", "middle"));
  EXPECT_THAT(TopPrograms(100), ElementsAre("fast", "tied", "middle", "slow"));
  EXPECT_THAT(TopPrograms(0), ElementsAre());
  EXPECT_THAT(TopPrograms(-5), ElementsAre());
}

TEST_F(DatabaseTest, ALuckyTrialRanksBehindTheWinnerOfAComparison) {
  TuningRecord winner = OkRecord("winner", 10), loser = OkRecord("loser", 9);
  TuningRecord of_another_space = OkRecord("of another space", 8);
  winner.paired_ratio = of_another_space.paired_ratio = 1;
  loser.paired_ratio = 1.25;
  loser.ranked_ns = 12.5;
  for (const TuningRecord& record : {OkRecord("lucky", 5), winner, loser}) {
    KILN_ASSERT_OK(database_->CommitTrial(record));
  }
  KILN_ASSERT_OK_AND_ASSIGN(const std::vector<TuningRecord> behind,
                            database_->NameWinner(winner));
  ASSERT_EQ(behind.size(), 1u);
  EXPECT_EQ(behind[0].program_hash, "lucky");
  EXPECT_EQ(behind[0].latency_min_ns, 5);
  EXPECT_GT(behind[0].rank(), 10);
  EXPECT_THAT(TopPrograms(9), ElementsAre("winner", "lucky", "loser"));
  // Later trials may be better, and so may who won elsewhere.
  KILN_ASSERT_OK(database_->CommitTrial(OkRecord("later", 7)));
  KILN_ASSERT_OK(database_->CommitTrial(of_another_space));
  EXPECT_THAT(TopPrograms(3),
              ElementsAre("later", "of another space", "winner"));
  KILN_ASSERT_OK(database_->NameWinner(winner).status());
  EXPECT_THAT(TopPrograms(2), ElementsAre("of another space", "winner"));
}

TEST_F(DatabaseTest, BestOfNothingSaysSo) {
  KILN_ASSERT_OK(database_->CommitTrial(FailedRecord("bad", Verdict::kCrash)));
  EXPECT_THAT(
      database_->Best(std::string(64, 'a'), "llvm"),
      StatusIs(absl::StatusCode::kNotFound, HasSubstr("no successful trial")));
}

TEST_F(DatabaseTest, OneProgramHasOneRecordPerWorkloadAndTarget) {
  KILN_ASSERT_OK(database_->CommitTrial(OkRecord("p", 5)));
  EXPECT_THAT(database_->CommitTrial(OkRecord("p", 4)),
              StatusIs(absl::StatusCode::kAlreadyExists, HasSubstr("p")));
  TuningRecord elsewhere = OkRecord("p", 4);
  elsewhere.target = "llvm -mcpu=skylake";
  KILN_EXPECT_OK(database_->CommitTrial(elsewhere));
  EXPECT_EQ(*database_->Count(), 2);
}

TEST_F(DatabaseTest, HasProgramKnowsFailedProgramsToo) {
  const TuningRecord bad = FailedRecord("bad", Verdict::kCrash);
  KILN_ASSERT_OK(database_->CommitTrial(bad));
  EXPECT_TRUE(*database_->HasProgram(bad.workload_key, bad.target, "bad"));
  EXPECT_FALSE(*database_->HasProgram(bad.workload_key, bad.target, "good"));
  EXPECT_FALSE(*database_->HasProgram(bad.workload_key, "gpu", "bad"));
}

TEST_F(DatabaseTest, RefusedTracesNeedNoProgramAndAreKeptOncePerTrace) {
  TuningRecord refused = FailedRecord("", Verdict::kScheduleRefused);
  KILN_ASSERT_OK(database_->CommitTrial(refused));
  EXPECT_THAT(database_->CommitTrial(refused),
              StatusIs(absl::StatusCode::kAlreadyExists, ::testing::_));
  refused.trace += " changed";
  KILN_ASSERT_OK(database_->CommitTrial(refused));
  EXPECT_EQ(*database_->Count(), 2);
}

TEST_F(DatabaseTest, ContradictoryRecordsAreRefused) {
  std::vector<TuningRecord> bad(6, OkRecord("p", 1));
  bad[0].latency_min_ns = 0;
  bad[1].latency_median_ns = std::numeric_limits<double>::quiet_NaN();
  bad[2].latency_spread_ns = std::numeric_limits<double>::infinity();
  bad[3].target = "";
  bad[4].program_hash = "";
  bad[5].latency_min_ns = -1;
  for (const TuningRecord& record : bad) {
    EXPECT_THAT(database_->CommitTrial(record),
                StatusIs(absl::StatusCode::kInvalidArgument, ::testing::_));
  }
  EXPECT_EQ(*database_->Count(), 0);
}

TEST_F(DatabaseTest, ARecordOfAnUnknownWorkloadIsRefused) {
  TuningRecord record = OkRecord("p", 1);
  record.workload_key = std::string(64, 'b');
  EXPECT_THAT(database_->CommitTrial(record),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("add the workload first")));
}

// A limit on the size of files is the nearest that a test can come to a full
// disk.
class SmallFiles {
 public:
  SmallFiles() {
    signal(SIGXFSZ, SIG_IGN);
    EXPECT_EQ(getrlimit(RLIMIT_FSIZE, &before_), 0);
    const rlimit small = {1 << 18, before_.rlim_max};
    EXPECT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  }
  ~SmallFiles() { EXPECT_EQ(setrlimit(RLIMIT_FSIZE, &before_), 0); }

 private:
  rlimit before_;
};

TuningRecord LongRecord(int64_t number) {
  TuningRecord record = OkRecord(absl::StrCat("p", number), 1);
  record.trace += std::string(10000, '#');
  return record;
}

TEST_F(DatabaseTest, AFileThatCannotGrowIsNamedAndKeepsItsTrials) {
  int64_t reported = 0;
  absl::Status status;
  {
    const SmallFiles limit;
    while (status.ok() && reported < 10000) {
      status = database_->CommitTrial(LongRecord(reported)).status();
      reported += status.ok();
    }
  }
  EXPECT_THAT(status.message(), HasSubstr(folder_.File("t.db")));
  EXPECT_GT(reported, 0);
  database_.reset();
  KILN_ASSERT_OK_AND_ASSIGN(database_, Database::Open(folder_.File("t.db")));
  EXPECT_EQ(*database_->Count(), reported);
}

TEST_F(DatabaseTest, AFileThatCannotTakeABatchIsNamedAndTakesNoneOfIt) {
  KILN_ASSERT_OK(database_->CommitTrial(OkRecord("before", 1)));
  std::vector<TuningRecord> batch;
  for (int i = 0; i < 200; ++i) batch.push_back(LongRecord(i));
  absl::Status status;
  {
    const SmallFiles limit;
    status = database_->CommitTrials(batch).status();
  }
  EXPECT_THAT(status.message(), HasSubstr(folder_.File("t.db")));
  EXPECT_EQ(*database_->Count(), 1);
  EXPECT_EQ(*database_->CommitTrials(batch), 200);
}

TEST_F(DatabaseTest, WorkloadsAreContentAddressed) {
  Workload workload = SomeWorkload();
  KILN_EXPECT_OK(database_->AddWorkload(workload));
  const std::string first = workload.text;
  workload.text += "# other names\n";
  KILN_EXPECT_OK(database_->AddWorkload(workload));
  KILN_ASSERT_OK_AND_ASSIGN(const Workload stored,
                            database_->GetWorkload(workload.key));
  EXPECT_EQ(stored.text, first);
  workload.key = "abc";
  EXPECT_THAT(
      database_->AddWorkload(workload),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("hexadecimal")));
  EXPECT_THAT(database_->GetWorkload("nothing"),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("nothing")));
  EXPECT_EQ(database_->AllWorkloads()->size(), 1u);
}

TEST_F(DatabaseTest, ABatchIsAllOrNothingAndPassesOverKnownPrograms) {
  KILN_ASSERT_OK(database_->CommitTrial(OkRecord("p0", 1)));
  std::vector<TuningRecord> batch = {OkRecord("p0", 1), OkRecord("p1", 1),
                                     OkRecord("p2", 1)};
  batch.push_back(OkRecord("p3", 0));
  EXPECT_THAT(database_->CommitTrials(batch),
              StatusIs(absl::StatusCode::kInvalidArgument, ::testing::_));
  EXPECT_EQ(*database_->Count(), 1);
  batch.pop_back();
  EXPECT_EQ(*database_->CommitTrials(batch), 2);
  EXPECT_EQ(*database_->Count(), 3);
}

TEST_F(DatabaseTest, RevisingReplacesTheMeasurement) {
  EXPECT_THAT(database_->ReviseTrial(OkRecord("p", 5)),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("revise")));
  KILN_ASSERT_OK(database_->CommitTrial(OkRecord("p", 5)));
  KILN_ASSERT_OK(database_->ReviseTrial(OkRecord("p", 4)));
  const TuningRecord any = OkRecord("p", 1);
  EXPECT_EQ(database_->Best(any.workload_key, any.target)->latency_min_ns, 4);
  EXPECT_EQ(*database_->Count(), 1);
}

TEST_F(DatabaseTest, CountsAndFiltersByVerdict) {
  KILN_ASSERT_OK(database_->CommitTrial(OkRecord("a", 1)));
  for (const char* name : {"b", "c"}) {
    KILN_ASSERT_OK(
        database_->CommitTrial(FailedRecord(name, Verdict::kOutOfBounds)));
  }
  KILN_ASSERT_OK_AND_ASSIGN(const VerdictCounts counts,
                            database_->CountByVerdict());
  EXPECT_EQ(counts[static_cast<int>(Verdict::kOk)], 1);
  EXPECT_EQ(counts[static_cast<int>(Verdict::kOutOfBounds)], 2);
  EXPECT_EQ(counts[static_cast<int>(Verdict::kCrash)], 0);
  RecordFilter filter;
  filter.verdict = Verdict::kOutOfBounds;
  EXPECT_EQ(*database_->Count(filter), 2);
  EXPECT_EQ(database_->AllRecords(filter)->size(), 2u);
  filter.target = "gpu";
  EXPECT_EQ(*database_->Count(filter), 0);
}

TEST_F(DatabaseTest, VisitsManyRecordsInTheOrderOfCommitsAndStopsOnError) {
  std::vector<TuningRecord> batch;
  for (int i = 0; i < 1000; ++i) {
    batch.push_back(OkRecord("p" + std::to_string(i), 1 + i % 7));
    batch.back().trial = i;
  }
  ASSERT_EQ(*database_->CommitTrials(batch), 1000);
  int64_t seen = 0;
  KILN_EXPECT_OK(database_->ForEachRecord({}, [&](const TuningRecord& record) {
    EXPECT_EQ(record.trial, seen++);
    // Commits during the visit neither deadlock nor are seen.
    return database_->CommitTrial(OkRecord("n" + record.program_hash, 1))
        .status();
  }));
  EXPECT_EQ(seen, 1000);
  EXPECT_THAT(database_->ForEachRecord(
                  {}, [](const auto&) { return absl::AbortedError("stop"); }),
              StatusIs(absl::StatusCode::kAborted, "stop"));
}

TEST_F(DatabaseTest, ThreadsAndSecondConnectionsCommitSideBySide) {
  KILN_ASSERT_OK_AND_ASSIGN(auto second, Database::Open(folder_.File("t.db")));
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    Database* database = t % 2 ? second.get() : database_.get();
    threads.emplace_back([database, t] {
      for (int i = 0; i < 50; ++i) {
        const std::string name = std::to_string(t) + "/" + std::to_string(i);
        KILN_EXPECT_OK(database->CommitTrial(OkRecord(name, 1 + i)));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(*database_->Count(), 200);
  EXPECT_EQ(*second->Count(), 200);
}

}  // namespace
}  // namespace kiln
