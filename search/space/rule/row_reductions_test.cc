// Chains of sums along rows as text: which of them the rule takes, whether rows
// or tiles are a choice, and that what it makes computes the same in one
// parallel nest.
#include <gtest/gtest.h>

#include "absl/strings/substitute.h"
#include "kiln/ir/te/workloads.h"
#include "kiln/search/space/rule/rules.h"
#include "kiln/search/space/rule/testing.h"

namespace kiln {
namespace {

Module Softmax(const std::string& shape) {
  return *MakeWorkload("sfm:" + shape);
}

// Rows of 40 less their mean, by the root of their mean square.
constexpr char kNormalize[] = R"(
@T.prim_func
def main(A: T.Buffer((12, 40), "float32"), B: T.Buffer((12, 40), "float32")):
    S = T.alloc_buffer((12,), "float32")
    M = T.alloc_buffer((12,), "float32")
    Q = T.alloc_buffer((12,), "float32")
    for i, k in T.grid(12, 40):
        with T.block("S"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                S[vi] = T.float32(0)
            S[vi] = S[vi] + A[vi, vk]
    for i in range(12):
        with T.block("M"):
            vi = T.axis.spatial(12, i)
            M[vi] = S[vi] * T.float32(0.025)
    for i, k in T.grid(12, 40):
        with T.block("Q"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                Q[vi] = T.float32(0)
            Q[vi] = Q[vi] + (A[vi, vk] - M[vi]) * (A[vi, vk] - M[vi])
    for i, j in T.grid(12, 40):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = (A[vi, vj] - M[vi]) / T.sqrt(Q[vi])
)";

constexpr char kRowSums[] = R"(
@T.prim_func
def main(A: T.Buffer((16, 70), "float32"), C: T.Buffer((16,), "float32")):
    for i, k in T.grid(16, 70):
        with T.block("C"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                C[vi] = T.float32(0)
            C[vi] = C[vi] + A[vi, vk]
)";

constexpr char kColumnSums[] = R"(
@T.prim_func
def main(A: T.Buffer((70, 16), "float32"), C: T.Buffer((16,), "float32")):
    for i, k in T.grid(16, 70):
        with T.block("C"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                C[vi] = T.float32(0)
            C[vi] = C[vi] + A[vk, vi]
)";

void ExpectOneParallelNest(const std::vector<Function>& programs) {
  for (const Function& f : programs) {
    EXPECT_EQ(CountRootLoops(f), 1);
    EXPECT_EQ(CountLoops(f, ForKind::kParallel), 1);
    EXPECT_GE(CountLoops(f, ForKind::kVectorized), 3);
  }
}

TEST(RowReductionsTest, SoftmaxIsDoneRowByRowInVectors) {
  for (const char* shape : {"9,64", "16,35", "8,17", "24,100"}) {
    const Module module = Softmax(shape);
    const auto made = ApplyRule(RowReductions, module, "T_softmax_norm");
    ASSERT_EQ(made.size(), 1u) << shape;
    ExpectOneParallelNest(ExpectSameMeaning(module, made));
  }
}

TEST(RowReductionsTest, TwoSumsOfWhichOneNeedsTheOther) {
  const Module module = ParseProgram(kNormalize);
  const auto made = ApplyRule(RowReductions, module, "B");
  ASSERT_EQ(made.size(), 1u);
  ExpectOneParallelNest(ExpectSameMeaning(module, made));
}

TEST(RowReductionsTest, ASumMayBeTheOutput) {
  const Module module = ParseProgram(kRowSums);
  const auto made = ApplyRule(RowReductions, module, "C");
  ASSERT_EQ(made.size(), 1u);
  ExpectOneParallelNest(ExpectSameMeaning(module, made));
}

// Over images n and pixels p of each channel, and over k and l of a product of
// three.
TEST(RowReductionsTest, SeveralSumsMayRunAlongRowsOrInTiles) {
  const auto program = [](const char* a, const char* term) {
    return ParseProgram(absl::Substitute(R"(
@T.prim_func
def main(A: T.Buffer($0, "float32"), W: T.Buffer((5, 40), "float32"), C: T.Buffer((12,), "float32")):
    for c, n, p in T.grid(12, 5, 40):
        with T.block("C"):
            vc, vn, vp = T.axis.remap("SRR", [c, n, p])
            with T.init():
                C[vc] = T.float32(0)
            C[vc] = C[vc] + $1
)",
                                         a, term));
  };
  for (const Module& module :
       {program("(5, 12, 40)", "A[vn, vc, vp]"),
        program("(12, 40)", "A[vc, vn] * W[vn, vp] * A[vc, vp]")}) {
    const auto made = ApplyRule(RowReductions, module, "C");
    ASSERT_EQ(made.size(), 2u);
    const Function f = ExpectSameMeaning(module, made)[0];
    EXPECT_GE(CountLoops(f, ForKind::kVectorized), 2);
  }
}

// Rows of 6 are as near to each other as lanes may be.
TEST(RowReductionsTest, ShortSumsMayRunAlongRowsOrInTiles) {
  const auto program = [](int length) {
    return ParseProgram(absl::Substitute(R"(
@T.prim_func
def main(A: T.Buffer((24, $0), "float32"), C: T.Buffer((24,), "float32")):
    for i, k in T.grid(24, $0):
        with T.block("C"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                C[vi] = T.float32(0)
            C[vi] = C[vi] + A[vi, vk]
)",
                                         length));
  };
  const Module six = program(6);
  const auto made = ApplyRule(RowReductions, six, "C");
  EXPECT_EQ(made.size(), 2u);
  ExpectSameMeaning(six, made);
  EXPECT_EQ(ApplyRule(RowReductions, program(7), "C").size(), 1u);
}

TEST(RowReductionsTest, TheEndOfAChainIsAskedForNotItsMiddle) {
  const Module module = Softmax("16,64");
  EXPECT_TRUE(ApplyRule(RowReductions, module, "T_softmax_exp").empty());
  EXPECT_TRUE(ApplyRule(RowReductions, module, "T_softmax_expsum").empty());
}

// The mean of a channel, of one row and one column, is asked for by a block
// that has other loops, so that it is the end of a chain.
TEST(RowReductionsTest, MeansOfChannelsAreSumsOfRows) {
  const Module module = ParseProgram(R"(
@T.prim_func
def main(A: T.Buffer((1, 16, 70), "float32"), B: T.Buffer((1, 16, 7, 10), "float32")):
    S = T.alloc_buffer((1, 16, 1), "float32")
    Q = T.alloc_buffer((1, 16, 1), "float32")
    for b, i, u, k in T.grid(1, 16, 1, 70):
        with T.block("S"):
            vb, vi, vu, vk = T.axis.remap("SSSR", [b, i, u, k])
            with T.init():
                S[0, vi, 0] = T.float32(0)
            S[0, vi, 0] = S[0, vi, 0] + A[0, vi, vk]
    for b, i, u, k in T.grid(1, 16, 1, 70):
        with T.block("Q"):
            vb, vi, vu, vk = T.axis.remap("SSSR", [b, i, u, k])
            with T.init():
                Q[vb, vi, vu] = T.float32(0)
            Q[vb, vi, vu] = Q[vb, vi, vu] + A[vb, vi, vk] * S[vb, vi, vu]
    for b, i, h, w in T.grid(1, 16, 7, 10):
        with T.block("B"):
            vb, vi, vh, vw = T.axis.remap("SSSS", [b, i, h, w])
            B[vb, vi, vh, vw] = A[vb, vi, vh * 10 + vw] - S[vb, vi, 0] * Q[vb, vi, 0]
)");
  for (const char* sum : {"S", "Q"}) {
    const auto made = ApplyRule(RowReductions, module, sum);
    ASSERT_EQ(made.size(), 1u) << sum;
    ExpectSameMeaning(module, made, 1);
  }
}

// Rows of two axes, of which parts that are no box of them were drawn, and gave
// no schedule: ten of rows of three, for one.
TEST(RowReductionsTest, RowsOfTwoAxesMayBeAnyNumber) {
  for (const int rows : {7, 10, 14, 20, 35}) {
    const Module module = ParseProgram(absl::Substitute(R"(
@T.prim_func
def main(A: T.Buffer(($0, 3, 40), "float32"), C: T.Buffer(($0, 3), "float32")):
    for i, j, k in T.grid($0, 3, 40):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = T.float32(0)
            C[vi, vj] = C[vi, vj] + A[vi, vj, vk]
)",
                                                        rows));
    const auto made = ApplyRule(RowReductions, module, "C");
    ASSERT_FALSE(made.empty()) << rows;
    EXPECT_EQ(ExpectSameMeaning(module, {made[0]}, 20).size(), 20u) << rows;
  }
}

TEST(RowReductionsTest, AFewShortRowsAre) {
  const Module module = Softmax("1,100");
  ExpectSameMeaning(module, ApplyRule(RowReductions, module, "T_softmax_norm"));
  EXPECT_FALSE(
      ApplyRule(RowReductions, Softmax("4,64"), "T_softmax_norm").empty());
}

TEST(RowReductionsTest, FewLongRowsAndSumsAcrossRowsAreNotItsBusiness) {
  EXPECT_TRUE(
      ApplyRule(RowReductions, Softmax("4,2048"), "T_softmax_norm").empty());
  EXPECT_TRUE(ApplyRule(RowReductions, ParseProgram(kColumnSums), "C").empty());
}

TEST(RowReductionsTest, ProductsAreNoSumsOfRows) {
  const Module module = *MakeWorkload("gmm:16,16,64");
  EXPECT_TRUE(ApplyRule(RowReductions, module, "Z").empty());
}

}  // namespace
}  // namespace kiln
