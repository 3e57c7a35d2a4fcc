// Extents that fill no vector, on registers with and without masked accesses:
// machine code computes what the interpreter computes, for every extent.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/substitute.h"
#include "kiln/base/status_matchers.h"
#include "kiln/base/thread_pool.h"
#include "kiln/codegen/target/target.h"
#include "kiln/ir/te/workloads.h"
#include "kiln/ir/text/reader/reader.h"
#include "kiln/search/task/default_schedule.h"
#include "kiln/tests/end_to_end/every_target.h"

namespace kiln {
namespace {

class OddExtentsTest : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    KILN_ASSERT_OK_AND_ASSIGN(target_, ParseTarget(GetParam()));
    if (!CheckRunsHere(target_).ok()) GTEST_SKIP() << "not this processor";
  }

  Target target_;
  ThreadPool pool_;
};

TEST_P(OddExtentsTest, OfWorkloadsByDefaultSchedules) {
  for (const char* workload :
       {"gmm:5,$0,6", "gmm:$0,3,9", "dep:4,5,$0,3,1,1", "c2d:4,$0,3,5,3,1,1",
        "c2d:3,4,2,$0,3,1,1", "t2d:3,3,2,$0,4,2,1", "sfm:3,$0"}) {
    for (int n = 1; n <= 37; n += n < 20 ? 1 : 4) {
      const std::string spec = absl::Substitute(workload, n);
      KILN_ASSERT_OK_AND_ASSIGN(const Module module, MakeWorkload(spec));
      KILN_ASSERT_OK_AND_ASSIGN(const DefaultSchedule best,
                                ScheduleByDefault(module, 0, target_.machine, 2,
                                                  &pool_, {.draws = 4}));
      const absl::Status same =
          CheckAgainstInterpreter(module.functions[0], best.scheduled, target_);
      EXPECT_TRUE(same.ok()) << spec << ": " << same;
    }
  }
}

// Divisions have no lanes that compute whatever comes.
TEST_P(OddExtentsTest, OfEveryType) {
  for (const std::string type : {"float32", "float64", "float16", "bfloat16",
                                 "int8", "uint8", "int16", "int32", "int64"}) {
    const bool is_float = type.find("float") != type.npos;
    for (int n = 1; n <= 35; n += n < 18 ? 1 : 4) {
      KILN_ASSERT_OK_AND_ASSIGN(
          const Module module,
          ParseModule("test", absl::Substitute(
                                  R"(
from tvm.script import ir as I
from tvm.script import tir as T

@I.ir_module
class Module:
    @T.prim_func
    def main(A: T.Buffer((3, $0), "$1"), B: T.Buffer((3, $0), "$1"), C: T.Buffer((3, $0), "$1")):
        for i in range(3):
            for j in T.vectorized($0):
                with T.block("C"):
                    vi, vj = T.axis.remap("SS", [i, j])
                    C[vi, vj] = $2
)",
                                  n, type,
                                  is_float ? "T.max(A[vi, vj] * B[vi, "
                                             "vj] + A[vi, 0], B[vi, vj])"
                                           : "A[vi, vj] // "
                                             "T.max(B[vi, vj], T.cast("
                                             "1, \"" +
                                                 type + "\")) + A[vi, 0]")));
      const absl::Status same = CheckAgainstInterpreter(
          module.functions[0], module.functions[0], target_);
      EXPECT_TRUE(same.ok()) << n << " of " << type << ": " << same;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(OnEvery, OddExtentsTest,
                         ::testing::ValuesIn(kX86Targets),
                         [](const auto& info) { return NameOfTarget(info); });

}  // namespace
}  // namespace kiln
