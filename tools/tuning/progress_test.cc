#include "kiln/tools/tuning/progress.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "kiln/search/database/record.h"
#include "kiln/search/database/verdict.h"
#include "kiln/search/task/task.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

// A task of 2 MFLOP that has 32 of 64 trials after 4 s.
TuneState State(int id, const std::string& name) {
  TuneState state;
  state.id = id;
  state.task = name;
  state.flop = 2e6;
  state.peak_gflops = 400;
  state.trials_done = 32;
  state.trials_total = 64;
  state.seconds = 4;
  state.best = TuningRecord();
  state.best->latency_min_ns = 1e4;
  return state;
}

TEST(ProgressLineTest, TellsFailuresByCauseAndTheShareOfThePeak) {
  TuneState state = State(0, "m");
  state.counts[static_cast<int>(Verdict::kCrash)] = 2;
  EXPECT_EQ(ProgressLine({state}, 0, {}, 79),
            "trials 32/64, 2 crash, best 200.0 GFLOP/s (50.0 % of peak), 4 s "
            "left");
}

TEST(ProgressLineTest, TellsTheRateOfMemoryWhereThatIsTheLimit) {
  TuneState state = State(0, "m");
  state.bytes = 1e6;
  EXPECT_THAT(ProgressLine({state}, 0, {}, 79), HasSubstr("best 100.0 GB/s,"));
}

TEST(ProgressLineTest, SeveralTasksHaveOneTotalAndOneTime) {
  TuneState done = State(1, "b"), fresh = State(2, "c");
  done.finished = true;
  done.trials_resumed = 32;
  fresh.trials_done = 0;
  const std::vector<TuneState> states = {State(0, "a"), done, fresh};
  EXPECT_THAT(ProgressLine(states, 0, {}, 79),
              StartsWith("#0 a: trials 64/160"));
  // 8 trials a second, 96 to go.
  EXPECT_THAT(ProgressLine(states, 0, {}, 79), HasSubstr(", 12 s left"));
  const std::string limited = ProgressLine(states, 0, {.trials = 100}, 79);
  EXPECT_THAT(limited, HasSubstr("trials 64/100"));
  EXPECT_THAT(limited, HasSubstr(", 4 s left"));  // 36 trials, 4.5 s
}

TEST(ProgressLineTest, TheTimeLimitCountsWhereItIsSooner) {
  EXPECT_THAT(ProgressLine({State(0, "a")}, 0, {.seconds = 7}, 79),
              HasSubstr(", 3 s left"));
  EXPECT_THAT(ProgressLine({State(0, "a")}, 0, {.seconds = 60}, 79),
              HasSubstr(", 4 s left"));
  TuneState resumed = State(0, "a");
  resumed.trials_resumed = 32;
  EXPECT_THAT(ProgressLine({resumed}, 0, {.seconds = 604}, 79),
              HasSubstr(", 10 min left"));
  EXPECT_THAT(ProgressLine({resumed}, 0, {}, 79), Not(HasSubstr("left")));
}

TEST(ProgressLineTest, FitsEveryWidth) {
  TuneState state = State(1, "c2d:224,224,3,64,7,2,3:layout_free:normwise");
  for (int64_t& count : state.counts) count = 12;
  for (size_t width = 1; width < 200; ++width) {
    for (const bool several : {false, true}) {
      std::vector<TuneState> states = {state};
      if (several) states = {State(0, "a"), state};
      const std::string line =
          ProgressLine(states, several, {.seconds = 86400}, width);
      EXPECT_LE(line.size(), width);
      if (width >= 79) {
        EXPECT_THAT(line, HasSubstr("best 200.0 GFLOP/s"));
        EXPECT_THAT(line, HasSubstr("left"));
      }
      if (width >= 79 && several) EXPECT_THAT(line, StartsWith("#1 c2d:"));
    }
  }
}

}  // namespace
}  // namespace kiln
