// Programs as text: of which operands the rule makes a transpose, which it
// leaves alone, and that what comes out computes the same, also where the rules
// behind it make panels or vectors along the sum of it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/substitute.h"
#include "kiln/ir/te/workloads.h"
#include "kiln/ir/tensor/layout_free.h"
#include "kiln/schedule/trace/print.h"
#include "kiln/search/space/rule/rules.h"
#include "kiln/search/space/rule/testing.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;

// A dense layer of so many rows, outputs and inputs.
Module Dense(int rows, int outputs, int inputs) {
  return ParseProgram(absl::Substitute(R"(
@T.prim_func
def main(A: T.Buffer(($0, $2), "float32"), W: T.Buffer(($1, $2), "float32"), C: T.Buffer(($0, $1), "float32")):
    for i, j, k in T.grid($0, $1, $2):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = T.float32(0)
            C[vi, vj] = C[vi, vj] + A[vi, vk] * W[vj, vk]
)",
                                       rows, outputs, inputs));
}

TEST(TransposeOperandsTest, WeightsOfADenseLayerMay) {
  const int shapes[][3] = {{16, 32, 48}, {33, 17, 20}, {4, 8, 64}};
  for (const auto& [rows, outputs, inputs] : shapes) {
    const Module module = Dense(rows, outputs, inputs);
    const auto made = ApplyRule(TransposeOperands, module, "C");
    ASSERT_EQ(made.size(), 2u);
    for (const Function& f : ExpectSameMeaning(module, made)) {
      EXPECT_LE(CountRootLoops(f), 2);
    }
  }
}

// Attention: A[b, i, h, k] K[b, j, h, k], for each b and h.
TEST(TransposeOperandsTest, OtherDimensionsStayInFront) {
  const Module module = ParseProgram(R"(
@T.prim_func
def main(A: T.Buffer((2, 9, 3, 16), "float32"), B: T.Buffer((2, 11, 3, 16), "float32"), C: T.Buffer((2, 3, 9, 11), "float32")):
    for b, h, i, j, k in T.grid(2, 3, 9, 11, 16):
        with T.block("C"):
            vb, vh, vi, vj, vk = T.axis.remap("SSSSR", [b, h, i, j, k])
            with T.init():
                C[vb, vh, vi, vj] = T.float32(0)
            C[vb, vh, vi, vj] = C[vb, vh, vi, vj] + A[vb, vi, vh, vk] * B[vb, vj, vh, vk]
)");
  const auto made = ApplyRule(TransposeOperands, module, "C");
  ASSERT_EQ(made.size(), 2u);
  ExpectSameMeaning(module, made);
}

// Rows of A, of 40 elements, by columns of W.
TEST(TransposeOperandsTest, SoThatSumsAreAlongTheLargeOperand) {
  const auto rows = [](int count, const std::string& shape,
                       const std::string& index) {
    return ParseProgram(absl::Substitute(
        R"(
@T.prim_func
def main(A: T.Buffer(($0, 12, 40), "float32"), W: T.Buffer($1, "float32"), C: T.Buffer((12, $0), "float32")):
    for j, i, k in T.grid(12, $0, 40):
        with T.block("C"):
            vj, vi, vk = T.axis.remap("SSR", [j, i, k])
            with T.init():
                C[vj, vi] = T.float32(0)
            C[vj, vi] = C[vj, vi] + A[vi, vj, vk] * W[$2]
)",
        count, shape, index));
  };
  const auto made =
      ApplyRule(TransposeOperands, rows(20, "(40, 12)", "vk, vj"), "C");
  ASSERT_EQ(made.size(), 2u);
  EXPECT_THAT(ToText(made[0].trace()), HasSubstr("lambda d0, d1: (d1, d0,)"));
  ExpectSameMeaning(rows(20, "(40, 12)", "vk, vj"), made);
  EXPECT_TRUE(
      ApplyRule(TransposeOperands, rows(20, "(12, 40)", "vj, vk"), "C").empty())
      << "it lies along the sum";
  EXPECT_TRUE(
      ApplyRule(TransposeOperands, rows(7, "(40, 12)", "vk, vj"), "C").empty())
      << "it is not small";
}

// C[$3] += A[$1] W[$2] of an image of 9 x 11 with 3 x 3 taps, 8 channels in
// and 16 out.
Module Conv(const std::string& a, const std::string& w, const std::string& c) {
  return ParseProgram(absl::Substitute(
      R"(
@T.prim_func
def main(A: T.Buffer($0, "float32"), W: T.Buffer($2, "float32"), C: T.Buffer($4, "float32")):
    for o, h, w, k, r, q in T.grid(16, 9, 11, 8, 3, 3):
        with T.block("C"):
            vo, vh, vw, vk, vr, vq = T.axis.remap("SSSRRR", [o, h, w, k, r, q])
            with T.init():
                C[$5] = T.float32(0)
            C[$5] = C[$5] + A[$1] * W[$3]
)",
      a == "hwc" ? "(11, 13, 8)" : "(8, 11, 13)",
      a == "hwc" ? "vh + vr, vw + vq, vk" : "vk, vh + vr, vw + vq",
      w == "hwio" ? "(3, 3, 8, 16)" : "(16, 8, 3, 3)",
      w == "hwio" ? "vr, vq, vk, vo" : "vo, vk, vr, vq",
      c == "hwc" ? "(9, 11, 16)" : "(16, 9, 11)",
      c == "hwc" ? "vh, vw, vo" : "vo, vh, vw"));
}

// X times its own rows: both operands are read from the copy.
TEST(TransposeOperandsTest, BothOperandsMayBeOne) {
  for (const char* term :
       {"X[vi, vk] * X[vj, vk]",
        "(X[vi, vk] - X[vj, vk]) * (X[vi, vk] - X[vj, vk])"}) {
    const Module module = ParseProgram(absl::Substitute(R"(
@T.prim_func
def main(X: T.Buffer((33, 17), "float32"), C: T.Buffer((33, 33), "float32")):
    for i, j, k in T.grid(33, 33, 17):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = T.float32(0)
            C[vi, vj] = C[vi, vj] + $0
)",
                                                        term));
    const auto made = ApplyRule(TransposeOperands, module, "C");
    ASSERT_EQ(made.size(), 2u) << term;
    ExpectSameMeaning(module, made);
  }
}

TEST(TransposeOperandsTest, OperandsFarApartAlongTheOutput) {
  // The image for an output of rows, the weights for one of channels.
  for (const Module& module :
       {Conv("hwc", "hwio", "chw"), Conv("hwc", "oihw", "hwc")}) {
    const auto made = ApplyRule(TransposeOperands, module, "C");
    ASSERT_EQ(made.size(), 2u);
    ExpectSameMeaning(module, made);
  }
  EXPECT_TRUE(
      ApplyRule(TransposeOperands, Conv("hwc", "hwio", "hwc"), "C").empty());
  EXPECT_TRUE(
      ApplyRule(TransposeOperands, Conv("chw", "oihw", "chw"), "C").empty());
}

TEST(TransposeOperandsTest, TheColumnMayMoveSeveralDimensions) {
  const Module module = ParseProgram(R"(
@T.prim_func
def main(A: T.Buffer((40, 9), "float32"), W: T.Buffer((8, 3, 9), "float32"), C: T.Buffer((40, 24), "float32")):
    for i, j, k in T.grid(40, 24, 9):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = T.float32(0)
            C[vi, vj] = C[vi, vj] + A[vi, vk] * W[vj // 3, vj % 3, vk]
)");
  const auto made = ApplyRule(TransposeOperands, module, "C");
  ASSERT_EQ(made.size(), 2u);
  EXPECT_THAT(ToText(made[0].trace()),
              HasSubstr("lambda d0, d1, d2: (d2, d0, d1,)"));
  ExpectSameMeaning(module, made);
}

// Of which the sum moves one as well, so that the transpose would be a copy.
TEST(TransposeOperandsTest, TheColumnMayMoveAllDimensions) {
  const Module module = ParseProgram(R"(
@T.prim_func
def main(A: T.Buffer((40, 9), "float32"), W: T.Buffer((8, 11), "float32"), C: T.Buffer((40, 24), "float32")):
    for i, j, k in T.grid(40, 24, 9):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = T.float32(0)
            C[vi, vj] = C[vi, vj] + A[vi, vk] * W[vj // 3, vj % 3 + vk]
)");
  EXPECT_TRUE(ApplyRule(TransposeOperands, module, "C").empty());
}

TEST(TransposeOperandsTest, FewRowsFewColumnsAndOtherProductsAreLeftAlone) {
  EXPECT_TRUE(ApplyRule(TransposeOperands, Dense(3, 64, 64), "C").empty());
  EXPECT_TRUE(ApplyRule(TransposeOperands, Dense(64, 7, 64), "C").empty());
  EXPECT_TRUE(
      ApplyRule(TransposeOperands, *MakeWorkload("gmm:64,64,64"), "Z").empty());
  EXPECT_TRUE(ApplyRule(TransposeOperands, *MakeWorkload("sfm:64,64"),
                        "T_softmax_expsum")
                  .empty());
}

// Constants are transposed ahead, for a single row, too.
TEST(TransposeOperandsTest, ConstantsOfShortSumsMay) {
  const int shapes[][3] = {{1, 48, 20}, {1, 96, 4}, {2, 30, 128}};
  for (const auto& [rows, outputs, inputs] : shapes) {
    Module module = Dense(rows, outputs, inputs);
    EXPECT_TRUE(ApplyRule(TransposeOperands, module, "C").empty());
    SetLayoutFree(&module.functions[0], {1});
    const auto made = ApplyRule(TransposeOperands, module, "C");
    ASSERT_EQ(made.size(), 2u);
    EXPECT_THAT(ToText(made[0].trace()), HasSubstr("layout_rewrite_preproc"));
    ExpectSameMeaning(module, made);
  }
  Module longer = Dense(1, 48, 129);
  SetLayoutFree(&longer.functions[0], {1});
  EXPECT_TRUE(ApplyRule(TransposeOperands, longer, "C").empty());
}

// With panels of columns there is no transposed matrix beside them.
TEST(TransposeOperandsTest, PanelsAreTransposedWhileTheyAreMade) {
  const int shapes[][3] = {{40, 64, 48}, {33, 100, 20}, {64, 65, 31}};
  const std::vector<ScheduleRule> rules =
      RulesNamed({"transpose-operands", "register-tiling"});
  for (const auto& [rows, outputs, inputs] : shapes) {
    const Module module = Dense(rows, outputs, inputs);
    std::vector<Schedule> turned;
    for (Schedule& made : ApplyRules(module, rules, RuleContext())) {
      const std::string trace = ToText(made.trace());
      if (trace.find("kiln.transposed_copy") == trace.npos) continue;
      EXPECT_THAT(trace, HasSubstr("compute_inline"));
      turned.push_back(std::move(made));
    }
    EXPECT_GE(turned.size(), 2u) << "packed ahead, and near";
    for (const Function& f : ExpectSameMeaning(module, turned)) {
      const int loops = CountLoops(f, ForKind::kParallel);
      EXPECT_TRUE(loops == CountRootLoops(f) || loops == 0);
    }
  }
}

// Tiles of dots, for the same layers.
TEST(TransposeOperandsTest, OrVectorsRunAlongTheSum) {
  const int shapes[][3] = {{16, 32, 48}, {33, 17, 32}, {4, 8, 64},
                           {2, 9, 48},   {1, 6, 144},  {1, 40, 16}};
  for (const auto& [rows, outputs, inputs] : shapes) {
    const Module module = Dense(rows, outputs, inputs);
    const auto made = ApplyRule(SkinnyDot, module, "C");
    ASSERT_EQ(made.size(), 2u);
    for (const Function& f : ExpectSameMeaning(module, {made[0]})) {
      EXPECT_EQ(CountLoops(f, ForKind::kParallel), 1);
      EXPECT_GE(CountLoops(f, ForKind::kVectorized), 2);
    }
  }
}

// Of a long sum, 1024 or fewer terms at a time.
TEST(TransposeOperandsTest, OrPartsOfLongSumsDoAndAreAddedUp) {
  for (const int inputs : {2048, 1536}) {
    const Module module = Dense(3, 7, inputs);
    const auto made = ApplyRule(SkinnyDot, module, "C");
    ASSERT_EQ(made.size(), 3u);
    for (const Function& f : ExpectSameMeaning(module, {made[1]}, 2)) {
      EXPECT_EQ(CountRootLoops(f), 2);
    }
  }
  EXPECT_EQ(ApplyRule(SkinnyDot, Dense(3, 7, 1024), "C").size(), 2u);
  EXPECT_EQ(ApplyRule(SkinnyDot, Dense(1, 7, 2048), "C").size(), 2u);
}

}  // namespace
}  // namespace kiln
