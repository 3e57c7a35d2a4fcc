// A process that commits trials is killed at random moments: what it reported
// as committed must be in the file, and the file must open.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <random>
#include <set>
#include <string>
#include <vector>

#include "kiln/base/status_matchers.h"
#include "kiln/search/database/database.h"
#include "kiln/search/database/testing.h"

namespace kiln {
namespace {

constexpr int kRounds = 40;

// Commits trials from `first` on, reporting each after its commit, for ever.
[[noreturn]] void CommitForEver(const std::string& path, int64_t first,
                                int report) {
  auto database = Database::Open(path);
  if (!database.ok()) _exit(3);
  if (!(*database)->AddWorkload(testing::SomeWorkload()).ok()) _exit(4);
  for (int64_t trial = first;; ++trial) {
    TuningRecord record = testing::OkRecord("p" + std::to_string(trial), 1);
    record.trial = trial;
    record.trace.append(trial * 37 % 9000, 't');
    if (!(*database)->CommitTrial(record).ok()) _exit(5);
    if (write(report, &trial, sizeof trial) != sizeof trial) _exit(6);
  }
}

// Runs one child for `microseconds`, and returns the last trial it reported.
int64_t RunAndKill(const std::string& path, int64_t first, int microseconds) {
  int pipe_ends[2];
  EXPECT_EQ(pipe(pipe_ends), 0);
  const pid_t child = fork();
  if (child == 0) CommitForEver(path, first, pipe_ends[1]);
  close(pipe_ends[1]);
  usleep(microseconds);
  kill(child, SIGKILL);
  int64_t last = first - 1;
  for (int64_t trial; read(pipe_ends[0], &trial, sizeof trial) > 0;) {
    last = trial;
  }
  close(pipe_ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFSIGNALED(status)) << "exit " << WEXITSTATUS(status);
  return last;
}

TEST(KillTest, EveryReportedTrialSurvivesSigkillAtAnyMoment) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  testing::TempFolder folder;
  const std::string path = folder.File("t.db");
  int64_t reported = -1;
  for (int round = 0; round < kRounds; ++round) {
    KILN_ASSERT_OK_AND_ASSIGN(auto before, Database::Open(path));
    const int64_t first = *before->Count();
    before.reset();
    reported = RunAndKill(path, first, random() % 30000);
    KILN_ASSERT_OK_AND_ASSIGN(auto database, Database::Open(path));
    std::set<int64_t> found;
    KILN_ASSERT_OK_AND_ASSIGN(const std::vector<TuningRecord> records,
                              database->AllRecords());
    for (const TuningRecord& record : records) {
      found.insert(record.trial);
    }
    // At most the commit under way at the kill stands beyond the reports.
    ASSERT_GE(static_cast<int64_t>(found.size()), reported + 1);
    ASSERT_LE(static_cast<int64_t>(found.size()), reported + 2);
    ASSERT_TRUE(found.empty() ||
                *found.rbegin() == static_cast<int64_t>(found.size()) - 1);
  }
  EXPECT_GT(reported, 0) << "no child came to commit anything";
}

}  // namespace
}  // namespace kiln
