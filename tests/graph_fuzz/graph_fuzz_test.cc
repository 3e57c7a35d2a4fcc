// Random modules of graph functions. A failure prints its seed, to be seen
// again by `graph_fuzz --programs 1 --seed S`.
#include <gtest/gtest.h>

#include "kiln/tests/graph_fuzz/fuzz.h"

namespace kiln {
namespace {

constexpr int kParts = 4;
constexpr int64_t kPrograms = 600;

class GraphFuzzTest : public ::testing::TestWithParam<int> {};

TEST_P(GraphFuzzTest, PassesAndTheMachineKeepWhatTheInterpreterComputes) {
  GraphFuzzOptions options;
  options.programs = kPrograms / kParts;
  options.seed = 1 + GetParam() * options.programs;
  options.max_failures = 2;
  FuzzGraphs(options,
             [](const std::string& report) { ADD_FAILURE() << report; });
}

INSTANTIATE_TEST_SUITE_P(Parts, GraphFuzzTest, ::testing::Range(0, kParts));

}  // namespace
}  // namespace kiln
