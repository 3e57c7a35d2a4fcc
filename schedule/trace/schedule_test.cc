#include "kiln/schedule/trace/schedule.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "kiln/base/status_matchers.h"
#include "kiln/ir/expr/expr.h"
#include "kiln/ir/tensor/module.h"
#include "kiln/ir/text/python/source.h"
#include "kiln/ir/text/reader/reader.h"
#include "kiln/schedule/rewrite/index_map.h"
#include "kiln/schedule/trace/arg.h"
#include "kiln/schedule/trace/print.h"
#include "kiln/schedule/trace/script.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;

constexpr char kProgram[] = R"(
@T.prim_func
def main(A: T.Buffer((64, 64), "float32"), B: T.Buffer((64, 64), "float32"),
         D: T.Buffer((64, 64), "float32")):
    C = T.alloc_buffer((64, 64), "float32")
    for i, j, k in T.grid(64, 64, 64):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = T.float32(0)
            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
    for i, j in T.grid(64, 64):
        with T.block("D"):
            vi, vj = T.axis.remap("SS", [i, j])
            D[vi, vj] = T.max(C[vi, vj], T.float32(0))
)";

Module Program() { return *ParseModule("mm.py", kProgram); }

// The trace of a script, and the schedule that it leads to.
std::string TraceOf(const std::string& body) {
  Schedule sch(Program());
  const python::Source source("s.py", "def s(sch):\n" + body);
  const absl::Status status = RunScript(source, &sch);
  EXPECT_TRUE(status.ok()) << status;
  return ToText(sch.trace());
}

TEST(ScheduleTest, TilesFromCppAsAScriptDoes) {
  Schedule sch(Program());
  KILN_ASSERT_OK_AND_ASSIGN(Rv c, sch.GetBlock("C"));
  KILN_ASSERT_OK_AND_ASSIGN(Rv d, sch.GetBlock("D"));
  KILN_ASSERT_OK_AND_ASSIGN(std::vector<Rv> l, sch.GetLoops(c));
  KILN_ASSERT_OK_AND_ASSIGN(std::vector<Rv> t,
                            sch.SamplePerfectTile(l[0], 2, 16, {8, 8}));
  KILN_ASSERT_OK_AND_ASSIGN(std::vector<Rv> i, sch.Split(l[0], {t[0], t[1]}));
  KILN_ASSERT_OK_AND_ASSIGN(std::vector<Rv> j, sch.Split(l[1], {Arg(), 16}));
  KILN_EXPECT_OK(sch.Reorder({i[0], j[0], l[2], i[1], j[1]}));
  KILN_EXPECT_OK(sch.ReverseComputeAt(d, j[0]));
  KILN_ASSERT_OK_AND_ASSIGN(Rv outer, sch.Fuse({i[0], j[0]}));
  KILN_EXPECT_OK(sch.Parallel(outer));
  KILN_EXPECT_OK(sch.Unroll(i[1]));
  KILN_EXPECT_OK(sch.Vectorize(j[1]));
  KILN_EXPECT_OK(sch.Annotate(outer, "note", 3));
  KILN_EXPECT_OK(sch.DecomposeReduction(c, l[2]).status());
  EXPECT_EQ(ToText(sch.trace()), TraceOf(R"(
    c = sch.get_block("C")
    d = sch.get_block("D")
    i, j, k = sch.get_loops(c)
    i0, i1 = sch.split(i, sch.sample_perfect_tile(i, n=2, decision=[8, 8]))
    j0, j1 = sch.split(j, [None, 16])
    sch.reorder(i0, j0, k, i1, j1)
    sch.reverse_compute_at(d, j0)
    outer = sch.fuse(i0, j0)
    sch.parallel(outer)
    sch.unroll(i1)
    sch.vectorize(j1)
    sch.annotate(outer, "note", 3)
    sch.decompose_reduction(c, k)
)"));
}

TEST(ScheduleTest, MovesAndCachesFromCppAsAScriptDoes) {
  Schedule sch(Program());
  KILN_ASSERT_OK_AND_ASSIGN(Rv d, sch.GetBlock("D"));
  KILN_ASSERT_OK_AND_ASSIGN(std::vector<Rv> c, sch.GetProducers(d));
  KILN_ASSERT_OK_AND_ASSIGN(std::vector<Rv> again, sch.GetConsumers(c[0]));
  EXPECT_EQ(again.size(), 1);
  KILN_ASSERT_OK_AND_ASSIGN(Rv read, sch.CacheRead(c[0], 1, "global"));
  KILN_ASSERT_OK_AND_ASSIGN(Rv write, sch.CacheWrite(d, 0, "local"));
  KILN_EXPECT_OK(sch.SetScope(c[0], 0, "local"));
  KILN_EXPECT_OK(sch.ReverseComputeInline(write));
  const Var k("k"), j("j");
  const IndexMap panels{{k, j},
                        {FloorDiv(j, Int(16)), k, FloorMod(j, Int(16))}};
  KILN_EXPECT_OK(sch.TransformLayout(read, Schedule::Side::kWrite, 0, panels));
  KILN_ASSERT_OK_AND_ASSIGN(std::vector<Rv> loops, sch.GetLoops(c[0]));
  KILN_EXPECT_OK(sch.ComputeAt(read, loops[0]));
  KILN_ASSERT_OK_AND_ASSIGN(Rv unit, sch.AddUnitLoop(c[0]));
  KILN_EXPECT_OK(sch.Unroll(unit));
  EXPECT_EQ(ToText(sch.trace()), TraceOf(R"(
    d = sch.get_block("D")
    c, = sch.get_producers(d)
    again, = sch.get_consumers(c)
    read = sch.cache_read(c, 1, "global")
    write = sch.cache_write(d, 0, "local")
    sch.set_scope(c, 0, "local")
    sch.reverse_compute_inline(write)
    sch.transform_layout(read, ("write", 0), lambda k, j: (j // 16, k, j % 16))
    i, j, k = sch.get_loops(c)
    sch.compute_at(read, i)
    sch.unroll(sch.add_unit_loop(c))
)"));
}

TEST(ScheduleTest, ARefusedStepLeavesTheScheduleAsItWas) {
  Schedule sch(Program());
  KILN_ASSERT_OK_AND_ASSIGN(Rv c, sch.GetBlock("C"));
  KILN_ASSERT_OK_AND_ASSIGN(std::vector<Rv> loops, sch.GetLoops(c));
  const std::string before = ToText(sch.trace());
  const absl::Status status = sch.Parallel(loops[2]);
  EXPECT_FALSE(status.ok());
  EXPECT_THAT(std::string(status.message()), HasSubstr("parallel"));
  EXPECT_EQ(ToText(sch.trace()), before);
  KILN_EXPECT_OK(sch.Parallel(loops[0]));
}

TEST(ScheduleTest, ARefusalShowsTheFragmentOfTheProgram) {
  Schedule sch(Program());
  KILN_ASSERT_OK_AND_ASSIGN(Rv c, sch.GetBlock("C"));
  KILN_ASSERT_OK_AND_ASSIGN(std::vector<Rv> loops, sch.GetLoops(c));
  EXPECT_THAT(
      std::string(sch.Parallel(loops[2]).message()),
      HasSubstr("\n    for k in range(64):\n        with T.block(\"C\"):"));
  EXPECT_THAT(std::string(sch.ComputeInline(c).message()),
              HasSubstr("\n    with T.block(\"C\"):"));
  EXPECT_THAT(std::string(sch.ComputeInline(c).message()),
              ::testing::EndsWith("\n    ..."));
}

TEST(ScheduleTest, SamplingAloneKeepsTheProgramItself) {
  Schedule sch(Program());
  const Stmt body = sch.state().functions[0]->body;
  KILN_ASSERT_OK_AND_ASSIGN(Rv c, sch.GetBlock("C"));
  KILN_ASSERT_OK_AND_ASSIGN(std::vector<Rv> loops, sch.GetLoops(c));
  KILN_EXPECT_OK(sch.SamplePerfectTile(loops[0], 4));
  KILN_EXPECT_OK(sch.SampleCategorical({1, 2}, {0.5, 0.5}));
  KILN_EXPECT_OK(sch.SampleComputeLocation(c));
  EXPECT_EQ(sch.state().functions[0]->body.get(), body.get());
}

TEST(ScheduleTest, DecisionsThatAreNoneAreRefused) {
  Schedule sch(Program());
  KILN_ASSERT_OK_AND_ASSIGN(Rv c, sch.GetBlock("C"));
  KILN_ASSERT_OK_AND_ASSIGN(std::vector<Rv> loops, sch.GetLoops(c));
  EXPECT_FALSE(sch.SamplePerfectTile(loops[0], 2, 16, {5, 13}).ok());
  EXPECT_FALSE(sch.SamplePerfectTile(loops[0], 2, 16, {64}).ok());
  EXPECT_FALSE(sch.SampleCategorical({1, 2}, {0.5, 0.5}, {2}).ok());
  EXPECT_FALSE(sch.SampleCategorical({1, 2}, {0.5, 0.5}, {-1}).ok());
  EXPECT_FALSE(sch.SampleCategorical({1, 2}, {0.5}, {0}).ok());
  EXPECT_FALSE(sch.SampleComputeLocation(c, {7}).ok());
  EXPECT_EQ(sch.trace().instructions.size(), 2u);
  KILN_ASSERT_OK_AND_ASSIGN(Rv two,
                            sch.SampleCategorical({5, 9}, {0.5, 0.5}, {1}));
  EXPECT_EQ(sch.Value(two), 9);
}

TEST(ScheduleTest, CopiesAreIndependent) {
  Schedule sch(Program());
  KILN_ASSERT_OK_AND_ASSIGN(Rv c, sch.GetBlock("C"));
  Schedule copy = sch;
  KILN_EXPECT_OK(copy.GetLoops(c).status());
  EXPECT_NE(ToText(copy.trace()), ToText(sch.trace()));
}

TEST(ScheduleTest, RefusesNamesAndArgumentsThatNoStepHas) {
  Schedule sch(Program());
  EXPECT_FALSE(sch.GetBlock("nobody").ok());
  EXPECT_FALSE(sch.GetBlock("C", "no_function").ok());
  EXPECT_FALSE(sch.Apply("no_such_step", {}).ok());
  EXPECT_FALSE(sch.Apply("get_block", {}).ok());
  EXPECT_FALSE(sch.Apply("get_block", {3, 4}).ok());
}

}  // namespace
}  // namespace kiln
