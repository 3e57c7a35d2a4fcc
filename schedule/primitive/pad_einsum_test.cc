#include "kiln/schedule/primitive/pad_einsum.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "kiln/base/status_matchers.h"
#include "kiln/schedule/analysis/path.h"
#include "kiln/schedule/primitive/split.h"
#include "kiln/schedule/testing/equivalence.h"
#include "kiln/schedule/testing/program.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;

constexpr auto kRefused = absl::StatusCode::kFailedPrecondition;

// C[i, j] over 5 x 7 and k of 6, with init `init` and sum `update`.
Function Matmul(const std::string& dtype, const std::string& init,
                const std::string& update) {
  const auto buffer = [&](const char* name, const char* shape) {
    return std::string(name) + ": T.Buffer(" + shape + ", \"" + dtype + "\")";
  };
  return ParseProgram("\n@T.prim_func\ndef main(" + buffer("A", "(5, 6)") +
                      ", " + buffer("B", "(7, 6)") + ", " +
                      buffer("C", "(5, 7)") + R"():
    for i, j, k in T.grid(5, 7, 6):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = )" +
                      init + R"(
            C[vi, vj] = )" +
                      update + "\n");
}

Function Matmul() {
  return Matmul("float32", "T.float32(0)", "C[vi, vj] + A[vi, vk] * B[vj, vk]");
}

TEST(PadEinsum, RoundsUpAndComputesTheSame) {
  const Function f = Matmul();
  for (const std::vector<int64_t>& padding : std::vector<std::vector<int64_t>>{
           {4, 1, 1}, {1, 4, 1}, {1, 1, 4}, {4, 4, 4}, {8, 16, 32}}) {
    KILN_ASSERT_OK_AND_ASSIGN(const Function g,
                              PadEinsum(f, BlockNamed(f, "C"), padding));
    const std::vector<int64_t> extents = Extents(g, "C");
    for (size_t i = 0; i < 3; ++i) EXPECT_EQ(extents[i] % padding[i], 0);
    EXPECT_EQ(LoopsOf(g, "C"), LoopsOf(f, "C"));
    KILN_EXPECT_OK(CheckSameResults(f, g, 1));
  }
}

TEST(PadEinsum, InABlockTheWholeTensorHasToBeTouched) {
  const Function f = ParseProgram(R"(
@T.prim_func
def main(A: T.Buffer((2, 3), "float32"), C: T.Buffer((2, 3), "float32")):
    for i in range(2):
        with T.block("row"):
            vi = T.axis.spatial(2, i)
            t = T.alloc_buffer((3,))
            for j in range(3):
                with T.block("t"):
                    vj = T.axis.spatial(3, j)
                    t[vj] = A[vi, vj]
            for j in range(3):
                with T.block("C"):
                    vj = T.axis.spatial(3, j)
                    C[vi, vj] = t[vj]
)");
  EXPECT_THAT(PadEinsum(f, BlockNamed(f, "t"), {4}),
              StatusIs(kRefused, HasSubstr("only a part of `A`")));
}

TEST(PadEinsum, WhatDividesStaysAsItIs) {
  const Function f = Matmul();
  KILN_ASSERT_OK_AND_ASSIGN(const Function g,
                            PadEinsum(f, BlockNamed(f, "C"), {5, 7, 3}));
  EXPECT_TRUE(g.body == f.body);
}

TEST(PadEinsum, PadsOnlyTensorsThatGrow) {
  const Function f = Matmul();
  KILN_ASSERT_OK_AND_ASSIGN(const Function g,
                            PadEinsum(f, BlockNamed(f, "C"), {4, 1, 1}));
  EXPECT_EQ(BlocksNamed(g, "A_pad").size(), 1u);
  EXPECT_EQ(BlocksNamed(g, "B_pad").size(), 0u);
  EXPECT_EQ(BlocksNamed(g, "C_pad").size(), 1u);
}

TEST(PadEinsum, SymbolicExtents) {
  const Function f = ParseProgram(R"(
@T.prim_func
def main(a: T.handle, b: T.handle, c: T.handle):
    n = T.int64()
    A = T.match_buffer(a, (4, n), "float32")
    B = T.match_buffer(b, (n, 5), "float32")
    C = T.match_buffer(c, (4, 5), "float32")
    for i, j, k in T.grid(4, 5, n):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = T.float32(0)
            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
)");
  KILN_ASSERT_OK_AND_ASSIGN(const Function g,
                            PadEinsum(f, BlockNamed(f, "C"), {1, 4, 3}));
  KILN_EXPECT_OK(CheckSameResults(f, g, 2));
}

TEST(PadEinsum, OtherReductionsOnlyAlongSpatialIterators) {
  for (const auto& [init, update] :
       std::vector<std::pair<std::string, std::string>>{
           {"T.float32(-100)", "T.max(C[vi, vj], A[vi, vk] * B[vj, vk])"},
           {"T.float32(1)", "C[vi, vj] * (A[vi, vk] - B[vj, vk])"},
           {"T.float32(0)", "C[vi, vj] + A[vi, vk] * B[vj, 0]"},
           {"T.float32(0)", "C[vi, vj] + (A[vi, vk] + T.float32(1))"},
           {"T.float32(0)", "C[vi, vj] + T.exp(A[vi, vk])"}}) {
    const Function f = Matmul("float32", init, update);
    KILN_ASSERT_OK_AND_ASSIGN(const Function g,
                              PadEinsum(f, BlockNamed(f, "C"), {4, 4, 1}));
    KILN_EXPECT_OK(CheckSameResults(f, g, 3));
    EXPECT_THAT(PadEinsum(f, BlockNamed(f, "C"), {1, 1, 4}),
                StatusIs(kRefused, HasSubstr("pad_einsum")))
        << update;
  }
}

TEST(PadEinsum, IntegersNeedOneFactorOnly) {
  const Function f =
      Matmul("int32", "0", "C[vi, vj] + A[vi, vk] * (B[vj, 0] + 3)");
  KILN_ASSERT_OK_AND_ASSIGN(const Function g,
                            PadEinsum(f, BlockNamed(f, "C"), {1, 1, 4}));
  KILN_EXPECT_OK(CheckSameResults(f, g, 4));
}

TEST(PadEinsum, SumsOfWhatAConditionMakesZero) {
  const auto f = [](const std::string& other) {
    return Matmul("float32", "T.float32(0)",
                  "C[vi, vj] + T.if_then_else(vi < 4, A[vi, vk], T.float32(" +
                      other + ")) * B[vj, vk]");
  };
  KILN_ASSERT_OK_AND_ASSIGN(
      const Function g, PadEinsum(f("0"), BlockNamed(f("0"), "C"), {1, 1, 4}));
  KILN_EXPECT_OK(CheckSameResults(f("0"), g, 1));
  EXPECT_THAT(PadEinsum(f("1"), BlockNamed(f("1"), "C"), {1, 1, 4}),
              StatusIs(kRefused, HasSubstr("may change what")));
}

TEST(PadEinsum, RefusesToDivideByPadding) {
  const Function f = Matmul("int32", "0", "C[vi, vj] + A[vi, vk] // B[vj, vk]");
  EXPECT_FALSE(PadEinsum(f, BlockNamed(f, "C"), {1, 4, 1}).ok());
}

TEST(PadEinsum, RefusesIndicesThatAreMoreThanAnIterator) {
  const Function f = ParseProgram(R"(
@T.prim_func
def main(A: T.Buffer((12,), "float32"), C: T.Buffer((5,), "float32")):
    for i, k in T.grid(5, 3):
        with T.block("C"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                C[vi] = T.float32(0)
            C[vi] = C[vi] + A[vi * 2 + vk]
)");
  EXPECT_THAT(PadEinsum(f, BlockNamed(f, "C"), {4, 1}),
              StatusIs(kRefused, HasSubstr("not one iterator")));
}

TEST(PadEinsum, RefusesIndicesThatAreNoMoreThanAnIteratorByItsOldDomain) {
  const Function f = ParseProgram(R"(
@T.prim_func
def main(A: T.Buffer((4,), "float32"), B: T.Buffer((4, 3), "float32"), C: T.Buffer((3,), "float32")):
    for i, k in T.grid(3, 4):
        with T.block("C"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                C[vi] = T.float32(0)
            C[vi] = C[vi] + A[vi // 3 * 4 + vk] * B[vk, vi]
)");
  EXPECT_THAT(PadEinsum(f, BlockNamed(f, "C"), {4, 1}),
              StatusIs(kRefused, HasSubstr("uses an iterator that grows")));
}

TEST(PadEinsum, RefusesAPartOfADimension) {
  const Function f = ParseProgram(R"(
@T.prim_func
def main(A: T.Buffer((9,), "float32"), C: T.Buffer((5,), "float32")):
    for i in range(5):
        with T.block("C"):
            vi = T.axis.spatial(5, i)
            C[vi] = A[vi]
)");
  EXPECT_THAT(PadEinsum(f, BlockNamed(f, "C"), {4}),
              StatusIs(kRefused, HasSubstr("whole of the dimension")));
}

// The fuzzer's pair 400004128: the sum was made three times over.
TEST(PadEinsum, RefusesAnIteratorThatIndexesNoOutput) {
  const Function f = ParseProgram(R"(
@T.prim_func
def main(A: T.Buffer((5, 7), "float32"), C: T.Buffer((5,), "float32")):
    for i, u, k in T.grid(5, 1, 7):
        with T.block("C"):
            vi, vu, vk = T.axis.remap("SSR", [i, u, k])
            with T.init():
                C[vi] = T.float32(0)
            C[vi] = C[vi] + A[vi, vk]
)");
  EXPECT_THAT(PadEinsum(f, BlockNamed(f, "C"), {1, 3, 1}),
              StatusIs(kRefused, HasSubstr("`vu` indexes no output")));
}

// The fuzzer's pair 821023296: the copy read what nothing had written.
TEST(PadEinsum, RefusesToCopyAnIntermediateThatIsReadInPart) {
  const Function f = ParseProgram(R"(
@T.prim_func
def main(A: T.Buffer((6, 8), "float32"), C: T.Buffer((6, 8), "float32")):
    B = T.alloc_buffer((6, 3, 3))
    for i, j in T.grid(6, 8):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj // 3, vj % 3] = A[vi, vj]
    for i, j in T.grid(6, 8):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = B[vi, vj // 3, vj % 3] + T.float32(1)
)");
  EXPECT_THAT(PadEinsum(f, BlockNamed(f, "C"), {4, 1}),
              StatusIs(kRefused, HasSubstr("only a part of `B`")));
}

TEST(PadEinsum, RefusesToCopyAnIntermediateThatIsReadUnderACondition) {
  const Function f = ParseProgram(R"(
@T.prim_func
def main(A: T.Buffer((6,), "float32"), C: T.Buffer((6,), "float32")):
    B = T.alloc_buffer((6,))
    for i in range(4):
        with T.block("B"):
            vi = T.axis.spatial(4, i)
            B[vi] = A[vi]
    for i in range(6):
        with T.block("C"):
            vi = T.axis.spatial(6, i)
            C[vi] = T.if_then_else(vi < 4, B[vi], T.float32(1))
)");
  EXPECT_THAT(PadEinsum(f, BlockNamed(f, "C"), {4}),
              StatusIs(kRefused, HasSubstr("only a part of `B`")));
}

TEST(PadEinsum, WhatIsReadUnderAConditionIsWrittenWhole) {
  const Function f = ParseProgram(R"(
@T.prim_func
def main(A: T.Buffer((6, 4), "float32"), C: T.Buffer((6, 3), "float32")):
    for i, j, k in T.grid(6, 3, 4):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = T.float32(0)
            C[vi, vj] = C[vi, vj] + T.if_then_else(vi < 4, A[vi, vk], T.float32(0))
)");
  KILN_ASSERT_OK_AND_ASSIGN(const Function g,
                            PadEinsum(f, BlockNamed(f, "C"), {1, 4, 1}));
  EXPECT_EQ(Extents(g, "C")[1], 4);
  KILN_EXPECT_OK(CheckSameResults(f, g, 1));
}

TEST(PadEinsum, RefusesToCopyBackMoreThanWasWritten) {
  const Function f = ParseProgram(R"(
@T.prim_func
def main(A: T.Buffer((6,), "float32"), C: T.Buffer((6, 7), "float32")):
    for i in range(6):
        with T.block("C"):
            vi = T.axis.spatial(6, i)
            C[vi, 3] = A[vi]
)");
  EXPECT_THAT(PadEinsum(f, BlockNamed(f, "C"), {4}),
              StatusIs(kRefused, HasSubstr("only a part of `C`")));
}

// The fuzzer's pair 920006973: the iterator grew, and nothing ran over it.
TEST(PadEinsum, RefusesAnIteratorWithoutALoop) {
  const Function f = ParseProgram(R"(
@T.prim_func
def main(A: T.Buffer((1, 5), "float32"), C: T.Buffer((1, 5), "float32")):
    for j in range(5):
        with T.block("C"):
            vi = T.axis.spatial(1, 0)
            vj = T.axis.spatial(5, j)
            C[vi, vj] = A[vi, vj]
)");
  EXPECT_THAT(PadEinsum(f, BlockNamed(f, "C"), {3, 1}),
              StatusIs(kRefused, HasSubstr("no loop runs over `vi`")));
  KILN_ASSERT_OK_AND_ASSIGN(const Function g,
                            PadEinsum(f, BlockNamed(f, "C"), {1, 3}));
  KILN_EXPECT_OK(CheckSameResults(f, g, 1));
}

// The fuzzer's pair 1010018930: zeros were held against an assumption.
TEST(PadEinsum, RefusesABlockThatAssumes) {
  const Function f = ParseProgram(R"(
@T.prim_func
def main(A: T.Buffer((6,), "float32"), C: T.Buffer((6,), "float32")):
    B = T.alloc_buffer((6,))
    for i in range(6):
        with T.block("B"):
            vi = T.axis.spatial(6, i)
            B[vi] = T.float32(2)
    for i in range(6):
        with T.block("assumed"):
            vi = T.axis.spatial(6, i)
            T.reads(B[vi])
            T.writes()
            T.assume(B[vi] == T.float32(2))
    for i in range(6):
        with T.block("C"):
            vi = T.axis.spatial(6, i)
            C[vi] = A[vi] + B[vi]
)");
  EXPECT_THAT(PadEinsum(f, BlockNamed(f, "assumed"), {4}),
              StatusIs(kRefused, HasSubstr("does more than to store")));
  KILN_ASSERT_OK_AND_ASSIGN(const Function g,
                            PadEinsum(f, BlockNamed(f, "assumed"), {3}));
  KILN_EXPECT_OK(CheckSameResults(f, g, 1));
}

TEST(PadEinsum, RefusesPaddingsThatMakeNoSense) {
  const Function f = Matmul();
  for (const std::vector<int64_t>& padding : std::vector<std::vector<int64_t>>{
           {4, 4},
           {},
           {1, 1, 1, 1},
           {0, 1, 1},
           {1, -4, 1},
           {1, 1, std::numeric_limits<int64_t>::max()}}) {
    EXPECT_THAT(
        PadEinsum(f, BlockNamed(f, "C"), padding),
        StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("padding")));
  }
}

TEST(PadEinsum, RefusesLoopsThatAreSplit) {
  const Function f = Matmul();
  KILN_ASSERT_OK_AND_ASSIGN(const auto split,
                            Split(f, LoopsOf(f, "C")[2], {2, 3}));
  EXPECT_THAT(PadEinsum(split.function, BlockNamed(f, "C"), {4, 4, 4}),
              StatusIs(kRefused, HasSubstr("loop of its own")));
}

TEST(PadEinsum, RefusesAnIndexOfAVariableOfTheBody) {
  const Function f = ParseProgram(R"(
@T.prim_func
def main(A: T.Buffer((3, 4), "float32"), X: T.Buffer((3, 4), "float32")):
    for i, j in T.grid(3, 4):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            at: T.int64 = (vj + 1) % 4
            X[vi, vj] = A[vi, at]
)");
  EXPECT_THAT(PadEinsum(f, BlockNamed(f, "B"), {2, 1}),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("is of `at`, which its body defines")));
}

}  // namespace
}  // namespace kiln
