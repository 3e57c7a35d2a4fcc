#include "kiln/schedule/primitive/storage_align.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kiln/base/status_matchers.h"
#include "kiln/ir/text/printer/printer.h"
#include "kiln/schedule/testing/equivalence.h"
#include "kiln/schedule/testing/program.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;

Function Program(const std::string& note = "") {
  return ParseProgram(R"(
@T.prim_func
def main(A: T.Buffer((8, 6), "float32"), C: T.Buffer((8, 6), "float32")):
    B = T.alloc_buffer((8, 6))
    for i, j in T.grid(8, 6):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            T.reads(A[vi, vj])
            T.writes(B[vi, vj])
)" + note + R"(
            B[vi, vj] = A[vi, vj] * T.float32(2)
    for i, j in T.grid(8, 6):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = B[vi, vj] + T.float32(1)
)");
}

std::string NoteOf(const Function& f) {
  const std::string text = PrintFunction(f);
  const size_t begin = text.find("{\"buffer_dim_align\"");
  if (begin == text.npos) return "";
  return text.substr(begin, text.find('}', begin) - begin + 1);
}

TEST(StorageAlign, NotesTheStrideAndComputesTheSame) {
  const Function f = Program();
  const BlockId block = BlockNamed(f, "B");
  KILN_ASSERT_OK_AND_ASSIGN(Function g, StorageAlign(f, block, 0, 0, 128, 127));
  EXPECT_EQ(NoteOf(g), "{\"buffer_dim_align\": [[0, 0, 128, 127]]}");
  KILN_EXPECT_OK(CheckSameResults(f, g, 1));
}

TEST(StorageAlign, LaterNotesAddAndReplace) {
  const Function f = Program();
  const BlockId block = BlockNamed(f, "B");
  KILN_ASSERT_OK_AND_ASSIGN(Function g, StorageAlign(f, block, 0, 0, 16, 4));
  KILN_ASSERT_OK_AND_ASSIGN(g, StorageAlign(g, block, 0, -1, 8, 2));
  KILN_ASSERT_OK_AND_ASSIGN(g, StorageAlign(g, block, 0, -2, 32, 8));
  EXPECT_EQ(NoteOf(g), "{\"buffer_dim_align\": [[0, 0, 32, 8], [0, 1, 8, 2]]}");
}

TEST(StorageAlign, RefusesNumbersThatMakeNoSense) {
  const Function f = Program();
  const BlockId block = BlockNamed(f, "B");
  const auto is_bad =
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("storage_align"));
  EXPECT_THAT(StorageAlign(f, block, 1, 0, 16, 4), is_bad);
  EXPECT_THAT(StorageAlign(f, block, -1, 0, 16, 4), is_bad);
  EXPECT_THAT(StorageAlign(f, block, 0, 2, 16, 4), is_bad);
  EXPECT_THAT(StorageAlign(f, block, 0, -3, 16, 4), is_bad);
  EXPECT_THAT(StorageAlign(f, block, 0, 0, 0, 0), is_bad);
  EXPECT_THAT(StorageAlign(f, block, 0, 0, -1, 127), is_bad);
  EXPECT_THAT(StorageAlign(f, block, 0, 0, 16, 16), is_bad);
}

TEST(StorageAlign, RefusesATensorOfTheCaller) {
  const Function f = Program();
  EXPECT_THAT(StorageAlign(f, BlockNamed(f, "C"), 0, 0, 16, 4),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("not allocated")));
}

// Two blocks fill the halves of B: it still has one stride of each axis.
TEST(StorageAlign, BlocksOfOneTensorAgree) {
  const Function f = ParseProgram(R"(
@T.prim_func
def main(A: T.Buffer((8, 6), "float32"), C: T.Buffer((8, 6), "float32")):
    B = T.alloc_buffer((8, 6))
    for i, j in T.grid(4, 6):
        with T.block("upper"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, vj] * T.float32(2)
    for i, j in T.grid(4, 6):
        with T.block("lower"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi + 4, vj] = A[vi + 4, vj]
    for i, j in T.grid(8, 6):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = B[vi, vj] + T.float32(1)
)");
  const BlockId upper = BlockNamed(f, "upper"), lower = BlockNamed(f, "lower");
  KILN_ASSERT_OK_AND_ASSIGN(Function g, StorageAlign(f, upper, 0, 0, 16, 4));
  EXPECT_THAT(StorageAlign(g, lower, 0, 0, 16, 8),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("another stride of axis 0 of `B`")));
  KILN_EXPECT_OK(StorageAlign(g, lower, 0, 0, 16, 4));
  KILN_EXPECT_OK(StorageAlign(g, lower, 0, 1, 16, 8));
  KILN_EXPECT_OK(StorageAlign(g, upper, 0, 0, 16, 8));
}

TEST(StorageAlign, RefusesAForeignNote) {
  const Function f =
      Program("            T.block_attr({\"buffer_dim_align\": [0]})");
  EXPECT_THAT(StorageAlign(f, BlockNamed(f, "B"), 0, 0, 16, 4),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("something else")));
}

}  // namespace
}  // namespace kiln
