// Each primitive on loops whose ranges name other loops, and on blocks whose
// domains are such ranges: what is accepted is a program, and computes the
// same.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "kiln/base/status_matchers.h"
#include "kiln/ir/tensor/module.h"
#include "kiln/ir/text/printer/printer.h"
#include "kiln/ir/text/python/source.h"
#include "kiln/ir/text/reader/reader.h"
#include "kiln/ir/verify/verify.h"
#include "kiln/schedule/testing/equivalence.h"
#include "kiln/schedule/trace/schedule.h"
#include "kiln/schedule/trace/script.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;

constexpr char kTriangles[] = R"(
@T.prim_func
def main(A: T.Buffer((12, 12), "float32"), B: T.Buffer((12, 12), "float32"), C: T.Buffer((12,), "float32"), E: T.Buffer((12, 12), "float32"), F: T.Buffer((12, 12), "float32"), G: T.Buffer((12, 12), "float32")):
    D = T.alloc_buffer((12, 12))
    for i in range(12):
        for j in range(i + 1):
            with T.block("D"):
                vi, vj = T.axis.remap("SS", [i, j])
                D[vi, vj] = A[vi, vj] * T.float32(2)
    for i in range(12):
        for j in range(i + 1):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = D[vi, vj] + T.float32(1)
    for i in range(12):
        for k in range(i + 1):
            with T.block("C"):
                vi, vk = T.axis.remap("SR", [i, k])
                with T.init():
                    C[vi] = T.float32(0)
                C[vi] = C[vi] + A[vi, vk]
    for i in range(12):
        for j in range(i + 1):
            with T.block("E"):
                vi, vj = T.axis.remap("SS", [i, j])
                E[vi, vj] = A[vj, vi]
    for i in range(12):
        for j in range(12 - i % 2):
            with T.block("F"):
                vi = T.axis.spatial(12, i)
                vj = T.axis.spatial(12, j)
                F[vi, vj] = T.if_then_else(0 < vi, A[vj, vi], T.float32(0))
    for i in range(12):
        for j in range(i + 1):
            for k in range(12):
                with T.block("G"):
                    vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                    with T.init():
                        G[vi, vj] = T.float32(0)
                    G[vi, vj] = G[vi, vj] + A[vi, vk] * A[vj, vk]
)";

struct Case {
  const char* steps;    // where b is block B, c is block C ...
  const char* message;  // null: accepted
};

void Check(const Case& c) {
  SCOPED_TRACE(c.steps);
  KILN_ASSERT_OK_AND_ASSIGN(const Module before,
                            ParseModule("triangles", kTriangles));
  Schedule schedule(before, {});
  const absl::Status status = RunScript(
      python::Source("steps", absl::StrCat("def steps(sch):\n"
                                           "  b = sch.get_block(\"B\")\n"
                                           "  c = sch.get_block(\"C\")\n"
                                           "  d = sch.get_block(\"D\")\n"
                                           "  e = sch.get_block(\"E\")\n"
                                           "  f = sch.get_block(\"F\")\n"
                                           "  g = sch.get_block(\"G\")\n",
                                           c.steps)),
      &schedule);
  if (c.message) {
    EXPECT_THAT(status, StatusIs(absl::StatusCode::kFailedPrecondition,
                                 HasSubstr(c.message)));
    return;
  }
  KILN_ASSERT_OK(status);
  const Module after = schedule.ToModule();
  EXPECT_TRUE(VerifyModule(after).ok()) << VerifyModule(after) << "\n"
                                        << PrintModule(after);
  KILN_EXPECT_OK(CheckSameResults(before.functions[0], after.functions[0], 3));
}

TEST(TriangularTest, WhatIsAcceptedComputesTheSame) {
  for (const char* steps : {
           "  sch.split(sch.get_loops(b)[0], [3, 4])\n",
           "  sch.split(sch.get_loops(b)[0], [None, 5])\n",
           "  sch.split(sch.get_loops(b)[1], [None, 4])\n",
           "  sch.parallel(sch.get_loops(b)[0])\n",
           "  sch.unroll(sch.get_loops(b)[0])\n",
           "  sch.vectorize(sch.get_loops(b)[1])\n",
           "  sch.decompose_reduction(c, sch.get_loops(c)[0])\n",
           "  sch.decompose_reduction(c, sch.get_loops(c)[1])\n",
           "  sch.decompose_reduction(g, sch.get_loops(g)[0])\n",
           "  sch.decompose_reduction(g, sch.get_loops(g)[1])\n",
           "  sch.decompose_reduction(g, sch.get_loops(g)[2])\n",
           "  sch.compute_inline(d)\n",
           "  sch.transform_layout(d, (\"write\", 0), lambda i, j: (j, i))\n",
           "  sch.add_unit_loop(b)\n",
           "  sch.add_unit_loop(sch.get_loops(b)[1])\n",
       }) {
    Check({steps, nullptr});
  }
}

TEST(TriangularTest, WhatWouldTakeALoopOutOfItsRangeIsRefused) {
  for (const Case& c : {
           Case{"  i, j = sch.get_loops(b)\n  sch.fuse(i, j)\n",
                "the extent of loop `j` depends on loop `i`"},
           Case{"  i, j = sch.get_loops(b)\n  sch.reorder(j, i)\n",
                "the range of loop `j` depends on loop `i`"},
           Case{"  sch.blockize(sch.get_loops(b)[0])\n",
                "the range of loop `j` depends on another loop"},
           Case{"  sch.blockize(sch.get_loops(b)[1])\n",
                "the range of loop `j` depends on another loop"},
           Case{"  sch.rfactor(sch.get_loops(c)[1], 0)\n",
                "the domain of iterator `vk` of block `C` depends on a loop"},
           Case{"  sch.rfactor(sch.get_loops(g)[2], 0)\n",
                "the domain of iterator `vj` of block `G` depends on a loop"},
           Case{"  sch.decompose_padding(f, sch.get_loops(f)[0])\n",
                "the range of loop `j` depends on another loop"},
           // The fuzzer's pairs 140009685 and 140008227: what was not run was
           // copied all the same.
           Case{"  sch.reindex(f, (\"write\", 0))\n",
                "block `F` is not known to run for all values"},
           Case{"  sch.reindex(e, (\"write\", 0))\n",
                "the domain of iterator `vj` of block `E` depends on a loop"},
           Case{"  sch.reindex_cache_write(f, 0, \"global\", "
                "lambda i, j: (i // 3, i % 3, j))\n",
                "block `F` is not known to run for all values"},
           Case{"  sch.transform_block_layout(e, lambda i, j: (j, i))\n",
                "the domain of iterator `vj` of block `E` depends on a loop"},
           Case{"  sch.reverse_compute_at(b, sch.get_loops(d)[0])\n",
                "the domain of iterator `vj` of block `B` depends on a loop"},
           Case{"  sch.compute_at(d, sch.get_loops(b)[0])\n",
                "the domain of iterator `vj` of block `D` depends on a loop"},
       }) {
    Check(c);
  }
}

}  // namespace
}  // namespace kiln
