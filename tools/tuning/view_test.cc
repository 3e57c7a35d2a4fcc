#include "kiln/tools/tuning/view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "kiln/search/database/record.h"
#include "kiln/search/task/task.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;

TuneState State(int id, const std::string& name, double weight, double us) {
  TuneState state;
  state.id = id;
  state.task = name;
  state.flop = 2e6;
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
  EXPECT_THAT(table, HasSubstr("ID |         Name |         FLOP | Weight | "
                               "Speed (GFLOPS) | Latency (us) | "
                               "Weighted Latency (us) | Trials | Done"));
  EXPECT_THAT(table, HasSubstr("  0 | gmm:64,64,64 |      2000000 |      3 | "
                               "      200.0000 |      10.0000 | "
                               "              30.0000 |     64 | Y\n"));
  EXPECT_THAT(table, HasSubstr("N/A"));
  EXPECT_THAT(table, HasSubstr("no: cannot be measured"));
  EXPECT_THAT(table, HasSubstr("Total trials: 192\n"));
  EXPECT_THAT(table, HasSubstr("Total latency (us): 50\n"));
}

TEST(ResultTableTest, LongNamesLoseTheirMiddle) {
  const std::string name = "first" + std::string(60, 'x') + "last";
  const std::string table = ResultTable({State(0, name, 1, 10)});
  EXPECT_THAT(table, HasSubstr("  0 | first" + std::string(18, 'x') + "..." +
                               std::string(18, 'x') + "last | "));
}

}  // namespace
}  // namespace kiln
