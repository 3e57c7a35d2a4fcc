#include "kiln/schedule/rewrite/stride_notes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kiln/base/status_matchers.h"
#include "kiln/ir/text/printer/printer.h"
#include "kiln/schedule/primitive/reverse_compute_inline.h"
#include "kiln/schedule/primitive/storage_align.h"
#include "kiln/schedule/testing/program.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// A block that writes an allocation with a stride of 32 n + 11 on axis 0.
Function Aligned() {
  const Function f = ParseProgram(R"(
@T.prim_func
def main(X: T.Buffer((4, 10), "int32")):
    B = T.alloc_buffer((4, 10), "int32")
    for i, j in T.grid(4, 10):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = vi
    for i, j in T.grid(4, 10):
        with T.block("X"):
            vi, vj = T.axis.remap("SS", [i, j])
            X[vi, vj] = B[vi, vj]
)");
  return *StorageAlign(f, BlockNamed(f, "B"), 0, 0, 32, 11);
}

TEST(StrideNotesTest, AStrideIsOfTheTensorThatItWasAskedFor) {
  const Function f = Aligned();
  EXPECT_THAT(PrintFunction(f), HasSubstr("[[0, 0, 32, 11]]"));
  KILN_ASSERT_OK_AND_ASSIGN(const Function inlined,
                            ReverseComputeInline(f, BlockNamed(f, "X")));
  EXPECT_THAT(PrintFunction(inlined), Not(HasSubstr(kStrideAnnotation)));
}

TEST(StrideNotesTest, OtherStridesAndOtherNotesStay) {
  const Function f = Aligned();
  const BlockNode& block = *RealizeNamed(f, "B").block;
  BlockFields fields = block.fields();
  fields.annotations["other"] = Attr(Int(1));
  DropStridesOfReplaced(block, &fields);
  EXPECT_EQ(fields.annotations.size(), 2u);
  fields.writes[0].buffer = MakeBuffer("C", DType::Int(32), {Int(40)});
  DropStridesOfReplaced(block, &fields);
  EXPECT_EQ(fields.annotations.size(), 1u);
  EXPECT_EQ(fields.annotations.count("other"), 1u);
}

}  // namespace
}  // namespace kiln
