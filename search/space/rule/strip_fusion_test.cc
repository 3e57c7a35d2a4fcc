// Depthwise convolutions and pooling of what a product makes, written in the
// ways in which models have them: strips compute the same in one parallel loop,
// and where others read what is between, or taps mix channels, there are none.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "kiln/schedule/trace/print.h"
#include "kiln/search/space/rule/rules.h"
#include "kiln/search/space/rule/testing.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;

// A product of 12 x 10 pixels, 16 of whose columns are used, and its end.
constexpr char kProduct[] = R"(
@T.prim_func
def main(X: T.Buffer((IMAGES, 12, 10, 3), "float32"), W: T.Buffer((3, 16), "float32"), b: T.Buffer((16,), "float32"), D: T.Buffer((3, 3, 16), "float32"), Y: T.Buffer((IMAGES, ROWS, COLUMNS, 16), "float32"), Z: T.Buffer((IMAGES, 12, 10, 16), "float32")):
    C = T.alloc_buffer((IMAGES, 12, 10, 16))
    E = T.alloc_buffer((IMAGES, 12, 10, 16))
    S = T.alloc_buffer((IMAGES, 12, 10, 16))
    P = T.alloc_buffer((IMAGES, 14, 12, 16))
    for i0, i1, i2, i3, k in T.grid(IMAGES, 12, 10, 16, 3):
        with T.block("C"):
            n, h, w, c, r = T.axis.remap("SSSSR", [i0, i1, i2, i3, k])
            with T.init():
                C[n, h, w, c] = T.float32(0)
            C[n, h, w, c] = C[n, h, w, c] + X[n, h, w, r] * W[r, c]
    for i0, i1, i2, i3 in T.grid(IMAGES, 12, 10, 16):
        with T.block("E"):
            n, h, w, c = T.axis.remap("SSSS", [i0, i1, i2, i3])
            E[n, h, w, c] = T.max(C[n, h, w, c] + b[c], T.float32(0))
)";

// x * sigmoid(x), say: what E makes is used twice.
constexpr char kSwish[] = R"(
    for i0, i1, i2, i3 in T.grid(IMAGES, 12, 10, 16):
        with T.block("S"):
            n, h, w, c = T.axis.remap("SSSS", [i0, i1, i2, i3])
            S[n, h, w, c] = E[n, h, w, c] * T.sigmoid(E[n, h, w, c])
)";

constexpr char kPadding[] = R"(
    for i0, i1, i2, i3 in T.grid(IMAGES, 14, 12, 16):
        with T.block("P"):
            n, h, w, c = T.axis.remap("SSSS", [i0, i1, i2, i3])
            P[n, h, w, c] = T.if_then_else(1 <= h and h < 13 and 1 <= w and w < 11, E[n, h - 1, w - 1, c], T.float32(0))
)";

constexpr char kDepthwise[] = R"(
    A = T.alloc_buffer((IMAGES, ROWS, COLUMNS, 16))
    for i0, i1, i2, i3, ky, kx in T.grid(IMAGES, ROWS, COLUMNS, 16, 3, 3):
        with T.block("A"):
            n, h, w, c, y, x = T.axis.remap("SSSSRR", [i0, i1, i2, i3, ky, kx])
            with T.init():
                A[n, h, w, c] = T.float32(0)
            A[n, h, w, c] = A[n, h, w, c] + P[n, h * STEP + y, w * STEP + x, c] * D[y, x, c]
    for i0, i1, i2, i3 in T.grid(IMAGES, ROWS, COLUMNS, 16):
        with T.block("Y"):
            n, h, w, c = T.axis.remap("SSSS", [i0, i1, i2, i3])
            Y[n, h, w, c] = T.min(A[n, h, w, c] + b[c], T.float32(6))
)";

constexpr char kPooling[] = R"(
    for i0, i1, i2, i3, ky, kx in T.grid(IMAGES, ROWS, COLUMNS, 16, 3, 3):
        with T.block("A"):
            n, h, w, c, y, x = T.axis.remap("SSSSRR", [i0, i1, i2, i3, ky, kx])
            with T.init():
                Y[n, h, w, c] = T.float32(-1000)
            Y[n, h, w, c] = T.max(Y[n, h, w, c], E[n, h + y, w + x, c])
)";

Module Program(const std::string& text, int images, int step, int rows,
               int columns) {
  return ParseProgram(
      absl::StrReplaceAll(text, {{"IMAGES", absl::StrCat(images)},
                                 {"STEP", absl::StrCat(step)},
                                 {"ROWS", absl::StrCat(rows)},
                                 {"COLUMNS", absl::StrCat(columns)}}));
}

std::vector<Schedule> Made(const Module& module) {
  RuleContext context;
  context.registers = kAvxRegisters;
  return ApplyRule(StripFusion, module, "A", context);
}

// All but the last, which leaves the module as it is.
void ExpectStrips(const Module& module) {
  std::vector<Schedule> made = Made(module);
  ASSERT_GT(made.size(), 1u);
  EXPECT_TRUE(made.back().trace().instructions.empty());
  made.pop_back();
  for (const Function& f : ExpectSameMeaning(module, made, /*draws=*/6)) {
    EXPECT_EQ(CountRootLoops(f), 1);
    EXPECT_EQ(CountLoops(f, ForKind::kParallel), 1);
  }
}

TEST(StripFusionTest, StripsOfRowsGoThroughBoth) {
  ExpectStrips(
      Program(absl::StrCat(kProduct, kPadding, kDepthwise), 1, 1, 12, 10));
}

TEST(StripFusionTest, StepsMayBeLongerThanOne) {
  ExpectStrips(
      Program(absl::StrCat(kProduct, kPadding, kDepthwise), 1, 2, 6, 5));
}

TEST(StripFusionTest, ImagesAreApart) {
  ExpectStrips(
      Program(absl::StrCat(kProduct, kPadding, kDepthwise), 2, 2, 6, 5));
}

TEST(StripFusionTest, WhatIsBetweenMayUseThingsTwice) {
  const std::string text = absl::StrCat(
      kProduct, kSwish,
      absl::StrReplaceAll(kPadding, {{"E[n, h - 1", "S[n, h - 1"}}),
      kDepthwise);
  ExpectStrips(Program(text, 1, 1, 12, 10));
}

TEST(StripFusionTest, PoolingIsAWindowToo) {
  ExpectStrips(Program(absl::StrCat(kProduct, kPooling), 1, 1, 10, 8));
}

// Few rows of few channels at a time.
TEST(StripFusionTest, StripsAreAsHighAsStaysNear) {
  const Module module =
      Program(absl::StrCat(kProduct, kPadding, kDepthwise), 1, 1, 12, 10);
  RuleContext context;
  context.registers = kAvxRegisters;
  context.near_bytes = 5 * 12 * 16 * 4;
  const auto made = ApplyRule(StripFusion, module, "A", context);
  ASSERT_GT(made.size(), 1u);
  EXPECT_THAT(ToText(made[0].trace()), HasSubstr("candidates=[3, 2, 1]"));
  context.near_bytes = 12 * 16 * 4;
  EXPECT_TRUE(ApplyRule(StripFusion, module, "A", context).empty());
}

TEST(StripFusionTest, OthersMayNotReadWhatIsBetween) {
  const std::string other = R"(
    for i0, i1, i2, i3 in T.grid(IMAGES, 12, 10, 16):
        with T.block("Z"):
            n, h, w, c = T.axis.remap("SSSS", [i0, i1, i2, i3])
            Z[n, h, w, c] = E[n, h, w, c]
)";
  EXPECT_TRUE(Made(Program(absl::StrCat(kProduct, kPadding, kDepthwise, other),
                           1, 1, 12, 10))
                  .empty());
}

TEST(StripFusionTest, TapsMayNotMixChannels) {
  const std::string text = absl::StrReplaceAll(
      absl::StrCat(kProduct, kPooling),
      {{"COLUMNS, 16, 3, 3", "COLUMNS, 14, 3, 3"}, {"w + x, c]", "w, c + x]"}});
  EXPECT_TRUE(Made(Program(text, 1, 1, 10, 10)).empty());
}

TEST(StripFusionTest, OpenSizesStay) {
  const Module module =
      Program(absl::StrCat(kProduct, kPadding, kDepthwise), 1, 1, 12, 10);
  RuleContext context;
  context.registers = kAvxRegisters;
  context.open_size = 12;
  EXPECT_TRUE(ApplyRule(StripFusion, module, "A", context).empty());
}

}  // namespace
}  // namespace kiln
