// Loops without iterations: what stands below them neither runs nor writes, so
// that no step may take what it would write for written.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"
#include "kiln/base/status_matchers.h"
#include "kiln/ir/tensor/module.h"
#include "kiln/ir/text/python/source.h"
#include "kiln/ir/text/reader/reader.h"
#include "kiln/schedule/testing/equivalence.h"
#include "kiln/schedule/trace/schedule.h"
#include "kiln/schedule/trace/script.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;

constexpr char kEmptySum[] = R"(
@T.prim_func
def main(A: T.Buffer((0, 5), "float32"), Z: T.Buffer((5,), "float32")):
    for j, i in T.grid(5, 0):
        with T.block("z"):
            vj, vi = T.axis.remap("SR", [j, i])
            with T.init():
                Z[vj] = T.float32(0)
            Z[vj] = Z[vj] + A[vi, vj]
)";

// Whether `step` is taken, with its block `b` and loops `j` and `i`; an error
// where it changes what the program means.
absl::StatusOr<bool> Takes(const std::string& step) {
  KILN_ASSIGN_OR_RETURN(Module module, ParseModule("p.py", kEmptySum));
  const Function before = module.functions[0];
  Schedule sch(std::move(module));
  const absl::Status status = RunScript(
      python::Source("s.py", absl::StrCat("def f(sch):\n"
                                          "    b = sch.get_block('z')\n"
                                          "    j, i = "
                                          "sch.get_loops(b)\n    ",
                                          step, "\n")),
      &sch);
  if (IsRefusedStep(status)) return false;
  KILN_RETURN_IF_ERROR(status);
  KILN_RETURN_IF_ERROR(
      CheckSameResults(before, sch.ToModule().functions[0], 3));
  return true;
}

class EmptyLoopsTest : public ::testing::TestWithParam<const char*> {};

TEST_P(EmptyLoopsTest, NoStepWritesMoreThanTheProgram) {
  KILN_EXPECT_OK(Takes(GetParam()).status());
}

INSTANTIATE_TEST_SUITE_P(
    All, EmptyLoopsTest,
    ::testing::Values(
        "sch.decompose_reduction(b, i)", "sch.decompose_reduction(b, j)",
        "sch.rfactor(i, 0)", "sch.cache_write(b, 0, 'local')",
        "sch.cache_read(b, 0, 'local')", "sch.split(i, [None, 4])",
        "sch.split(j, [None, 4])", "sch.reorder(i, j)", "sch.fuse(j, i)",
        "sch.blockize(i)", "sch.blockize(j)", "sch.parallel(j)",
        "sch.vectorize(j)", "sch.unroll(i)", "sch.pad_einsum(b, [1, 4])",
        "sch.pad_einsum(b, [4, 1])", "sch.reindex(b, ('write', 0))",
        "sch.reindex(b, ('read', 0))",
        "sch.transform_block_layout(b, lambda x, y: (y, x))",
        "sch.cache_inplace(b, 0, 'local')", "sch.add_unit_loop(b)",
        "sch.loop_partition(j, [None, 2])"));

TEST(EmptyLoopsTest, TheRefusalNamesTheLoop) {
  Schedule sch(*ParseModule("p.py", kEmptySum));
  EXPECT_THAT(
      RunScript(python::Source("s.py",
                               "def f(sch):\n    b = sch.get_block('z')\n"
                               "    sch.cache_write(b, 0, 'local')\n"),
                &sch)
          .message(),
      HasSubstr("has no iterations"));
}

}  // namespace
}  // namespace kiln
