#include "kiln/schedule/analysis/reducer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "kiln/ir/expr/same.h"
#include "kiln/schedule/testing/program.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;

// A block "B" over one row of A with this init and this update.
Function Program(const std::string& init, const std::string& update) {
  return ParseProgram(absl::StrCat(R"(
@T.prim_func
def main(A: T.Buffer((4, 32), "float32"), X: T.Buffer((4,), "float32"), I: T.Buffer((4,), "int32"), Y: T.Buffer((4,), "float32")):
    for i, k in T.grid(4, 32):
        with T.block("B"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                )",
                                   init, "\n            ", update, "\n"));
}

std::string WhyNone(const std::string& init, const std::string& update) {
  const Function f = Program(init, update);
  return std::string(
      MatchReducer(*RealizeNamed(f, "B").block).status().message());
}

// The combination of the first buffer's value with operand 0, printed.
ExprKind KindOf(const std::string& init, const std::string& update) {
  const Function f = Program(init, update);
  const auto reducer = MatchReducer(*RealizeNamed(f, "B").block);
  EXPECT_TRUE(reducer.ok()) << reducer.status();
  return reducer.ok() ? reducer->combined[0].kind() : ExprKind::kVar;
}

TEST(ReducerTest, RecognizesWhatCombinesOneValue) {
  EXPECT_EQ(KindOf("X[vi] = 0.0", "X[vi] = X[vi] + A[vi, vk]"), ExprKind::kAdd);
  EXPECT_EQ(KindOf("X[vi] = 0.0", "X[vi] = A[vi, vk] * A[vi, vk] + X[vi]"),
            ExprKind::kAdd);
  EXPECT_EQ(KindOf("X[vi] = 1.0", "X[vi] = X[vi] * A[vi, vk]"), ExprKind::kMul);
  EXPECT_EQ(KindOf("X[vi] = T.min_value(\"float32\")",
                   "X[vi] = T.max(A[vi, vk], X[vi])"),
            ExprKind::kMax);
  EXPECT_EQ(KindOf("X[vi] = T.float32(3)", "X[vi] = T.min(X[vi], A[vi, vk])"),
            ExprKind::kMin);
}

TEST(ReducerTest, RefusesAnInitThatChangesTheResult) {
  EXPECT_THAT(WhyNone("X[vi] = 1.0", "X[vi] = X[vi] + A[vi, vk]"),
              HasSubstr("beginning with a value that changes nothing"));
  EXPECT_THAT(WhyNone("X[vi] = 0.0", "X[vi] = X[vi] * A[vi, vk]"),
              HasSubstr("beginning with a value that changes nothing"));
  EXPECT_THAT(WhyNone("X[vi] = Y[vi]", "X[vi] = X[vi] + A[vi, vk]"),
              HasSubstr("begins with what is no number"));
}

TEST(ReducerTest, RefusesWhatIsNotAssociative) {
  for (const char* update :
       {"X[vi] = X[vi] - A[vi, vk]", "X[vi] = A[vi, vk] - X[vi]",
        "X[vi] = X[vi] * 0.5 + A[vi, vk]", "X[vi] = X[vi] + X[vi]",
        "X[vi] = X[vi] + A[vi, vk] * X[vi]", "X[vi] = A[vi, vk]"}) {
    EXPECT_NE(WhyNone("X[vi] = 0.0", update), "") << update;
  }
}

TEST(ReducerTest, PlacesAndInitsHaveToMatch) {
  EXPECT_THAT(WhyNone("X[0] = 0.0", "X[vi] = X[vi] + A[vi, vk]"),
              HasSubstr("does not initialize `X` where it writes it"));
  EXPECT_THAT(WhyNone("X[vi] = 0.0", "X[vi] = X[3 - vi] + A[vi, vk]"),
              HasSubstr("does not combine values"));
}

std::string Pair(const std::string& value, const std::string& index) {
  return absl::StrCat("v_x = ", value, "\n            v_i = ", index,
                      "\n            X[vi] = v_x\n            I[vi] = v_i");
}

constexpr char kPairInit[] =
    "X[vi] = T.min_value(\"float32\")\n                I[vi] = -1";

TEST(ReducerTest, TheFirstOfEqualValuesWinsInPlainArgmax) {
  const Function f =
      Program(kPairInit, Pair("T.Select(X[vi] >= A[vi, vk], X[vi], A[vi, vk])",
                              "T.Select(X[vi] >= A[vi, vk], I[vi], vk)"));
  const auto reducer = MatchReducer(*RealizeNamed(f, "B").block);
  ASSERT_TRUE(reducer.ok()) << reducer.status();
  EXPECT_TRUE(reducer->keeps_first);
  EXPECT_EQ(reducer->index, 1);
  EXPECT_FALSE(CombinesAtWill(*RealizeNamed(f, "B").block));
}

TEST(ReducerTest, TheLowerIndexOfEqualValuesMayWinInAnyOrder) {
  const Function f = Program(
      kPairInit,
      Pair("T.Select(X[vi] > A[vi, vk], X[vi], A[vi, vk])",
           "T.Select(X[vi] > A[vi, vk] or X[vi] == A[vi, vk] and I[vi] < vk, "
           "I[vi], vk)"));
  const auto reducer = MatchReducer(*RealizeNamed(f, "B").block);
  ASSERT_TRUE(reducer.ok()) << reducer.status();
  EXPECT_FALSE(reducer->keeps_first);
  EXPECT_TRUE(CombinesAtWill(*RealizeNamed(f, "B").block));
}

TEST(ReducerTest, SpellingsOfArgmaxAreOne) {
  for (const char* update :
       {"if A[vi, vk] > X[vi]:\n                I[vi] = vk\n                "
        "X[vi] = A[vi, vk]",
        "if X[vi] < A[vi, vk]:\n                X[vi] = A[vi, vk]\n            "
        "    I[vi] = vk"}) {
    const Function f = Program(kPairInit, update);
    const auto reducer = MatchReducer(*RealizeNamed(f, "B").block);
    ASSERT_TRUE(reducer.ok()) << update << ": " << reducer.status();
    EXPECT_TRUE(reducer->keeps_first) << update;
  }
}

TEST(ReducerTest, TheLastOfEqualValuesIsNoReducer) {
  EXPECT_NE(WhyNone(kPairInit,
                    "if A[vi, vk] >= X[vi]:\n                I[vi] = vk\n      "
                    "          X[vi] = A[vi, vk]"),
            "");
  // The value and the index follow different comparisons.
  EXPECT_NE(
      WhyNone(kPairInit, Pair("T.Select(X[vi] >= A[vi, vk], X[vi], A[vi, vk])",
                              "T.Select(X[vi] < A[vi, vk], I[vi], vk)")),
      "");
  // The second store would read what the first one wrote.
  EXPECT_NE(WhyNone(kPairInit,
                    "if A[vi, vk] > X[vi]:\n                X[vi] = A[vi, vk]\n"
                    "                I[vi] = T.Cast(\"int32\", X[vi])"),
            "");
}

TEST(ReducerTest, CombineAppliesTheCombinationToOtherValues) {
  const Function f = Program("X[vi] = 0.0", "X[vi] = X[vi] + A[vi, vk]");
  const auto reducer = MatchReducer(*RealizeNamed(f, "B").block);
  ASSERT_TRUE(reducer.ok());
  const Expr three = Constant(3, DType::Float(32));
  const Expr four = Constant(4, DType::Float(32));
  EXPECT_TRUE(SameExpr(reducer->Combine({three}, {four})[0], Add(three, four)));
}

}  // namespace
}  // namespace kiln
