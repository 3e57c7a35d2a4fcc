#include "kiln/schedule/rewrite/overtaken.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/status/status.h"
#include "kiln/base/status_matchers.h"
#include "kiln/schedule/primitive/compute_at.h"
#include "kiln/schedule/testing/equivalence.h"
#include "kiln/schedule/testing/program.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;

// B reads under a loop i what stands before it there, and C reads B.
Function Program(const std::string& writer, const std::string& read) {
  return ParseProgram(R"(
@T.prim_func
def main(A: T.Buffer((9,), "float32"), X: T.Buffer((9,), "float32"), C: T.Buffer((8,), "float32")):
    t = T.alloc_buffer((1,))
    B = T.alloc_buffer((8,))
    for i in range(8):
        with T.block("W"):
)" + writer + R"(
        with T.block("B"):
            vi = T.axis.spatial(8, i)
            B[vi] = )" +
                      read + R"(
    for j in range(8):
        with T.block("C"):
            vj = T.axis.spatial(8, j)
            C[vj] = B[vj] + T.float32(1)
)");
}

absl::StatusOr<Function> Moved(const Function& f) {
  return ComputeAt(f, BlockNamed(f, "B"), LoopsOf(f, "C").front());
}

void ExpectRefused(const Function& f) {
  EXPECT_THAT(Moved(f), StatusIs(absl::StatusCode::kFailedPrecondition,
                                 HasSubstr("would come after all of them")));
}

TEST(OvertakenTest, AnElementThatEachIterationWritesAnew) {
  ExpectRefused(Program(R"(
            vi = T.axis.spatial(8, i)
            t[0] = A[vi])",
                        "t[0]"));
}

TEST(OvertakenTest, ASumThatGrowsBetweenTheReads) {
  ExpectRefused(Program(R"(
            vi = T.axis.reduce(8, i)
            with T.init():
                t[0] = T.float32(0)
            t[0] = t[0] + A[vi])",
                        "t[0]"));
}

TEST(OvertakenTest, AnElementThatIsReadBeforeItIsWritten) {
  ExpectRefused(Program(R"(
            vi = T.axis.spatial(8, i)
            X[vi] = A[vi])",
                        "X[vi + 1]"));
}

TEST(OvertakenTest, ElementsThatAreWrittenOnceMayBeReadLater) {
  const Function f = Program(R"(
            vi = T.axis.spatial(8, i)
            X[vi] = A[vi])",
                             "X[vi]");
  KILN_ASSERT_OK_AND_ASSIGN(const Function g, Moved(f));
  KILN_EXPECT_OK(CheckSameResults(f, g, 1));
}

}  // namespace
}  // namespace kiln
