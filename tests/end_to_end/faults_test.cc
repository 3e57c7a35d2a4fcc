// Every second kernel misbehaves, in every way there is, and the run ends well.
// KILN_TRIALS says how many kernels there are.
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>

#include "kiln/search/database/verdict.h"
#include "kiln/tests/end_to_end/tuning.h"

namespace kiln {
namespace {

std::map<std::string, int> FailuresIn(const testing::WorkFolder& folder) {
  std::map<std::string, int> failures;
  for (const TuningRecord& record : folder.Records()) {
    if (record.verdict == Verdict::kOk) continue;
    EXPECT_FALSE(record.reason.empty());
    ++failures[std::string(VerdictName(record.verdict))];
  }
  return failures;
}

TEST(FaultsTest, ARunSurvivesThemAndRecordsEachByItsCause) {
  testing::WorkFolder folder;
  const std::set<std::string> shared = testing::ListFolder("/dev/shm");
  const int trials = testing::CountFromEnvironment("KILN_TRIALS", 32);
  std::vector<std::string> command =
      testing::TuneCommand("gmm:128,128,128", trials, folder);
  command.push_back("--inject-faults");
  const testing::Events events = testing::RunTuning(command);
  const tune::TaskResult& task = events.done->tasks(0);
  EXPECT_EQ(task.trials(), trials);
  EXPECT_GT(task.latency_us(), 0) << "no sound kernel was found";
  const std::map<std::string, int> told(task.failed().begin(),
                                        task.failed().end());
  EXPECT_EQ(told, FailuresIn(folder));
  int faults = 0;
  for (const auto& [cause, count] : told) {
    std::printf("%s: %d\n", cause.c_str(), count);
    faults += count;
  }
  EXPECT_GE(faults, trials / 2);
  std::printf("%d faults in %.1f s\n", faults, events.done->seconds());
  for (const char* cause :
       {"crash", "timeout", "out_of_memory", "out_of_bounds", "wrong_result",
        "worker_lost", "run_error", "build_error"}) {
    EXPECT_GT(told.count(cause), 0) << cause;
  }
  EXPECT_TRUE(testing::AllDescendantsEnd(5)) << "a process is left behind";
  EXPECT_EQ(testing::ListFolder("/dev/shm"), shared);
}

}  // namespace
}  // namespace kiln
