#include "kiln/search/mutate/mutate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "kiln/base/status_matchers.h"
#include "kiln/ir/tensor/module.h"
#include "kiln/ir/text/python/source.h"
#include "kiln/ir/text/reader/reader.h"
#include "kiln/schedule/trace/schedule.h"
#include "kiln/schedule/trace/script.h"

namespace kiln {
namespace {

using ::testing::AnyOf;

constexpr char kProgram[] = R"(
@T.prim_func
def main(A: T.Buffer((64, 48), "float32"), B: T.Buffer((64, 48), "float32")):
    for i, j in T.grid(64, 48):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, vj] + T.float32(1)
)";

class MutateTest : public testing::Test {
 protected:
  void Read(const std::string& body) {
    Schedule sch(module_);
    KILN_EXPECT_OK(
        RunScript(python::Source("s.py",
                                 "def s(sch):\n    b = sch.get_block(\"B\")\n"
                                 "    i, j = sch.get_loops(b)\n" +
                                     body),
                  &sch));
    trace_ = sch.trace();
    open_ = OpenDecisions(trace_);
    made_ = GetDecisions(trace_);
  }

  Module module_ = *ParseModule("p.py", kProgram);
  Trace trace_;
  Decisions open_, made_;
};

int Differences(const Decisions& a, const Decisions& b) {
  int count = 0;
  for (size_t i = 0; i < a.size(); ++i) count += a[i] != b[i];
  return count;
}

TEST_F(MutateTest, OneChoiceChangesAndTheProductStays) {
  Read(
      "    x = sch.sample_perfect_tile(i, n=3, max_innermost_factor=64)\n"
      "    y = sch.sample_categorical([1, 2, 3], [0.5, 0.5, 0])\n");
  Random random(1);
  for (int round = 0; round < 200; ++round) {
    const auto next = MutateOne(trace_, open_, made_, &random);
    ASSERT_TRUE(next.has_value());
    ASSERT_EQ(Differences(*next, made_), 1);
    made_ = *next;
    const Decision& tiles = made_[2];
    EXPECT_EQ(tiles[0] * tiles[1] * tiles[2], 64);
    EXPECT_LT(made_[3][0], 2) << "a choice of no weight was taken";
  }
}

TEST_F(MutateTest, ATupleBecomesAnother) {
  Read(
      "    x, y = sch.sample_tuple([[1, 2], [3, 4], [5, 6]], [0.5, 0.5, 0])\n");
  Random random(1);
  for (int i = 0; i < 10; ++i) {
    const auto next = MutateOne(trace_, open_, made_, &random);
    ASSERT_TRUE(next.has_value());
    EXPECT_EQ(Differences(*next, made_), 1);
    made_ = *next;
    EXPECT_THAT(made_.back(), AnyOf(Decision{1, 2}, Decision{3, 4}))
        << "a choice of no weight was taken";
  }
}

TEST_F(MutateTest, ChoicesThatTheAuthorMadeStay) {
  Read("    x = sch.sample_perfect_tile(i, n=2, decision=[8, 8])\n");
  Random random(1);
  EXPECT_FALSE(MutateOne(trace_, open_, made_, &random).has_value());
}

TEST_F(MutateTest, ChildrenTakeEachChoiceFromAParent) {
  Random random(3);
  const Decisions a = {{1}, {1}, {1}, {1}}, b = {{2}, {2}, {2}, {2}};
  std::set<Decisions> children;
  for (int i = 0; i < 100; ++i) children.insert(Cross(a, b, &random));
  EXPECT_EQ(children.size(), 16u);
}

}  // namespace
}  // namespace kiln
