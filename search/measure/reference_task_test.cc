#include "kiln/search/measure/reference_task.h"

#include <gtest/gtest.h>

#include "kiln/base/status_matchers.h"
#include "kiln/codegen/target/target.h"
#include "kiln/ir/te/workloads.h"
#include "kiln/ir/tensor/canonical.h"
#include "kiln/ir/text/reader/reader.h"
#include "kiln/schedule/testing/equivalence.h"
#include "kiln/search/measure/llvm_builder.h"
#include "kiln/search/measure/local_runner.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;

TEST(InCacheOrderTest, KeepsTheMeaning) {
  for (const char* spec : {"gmm:6,20,7", "c2d:6,6,3,8,3,1,1", "tbg:8,2,12"}) {
    KILN_ASSERT_OK_AND_ASSIGN(Module module, MakeWorkload(spec));
    const Function& f = module.functions[0];
    const Function g = InCacheOrder(f);
    EXPECT_NE(CanonicalForm(f), CanonicalForm(g)) << spec;
    KILN_EXPECT_OK(CheckSameResults(f, g, 5));
  }
}

TEST(ReferenceTaskTest, TakesSmallAndLargePrograms) {
  KILN_ASSERT_OK_AND_ASSIGN(auto runner, LocalRunner::Create());
  LlvmBuilder builder(HostTarget());
  for (double max_plain_flop : {0.0, 1e9}) {
    KILN_ASSERT_OK_AND_ASSIGN(Module module, MakeWorkload("gmm:32,48,16"));
    ReferenceOptions options;
    options.max_plain_flop = max_plain_flop;
    KILN_EXPECT_OK(
        MakeReferenceTask(module.functions[0], builder, *runner, options));
  }
}

TEST(ReferenceTaskTest, RefusesSymbolicShapes) {
  KILN_ASSERT_OK_AND_ASSIGN(auto runner, LocalRunner::Create());
  LlvmBuilder builder(HostTarget());
  KILN_ASSERT_OK_AND_ASSIGN(Function f, ParseFunction("test", R"(
@T.prim_func
def main(a: T.handle, b: T.handle):
    n = T.int64()
    A = T.match_buffer(a, (n,), "float32")
    B = T.match_buffer(b, (n,), "float32")
    for i in range(n):
        with T.block("B"):
            vi = T.axis.spatial(n, i)
            B[vi] = A[vi]
)"));
  EXPECT_THAT(
      MakeReferenceTask(f, builder, *runner),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("depends on n")));
}

}  // namespace
}  // namespace kiln
