#include "kiln/schedule/analysis/alias.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/status/status.h"
#include "kiln/base/status_matchers.h"
#include "kiln/schedule/analysis/race.h"
#include "kiln/schedule/primitive/cache.h"
#include "kiln/schedule/primitive/for_kind.h"
#include "kiln/schedule/primitive/split.h"
#include "kiln/schedule/testing/program.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;

constexpr auto kRefused = absl::StatusCode::kFailedPrecondition;

// One block for each row, whose inner block stores `store`.
Function Rows(const std::string& views, const std::string& store,
              const std::string& loop = "range") {
  return ParseProgram(R"(
@T.prim_func
def main(X: T.Buffer((4, 8), "float32"), A: T.Buffer((4, 8), "float32")):
    for i in range(4):
        with T.block("row"):
            vi = T.axis.spatial(4, i)
            T.reads(X[vi, 0:8], A[vi, 0:8])
            T.writes(X[vi, 0:8])
)" + views + R"(
            for c in )" +
                      loop + R"((7):
                with T.block("B"):
                    vc = T.axis.spatial(7, c)
                    )" +
                      store + "\n");
}

constexpr char kTwo[] = R"(
            V = T.match_buffer(X[vi, 1:8], (7,), offset_factor=1)
            W = T.match_buffer(X[vi, 0:7], (7,), offset_factor=1))";

LoopId Inner(const Function& f) { return LoopsOf(f, "B").back(); }

void ExpectRefused(const Function& f) {
  EXPECT_THAT(Parallel(f, Inner(f)),
              StatusIs(kRefused, HasSubstr("names of one tensor")));
  EXPECT_THAT(Vectorize(f, Inner(f)),
              StatusIs(kRefused, HasSubstr("names of one tensor")));
  EXPECT_THAT(CacheWrite(f, BlockNamed(f, "B"), 0, "global", {}),
              StatusIs(kRefused, HasSubstr("names of one tensor")));
}

TEST(AliasTest, TwoViewsOfOneTensor) {
  ExpectRefused(Rows(kTwo, "W[vc] = V[6 - vc]"));
  EXPECT_THAT(
      CheckConcurrentLoops(Rows(kTwo, "W[vc] = V[6 - vc]", "T.parallel")),
      StatusIs(kRefused, HasSubstr("names of one tensor")));
}

TEST(AliasTest, AViewAndItsTensorOnEitherSide) {
  ExpectRefused(Rows(kTwo, "W[vc] = X[vi, 6 - vc]"));
  ExpectRefused(Rows(kTwo, "X[vi, vc] = V[6 - vc]"));
}

TEST(AliasTest, AViewOfAView) {
  ExpectRefused(Rows(std::string(kTwo) + R"(
            U = T.match_buffer(W[0:7], (7,), offset_factor=1))",
                     "W[vc] = U[6 - vc]"));
}

TEST(AliasTest, ViewsThatAreOnlyReadMayBeSeveral) {
  const Function f = Rows(R"(
            V = T.match_buffer(A[vi, 1:8], (7,), offset_factor=1)
            W = T.match_buffer(A[vi, 0:7], (7,), offset_factor=1))",
                          "X[vi, vc] = V[vc] + W[6 - vc]");
  KILN_EXPECT_OK(Parallel(f, Inner(f)).status());
}

TEST(AliasTest, OneNameOfAWrittenTensorIsEnough) {
  const Function f = Rows(kTwo, "W[vc] = A[vi, vc]");
  KILN_EXPECT_OK(Parallel(f, Inner(f)).status());
}

TEST(AliasTest, WhatKeepsTheOrderMayBeDone) {
  const Function f = Rows(kTwo, "W[vc] = V[6 - vc]");
  KILN_EXPECT_OK(Split(f, Inner(f), {7, 1}).status());
  KILN_EXPECT_OK(Unroll(f, Inner(f)).status());
  // Rows are apart.
  KILN_EXPECT_OK(Parallel(f, LoopsOf(f, "row").front()).status());
}

}  // namespace
}  // namespace kiln
