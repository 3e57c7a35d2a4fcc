// Blocks in loops of extent 0 never run: nothing is written, not even the
// init of a sum. What is accepted keeps it so.
#include <gtest/gtest.h>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "kiln/base/status_matchers.h"
#include "kiln/ir/tensor/module.h"
#include "kiln/ir/text/python/source.h"
#include "kiln/ir/text/reader/reader.h"
#include "kiln/schedule/testing/equivalence.h"
#include "kiln/schedule/trace/schedule.h"
#include "kiln/schedule/trace/script.h"

namespace kiln {
namespace {

constexpr char kEmpty[] = R"(
@T.prim_func
def main(A: T.Buffer((0, 6), "float32"), O: T.Buffer((6,), "float32"), P: T.Buffer((6,), "float32")):
    X = T.alloc_buffer((6,))
    for j, k in T.grid(6, 0):
        with T.block("s"):
            vj, vk = T.axis.remap("SR", [j, k])
            with T.init():
                O[vj] = T.float32(0)
            O[vj] = O[vj] + A[vk, vj]
    for j in range(6):
        with T.block("x"):
            vj = T.axis.remap("S", [j])
            X[vj] = T.float32(3)
    for k, j in T.grid(0, 6):
        with T.block("p"):
            vk, vj = T.axis.remap("RS", [k, j])
            P[vj] = X[vj]
)";

TEST(EmptyLoopsTest, NothingIsWrittenThatWasNot) {
  int accepted = 0, refused = 0;
  for (const char* steps : {
           "  sch.split(sch.get_loops(s)[0], [None, 2])\n",
           "  sch.split(sch.get_loops(s)[1], [None, 2])\n",
           "  sch.fuse(*sch.get_loops(s))\n",
           "  j, k = sch.get_loops(s)\n  sch.reorder(k, j)\n",
           "  sch.parallel(sch.get_loops(s)[0])\n",
           "  sch.decompose_reduction(s, sch.get_loops(s)[0])\n",
           "  sch.decompose_reduction(s, sch.get_loops(s)[1])\n",
           "  sch.rfactor(sch.get_loops(s)[1], 0)\n",
           "  sch.compute_at(x, sch.get_loops(p)[0])\n",
           "  sch.compute_at(x, sch.get_loops(p)[1])\n",
           "  sch.reverse_compute_at(p, sch.get_loops(x)[0])\n",
           "  sch.cache_write(s, 0, \"local\")\n",
           "  sch.cache_write(p, 0, \"local\")\n",
           "  sch.cache_read(p, 0, \"local\")\n",
           "  sch.cache_inplace(s, 0, \"local\")\n",
           "  sch.reindex(s, (\"write\", 0))\n",
           "  sch.reindex(p, (\"write\", 0))\n",
           "  sch.reindex_cache_write(s, 0, \"local\", lambda i, j: (i,))\n",
           "  sch.compute_inline(x)\n",
           "  sch.reverse_compute_inline(p)\n",
           "  sch.transform_layout(s, (\"write\", 0), "
           "lambda i: (i // 2, i % 2))\n",
           "  sch.transform_block_layout(s, lambda i, j: (j, i))\n",
           "  sch.pad_einsum(s, [2, 2])\n",
           "  sch.blockize(sch.get_loops(s)[0])\n",
           "  sch.blockize(sch.get_loops(s)[1])\n",
           "  sch.loop_partition(sch.get_loops(s)[0], [2])\n",
       }) {
    SCOPED_TRACE(steps);
    KILN_ASSERT_OK_AND_ASSIGN(const Module before,
                              ParseModule("empty", kEmpty));
    Schedule schedule(before, {});
    const absl::Status status = RunScript(
        python::Source("steps", absl::StrCat("def steps(sch):\n"
                                             "  s = sch.get_block(\"s\")\n"
                                             "  x = sch.get_block(\"x\")\n"
                                             "  p = sch.get_block(\"p\")\n",
                                             steps)),
        &schedule);
    ++(status.ok() ? accepted : refused);
    if (!status.ok()) {
      EXPECT_TRUE(absl::IsFailedPrecondition(status)) << status;
      continue;
    }
    KILN_EXPECT_OK(CheckSameResults(before.functions[0],
                                    schedule.ToModule().functions[0], 3));
  }
  EXPECT_GE(accepted, 6);
  EXPECT_GE(refused, 10);
}

}  // namespace
}  // namespace kiln
