#include "kiln/schedule/rewrite/block_domain.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "kiln/base/status_matchers.h"
#include "kiln/ir/arith/analyzer.h"
#include "kiln/ir/text/printer/printer.h"
#include "kiln/ir/verify/verify.h"
#include "kiln/schedule/primitive/compute_at.h"
#include "kiln/schedule/testing/equivalence.h"
#include "kiln/schedule/testing/program.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;

// One block over v = 0 .. 15 and w = 0 .. 3 that reads this region of A.
Function Reading(const std::string& region) {
  return ParseProgram(absl::StrCat(R"(
@T.prim_func
def main(A: T.Buffer((64,), "float32"), C: T.Buffer((16, 4), "float32")):
    for i, j in T.grid(16, 4):
        with T.block("C"):
            v, w = T.axis.remap("SS", [i, j])
            T.reads(A[)",
                                   region, R"(])
            T.writes(C[v, w])
            C[v, w] = T.float32(1)
)"));
}

// "4 to 8, all": what `v` and `w` run through where the block is to touch
// A[low], ..., A[high].
std::string Narrowed(const std::string& region, const Expr& low,
                     const Expr& high) {
  const Function f = Reading(region);
  const BlockNode& block = *RealizeNamed(f, "C").block;
  Analyzer analyzer;
  IterDomains domains(block.iters.size());
  NarrowDomains(block, block.reads[0], {{low, high}}, &domains, &analyzer);
  std::string text;
  for (const IntSet& set : domains) {
    absl::StrAppend(&text, text.empty() ? "" : ", ",
                    set.IsBounded() ? absl::StrCat(PrintExpr(set.min), " to ",
                                                   PrintExpr(set.max))
                                    : "all");
  }
  return text;
}

TEST(BlockDomainTest, IndicesAreTakenApart) {
  EXPECT_EQ(Narrowed("v", Int(4), Int(8)), "4 to 8, all");
  EXPECT_EQ(Narrowed("v * 3 + 1", Int(4), Int(12)), "1 to 3, all");
  EXPECT_EQ(Narrowed("v // 4", Int(1), Int(2)), "4 to 11, all");
  EXPECT_EQ(Narrowed("v * 4 + w", Int(9), Int(10)), "2 to 2, 1 to 2");
  EXPECT_EQ(Narrowed("v * 4 + w", Int(6), Int(10)), "1 to 2, all");
  EXPECT_EQ(Narrowed("v % 4", Int(1), Int(2)), "all, all");
  const Var n("n");
  EXPECT_EQ(Narrowed("v", n, Add(n, Int(3))), "n to n + 3, all");
}

TEST(BlockDomainTest, RegionsReachBackByTheirExtents) {
  EXPECT_EQ(Narrowed("v:v + 3", Int(4), Int(8)), "2 to 8, all");
  // From one element to 16 of them.
  EXPECT_EQ(Narrowed("v:16", Int(4), Int(8)), "-11 to 8, all");
  EXPECT_EQ(Narrowed("v:v + w + 1", Int(4), Int(8)), "1 to 8, all");
}

// The fuzzer's pair 120070796: a loop ran to an iterator of the moved block.
TEST(BlockDomainTest, AConsumerThatStatesTheRestOfATensorMoves) {
  const Function f = ParseProgram(R"(
@T.prim_func
def main(A: T.Buffer((8,), "float32"), C: T.Buffer((8,), "float32")):
    B = T.alloc_buffer((8,))
    for io, ii in T.grid(1, 8):
        with T.block("B"):
            vi = T.axis.spatial(8, io * 8 + ii)
            B[vi] = A[vi]
    for i in range(8):
        with T.block("C"):
            vi = T.axis.spatial(8, i)
            T.reads(B[vi:8])
            T.writes(C[vi])
            C[vi] = B[vi] + T.float32(1)
)");
  KILN_ASSERT_OK_AND_ASSIGN(
      const Function after,
      ReverseComputeAt(f, BlockNamed(f, "C"), LoopsOf(f, "B")[0]));
  KILN_EXPECT_OK(VerifyFunction(after));
  KILN_EXPECT_OK(CheckSameResults(f, after, 3));
}

// The fuzzer's pair 150027773: the terms that no loop ran were added.
TEST(BlockDomainTest, AReductionOverAPartOfItsDomainStays) {
  const Function f = ParseProgram(R"(
@T.prim_func
def main(A: T.Buffer((8, 2), "float32"), C: T.Buffer((8,), "float32")):
    B = T.alloc_buffer((8,))
    for i in range(8):
        with T.block("B"):
            vi = T.axis.spatial(8, i)
            vk = T.axis.reduce(2, 0)
            with T.init():
                B[vi] = T.float32(0)
            B[vi] = B[vi] + A[vi, vk]
    for i in range(8):
        with T.block("C"):
            vi = T.axis.spatial(8, i)
            C[vi] = B[vi] + T.float32(1)
)");
  EXPECT_THAT(ComputeAt(f, BlockNamed(f, "B"), LoopsOf(f, "C")[0]),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("only a part of the instances")));
}

}  // namespace
}  // namespace kiln
