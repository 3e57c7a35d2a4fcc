// Sums of products of bytes, before and after an operand gets an offset: each
// part is a block, the program computes the same to the last bit, and what is
// no such sum is refused.
#include "kiln/schedule/primitive/offset_operand.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_replace.h"
#include "kiln/base/status_macros.h"
#include "kiln/base/status_matchers.h"
#include "kiln/ir/testing/random_program.h"
#include "kiln/ir/verify/verify.h"
#include "kiln/schedule/analysis/path.h"
#include "kiln/schedule/testing/equivalence.h"
#include "kiln/schedule/testing/program.h"

namespace kiln {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr auto kRefused = absl::StatusCode::kFailedPrecondition;

// C[b, i, j] for 2 x 5 x 6 and k of 7.
struct Text {
  std::string a = "int8", b = "int8", c = "int32";
  std::string index_b = "vk, vj";
  std::string init = "0";
  std::string factor = "A[vb, vi, vk]";
  std::string update =
      "C[vb, vi, vj] + T.Cast(\"TC\", FACTOR) * T.Cast(\"TC\", B[IB])";
};

Function Parse(const Text& t) {
  return ParseProgram(absl::StrReplaceAll(
      absl::StrReplaceAll(R"(
@T.prim_func
def main(A: T.Buffer((2, 5, 7), "TA"), B: T.Buffer((7, 6), "TB"),
         C: T.Buffer((2, 5, 6), "TC")):
    for b, i, j, k in T.grid(2, 5, 6, 7):
        with T.block("C"):
            vb, vi, vj, vk = T.axis.remap("SSSR", [b, i, j, k])
            with T.init():
                C[vb, vi, vj] = INIT
            C[vb, vi, vj] = UPDATE
)",
                          {{"UPDATE", t.update}, {"INIT", t.init}}),
      {{"TA", t.a},
       {"TB", t.b},
       {"TC", t.c},
       {"FACTOR", t.factor},
       {"IB", t.index_b}}));
}

absl::StatusOr<Function> Apply(const Function& f, int64_t read = 0) {
  return OffsetOperand(f, BlockNamed(f, "C"), read);
}

// Applies it and compares; the result.
Function Checked(const Text& text, int64_t read = 0) {
  const Function f = Parse(text);
  const absl::StatusOr<Function> g = Apply(f, read);
  KILN_EXPECT_OK(g.status());
  if (!g.ok()) return f;
  KILN_EXPECT_OK(VerifyFunction(*g));
  for (const uint64_t seed : {1, 2, 3}) {
    KILN_EXPECT_OK(CheckSameResults(f, *g, seed));
  }
  return *g;
}

TEST(OffsetOperand, ABlockForEachOfItsParts) {
  const Function g = Checked({});
  EXPECT_THAT(Extents(g, "A_offset"), ElementsAre(2, 5, 7));
  EXPECT_THAT(Extents(g, "C_offset"), ElementsAre(6, 7)) << "columns, sum";
  EXPECT_THAT(Extents(g, "C"), ElementsAre(2, 5, 6, 7));
  EXPECT_THAT(Extents(g, "C_less_offset"), ElementsAre(2, 5, 6));
}

TEST(OffsetOperand, EitherOperandOfAnySign) {
  EXPECT_THAT(Extents(Checked({}, 1), "C_offset"), ElementsAre(2, 5, 7));
  Checked({.a = "uint8", .b = "uint8"});
  Checked({.a = "uint8", .b = "int16"});
  Checked({.a = "int8", .b = "uint8"}, 1);
}

TEST(OffsetOperand, AFactorThatNoSpatialIteratorMoves) {
  EXPECT_THAT(Extents(Checked({.index_b = "vk, 2"}), "C_offset"),
              ElementsAre(7));
}

TEST(OffsetOperand, ConstantsOfPaddingGetTheOffsetToo) {
  Checked({.factor = "T.if_then_else(vk + vj < 6, A[vb, vi, vk], T.int8(-5))"});
  Checked({.factor = "T.if_then_else(vi < 3, T.if_then_else(vk < 6, "
                     "A[vb, vi, vk], T.int8(0)), T.int8(127))"});
}

TEST(OffsetOperand, RefusesOtherSums) {
  const auto refused = [](const Text& text, int64_t read = 0) {
    return Apply(Parse(text), read).status();
  };
  EXPECT_THAT(refused({.a = "int16"}),
              StatusIs(kRefused, HasSubstr("`A` is not one of two factors")));
  EXPECT_THAT(refused({.c = "int64", .init = "T.int64(0)"}),
              StatusIs(kRefused, HasSubstr("not a sum of products")));
  EXPECT_THAT(refused({.update = "C[vb, vi, vj] + T.Cast(\"TC\", FACTOR)"}),
              StatusIs(kRefused, HasSubstr("not a sum of products")));
  EXPECT_THAT(refused({.factor = "T.max(A[vb, vi, vk], T.int8(0))"}),
              StatusIs(kRefused, HasSubstr("not one of two factors")));
  EXPECT_THAT(refused({.init = "T.int32(3)"}),
              StatusIs(kRefused, HasSubstr("does not combine")));
  EXPECT_THAT(refused({}, 2), StatusIs(kRefused, HasSubstr("reads 2 regions")));
  EXPECT_THAT(refused({}, -1), StatusIs(kRefused, HasSubstr("index -1")));
}

TEST(OffsetOperand, RefusesATensorThatIsNotAllWritten) {
  const auto made = [](const std::string& rows) {
    return ParseProgram(absl::StrReplaceAll(R"(
@T.prim_func
def main(X: T.Buffer((8, 4), "int8"), B: T.Buffer((4, 6), "int8"),
         C: T.Buffer((5, 6), "int32")):
    A = T.alloc_buffer((8, 4), "int8")
    for i, k in T.grid(ROWS, 4):
        with T.block("A"):
            vi, vk = T.axis.remap("SS", [i, k])
            A[vi, vk] = X[vi, vk]
    for i, j, k in T.grid(5, 6, 4):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = 0
            C[vi, vj] = C[vi, vj] + T.Cast("int32", A[vi, vk]) * T.Cast("int32", B[vk, vj])
)",
                                            {{"ROWS", rows}}));
  };
  EXPECT_THAT(Apply(made("7")).status(),
              StatusIs(kRefused, HasSubstr("no block writes all of `A`")));
  const Function f = made("8");
  KILN_ASSERT_OK_AND_ASSIGN(const Function g, Apply(f));
  KILN_EXPECT_OK(CheckSameResults(f, g, 1));
}

TEST(OffsetOperand, RandomProgramsComputeTheSame) {
  int applied = 0;
  for (uint64_t seed = 0; seed < 3000; ++seed) {
    const Function f = RandomProgram(seed);
    std::vector<BlockId> blocks;
    ForEachBlockDeep(f.body, [&](const BlockRealizeNode& realize) {
      blocks.push_back(realize.block->id);
    });
    for (const BlockId block : blocks) {
      const absl::StatusOr<Function> g = OffsetOperand(f, block, 0);
      if (!g.ok()) continue;
      ++applied;
      SCOPED_TRACE(seed);
      KILN_EXPECT_OK(VerifyFunction(*g));
      KILN_EXPECT_OK(CheckSameResults(f, *g, seed));
    }
  }
  EXPECT_GT(applied, 20);
}

}  // namespace
}  // namespace kiln
