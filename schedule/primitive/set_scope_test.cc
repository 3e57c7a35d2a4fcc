#include "kiln/schedule/primitive/set_scope.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kiln/base/status_matchers.h"
#include "kiln/ir/tensor/canonical.h"
#include "kiln/schedule/testing/equivalence.h"
#include "kiln/schedule/testing/program.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;

constexpr auto kRefused = absl::StatusCode::kFailedPrecondition;

constexpr char kChain[] = R"(
@T.prim_func
def main(A: T.Buffer((4,), "float32"), C: T.Buffer((4,), "float32")):
    B = T.alloc_buffer((4,))
    for i in range(4):
        with T.block("B"):
            vi = T.axis.spatial(4, i)
            B[vi] = A[vi] + T.float32(1)
    for i in range(4):
        with T.block("C"):
            vi = T.axis.spatial(4, i)
            C[vi] = B[vi]
)";

TEST(SetScope, MovesTheBufferEverywhere) {
  const Function f = ParseProgram(kChain);
  KILN_ASSERT_OK_AND_ASSIGN(const Function g,
                            SetScope(f, BlockNamed(f, "B"), 0, "shared"));
  EXPECT_EQ(g.root().alloc_buffers[0]->scope, "shared");
  EXPECT_EQ(RealizeNamed(g, "B").block->writes[0].buffer,
            g.root().alloc_buffers[0]);
  EXPECT_EQ(RealizeNamed(g, "C").block->reads[0].buffer,
            g.root().alloc_buffers[0]);
  EXPECT_EQ(f.root().alloc_buffers[0]->scope, "global");
  KILN_EXPECT_OK(CheckSameResults(f, g, 1));
}

TEST(SetScope, ToTheSameScopeChangesNothing) {
  const Function f = ParseProgram(kChain);
  KILN_ASSERT_OK_AND_ASSIGN(const Function g,
                            SetScope(f, BlockNamed(f, "B"), 0, "global"));
  EXPECT_EQ(g.body.get(), f.body.get());
}

TEST(SetScope, KnowsTheScopesOfDevices) {
  const Function f = ParseProgram(kChain);
  for (const char* scope : {"local", "shared.dyn", "warp", "wmma.accumulator",
                            "global.vtcm", "m16n8k8.matrixA"}) {
    KILN_EXPECT_OK(SetScope(f, BlockNamed(f, "B"), 0, scope));
  }
  for (const char* scope : {"", "attic", "Shared", "global.", "shared.x"}) {
    EXPECT_THAT(SetScope(f, BlockNamed(f, "B"), 0, scope),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         HasSubstr("no memory is called")));
  }
}

TEST(SetScope, RefusesParametersAndWrongIndices) {
  const Function f = ParseProgram(kChain);
  EXPECT_THAT(SetScope(f, BlockNamed(f, "C"), 0, "local"),
              StatusIs(kRefused, HasSubstr("`C` is a parameter")));
  EXPECT_THAT(SetScope(f, BlockNamed(f, "B"), 1, "local"),
              StatusIs(kRefused, HasSubstr("none with index 1")));
  EXPECT_THAT(SetScope(f, BlockNamed(f, "B"), -1, "local"),
              StatusIs(kRefused, HasSubstr("none with index -1")));
  EXPECT_THAT(SetScope(f, 999, 0, "local"),
              StatusIs(kRefused, HasSubstr("no block 999")));
}

}  // namespace
}  // namespace kiln
