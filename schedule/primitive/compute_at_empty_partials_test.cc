// What adds up partial results moves to them, and takes in empty ones, which
// its condition left out: a sum of n values in 4 partial sums where n < 4.
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "kiln/base/status_matchers.h"
#include "kiln/schedule/primitive/compute_at.h"
#include "kiln/schedule/testing/equivalence.h"
#include "kiln/schedule/testing/program.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;

struct Parts {
  std::string zero = "T.float32(0)", first = "T.float32(0)";
  std::string combined = "P[vj, vi]";
  std::string update = "k * 4 + j < n", condition = "j < n";
  std::string element = "vj, vi", add = "P[vj, vi] + A[vk * 4 + vj, vi]";
  std::string init_range = "4";
  std::string sum = "C[vi] + ";
};

Function Program(const Parts& p) {
  return ParseProgram(absl::StrCat(R"(
@T.prim_func
def main(a: T.handle, c: T.handle):
    n = T.int64()
    A = T.match_buffer(a, (n, 8), "float32")
    C = T.match_buffer(c, (8,), "float32")
    P = T.alloc_buffer((4, 8))
    for i in range(8):
        for j in range()",
                                   p.init_range, R"():
            with T.block("init"):
                vj = T.axis.spatial()",
                                   p.init_range, R"(, j)
                vi = T.axis.spatial(8, i)
                P[vj, vi] = )",
                                   p.zero, R"(
        for j, k in T.grid(4, (n + 3) // 4):
            with T.block("update"):
                vj, vi, vk = T.axis.remap("SSR", [j, i, k])
                T.where()",
                                   p.update, R"()
                P[)",
                                   p.element, "] = ", p.add, R"(
    for i, j in T.grid(8, 4):
        with T.block("C"):
            vj, vi = T.axis.remap("RS", [j, i])
            T.where()",
                                   p.condition, R"()
            with T.init():
                C[vi] = )",
                                   p.first, R"(
            C[vi] = )",
                                   p.sum, p.combined, "\n"));
}

absl::StatusOr<Function> Moved(const Function& f) {
  return ReverseComputeAt(f, BlockNamed(f, "C"), LoopsOf(f, "update")[0]);
}

TEST(ComputeAtEmptyPartials, AreTakenIn) {
  const Function f = Program({});
  KILN_ASSERT_OK_AND_ASSIGN(const Function made, Moved(f));
  EXPECT_TRUE(IsOne(RealizeNamed(made, "C").predicate));
  for (uint64_t seed = 0; seed < 8; ++seed) {
    KILN_EXPECT_OK(CheckSameResults(f, made, seed));
  }
}

TEST(ComputeAtEmptyPartials, OfMaximaAreTakenIn) {
  Parts p{.zero = "T.float32(\"-inf\")", .first = "T.float32(\"-inf\")"};
  p.add = "T.max(P[vj, vi], A[vk * 4 + vj, vi])";
  p.sum = "T.max(C[vi], ";
  p.combined = "P[vj, vi])";
  const Function f = Program(p);
  KILN_ASSERT_OK_AND_ASSIGN(const Function made, Moved(f));
  KILN_EXPECT_OK(CheckSameResults(f, made, 1));
}

// The condition goes with the block.
void ExpectKept(const Parts& p) {
  const Function f = Program(p);
  KILN_ASSERT_OK_AND_ASSIGN(const Function made, Moved(f));
  EXPECT_FALSE(IsOne(RealizeNamed(made, "C").predicate));
  for (uint64_t seed = 0; seed < 8; ++seed) {
    KILN_EXPECT_OK(CheckSameResults(f, made, seed));
  }
}

TEST(ComputeAtEmptyPartials, ThatMayHoldOtherValuesStayOut) {
  ExpectKept({.zero = "T.float32(1)"});
  ExpectKept({.update = "k * 4 + j < n + 1 and k * 4 + j < n + 2"});
  ExpectKept({.combined = "(P[vj, vi] + T.float32(1))"});
  ExpectKept(
      {.element = "3 - vj, vi", .add = "P[3 - vj, vi] + A[vk * 4 + vj, vi]"});
}

TEST(ComputeAtEmptyPartials, NoneIsReadThatNobodySet) {
  EXPECT_THAT(Moved(Program({.init_range = "3"})),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("not written yet")));
}

TEST(ComputeAtEmptyPartials, ThatWereWrittenStayOut) {
  ExpectKept({.condition = "j < n and j != 2"});
  ExpectKept({.condition = "j < n and j < 3"});
}

TEST(ComputeAtEmptyPartials, ThatWouldBeAllOfAResultStayOut) {
  ExpectKept({.update = "k * 4 + j < n and i < n", .condition = "i < n"});
  ExpectKept({.update = "k * 4 + j + 2 < n", .condition = "j + 2 < n"});
}

}  // namespace
}  // namespace kiln
