// Products with few columns, whose vectors run along the sum: convolutions to a
// few channels, dense layers of a few outputs, packed and narrow operands;
// which of them the rule takes, and that what it makes computes the same.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/substitute.h"
#include "kiln/ir/te/workloads.h"
#include "kiln/schedule/trace/print.h"
#include "kiln/search/space/rule/rules.h"
#include "kiln/search/space/rule/testing.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::vector<Schedule> Dots(const char* workload) {
  return ApplyRule(SkinnyDot, *MakeWorkload(workload), "conv2d_nhwc");
}

TEST(SkinnyDotTest, VectorsRunAlongChannelsThatAreSummedUp) {
  const Module module = *MakeWorkload("c2d:6,9,32,3,3,1,0");
  const auto made = ApplyRule(SkinnyDot, module, "conv2d_nhwc");
  ASSERT_EQ(made.size(), 1u);
  EXPECT_THAT(ToText(made[0].trace()), HasSubstr("sch.rfactor"));
  for (const Function& f : ExpectSameMeaning(module, made)) {
    EXPECT_EQ(CountLoops(f, ForKind::kParallel), 1);
    EXPECT_GE(CountLoops(f, ForKind::kVectorized), 2);
  }
}

TEST(SkinnyDotTest, TransposedConvolutionsToFewChannelsAreDotsByPhases) {
  const Module module = *MakeWorkload("t2d:4,5,16,3,4,2,1");
  const std::vector<ScheduleRule> rules =
      RulesNamed({"pad-columns", "polyphase", "skinny-dot"});
  const auto made = ApplyRules(module, rules, RuleContext());
  ASSERT_EQ(made.size(), 6u) << "with a padded output, by dots or not, and "
                                "with dots alone; in parallel, and not";
  EXPECT_THAT(ToText(made[2].trace()), HasSubstr("sch.rfactor"));
  EXPECT_THAT(ToText(made[2].trace()), Not(HasSubstr("sch.pad_einsum")));
  ExpectSameMeaning(module, {made[2]});
}

TEST(SkinnyDotTest, OutputsThatFillPartOfAVectorMayBeDots) {
  for (const int channels : {4, 5, 8, 9, 13, 15}) {
    const Module module =
        *MakeWorkload(absl::StrCat("c2d:6,9,32,", channels, ",3,1,0"));
    const auto made = ApplyRule(SkinnyDot, module, "conv2d_nhwc");
    ASSERT_EQ(made.size(), 2u) << channels;
    EXPECT_THAT(ToText(made[0].trace()), HasSubstr("sch.rfactor"));
    EXPECT_THAT(ToText(made[1].trace()), Not(HasSubstr("sch.rfactor")));
    ExpectSameMeaning(module, {made[0]});
  }
}

TEST(SkinnyDotTest, RowsWithFewColumnsOfTheirOwn) {
  for (const char* shape : {"100,3,40", "7,1,64", "33,2,17", "5,3,16"}) {
    const Module module = *MakeWorkload(absl::StrCat("den:", shape));
    const auto made = ApplyRule(SkinnyDot, module, "Y");
    ASSERT_FALSE(made.empty()) << shape;
    EXPECT_THAT(ToText(made[0].trace()), HasSubstr("sch.rfactor")) << shape;
    for (const Function& f : ExpectSameMeaning(module, {made[0]})) {
      EXPECT_EQ(CountLoops(f, ForKind::kParallel), 1) << shape;
    }
  }
}

TEST(SkinnyDotTest, OutputsThatFillVectorsAreLeftAlone) {
  EXPECT_TRUE(Dots("c2d:6,9,32,16,3,1,0").empty());
  EXPECT_TRUE(Dots("c2d:6,9,32,32,3,1,0").empty());
}

TEST(SkinnyDotTest, SumsNeedNotFillVectors) {
  for (const char* workload :
       {"c2d:6,9,24,3,3,1,0", "c2d:6,9,7,1,3,1,1", "c2d:6,9,3,1,3,1,1",
        "c2d:6,9,2,1,3,1,0", "c2d:6,9,19,3,3,1,1"}) {
    const Module module = *MakeWorkload(workload);
    const auto made = ApplyRule(SkinnyDot, module, "conv2d_nhwc");
    ASSERT_FALSE(made.empty()) << workload;
    EXPECT_THAT(ToText(made[0].trace()), HasSubstr("sch.rfactor")) << workload;
    ExpectSameMeaning(module, {made[0]});
  }
}

TEST(SkinnyDotTest, ShortSumsToSeveralColumnsAreLeftAlone) {
  EXPECT_TRUE(Dots("c2d:6,9,5,3,3,1,0").empty());
  EXPECT_TRUE(Dots("c2d:6,9,1,1,3,1,0").empty());
}

// Numbers of four bits, eight of them in each element, and their scales.
TEST(SkinnyDotTest, OperandsMayBePackedAlongTheSum) {
  const Module module = ParseProgram(R"(
@T.prim_func
def main(X: T.Buffer((4, 128), "float32"), W: T.Buffer((24, 16), "int32"), S: T.Buffer((24, 4), "float32"), C: T.Buffer((4, 24), "float32")):
    for i, n, k in T.grid(4, 24, 128):
        with T.block("C"):
            vi, vn, vk = T.axis.remap("SSR", [i, n, k])
            with T.init():
                C[vi, vn] = T.float32(0)
            C[vi, vn] = C[vi, vn] + X[vi, vk] * (T.Cast("float32", T.bitwise_and(T.shift_right(W[vn, vk // 8], vk % 8 * 4), 15)) * S[vn, vk // 32])
)");
  const auto made = ApplyRule(SkinnyDot, module, "C");
  ASSERT_FALSE(made.empty());
  EXPECT_THAT(ToText(made[0].trace()), HasSubstr("sch.rfactor"));
  EXPECT_THAT(ToText(made[0].trace()), Not(HasSubstr("cache_read")));
  EXPECT_FALSE(ExpectSameMeaning(module, made).empty());
}

// A row of `steps` bytes times rows of others.
Module BytesOfRow(int steps, const char* type) {
  return ParseProgram(absl::Substitute(R"(
@T.prim_func
def main(A: T.Buffer((1, $0), "$1"), B: T.Buffer((24, $0), "int8"),
         C: T.Buffer((1, 24), "int32")):
    for i, j, k in T.grid(1, 24, $0):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = 0
            C[vi, vj] = C[vi, vj] + T.Cast("int32", A[vi, vk]) * T.Cast("int32", B[vj, vk])
)",
                                       steps, type));
}

TEST(SkinnyDotTest, LanesTakeTheStepsOfAnInstruction) {
  const auto steps_of = [](int steps, const char* type, int at_once) {
    const Module module = BytesOfRow(steps, type);
    RuleContext context;
    context.registers.bytes = 32;
    context.registers.dots.integers = at_once;
    const auto made = ApplyRule(SkinnyDot, module, "C", context);
    EXPECT_FALSE(made.empty());
    if (made.empty()) return std::string();
    ExpectSameMeaning(module, {made[0]});
    return ToText(made[0].trace());
  };
  constexpr char kGroups[] = "factors=[None, 8, 4]";
  EXPECT_THAT(steps_of(64, "uint8", 4), HasSubstr(kGroups));
  EXPECT_THAT(steps_of(102, "uint8", 4), HasSubstr(kGroups));
  constexpr char kPairs[] = "factors=[None, 8, 2]";
  EXPECT_THAT(steps_of(64, "int8", 4), HasSubstr(kPairs));
  EXPECT_THAT(steps_of(101, "uint8", 2), HasSubstr(kPairs));
  EXPECT_THAT(steps_of(64, "uint8", 1), Not(HasSubstr(kPairs)));
  EXPECT_THAT(steps_of(24, "uint8", 4), HasSubstr(kPairs));
  EXPECT_THAT(steps_of(14, "uint8", 4), Not(HasSubstr(kPairs)));
}

}  // namespace
}  // namespace kiln
