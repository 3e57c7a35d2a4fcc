// What `tune --trials 0` leaves behind.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "kiln/base/file.h"
#include "kiln/base/status_matchers.h"
#include "kiln/search/database/database.h"
#include "kiln/search/space/rule/testing.h"
#include "kiln/tools/tuning/job.h"
#include "kiln/tools/tuning/tune.h"
#include "kiln/tools/tuning/view.h"
#include "kiln/vm/profile/machine_constants.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;

// The constants of this machine need not be measured.
void StoreMachine() {
  const std::string path = testing::TempDir() + "/machine.json";
  KILN_EXPECT_OK(SaveMachine(DescribeMachine(), path));
  setenv("KILN_MACHINE", path.c_str(), 1);
}

TEST(NoTrialsTest, EachTaskGetsADefaultScheduleAndNoRecord) {
  StoreMachine();
  TuneAllRequest request;
  for (const char* workload : {"gmm:19,37,23", "sfm:9,35"}) {
    KILN_ASSERT_OK_AND_ASSIGN(TuneJob job, JobOfWorkload(workload));
    request.jobs.push_back(std::move(job));
  }
  request.target = HostTarget();
  request.target.num_cores = 1;
  request.trials_per_task = 0;
  request.work_dir = testing::TempDir() + "/no_trials";
  const std::unique_ptr<TuneView> view = TextView(false);
  KILN_ASSERT_OK_AND_ASSIGN(const std::vector<TuneOutcome> outcomes,
                            RunTuneAll(request, view.get()));
  ASSERT_EQ(outcomes.size(), 2u);
  for (size_t i = 0; i < outcomes.size(); ++i) {
    EXPECT_FALSE(outcomes[i].state.best.has_value());
    KILN_EXPECT_OK(CheckCloseResults(request.jobs[i].module.functions[0],
                                     outcomes[i].best, 7));
    KILN_ASSERT_OK_AND_ASSIGN(const std::string trace,
                              ReadFile(outcomes[i].task_dir + "/trace.py"));
    EXPECT_EQ(trace, outcomes[i].best_trace);
    EXPECT_THAT(trace, HasSubstr("def apply_trace"));
  }
  KILN_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Database> database,
                            Database::Open(outcomes[0].database));
  KILN_ASSERT_OK_AND_ASSIGN(const int64_t records, database->Count());
  EXPECT_EQ(records, 0);
}

}  // namespace
}  // namespace kiln
