// 10^4 pairs and a few more, since about one in a hundred is for devices and
// runs in the interpreter only. A failure prints how to see it again.
#include <gtest/gtest.h>

#include <iostream>

#include "kiln/tests/fuzz/fuzz.h"

namespace kiln {
namespace {

constexpr int kParts = 10;
constexpr int64_t kPairs = 10200;

class ScheduleFuzzTest : public ::testing::TestWithParam<int> {};

TEST_P(ScheduleFuzzTest, RandomSchedulesOfRandomProgramsAgreeThroughLlvm) {
  FuzzOptions options;
  options.pairs = kPairs / kParts;
  options.seed = 1 + GetParam() * options.pairs;
  options.max_failures = 2;
  const FuzzResult result = Fuzz(
      options, [](const std::string& failure) { ADD_FAILURE() << failure; });
  std::cout << ToTable(result.counts);
  EXPECT_GT(result.counts.compiled, options.pairs * 9 / 10);
}

INSTANTIATE_TEST_SUITE_P(Parts, ScheduleFuzzTest, ::testing::Range(0, kParts));

}  // namespace
}  // namespace kiln
