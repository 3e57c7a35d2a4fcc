#include "kiln/tools/tuning/view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

#include "kiln/search/database/record.h"
#include "kiln/search/space/rule/rule_log.h"
#include "kiln/search/task/task.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;

TuneState State(int id, const std::string& name, double weight, double us) {
  TuneState state;
  state.id = id;
  state.task = name;
  state.flop = 2e6;
  state.bytes = 1e6;
  state.peak_gflops = 400;
  state.weight = weight;
  state.trials_done = state.trials_total = 64;
  state.finished = true;
  if (us > 0) {
    state.best = TuningRecord();
    state.best->latency_min_ns = us * 1e3;
  }
  return state;
}

TEST(ResultTableTest, HasARowForEachTaskAndTheWeightedSum) {
  TuneState unmeasured = State(2, "f", 1, 0);
  unmeasured.gave_up = "symbolic";
  const std::string table = ResultTable(
      {State(0, "gmm:64,64,64", 3, 10), State(1, "main", 1, 20), unmeasured});
  EXPECT_THAT(
      table,
      HasSubstr(" ID Task                     Weight         us GFLOP/s   "
                "GB/s Peak% Trials Done\n"));
  EXPECT_THAT(
      table,
      HasSubstr("  0 gmm:64,64,64                  3      10.00   200.0  "
                "100.0 50.00     64 yes\n"));
  EXPECT_THAT(
      table,
      HasSubstr("  2 f                             1          -       -    "
                "  -     -     64 no\n"));
  EXPECT_THAT(table, HasSubstr("Total trials: 192\n"));
  EXPECT_THAT(table, HasSubstr("Total latency (us): 50\n"));
}

TEST(ResultTableTest, FitsATerminal) {
  const std::string table = ResultTable(
      {State(0, "t2d:" + std::string(60, '1'), 3, 10),
       State(1, "f", 123456, 12345678), State(999, "slow", 1, 99999999)});
  std::istringstream lines(table);
  for (std::string line; std::getline(lines, line);) {
    EXPECT_LE(line.size(), 80u) << line;
  }
}

TEST(ResultTableTest, LongNamesLoseTheirMiddle) {
  const std::string name = "first" + std::string(60, 'x') + "last";
  const std::string table = ResultTable({State(0, name, 1, 10)});
  EXPECT_THAT(table, HasSubstr("  0 firstxxxxxx...xxxxxxlast "));
}

TEST(RefusalTest, IsToldToThoseWhoWantToKnowAll) {
  const std::vector<RuleRefusal> refusals = {
      {"register-tiling", "Z", "panels of 3 vectors", "split: no\n  for i",
       /*goes_on=*/false, /*times=*/2}};
  const TuneState state = State(1, "gmm", 1, 10);
  testing::internal::CaptureStdout();
  VerboseView()->Refused(state, refusals);
  EXPECT_EQ(testing::internal::GetCapturedStdout(),
            "Refused: register-tiling of Z, panels of 3 vectors, 2 times: "
            "split: no\n");
  testing::internal::CaptureStdout();
  JsonView()->Refused(state, refusals);
  EXPECT_EQ(testing::internal::GetCapturedStdout(),
            R"({"event":"refusal","id":1,"task":"gmm",)"
            R"("rule":"register-tiling","block":"Z",)"
            R"("attempt":"panels of 3 vectors","reason":"split: no\n  for i",)"
            R"("goes_on":false,"times":2})"
            "\n");
  testing::internal::CaptureStdout();
  TextView(false)->Refused(state, refusals);
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
}

}  // namespace
}  // namespace kiln
