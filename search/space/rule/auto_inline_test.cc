// Each test asks the rule for one block of a small program: whether it goes
// into its consumers, stays, or both ways are tried. What it makes of a program
// is compared with the interpreter.
#include <gtest/gtest.h>

#include "absl/strings/substitute.h"
#include "kiln/base/status_matchers.h"
#include "kiln/ir/te/workloads.h"
#include "kiln/ir/text/reader/reader.h"
#include "kiln/search/space/rule/rules.h"
#include "kiln/search/space/rule/testing.h"

namespace kiln {
namespace {

std::vector<Schedule> Inlined(const char* workload, const char* block) {
  return ApplyRule(AutoInline, *MakeWorkload(workload), block);
}

TEST(AutoInlineTest, ElementwiseBlocksGoIntoTheirConsumers) {
  const Module module = *MakeWorkload("cbr:6,6,2,4,3,1,1");
  const auto made = ApplyRule(AutoInline, module, "bn_mul");
  ASSERT_EQ(made.size(), 1u);
  for (const Function& f : ExpectSameMeaning(module, made, 1)) {
    EXPECT_EQ(CountRootLoops(f), CountRootLoops(module.functions[0]) - 1);
  }
}

TEST(AutoInlineTest, PaddingMayGoOrStay) {
  const Module module = *MakeWorkload("c2d:6,6,2,4,3,1,1");
  const auto made = ApplyRule(AutoInline, module, "PadInput");
  ASSERT_EQ(made.size(), 2u);
  ExpectSameMeaning(module, made, 1);
}

// Sums over windows of padded rows, `p` of a shape with a condition on one of
// its indices, made of x at `source` and read at `window`.
std::vector<Schedule> InlinedPadding(const std::string& shape,
                                     const std::string& condition,
                                     const std::string& source,
                                     const std::string& window) {
  const absl::StatusOr<Module> module =
      ParseModule("m.py", absl::Substitute(R"(
@T.prim_func
def main(x: T.Buffer((16, 16), "float32"), w: T.Buffer((16, 16, 3), "float32"), y: T.Buffer((16, 16), "float32")):
    p = T.alloc_buffer(($0))
    for i, j in T.grid($0):
        with T.block("p"):
            vi, vj = T.axis.remap("SS", [i, j])
            p[vi, vj] = T.if_then_else($1, x[$2], T.float32(0))
    for k, i, c, r in T.grid(16, 16, 16, 3):
        with T.block("y"):
            vk, vi, vc, vr = T.axis.remap("SSRR", [k, i, c, r])
            with T.init():
                y[vk, vi] = T.float32(0)
            y[vk, vi] = y[vk, vi] + p[$3] * w[vk, vc, vr]
)",
                                           shape, condition, source, window));
  KILN_EXPECT_OK(module);
  return ApplyRule(AutoInline, *module, "p");
}

TEST(AutoInlineTest, PaddingThatDividesVectorsStays) {
  EXPECT_TRUE(InlinedPadding("16, 18", "1 <= vj and vj < 17", "vi, vj - 1",
                             "vc, vi + vr")
                  .empty());
  EXPECT_EQ(InlinedPadding("18, 16", "1 <= vi and vi < 17", "vi - 1, vj",
                           "vi + vr, vc")
                .size(),
            2u);
}

TEST(AutoInlineTest, TransposesOfWhatIsSummedUpStay) {
  EXPECT_TRUE(Inlined("tbg:6,2,4", "value_T").empty());
  EXPECT_EQ(Inlined("tbg:6,2,4", "query_T").size(), 1u) << "in its own order";
}

// y[i, j] += t[j, k] * x[i, k] with t[j, k] = w[k, j]: vectors of y are along
// j, contiguous in w and not in t. And where t is at hand as it is needed.
std::vector<Schedule> InlinedTranspose(const std::string& made,
                                       const std::string& used) {
  const absl::StatusOr<Module> module =
      ParseModule("m.py", absl::Substitute(R"(
@T.prim_func
def main(w: T.Buffer((24, 24), "float32"), x: T.Buffer((24, 24), "float32"), y: T.Buffer((24, 24), "float32")):
    t = T.alloc_buffer((24, 24))
    for a, b in T.grid(24, 24):
        with T.block("t"):
            va, vb = T.axis.remap("SS", [a, b])
            t[va, vb] = $0
    for i, j, k in T.grid(24, 24, 24):
        with T.block("y"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                y[vi, vj] = T.float32(0)
            y[vi, vj] = y[vi, vj] + $1
)",
                                           made, used));
  KILN_EXPECT_OK(module);
  const auto schedules = ApplyRule(AutoInline, *module, "t");
  ExpectSameMeaning(*module, schedules, 1);
  return schedules;
}

TEST(AutoInlineTest, TransposesThatSpoilTheOrderOfReductionsGo) {
  EXPECT_EQ(InlinedTranspose("w[vb, va]", "t[vj, vk] * x[vi, vk]").size(), 1u);
  EXPECT_TRUE(InlinedTranspose("w[vb, va]", "t[vk, vj] * x[vi, vk]").empty());
  // One element for all lanes: contiguous along the sum in w, or in t.
  EXPECT_EQ(InlinedTranspose("w[vb, va]", "t[vk, vi] * x[vk, vj]").size(), 1u);
  EXPECT_TRUE(InlinedTranspose("w[vb, va]", "t[vi, vk] * x[vk, vj]").empty());
}

// A transposed convolution as exporters leave it: zeros are put between the
// elements of images whose channels are moved ahead. Sums run along channels.
TEST(AutoInlineTest, InsertedZerosGoWithTheOrderOfTheImage) {
  const absl::StatusOr<Module> module = ParseModule("m.py", R"(
@T.prim_func
def main(x: T.Buffer((1, 4, 4, 8), "float32"), w: T.Buffer((2, 2, 8, 16), "float32"), y: T.Buffer((1, 6, 6, 16), "float32")):
    d = T.alloc_buffer((1, 8, 7, 7))
    for n, c, h, v in T.grid(1, 8, 7, 7):
        with T.block("d"):
            vn, vc, vh, vv = T.axis.remap("SSSS", [n, c, h, v])
            d[vn, vc, vh, vv] = T.if_then_else(vh % 2 == 0 and vv % 2 == 0, x[vn, vh // 2, vv // 2, vc], T.float32(0))
    for n, h, v, o, c, r, q in T.grid(1, 6, 6, 16, 8, 2, 2):
        with T.block("y"):
            vn, vh, vv, vo, vc, vr, vq = T.axis.remap("SSSSRRR", [n, h, v, o, c, r, q])
            with T.init():
                y[vn, vh, vv, vo] = T.float32(0)
            y[vn, vh, vv, vo] = y[vn, vh, vv, vo] + d[vn, vc, vh + vr, vv + vq] * w[vr, vq, vc, vo]
)");
  KILN_ASSERT_OK(module);
  const auto made = ApplyRule(AutoInline, *module, "d");
  EXPECT_EQ(made.size(), 2u) << "it has a condition";
  ExpectSameMeaning(*module, made, 1);
}

TEST(AutoInlineTest, OutputsSumsAndExpensiveFunctionsStay) {
  EXPECT_TRUE(Inlined("cbr:6,6,2,4,3,1,1", "compute").empty());
  EXPECT_TRUE(Inlined("cbr:6,6,2,4,3,1,1", "Conv2dOutput").empty());
  EXPECT_TRUE(Inlined("sfm:8,16", "T_softmax_exp").empty());
}

// Quotients of 16 x 24 elements and the product that reads them.
constexpr char kQuotients[] = R"(
@T.prim_func
def main(A: T.Buffer((16, 24), "float32"), D: T.Buffer((16,), "float32"), W: T.Buffer((24, $0), "float32"), C: T.Buffer((16, $0), "float32")):
    P = T.alloc_buffer((16, 24), "float32")
    for i, k in T.grid(16, 24):
        with T.block("P"):
            vi, vk = T.axis.remap("SS", [i, k])
            P[vi, vk] = A[vi, vk] / $1
    for i, j, k in T.grid(16, $0, 24):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = T.float32(0)
            C[vi, vj] = C[vi, vj] + P[vi, vk] * W[vk, vj]
)";

// x * sigmoid(x) is computed in one pass; of a row's sigmoid that is used in
// each column, and of one used twice, values would be computed again.
TEST(AutoInlineTest, ExpensiveFunctionsGoWhereTheyAreUsedOnce) {
  const auto made = [](const std::string& shape, const std::string& value) {
    const absl::StatusOr<Module> module =
        ParseModule("m.py", absl::Substitute(R"(
@T.prim_func
def main(x: T.Buffer((12, 20), "float32"), y: T.Buffer((12, 20), "float32")):
    s = T.alloc_buffer(($0))
    for i, j in T.grid($0):
        with T.block("s"):
            vi, vj = T.axis.remap("SS", [i, j])
            s[vi, vj] = T.sigmoid(x[vi, vj])
    for i, j in T.grid(12, 20):
        with T.block("y"):
            vi, vj = T.axis.remap("SS", [i, j])
            y[vi, vj] = x[vi, vj] * $1
)",
                                             shape, value));
    KILN_EXPECT_OK(module);
    const auto designs = ApplyRule(AutoInline, *module, "s");
    ExpectSameMeaning(*module, designs, 1);
    return designs.size();
  };
  EXPECT_EQ(made("12, 20", "s[vi, vj]"), 1u);
  EXPECT_EQ(made("12, 1", "s[vi, 0]"), 0u);
  EXPECT_EQ(made("12, 20", "(s[vi, vj] + s[vi, 19 - vj])"), 0u);
}

TEST(AutoInlineTest, QuotientsThatAProductReadsOftenStay) {
  const auto inlined = [](int columns, const char* divisor) {
    const Module module =
        ParseProgram(absl::Substitute(kQuotients, columns, divisor));
    return ApplyRule(AutoInline, module, "P").size();
  };
  EXPECT_EQ(inlined(32, "D[vi]"), 0);
  EXPECT_EQ(inlined(2, "D[vi]"), 1);
  EXPECT_EQ(inlined(32, "T.float32(8)"), 1);
}

constexpr char kPacked[] = R"(
@T.prim_func
def main(X: T.Buffer(($0, 64), "float32"), W: T.Buffer((24, 8), "uint32"), S: T.Buffer((24, 2), "float32"), C: T.Buffer(($0, 24), "float32")):
    D = T.alloc_buffer((24, 64))
    for n, k in T.grid(24, 64):
        with T.block("D"):
            vn, vk = T.axis.remap("SS", [n, k])
            D[vn, vk] = T.Cast("float32", T.bitwise_and(T.shift_right(W[vn, vk // 8], T.Cast("uint32", vk % 8 * 4)), T.uint32(15))) * S[vn, vk // 32]
    for i, n, k in T.grid($0, 24, 64):
        with T.block("C"):
            vi, vn, vk = T.axis.remap("SSR", [i, n, k])
            with T.init():
                C[vi, vn] = T.float32(0)
            C[vi, vn] = C[vi, vn] + X[vi, vk] * D[vn, vk]
)";

// Bits are no functions, and W and S lie along the sum as D does.
TEST(AutoInlineTest, FewRowsUnpackNumbersWhereTheyReadThem) {
  const auto ways = [](int rows) {
    const Module module = ParseProgram(absl::Substitute(kPacked, rows));
    const auto made = ApplyRule(AutoInline, module, "D");
    ExpectSameMeaning(module, made, 1);
    return made.size();
  };
  EXPECT_EQ(ways(1), 1);
  EXPECT_EQ(ways(16), 1);
  EXPECT_EQ(ways(128), 2) << "may be unpacked ahead";
}

// Means of groups of five for the channels in them, and rows that read these.
constexpr char kSpread[] = R"(
@T.prim_func
def main(X: T.Buffer(($0, 30), "float32"), M: T.Buffer((6,), "float32"), Y: T.Buffer(($0, 30), "float32")):
    D = T.alloc_buffer((30,))
    for c in range(30):
        with T.block("D"):
            vc = T.axis.spatial(30, c)
            D[vc] = M[vc // 5]
    for i, c in T.grid($0, 30):
        with T.block("Y"):
            vi, vc = T.axis.remap("SS", [i, c])
            Y[vi, vc] = X[vi, vc] - D[vc]
)";

TEST(AutoInlineTest, WhatIsSpreadForManyRowsStays) {
  const auto ways = [](int rows) {
    const Module module = ParseProgram(absl::Substitute(kSpread, rows));
    const auto made = ApplyRule(AutoInline, module, "D");
    ExpectSameMeaning(module, made, 1);
    return made.size();
  };
  EXPECT_EQ(ways(16), 0);
  EXPECT_EQ(ways(4), 1) << "few rows";
}

}  // namespace
}  // namespace kiln
