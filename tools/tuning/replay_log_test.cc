#include "kiln/tools/tuning/replay_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "kiln/base/file.h"
#include "kiln/base/status_matchers.h"
#include "kiln/codegen/target/target.h"
#include "kiln/tools/tuning/job.h"
#include "kiln/tools/tuning/tune.h"
#include "kiln/tools/tuning/view.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;

class QuietView : public TuneView {
 public:
  void Start(const TuneTask&, const std::string&, const std::string&,
             const TuneState&) override {}
  void Trial(const TuneState&, const TuningRecord&) override {}
  void Done(const TuneState&) override {}
};

using Runs = std::vector<std::vector<flight::Event>>;

// The log of two runs on two small tasks, the second resuming the first.
Runs TuneTwice(const std::string& search) {
  std::string folder = ::testing::TempDir() + "/kiln_replay_XXXXXX";
  TuneAllRequest request;
  request.work_dir = mkdtemp(folder.data());
  for (const char* name : {"gmm:32,32,32", "dep:8,8,16,3,1,1"}) {
    request.jobs.push_back(JobOfWorkload(name).value());
  }
  request.target = HostTarget();
  request.guide.search = search;
  request.guide.seed = 5;
  QuietView view;
  for (int64_t trials : {10, 18}) {
    request.trials_per_task = trials;
    KILN_EXPECT_OK(RunTuneAll(request, &view).status());
  }
  const std::string text = ReadFile(request.work_dir + "/flight.jsonl").value();
  return ParseFlightLog(text).value();
}

TEST(ReplayLogTest, ModelAndEvolutionDecideTheSameOnOneAndTwoThreads) {
  const Runs runs = TuneTwice("evolutionary");
  ASSERT_EQ(runs.size(), 2u);
  for (const auto& run : runs) {
    for (int threads : {1, 2}) {
      KILN_ASSERT_OK_AND_ASSIGN(const ReplayedRun replayed,
                                ReplayRun(run, threads));
      EXPECT_EQ(replayed.states.size(), 2u);
      EXPECT_GT(replayed.events, 20u);
    }
  }
  KILN_ASSERT_OK_AND_ASSIGN(const ReplayedRun second, ReplayRun(runs[1], 2));
  EXPECT_EQ(second.states[0].trials_resumed, 10);
  EXPECT_EQ(second.states[0].trials_done, 18);
}

TEST(ReplayLogTest, AnotherTimeOrSeedInTheLogIsAnotherSearch) {
  Runs runs = TuneTwice("random");
  std::vector<flight::Event> run = runs[0];
  run[0].mutable_run()->set_seed(6);
  EXPECT_THAT(ReplayRun(run, 1), StatusIs(absl::StatusCode::kFailedPrecondition,
                                          HasSubstr("leaves the flight log")));
  run = runs[0];
  run[0].mutable_run()->set_machine("{}");
  EXPECT_FALSE(ReplayRun(run, 1).ok());
  run = runs[0];
  run[0].mutable_run()->set_search("magic");
  EXPECT_THAT(ReplayRun(run, 1),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("magic")));
  run.resize(1);
  EXPECT_FALSE(ReplayRun(run, 1).ok()) << "no task";
}

}  // namespace
}  // namespace kiln
