#include "kiln/schedule/rewrite/data_regions.h"

#include <gtest/gtest.h>

#include <string>

#include "kiln/base/status_matchers.h"
#include "kiln/ir/text/printer/printer.h"
#include "kiln/ir/verify/verify.h"
#include "kiln/schedule/primitive/blockize.h"
#include "kiln/schedule/primitive/compute_inline.h"
#include "kiln/schedule/primitive/reverse_compute_inline.h"
#include "kiln/schedule/primitive/transform_layout.h"
#include "kiln/schedule/testing/program.h"

namespace kiln {
namespace {

constexpr char kHead[] = R"(@T.prim_func
def main(A: T.Buffer((4, 13), "float32"), S: T.Buffer((4,), "int32"),
         Y: T.Buffer((4, 13), "float32")):
)";

std::string Widened(const std::string& block) {
  const Function f = ParseProgram(kHead + block);
  BlockFields fields = RealizeNamed(f, "y").block->fields();
  WidenOverData(&fields);
  std::string text;
  for (const BufferRegion& read : fields.reads) text += PrintRegion(read) + " ";
  return text;
}

TEST(DataRegionsTest, ADimensionThatDataIndexesIsWholeUnlessItIsTheIndex) {
  EXPECT_EQ(Widened(R"(
    for i, j in T.grid(4, 13):
        with T.block("y"):
            vi, vj = T.axis.remap("SS", [i, j])
            T.reads(A[0:2, vj], S[vi])
            T.writes(Y[vi, vj])
            Y[vi, vj] = A[S[vi] // 2, vj]
)"),
            "A[0:4, vj] S[vi] ");
  EXPECT_EQ(Widened(R"(
    for i, j in T.grid(4, 13):
        with T.block("y"):
            vi, vj = T.axis.remap("SS", [i, j])
            T.reads(A[S[vi] // 2, vj], S[vi])
            T.writes(Y[vi, vj])
            Y[vi, vj] = A[S[vi] // 2, vj]
)"),
            "A[S[vi] // 2, vj] S[vi] ");
}

TEST(DataRegionsTest, AVariableThatHoldsDataCountsAsData) {
  EXPECT_EQ(Widened(R"(
    for i, j in T.grid(4, 13):
        with T.block("y"):
            vi, vj = T.axis.remap("SS", [i, j])
            T.reads(A[0:2, vj], S[vi])
            T.writes(Y[vi, vj])
            at: T.int32 = S[vi]
            half: T.int32 = at // 2
            Y[vi, vj] = A[half, vj]
)"),
            "A[0:4, vj] S[vi] ");
}

void ExpectValid(const absl::StatusOr<Function>& f) {
  KILN_ASSERT_OK(f.status());
  KILN_EXPECT_OK(VerifyFunction(*f));
}

TEST(DataRegionsTest, AGatherOfWhatIsInlinedVerifies) {
  const Function f = ParseProgram(std::string(kHead) + R"(
    B = T.alloc_buffer((4, 13))
    for i, j in T.grid(4, 13):
        with T.block("b"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi // 2, vj]
    for i, j in T.grid(4, 13):
        with T.block("y"):
            vi, vj = T.axis.remap("SS", [i, j])
            Y[vi, vj] = T.max(B[S[vi], vj], B[vi, 12 - vj])
)");
  ExpectValid(ComputeInline(f, BlockNamed(f, "b")));
}

TEST(DataRegionsTest, AGatherFromANewLayoutVerifies) {
  const Function f = ParseProgram(std::string(kHead) + R"(
    for i, j in T.grid(4, 13):
        with T.block("y"):
            vi, vj = T.axis.remap("SS", [i, j])
            Y[vi, vj] = A[vi, vj] + A[S[vi], vj]
)");
  Var i("i"), j("j");
  const IndexMap flat = {{i, j}, {Add(Mul(i, Int(13)), j)}};
  ExpectValid(
      TransformLayout(f, BlockNamed(f, "y"), 0, /*is_write=*/false, flat, {}));
  // And where another block around it speaks for it.
  absl::StatusOr<BlockizeResult> outer =
      Blockize(f, LoopsOf(f, "y").front(), false);
  KILN_ASSERT_OK(outer.status());
  const Function& g = outer->function;
  ExpectValid(
      TransformLayout(g, BlockNamed(g, "y"), 0, /*is_write=*/false, flat, {}));
}

TEST(DataRegionsTest, AConsumerThatGathersAndMovesVerifies) {
  const Function f = ParseProgram(std::string(kHead) + R"(
    B = T.alloc_buffer((4, 13))
    for i, j in T.grid(4, 13):
        with T.block("b"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, vj] * T.float32(2)
    for i, j in T.grid(4, 13):
        with T.block("y"):
            vi, vj = T.axis.remap("SS", [i, j])
            T.reads(B[vi, vj], S[0:4], A[0:4, vj])
            T.writes(Y[vi, vj])
            Y[vi, vj] = B[vi, vj] + A[S[vi] // 2, vj]
)");
  ExpectValid(ReverseComputeInline(f, BlockNamed(f, "y")));
}

}  // namespace
}  // namespace kiln
