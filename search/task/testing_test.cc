#include "kiln/search/task/testing.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace kiln {
namespace {

TEST(NumberSpaceTest, SamplesAllOfItsProgramsAndNoOthers) {
  const NumberSpace space(5);
  std::set<std::string> traces, hashes;
  for (uint64_t index = 0; index < 200; ++index) {
    const auto sample = space.Sample(3, index);
    ASSERT_TRUE(sample.ok());
    traces.insert(space.TraceText(sample->point));
    hashes.insert(sample->program_hash);
  }
  EXPECT_EQ(traces, (std::set<std::string>{"0", "1", "2", "3", "4"}));
  EXPECT_EQ(hashes.size(), 5);
}

TEST(NumberSpaceTest, ATraceLeadsBackToItsProgram) {
  const NumberSpace space(100);
  const auto sample = space.Sample(1, 7);
  ASSERT_TRUE(sample.ok());
  const auto point = space.Locate(space.TraceText(sample->point));
  ASSERT_TRUE(point.has_value());
  EXPECT_EQ(point->decisions, sample->point.decisions);
  EXPECT_EQ(space.At(*point)->program_hash, sample->program_hash);
  EXPECT_FALSE(space.Locate("no number").has_value());
}

TEST(NumberSpaceTest, ChangesStayWithin) {
  const NumberSpace space(4);
  const Point point = space.Sample(1, 1)->point;
  for (uint64_t seed = 0; seed < 50; ++seed) {
    EXPECT_LT(space.Mutate(point, seed)->point.decisions[0][0], 4);
    EXPECT_EQ(space.Cross(point, point, seed)->point.decisions,
              point.decisions);
  }
}

}  // namespace
}  // namespace kiln
