#include "kiln/schedule/primitive/fuse.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kiln/base/status_matchers.h"
#include "kiln/ir/text/printer/printer.h"
#include "kiln/ir/text/reader/reader.h"
#include "kiln/schedule/primitive/split.h"
#include "kiln/schedule/testing/equivalence.h"
#include "kiln/schedule/testing/program.h"

namespace kiln {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr auto kRefused = absl::StatusCode::kFailedPrecondition;

// A function over A and B of `shape` that copies inside `loops`.
Function Copying(const std::string& shape, const std::string& loops,
                 const std::string& vars) {
  const std::string buffer = "T.Buffer((" + shape + ",), \"float32\")";
  return ParseProgram("@T.prim_func\ndef main(A: " + buffer + ", B: " + buffer +
                      "):\n    for " + vars + " in " + loops +
                      ":\n        with T.block(\"B\"):\n"
                      "            v0, v1, v2 = T.axis.remap(\"SSS\", [" +
                      vars +
                      "])\n            B[v0, v1, v2] = A[v0, v1, v2] + "
                      "T.float32(1)\n");
}

Function Cube(const std::string& shape) {
  return Copying(shape, "T.grid(" + shape + ")", "i, j, k");
}

TEST(Fuse, JoinsNamesAndExtents) {
  const Function f = Cube("3, 5, 7");
  KILN_ASSERT_OK_AND_ASSIGN(const FuseResult result, Fuse(f, LoopsOf(f, "B")));
  EXPECT_THAT(LoopNames(result.function, "B"), ElementsAre("i_j_k_fused"));
  EXPECT_THAT(Extents(result.function, "B"), ElementsAre(105));
  EXPECT_EQ(LoopsOf(result.function, "B")[0], result.loop);
  const auto& values = RealizeNamed(result.function, "B").values;
  EXPECT_EQ(PrintExpr(values[0]), "i_j_k_fused // 35");
  EXPECT_EQ(PrintExpr(values[1]), "i_j_k_fused % 35 // 7");
  EXPECT_EQ(PrintExpr(values[2]), "i_j_k_fused % 7");
  KILN_EXPECT_OK(CheckSameResults(f, result.function, 1));
}

TEST(Fuse, OfSomeLoopsLeavesTheOthers) {
  const Function f = Cube("3, 5, 7");
  const auto loops = LoopsOf(f, "B");
  KILN_ASSERT_OK_AND_ASSIGN(const FuseResult result,
                            Fuse(f, {loops[1], loops[2]}));
  EXPECT_THAT(LoopNames(result.function, "B"), ElementsAre("i", "j_k_fused"));
  EXPECT_EQ(LoopsOf(result.function, "B")[0], loops[0]);
  KILN_EXPECT_OK(CheckSameResults(f, result.function, 2));
}

// Neither loop runs; 15 iterations would.
TEST(Fuse, RefusesTwoNegativeExtents) {
  const Function two = Copying("3, 5, 7", "T.grid(-3, -5, 7)", "i, j, k");
  EXPECT_THAT(Fuse(two, LoopsOf(two, "B")),
              StatusIs(kRefused, HasSubstr("negative")));
  const Function one = Copying("3, 5, 7", "T.grid(-3, 5, 7)", "i, j, k");
  KILN_ASSERT_OK_AND_ASSIGN(const FuseResult result,
                            Fuse(one, LoopsOf(one, "B")));
  EXPECT_THAT(Extents(result.function, "B"), ElementsAre(-105));
}

TEST(Fuse, OfOneLoopRenamesIt) {
  const Function f = Cube("3, 5, 7");
  KILN_ASSERT_OK_AND_ASSIGN(const FuseResult result,
                            Fuse(f, {LoopsOf(f, "B")[0]}));
  EXPECT_THAT(LoopNames(result.function, "B"),
              ElementsAre("i_fused", "j", "k"));
  KILN_EXPECT_OK(CheckSameResults(f, result.function, 3));
}

TEST(Fuse, UndoesASplit) {
  const Function f = Cube("12, 5, 7");
  KILN_ASSERT_OK_AND_ASSIGN(const SplitResult split,
                            Split(f, LoopsOf(f, "B")[0], {3, 4}));
  KILN_ASSERT_OK_AND_ASSIGN(const FuseResult fused,
                            Fuse(split.function, split.loops));
  EXPECT_EQ(PrintExpr(RealizeNamed(fused.function, "B").values[0]),
            "i_0_i_1_fused");
  KILN_EXPECT_OK(CheckSameResults(f, fused.function, 4));
}

TEST(Fuse, KeepsThePredicateOfAnInexactSplit) {
  const Function f = Cube("11, 5, 7");
  KILN_ASSERT_OK_AND_ASSIGN(const SplitResult split,
                            Split(f, LoopsOf(f, "B")[0], {std::nullopt, 4}));
  KILN_ASSERT_OK_AND_ASSIGN(const FuseResult fused,
                            Fuse(split.function, split.loops));
  EXPECT_THAT(Extents(fused.function, "B"), ElementsAre(12, 5, 7));
  KILN_EXPECT_OK(CheckSameResults(f, fused.function, 5));
}

TEST(Fuse, ExtentsOfOneGiveTheSameResults) {
  for (const char* shape :
       {"1, 1, 1", "1, 4, 1", "4, 1, 1", "1, 1, 4", "2, 1, 3", "1, 2, 3"}) {
    for (bool keep : {true, false}) {
      const Function f = Cube(shape);
      KILN_ASSERT_OK_AND_ASSIGN(
          const FuseResult result,
          Fuse(f, LoopsOf(f, "B"), {.preserve_unit_iters = keep}));
      KILN_EXPECT_OK(CheckSameResults(f, result.function, 6));
    }
  }
}

TEST(Fuse, AnEmptyLoopStaysEmpty) {
  for (const char* extents : {"0, 5, 7", "3, 0, 7", "3, 5, 0"}) {
    const Function f =
        Copying("3, 5, 7", "T.grid(" + std::string(extents) + ")", "i, j, k");
    const auto result = Fuse(f, LoopsOf(f, "B"));
    if (!result.ok()) continue;  // a refusal is as good
    EXPECT_THAT(Extents(result->function, "B"), ElementsAre(0)) << extents;
    KILN_EXPECT_OK(CheckSameResults(f, result->function, 7));
  }
}

TEST(Fuse, LoopsOfOneKindGiveThatKind) {
  const Function f = ParseProgram(R"(
@T.prim_func
def main(A: T.Buffer((4, 8), "float32"), B: T.Buffer((4, 8), "float32")):
    for i in T.parallel(4):
        for j in T.parallel(8):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = A[vi, vj]
)");
  KILN_ASSERT_OK_AND_ASSIGN(const FuseResult result, Fuse(f, LoopsOf(f, "B")));
  EXPECT_EQ(LoopById(result.function, result.loop).for_kind,
            ForKind::kParallel);
  KILN_EXPECT_OK(CheckSameResults(f, result.function, 8));
}

TEST(Fuse, WorksOn64BitExtentsAndRefusesOverflow) {
  const Function f = Cube("1048576, 1048576, 2");
  KILN_ASSERT_OK_AND_ASSIGN(const FuseResult result, Fuse(f, LoopsOf(f, "B")));
  EXPECT_THAT(Extents(result.function, "B"), ElementsAre(int64_t{1} << 41));
  const Function large =
      Copying("3, 5, 7", "T.grid(1099511627776, 1099511627776, 2)", "i, j, k");
  EXPECT_THAT(Fuse(large, LoopsOf(large, "B")),
              StatusIs(kRefused, HasSubstr("overflow")));
}

TEST(Fuse, SymbolicExtents) {
  const Function f = ParseProgram(R"(
@T.prim_func
def main(a: T.handle, b: T.handle):
    n, m = T.int64(), T.int64()
    A = T.match_buffer(a, (n, m), "float32")
    B = T.match_buffer(b, (n, m), "float32")
    for i, j in T.grid(n, m):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, vj] + T.float32(1)
)");
  KILN_ASSERT_OK_AND_ASSIGN(const FuseResult result, Fuse(f, LoopsOf(f, "B")));
  EXPECT_EQ(PrintExpr(LoopById(result.function, result.loop).extent), "n * m");
  EXPECT_THAT(PrintFunction(result.function),
              HasSubstr("T.axis.spatial(n, i_j_fused // m)"));
  EXPECT_THAT(PrintFunction(result.function), Not(HasSubstr("* 1")));
  KILN_EXPECT_OK(CheckSameResults(f, result.function, 9));
}

TEST(Fuse, RefusesWrongOrderAndGaps) {
  const Function f = Cube("3, 5, 7");
  const auto loops = LoopsOf(f, "B");
  EXPECT_THAT(Fuse(f, {loops[1], loops[0]}),
              StatusIs(kRefused, HasSubstr("outermost first")));
  EXPECT_THAT(Fuse(f, {loops[0], loops[2]}),
              StatusIs(kRefused, HasSubstr("is not the only statement in")));
  EXPECT_THAT(Fuse(f, {loops[0], loops[0]}),
              StatusIs(kRefused, HasSubstr("is not the only statement in")));
  EXPECT_THAT(Fuse(f, {}), StatusIs(absl::StatusCode::kInvalidArgument,
                                    HasSubstr("no loops are given")));
  EXPECT_THAT(Fuse(f, {loops[0], 999}),
              StatusIs(kRefused, HasSubstr("no loop 999")));
}

TEST(Fuse, RefusesALoopThatHoldsMoreThanTheNext) {
  const Function f = ParseProgram(R"(
@T.prim_func
def main(A: T.Buffer((4, 8), "float32"), B: T.Buffer((4, 8), "float32"), C: T.Buffer((4,), "float32")):
    for i in range(4):
        for j in range(8):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = A[vi, vj]
        with T.block("C"):
            vi = T.axis.spatial(4, i)
            C[vi] = T.float32(0)
)");
  EXPECT_THAT(Fuse(f, LoopsOf(f, "B")),
              StatusIs(kRefused, HasSubstr("only statement")));
}

TEST(Fuse, RefusesDependentExtents) {
  const Function f = ParseProgram(R"(
@T.prim_func
def main(A: T.Buffer((4, 8), "float32"), B: T.Buffer((4, 8), "float32")):
    for i in range(4):
        for j in range(i + 1):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = A[vi, vj]
)");
  EXPECT_THAT(Fuse(f, LoopsOf(f, "B")),
              StatusIs(kRefused, HasSubstr("depends on loop `i`")));
}

TEST(Fuse, RefusesMixedKindsNotesAndOffsets) {
  const auto two = [](const std::string& outer, const std::string& inner) {
    return ParseProgram(R"(
@T.prim_func
def main(A: T.Buffer((4, 8), "float32"), B: T.Buffer((4, 8), "float32")):
    for i in )" + outer +
                        ":\n        for j in " + inner + R"(:
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = A[vi, vj]
)");
  };
  const Function mixed = two("T.parallel(4)", "range(8)");
  EXPECT_THAT(
      Fuse(mixed, LoopsOf(mixed, "B")),
      StatusIs(kRefused, HasSubstr("is parallel, which would be lost")));
  const Function noted = two("range(4)", "T.serial(8, annotations={\"x\": 1})");
  EXPECT_THAT(Fuse(noted, LoopsOf(noted, "B")),
              StatusIs(kRefused, HasSubstr("annotation `x`")));
  const Function late = two("range(1, 4)", "range(8)");
  EXPECT_THAT(Fuse(late, LoopsOf(late, "B")),
              StatusIs(kRefused, HasSubstr("does not start at 0")));
  const Function bound = two("T.thread_binding(4, thread=\"blockIdx.x\")",
                             "T.thread_binding(8, thread=\"blockIdx.x\")");
  EXPECT_THAT(Fuse(bound, LoopsOf(bound, "B")),
              StatusIs(kRefused, HasSubstr("bound to a thread axis")));
}

TEST(Fuse, LoopsOfNoIterationsDivideByNothing) {
  const Function f = ParseProgram(R"(
@T.prim_func
def main(X: T.Buffer((1, 2), "float32")):
    for i in range(1):
        for j in range(i % 2):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                X[vi, vj] = T.float32(1)
)");
  KILN_ASSERT_OK_AND_ASSIGN(const SplitResult split,
                            Split(f, LoopsOf(f, "B")[1], {2, std::nullopt}));
  KILN_ASSERT_OK_AND_ASSIGN(
      const FuseResult fused,
      Fuse(split.function, split.loops, {.preserve_unit_iters = false}));
  const std::string text = PrintFunction(fused.function);
  EXPECT_TRUE(ParseFunction("fused", text).ok()) << text;
}

}  // namespace
}  // namespace kiln
