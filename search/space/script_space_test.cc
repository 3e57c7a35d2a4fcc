#include "kiln/search/space/script_space.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kiln/base/status_matchers.h"
#include "kiln/ir/tensor/canonical.h"
#include "kiln/ir/tensor/module.h"
#include "kiln/ir/text/python/source.h"
#include "kiln/ir/text/reader/reader.h"
#include "kiln/search/space/space.h"
#include "kiln/search/space/trace_space.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;

constexpr char kProgram[] = R"(
@T.prim_func
def main(A: T.Buffer((32, 48), "float32"), B: T.Buffer((32, 48), "float32")):
    for i, j in T.grid(32, 48):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, vj] * T.float32(2)
)";

constexpr char kTiles[] = R"(
def tiles(sch):
    i, j = sch.get_loops(sch.get_block("B"))
    i0, i1 = sch.split(i, sch.sample_perfect_tile(i, n=2))
    sch.reorder(i1, i0)
)";

Module Program() { return *ParseModule("b.py", kProgram); }

absl::StatusOr<std::unique_ptr<TraceSpace>> SpaceOf(const std::string& text) {
  return MakeScriptSpace(Program(), 0, python::Source("s.py", text));
}

TEST(ScriptSpaceTest, DrawsEndWhenTheirUserSaysSo) {
  KILN_ASSERT_OK_AND_ASSIGN(auto space, SpaceOf(kTiles));
  bool stop = false;
  space->DrawUntil([&] { return stop; });
  KILN_ASSERT_OK_AND_ASSIGN(Candidate before, space->Sample(7, 0));
  stop = true;
  EXPECT_TRUE(absl::IsCancelled(space->Sample(7, 1).status()));
  EXPECT_TRUE(absl::IsCancelled(space->Mutate(before.point, 1).status()));
  EXPECT_TRUE(
      absl::IsCancelled(space->Cross(before.point, before.point, 1).status()));
  KILN_EXPECT_OK(space->At(before.point));  // what is known can be made again
}

TEST(ScriptSpaceTest, TheSameNumbersGiveTheSamePoint) {
  KILN_ASSERT_OK_AND_ASSIGN(auto space, SpaceOf(kTiles));
  KILN_ASSERT_OK_AND_ASSIGN(auto same, SpaceOf(kTiles));
  std::set<std::string> hashes;
  for (uint64_t i = 0; i < 64; ++i) {
    KILN_ASSERT_OK_AND_ASSIGN(Candidate a, space->Sample(7, i));
    KILN_ASSERT_OK_AND_ASSIGN(Candidate b, same->Sample(7, i));
    EXPECT_EQ(a.program_hash, b.program_hash);
    EXPECT_EQ(space->TraceText(a.point), same->TraceText(b.point));
    EXPECT_EQ(a.point.decisions, b.point.decisions);
    hashes.insert(a.program_hash);
  }
  EXPECT_GE(hashes.size(), 4u);  // of the six ways to split 32, two are capped
}

TEST(ScriptSpaceTest, ATraceLeadsBackToItsProgram) {
  KILN_ASSERT_OK_AND_ASSIGN(auto space, SpaceOf(kTiles));
  for (uint64_t i = 0; i < 8; ++i) {
    KILN_ASSERT_OK_AND_ASSIGN(Candidate c, space->Sample(3, i));
    KILN_ASSERT_OK_AND_ASSIGN(
        Function f, ReplayTrace(Program(), 0, space->TraceText(c.point)));
    EXPECT_TRUE(StructurallyEqual(f, c.scheduled));
  }
}

TEST(ScriptSpaceTest, ADecisionThatIsGivenStays) {
  KILN_ASSERT_OK_AND_ASSIGN(auto space, SpaceOf(R"(
def fixed(sch):
    i, j = sch.get_loops(sch.get_block("B"))
    sch.split(i, sch.sample_perfect_tile(i, n=2, decision=[8, 4]))
)"));
  for (uint64_t i = 0; i < 8; ++i) {
    KILN_ASSERT_OK_AND_ASSIGN(Candidate c, space->Sample(3, i));
    EXPECT_EQ(space->DecisionText(c.point), "[8,4]");
  }
}

TEST(ScriptSpaceTest, SeveralFunctionsAreDrawnFromInTurns) {
  KILN_ASSERT_OK_AND_ASSIGN(auto space, SpaceOf(R"(
def rows(sch):
    i, j = sch.get_loops(sch.get_block("B"))
    sch.parallel(i)

def columns(sch):
    i, j = sch.get_loops(sch.get_block("B"))
    sch.vectorize(j)
)"));
  KILN_ASSERT_OK_AND_ASSIGN(Candidate rows, space->Sample(0, 0));
  KILN_ASSERT_OK_AND_ASSIGN(Candidate columns, space->Sample(0, 1));
  EXPECT_THAT(space->TraceText(rows.point), HasSubstr("parallel"));
  EXPECT_THAT(space->TraceText(columns.point), HasSubstr("vectorize"));
}

TEST(ScriptSpaceTest, APrintedTraceIsFoundAgain) {
  KILN_ASSERT_OK_AND_ASSIGN(auto space, SpaceOf(kTiles));
  for (uint64_t i = 0; i < 8; ++i) {
    KILN_ASSERT_OK_AND_ASSIGN(Candidate c, space->Sample(3, i));
    const auto point = space->Locate(space->TraceText(c.point));
    ASSERT_TRUE(point.has_value());
    EXPECT_EQ(point->decisions, c.point.decisions);
  }
  EXPECT_FALSE(space->Locate("def f(sch):\n    pass\n").has_value());
  EXPECT_FALSE(space->Locate("no trace").has_value());
}

TEST(ScriptSpaceTest, NeighboursAreOtherPointsOfTheSpace) {
  KILN_ASSERT_OK_AND_ASSIGN(auto space, SpaceOf(kTiles));
  KILN_ASSERT_OK_AND_ASSIGN(Candidate a, space->Sample(3, 0));
  KILN_ASSERT_OK_AND_ASSIGN(Candidate b, space->Sample(3, 1));
  std::set<std::string> hashes;
  for (uint64_t seed = 0; seed < 32; ++seed) {
    absl::StatusOr<Candidate> c = space->Mutate(a.point, seed);
    if (!c.ok()) continue;
    hashes.insert(c->program_hash);
    KILN_EXPECT_OK(space->Cross(a.point, b.point, seed).status());
  }
  EXPECT_GE(hashes.size(), 2u);
}

TEST(ScriptSpaceTest, AFunctionThatIsAlwaysRefusedIsLeftOutIfThereIsAnother) {
  const std::string refused = R"(
def refused(sch):
    sch.compute_inline(sch.get_block("B"))
)";
  KILN_ASSERT_OK_AND_ASSIGN(auto space, SpaceOf(refused + kTiles));
  for (uint64_t i = 0; i < 4; ++i) KILN_EXPECT_OK(space->Sample(0, i).status());
  const absl::Status alone = SpaceOf(refused).status();
  EXPECT_TRUE(absl::IsFailedPrecondition(alone)) << alone;
  EXPECT_THAT(std::string(alone.message()), HasSubstr("compute_inline"));
}

TEST(ScriptSpaceTest, AFaultOfTheTextPointsIntoIt) {
  const absl::Status status =
      SpaceOf("def f(sch):\n    sch.no_step()\n").status();
  EXPECT_FALSE(status.ok());
  EXPECT_THAT(std::string(status.message()), HasSubstr("s.py:2"));
}

}  // namespace
}  // namespace kiln
