#include "kiln/search/space/rule_space.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kiln/base/status_matchers.h"
#include "kiln/ir/te/workloads.h"
#include "kiln/ir/tensor/canonical.h"
#include "kiln/ir/tensor/module.h"
#include "kiln/ir/text/reader/reader.h"
#include "kiln/search/space/rule/testing.h"

namespace kiln {
namespace {

using ::testing::Contains;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

TraceSpace SpaceOf(const Module& module) {
  TraceSpace space(module, 0);
  AddRuleSchedules(CpuRules(), RuleContext{}, &space);
  return space;
}

// Small enough to interpret, with extents that tiles do not divide.
constexpr const char* kSmall[] = {"gmm:19,37,23",
                                  "c1d:21,5,20,3,2,1",
                                  "c2d:9,11,5,20,3,1,1",
                                  "c3d:4,5,6,3,18,3,1,1",
                                  "dep:9,11,20,3,1,1",
                                  "grp:8,8,8,40,3,1,1,2",
                                  "dil:11,11,4,18,3,1,1,2",
                                  "t2d:4,4,6,18,4,2,1",
                                  "cap:4,4,3,18,3,1,1",
                                  "nrm:19,21",
                                  "sfm:9,35",
                                  "cbr:9,11,5,20,3,2,1",
                                  "tbg:11,2,9"};

class RuleSpaceTest : public testing::TestWithParam<const char*> {};

TEST_P(RuleSpaceTest, EveryDesignComputesTheSame) {
  KILN_ASSERT_OK_AND_ASSIGN(Module module, MakeWorkload(GetParam()));
  TraceSpace space = SpaceOf(module);
  ASSERT_GE(space.size(), 1u);
  int made = 0;
  for (uint64_t i = 0; i < 2 * space.size(); ++i) {
    absl::StatusOr<Candidate> c = space.Sample(5, i);
    if (!c.ok()) continue;
    ++made;
    const absl::Status same =
        CheckCloseResults(module.functions[0], c->scheduled, 11 + i);
    EXPECT_TRUE(same.ok()) << same << space.TraceText(c->point);
  }
  EXPECT_GE(made, static_cast<int>(space.size()));
}

// What is sampled is what a reader looks for: no number has to be calculated.
TEST_P(RuleSpaceTest, TracesHaveSamplesWithoutArithmetic) {
  KILN_ASSERT_OK_AND_ASSIGN(Module module, MakeWorkload(GetParam()));
  const TraceSpace space = SpaceOf(module);
  for (uint64_t i = 0; i < space.size(); ++i) {
    absl::StatusOr<Candidate> c = space.Sample(5, i);
    if (!c.ok()) continue;
    EXPECT_THAT(space.TraceText(c->point),
                Not(ContainsRegex("v[0-9]+ *(//|%|[*]|[+]|-)")));
  }
}

INSTANTIATE_TEST_SUITE_P(Workloads, RuleSpaceTest, testing::ValuesIn(kSmall));

TEST(RuleSpaceTest, WhatFollowsAProductIsDoneOnItsTile) {
  KILN_ASSERT_OK_AND_ASSIGN(Module module, ParseModule("mm_relu.py", R"(
@T.prim_func
def main(A: T.Buffer((64, 32), "float32"), B: T.Buffer((32, 64), "float32"),
         D: T.Buffer((64, 64), "float32")):
    C = T.alloc_buffer((64, 64), "float32")
    for i, j, k in T.grid(64, 64, 32):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = T.float32(0)
            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
    for i, j in T.grid(64, 64):
        with T.block("D"):
            vi, vj = T.axis.remap("SS", [i, j])
            D[vi, vj] = T.max(C[vi, vj], T.float32(0))
)"));
  TraceSpace space = SpaceOf(module);
  // B where it lies, and packed in panels of two widths.
  EXPECT_EQ(space.size(), 3u);
  for (uint64_t i = 0; i < space.size(); ++i) {
    KILN_ASSERT_OK_AND_ASSIGN(Candidate c, space.Sample(1, i));
    const std::string trace = space.TraceText(c.point);
    EXPECT_THAT(trace, HasSubstr("reverse_compute_at"));
    EXPECT_THAT(trace, HasSubstr("set_scope"));
    KILN_EXPECT_OK(CheckCloseResults(module.functions[0], c.scheduled, 3));
  }
}

// The consumer reads the product's columns as rows, so that no tile of it can
// wait in registers for one of the consumer's.
TEST(RuleSpaceTest, StepsThatAreRefusedToRulesAreTold) {
  KILN_ASSERT_OK_AND_ASSIGN(Module module, ParseModule("mm_rows.py", R"(
@T.prim_func
def main(A: T.Buffer((64, 32), "float32"), B: T.Buffer((32, 64), "float32"),
         D: T.Buffer((64, 64), "float32")):
    C = T.alloc_buffer((64, 64), "float32")
    for i, j, k in T.grid(64, 64, 32):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = T.float32(0)
            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
    for j, i in T.grid(64, 64):
        with T.block("D"):
            vj, vi = T.axis.remap("SS", [j, i])
            D[vj, vi] = C[vi, vj] * C[63 - vi, vj]
)"));
  RuleLog log;
  RuleContext context;
  context.log = &log;
  EXPECT_FALSE(ApplyRules(module, CpuRules(), context).empty());
  std::vector<std::string> lines;
  for (const RuleRefusal& refusal : log.refusals()) {
    EXPECT_FALSE(refusal.reason.empty());
    lines.push_back(ToLine(refusal));
  }
  EXPECT_THAT(lines,
              Contains(StartsWith(
                  "register-tiling of C, the consumer done on the tile")));
}

TEST(RuleSpaceTest, RulesAskBeforeEachBlockWhetherToStop) {
  KILN_ASSERT_OK_AND_ASSIGN(Module module, MakeWorkload("cbr:9,11,5,20,3,2,1"));
  for (int blocks : {0, 1, 3}) {
    int asked = 0;
    RuleContext context;
    context.stop = [&] { return ++asked > blocks; };
    for (const Design& design : MakeDesigns(module, CpuRules(), context)) {
      EXPECT_LE(design.uses.size(), static_cast<size_t>(blocks));
      KILN_EXPECT_OK(CheckCloseResults(
          module.functions[0], *design.schedule.state().functions[0], 3));
    }
    EXPECT_GT(asked, blocks);
  }
}

TEST(RuleSpaceTest, AProgramThatNoRuleKnowsStaysAsItIs) {
  KILN_ASSERT_OK_AND_ASSIGN(Module module, ParseModule("s.py", R"(
@T.prim_func
def main(A: T.Buffer((1,), "float32"), n: T.int64):
    with T.block("root"):
        A[0] = A[0] + T.float32(1)
)"));
  TraceSpace space = SpaceOf(module);
  ASSERT_EQ(space.size(), 1u);
  KILN_ASSERT_OK_AND_ASSIGN(Candidate c, space.Sample(1, 0));
  EXPECT_TRUE(StructurallyEqual(c.scheduled, module.functions[0]));
}

}  // namespace
}  // namespace kiln
