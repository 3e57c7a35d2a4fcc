#include "kiln/search/space/rule/sampled_tile.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "kiln/base/status_matchers.h"
#include "kiln/ir/te/workloads.h"
#include "kiln/schedule/trace/print.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;

struct Sampled {
  SampledTile tile;
  std::string trace;
  std::vector<int64_t> values;  // of what was sampled
};

Sampled Sample(const std::vector<RegisterTile>& tiles) {
  Schedule sch(*MakeWorkload("gmm:8,8,8"));
  absl::StatusOr<SampledTile> tile = SampleTile(&sch, tiles);
  EXPECT_TRUE(tile.ok()) << tile.status();
  Sampled sampled{*tile, ToText(sch.trace()), {}};
  for (const Arg* arg :
       {&sampled.tile.outer_rows, &sampled.tile.rows, &sampled.tile.vectors}) {
    sampled.values.push_back(arg->rv() ? sch.Value(*arg->rv())
                                       : *arg->integer());
  }
  return sampled;
}

TEST(SampledTileTest, NumbersThatDifferAreSampledTogether) {
  const Sampled sampled = Sample({{1, 5, 3, 1}, {1, 4, 3, 0}, {1, 19, 1, 1}});
  EXPECT_THAT(sampled.trace,
              HasSubstr("= sch.sample_tuple(candidates=[[5, 3], [4, 3], "
                        "[19, 1]], probs=[0.5, 0.0, 0.5], decision="));
  EXPECT_TRUE(sampled.tile.outer_rows.integer());
  EXPECT_TRUE(sampled.values == std::vector<int64_t>({1, 5, 3}) ||
              sampled.values == std::vector<int64_t>({1, 19, 1}));
}

TEST(SampledTileTest, AllThreeMayDiffer) {
  const Sampled sampled = Sample({{2, 4, 2, 0}, {1, 4, 3, 0}, {4, 3, 1, 1}});
  EXPECT_THAT(sampled.trace, HasSubstr("candidates=[[2, 4, 2], [1, 4, 3], "
                                       "[4, 3, 1]]"));
  EXPECT_EQ(sampled.values, std::vector<int64_t>({4, 3, 1}));
}

TEST(SampledTileTest, ANumberThatDiffersAloneIsSampledAlone) {
  const Sampled sampled = Sample({{1, 5, 3, 0}, {1, 8, 3, 2}});
  EXPECT_THAT(sampled.trace,
              HasSubstr("= sch.sample_categorical(candidates=[5, 8], "
                        "probs=[0.0, 1.0], decision=1)"));
  EXPECT_EQ(sampled.values, std::vector<int64_t>({1, 8, 3}));
}

TEST(SampledTileTest, OneTileIsNoChoice) {
  const Sampled sampled = Sample({{2, 5, 3, 0.25}});
  EXPECT_EQ(sampled.trace.find("sample"), std::string::npos) << sampled.trace;
  EXPECT_EQ(sampled.values, std::vector<int64_t>({2, 5, 3}));
}

}  // namespace
}  // namespace kiln
