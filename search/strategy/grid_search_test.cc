#include "kiln/search/strategy/grid_search.h"

#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "kiln/base/status_matchers.h"
#include "kiln/base/thread_pool.h"
#include "kiln/ir/text/python/source.h"
#include "kiln/ir/text/reader/reader.h"
#include "kiln/search/space/script_space.h"
#include "kiln/search/space/trace_space.h"
#include "kiln/search/strategy/genetic_search.h"

namespace kiln {
namespace {

constexpr char kProgram[] = R"(
@T.prim_func
def main(A: T.Buffer((32, 48), "float32"), B: T.Buffer((32, 48), "float32")):
    for i, j in T.grid(32, 48):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, vj] * T.float32(2)
)";

// 6 tilings of i; 3 ways to unroll, of which the last is refused.
constexpr char kTiles[] = R"(
def tiles(sch):
    i, j = sch.get_loops(sch.get_block("B"))
    tile = sch.sample_perfect_tile(i, n=2, max_innermost_factor=32)
    i0, i1 = sch.split(i, tile)
    cut = sch.sample_categorical([2, 3, 7], [0.4, 0.4, 0.2])
    j0, j1 = sch.split(j, [None, cut])
    sch.reorder(i0, j0, i1, j1)
    sch.vectorize(j1)

def whole(sch):
    i, j = sch.get_loops(sch.get_block("B"))
    sch.parallel(i)
)";

// What the second factor is decides how the first may be cut.
constexpr char kDependent[] = R"(
def nested(sch):
    i, j = sch.get_loops(sch.get_block("B"))
    outer = sch.sample_perfect_tile(i, n=2, max_innermost_factor=32)
    i0, i1 = sch.split(i, outer)
    inner = sch.sample_perfect_tile(i1, n=2, max_innermost_factor=32)
    sch.split(i1, inner)
)";

std::unique_ptr<TraceSpace> SpaceOf(const char* text) {
  return MakeScriptSpace(*ParseModule("b.py", kProgram), 0,
                         python::Source("s.py", text))
      .value();
}

// All programs that a search gives.
std::vector<std::string> All(Strategy& search, const Space& space) {
  std::vector<std::string> traces;
  for (int i = 0; i < 100; ++i) {
    SearchBatch batch = search.Next(5);
    for (const Candidate& c : batch.candidates) {
      traces.push_back(space.DecisionText(c.point));
    }
    if (batch.exhausted) return traces;
  }
  ADD_FAILURE() << "never ends";
  return traces;
}

TEST(GridSearchTest, MeetsEveryPointOnceInOrder) {
  const auto space = SpaceOf(kTiles);
  GridSearch search(space.get());
  const std::vector<std::string> traces = All(search, *space);
  ASSERT_EQ(traces.size(), 6u * 3 + 1);
  EXPECT_EQ(traces[0], "[1,32][0]");
  EXPECT_EQ(traces[1], "[1,32][1]");
  EXPECT_EQ(traces[3], "[2,16][0]");
  EXPECT_EQ(traces.back(), "");
  EXPECT_EQ(std::set<std::string>(traces.begin(), traces.end()).size(),
            traces.size());
}

TEST(GridSearchTest, FollowsChoicesThatDependOnEarlierOnes) {
  const auto space = SpaceOf(kDependent);
  GridSearch search(space.get());
  // Of 32 = a * b, b again in two: 1 + 2 + ... + 6 ways.
  const std::vector<std::string> traces = All(search, *space);
  EXPECT_EQ(std::set<std::string>(traces.begin(), traces.end()).size(), 21u);
}

TEST(GridSearchTest, LeavesOutWhatIsExcluded) {
  const auto space = SpaceOf(kTiles);
  GridSearch search(space.get());
  KILN_ASSERT_OK_AND_ASSIGN(Candidate first, space->Sample(0, 1));
  search.Exclude(first.program_hash);
  EXPECT_EQ(All(search, *space).size(), 6u * 3);
}

TEST(GeneticSearchTest, ConvergesAndGivesEachProgramOnce) {
  const auto space = SpaceOf(R"(
def tiles(sch):
    i, j = sch.get_loops(sch.get_block("B"))
    a = sch.sample_perfect_tile(i, n=4, max_innermost_factor=32)
    i0, i1, i2, i3 = sch.split(i, a)
    b = sch.sample_perfect_tile(j, n=4, max_innermost_factor=48)
    sch.split(j, b)
)");
  // The fewer the outermost factors, the faster.
  const auto seconds = [](const Candidate& c) {
    double sum = 0;
    for (const Decision& d : c.point.decisions) {
      if (d.size() == 4) sum += static_cast<double>(d[0] + d[1]);
    }
    return sum * sum;
  };
  const auto mean_of_last = [&](Strategy& search) {
    double last = 0;
    std::set<std::string> seen;
    for (int round = 0; round < 8; ++round) {
      SearchBatch batch = search.Next(16);
      std::vector<double> times;
      last = 0;
      for (const Candidate& c : batch.candidates) {
        EXPECT_TRUE(seen.insert(c.program_hash).second);
        times.push_back(seconds(c));
        last += times.back() / static_cast<double>(batch.candidates.size());
      }
      KILN_EXPECT_OK(search.Observe(batch.candidates, times));
    }
    return last;
  };
  ThreadPool pool;
  GeneticSearch genetic(space.get(), 3, &pool);
  RandomSearch random(space.get(), 3, &pool);
  EXPECT_LT(mean_of_last(genetic), 0.5 * mean_of_last(random));
}

TEST(GeneticSearchTest, UsesUpASmallSpace) {
  const auto space = SpaceOf(kTiles);
  ThreadPool pool;
  GeneticSearch search(space.get(), 3, &pool);
  EXPECT_EQ(All(search, *space).size(), 6u * 3 + 1);
}

TEST(GeneticSearchTest, TheSeedAloneDecides) {
  const auto space = SpaceOf(kDependent);
  std::vector<std::vector<std::string>> orders;
  for (int threads : {1, 2}) {
    ThreadPool pool({.num_threads = threads});
    GeneticSearch search(space.get(), 3, &pool, {.first_generation = 4});
    orders.emplace_back();
    for (int i = 0; i < 3; ++i) {
      SearchBatch batch = search.Next(5);
      std::vector<double> times;
      for (const Candidate& c : batch.candidates) {
        orders.back().push_back(c.program_hash);
        times.push_back(1.0 + static_cast<double>(times.size()));
      }
      KILN_EXPECT_OK(search.Observe(batch.candidates, times));
    }
  }
  EXPECT_EQ(orders[0], orders[1]);
}

}  // namespace
}  // namespace kiln
