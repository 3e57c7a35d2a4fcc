#include "kiln/search/task/finalists.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "kiln/ir/tensor/module.h"

namespace kiln {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

Finalist Kernel(double us, size_t alternative) {
  Finalist one;
  one.record.latency_min_ns = us * 1e3;
  one.alternative = alternative;
  return one;
}

// What is left of kernels of so many microseconds.
std::vector<double> Taken(Finalists finalists) {
  std::vector<double> us;
  for (const Finalist& one : finalists.Take()) {
    us.push_back(one.record.latency_min_ns * 1e-3);
  }
  return us;
}

TEST(FinalistsTest, TheFastestStayInOrder) {
  Finalists finalists(3);
  for (double us : {11, 14, 13, 10, 12}) finalists.Keep(Kernel(us, 0));
  EXPECT_THAT(Taken(finalists), ElementsAre(10, 11, 12));
}

TEST(FinalistsTest, TheFirstOneStays) {
  Finalists finalists(3);
  for (double us : {14, 11, 13, 10, 12}) finalists.Keep(Kernel(us, 0));
  EXPECT_THAT(Taken(finalists), ElementsAre(10, 11, 14));
}

TEST(FinalistsTest, TheFastestOfEachWayToScheduleStays) {
  Finalists finalists(3);
  finalists.Keep(Kernel(11, 0));
  finalists.Keep(Kernel(18, 7));
  for (double us : {13, 10, 12}) finalists.Keep(Kernel(us, 0));
  finalists.Keep(Kernel(17, 7));
  EXPECT_THAT(Taken(finalists), ElementsAre(10, 11, 17));
}

TEST(FinalistsTest, OfMoreWaysThanPlacesTheSlowestGo) {
  Finalists finalists(2);
  for (size_t way = 0; way < 4; ++way) finalists.Keep(Kernel(13.0 - way, way));
  EXPECT_THAT(Taken(finalists), ElementsAre(10, 11));
}

TEST(FinalistsTest, WhatIsTooSlowIsLeftOut) {
  Finalists finalists(8);
  for (double us : {10, 14, 16}) finalists.Keep(Kernel(us, 0));
  finalists.Keep(Kernel(24, 1));
  finalists.Keep(Kernel(26, 2));
  EXPECT_THAT(Taken(finalists), ElementsAre(10, 14, 24));
}

TEST(FinalistsTest, OfLongKernelsOnlyTheFirstFewAreTaken) {
  Finalists finalists(8);
  for (double ms : {50, 52, 54, 56, 58}) finalists.Keep(Kernel(ms * 1e3, 0));
  EXPECT_THAT(Taken(finalists), ElementsAre(50e3, 52e3, 54e3, 56e3));
}

TEST(FinalistsTest, ALuckyTimeOfAnEarlierRunKeepsNobodyOut) {
  Finalists finalists(8);
  Finalist earlier = Kernel(0.5, 0);
  earlier.to_build = std::make_shared<const Function>();
  finalists.Keep(earlier);
  for (double us : {10, 14, 16}) finalists.Keep(Kernel(us, 0));
  EXPECT_THAT(Taken(finalists), ElementsAre(0.5, 10, 14));
}

TEST(FinalistsTest, WhatWasComparedCountsByThat) {
  Finalists finalists(2);
  Finalist compared = Kernel(9, 0);
  compared.record.ranked_ns = 12e3;
  finalists.Keep(Kernel(10, 0));
  finalists.Keep(compared);
  finalists.Keep(Kernel(11, 0));
  EXPECT_THAT(Taken(finalists), ElementsAre(10, 11));
}

TEST(FinalistsTest, TakingForgets) {
  Finalists finalists(8);
  finalists.Keep(Kernel(1, 0));
  EXPECT_EQ(finalists.Take().size(), 1u);
  EXPECT_THAT(finalists.Take(), IsEmpty());
}

}  // namespace
}  // namespace kiln
