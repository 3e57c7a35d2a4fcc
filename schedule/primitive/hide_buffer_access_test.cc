#include "kiln/schedule/primitive/hide_buffer_access.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kiln/base/status_matchers.h"
#include "kiln/schedule/testing/equivalence.h"
#include "kiln/schedule/testing/program.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;

constexpr auto kRefused = absl::StatusCode::kFailedPrecondition;
constexpr auto kBad = absl::StatusCode::kInvalidArgument;

Function Program(const std::string& body, const std::string& note = "") {
  return ParseProgram(R"(
@T.prim_func
def main(A: T.Buffer((8,), "float32"), S: T.Buffer((8,), "float32"), C: T.Buffer((8,), "float32"), D: T.Buffer((8,), "float32")):
    for i in range(8):
        with T.block("C"):
            vi = T.axis.spatial(8, i)
            T.reads(A[vi], S[0:4])
            T.writes(C[vi], D[vi])
)" + note + R"(
            )" + body +
                      "\n");
}

absl::StatusOr<Function> Hide(const Function& f, bool is_write,
                              const std::vector<int64_t>& indices) {
  return HideBufferAccess(f, BlockNamed(f, "C"), is_write, indices);
}

TEST(HideBufferAccess, TakesOffWhatTheBlockDoesNotTouch) {
  const Function f = Program("C[vi] = A[vi]");
  KILN_ASSERT_OK_AND_ASSIGN(const Function reads, Hide(f, false, {1}));
  ASSERT_EQ(RealizeNamed(reads, "C").block->reads.size(), 1);
  EXPECT_EQ(RealizeNamed(reads, "C").block->reads[0].buffer->name, "A");
  KILN_ASSERT_OK_AND_ASSIGN(const Function both, Hide(reads, true, {1}));
  EXPECT_EQ(RealizeNamed(both, "C").block->writes.size(), 1);
  KILN_EXPECT_OK(CheckSameResults(f, both, 1));
}

TEST(HideBufferAccess, RefusesWhatTheBlockTouches) {
  const Function f = Program("C[vi] = A[vi]");
  EXPECT_THAT(Hide(f, false, {0}), StatusIs(kRefused, HasSubstr("`A`")));
  EXPECT_THAT(Hide(f, false, {1, 0}), StatusIs(kRefused, HasSubstr("`A`")));
  EXPECT_THAT(Hide(f, true, {0}), StatusIs(kRefused, HasSubstr("`C`")));
  const Function view = Program(
      "V = T.match_buffer(S[0:4], (4,), offset_factor=1)\n"
      "            C[vi] = A[vi] + V[1]");
  EXPECT_THAT(Hide(view, false, {1}), StatusIs(kRefused, HasSubstr("`S`")));
}

TEST(HideBufferAccess, RefusesIndicesThatAreNotThere) {
  const Function f = Program("C[vi] = A[vi]");
  EXPECT_THAT(Hide(f, false, {2}), StatusIs(kBad, HasSubstr("number 2")));
  EXPECT_THAT(Hide(f, false, {-1}), StatusIs(kBad, HasSubstr("number -1")));
  EXPECT_THAT(Hide(f, false, {1, 1}), StatusIs(kBad, HasSubstr("twice")));
}

TEST(HideBufferAccess, KeepsTheOrderThatNotesGoBy) {
  const Function f = Program(
      "C[vi] = A[vi]",
      "            T.block_attr({\"buffer_dim_align\": [[1, 0, 16, 4]]})");
  EXPECT_THAT(Hide(f, true, {1}), StatusIs(kRefused, HasSubstr("order")));
}

}  // namespace
}  // namespace kiln
