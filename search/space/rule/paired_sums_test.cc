// Sums of pairs of steps, where vectors of 16 bytes have no load for all lanes:
// which blocks get them, how panels hold them, and that all designs compute
// what the program computes.
#include "kiln/search/space/rule/paired_sums.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/substitute.h"
#include "kiln/ir/te/workloads.h"
#include "kiln/schedule/trace/print.h"
#include "kiln/search/space/rule/rules.h"
#include "kiln/search/space/rule/testing.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;

RuleContext Sse() {
  RuleContext context;
  context.registers = kSseRegisters;
  return context;
}

// The designs of the rule that add up pairs.
std::vector<Schedule> PairedTilings(const Module& module,
                                    const std::string& block,
                                    const RuleContext& context = Sse()) {
  std::vector<Schedule> paired;
  for (Schedule& made : ApplyRule(RegisterTiling, module, block, context)) {
    if (absl::StrContains(ToText(made.trace()), "sch.rfactor")) {
      paired.push_back(std::move(made));
    }
  }
  return paired;
}

// A of rows x steps times B of steps x columns; `last` becomes of an element.
Module Product(int rows, int columns, int steps,
               const std::string& dtype = "float32",
               const std::string& last = "C[vi, vj]") {
  return ParseProgram(absl::Substitute(R"(
@T.prim_func
def main(A: T.Buffer(($0, $2), "$3"), B: T.Buffer(($2, $1), "$3"), c: T.Buffer(($1,), "$3"), Y: T.Buffer(($0, $1), "$3")):
    C = T.alloc_buffer(($0, $1), "$3")
    for i, j, k in T.grid($0, $1, $2):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = T.$3(0)
            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
    for i, j in T.grid($0, $1):
        with T.block("Y"):
            vi, vj = T.axis.remap("SS", [i, j])
            Y[vi, vj] = $4
)",
                                       rows, columns, steps, dtype, last));
}

TEST(PairedSumsTest, EvenAndOddStepsOfProductsAreSummedSideBySide) {
  const Module module = *MakeWorkload("gmm:19,40,22");
  const auto made = PairedTilings(module, "Z");
  ASSERT_FALSE(made.empty());
  for (const Schedule& sch : made) {
    EXPECT_THAT(ToText(sch.trace()), HasSubstr("d1 // 2, d2 % "));
    EXPECT_THAT(ToText(sch.trace()), HasSubstr(", d1 % 2,)"));
  }
  ExpectSameMeaning(module, made);
}

TEST(PairedSumsTest, ColumnsMayBeAnyNumber) {
  for (const int columns : {4, 5, 7, 9, 10, 13, 37}) {
    const Module module = Product(7, columns, 12);
    const auto made = PairedTilings(module, "C");
    EXPECT_FALSE(made.empty()) << columns;
    if (!made.empty()) ExpectSameMeaning(module, made, 2);
  }
}

TEST(PairedSumsTest, ConsumersAreDoneOnTheTile) {
  const Module module =
      Product(10, 12, 16, "float32", "T.max(C[vi, vj] + c[vj], T.float32(0))");
  const auto made = PairedTilings(module, "C");
  ASSERT_FALSE(made.empty());
  for (const Function& f : ExpectSameMeaning(module, made)) {
    EXPECT_EQ(CountRootLoops(f), 2) << "panels, and the rest";
  }
}

TEST(PairedSumsTest, ConvolutionsPairTheirChannels) {
  for (const char* spec : {"c2d:9,7,6,10,3,1,1", "c2d:9,7,6,10,3,2,1",
                           "c1d:20,6,8,3,1,1", "cbr:6,6,8,8,3,1,1"}) {
    const Module module = *MakeWorkload(spec);
    for (const std::string& block : RootBlocks(module.functions[0])) {
      const auto made = PairedTilings(module, block);
      if (block == "PadInput" || made.empty()) continue;
      EXPECT_THAT(ToText(made[0].trace()), HasSubstr(" // 2"));
      ExpectSameMeaning(module, made, 2);
    }
  }
}

// Panels hold pairs of what lies side by side already.
TEST(PairedSumsTest, TransposedOperandsArePairedAsPanelsAreMade) {
  const Module module = ParseProgram(R"(
@T.prim_func
def main(A: T.Buffer((18, 24), "float32"), W: T.Buffer((20, 24), "float32"), Y: T.Buffer((18, 20), "float32")):
    B = T.alloc_buffer((24, 20))
    for k, j in T.grid(24, 20):
        with T.block("B"):
            vk, vj = T.axis.remap("SS", [k, j])
            B[vk, vj] = W[vj, vk]
    for i, j, k in T.grid(18, 20, 24):
        with T.block("Y"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                Y[vi, vj] = T.float32(0)
            Y[vi, vj] = Y[vi, vj] + A[vi, vk] * B[vk, vj]
)");
  const auto made = PairedTilings(module, "Y");
  ASSERT_FALSE(made.empty());
  for (const Function& f : ExpectSameMeaning(module, made)) {
    EXPECT_EQ(CountRootLoops(f), 2) << "no transpose of its own";
  }
}

TEST(PairedSumsTest, PanelsMayBeMadeWhereTheyAreUsed) {
  const Module module = *MakeWorkload("gmm:33,1000,264");
  int near = 0;
  for (const Schedule& sch : PairedTilings(module, "Z")) {
    if (!absl::StrContains(ToText(sch.trace()), "sch.compute_at")) continue;
    ++near;
    ExpectSameMeaning(module, {sch}, 1);
  }
  EXPECT_GT(near, 0);
}

TEST(PairedSumsTest, ConstantsLieInPairsAhead) {
  const Module module = *MakeWorkload("gmm:18,20,24:layout_free");
  const auto made = PairedTilings(module, "Z");
  ASSERT_FALSE(made.empty());
  for (const Schedule& sch : made) {
    EXPECT_THAT(ToText(sch.trace()), HasSubstr("meta_schedule.layout"));
  }
  ExpectSameMeaning(module, made);
}

TEST(PairedSumsTest, OthersStayAsTheyAre) {
  RuleContext avx;
  avx.registers = kAvxRegisters;
  EXPECT_TRUE(PairedTilings(*MakeWorkload("gmm:19,40,22"), "Z", avx).empty());
  EXPECT_TRUE(PairedTilings(Product(8, 12, 15), "C").empty()) << "odd";
  EXPECT_TRUE(PairedTilings(Product(8, 12, 16, "float64"), "C").empty());
  EXPECT_TRUE(PairedTilings(Product(8, 12, 16, "int32"), "C").empty());
  EXPECT_TRUE(PairedTilings(Product(1, 12, 16), "C").empty()) << "one row";
  EXPECT_TRUE(
      PairedTilings(*MakeWorkload("dep:9,11,20,3,1,1"), "depth_conv2d_nhwc")
          .empty());
}

// 18 x 20 sums of 24 products of an element `a` and B[vk, vj].
Module SumsOf(const std::string& a, const std::string& shape_of_a,
              const std::string& loops, const std::string& kinds) {
  return ParseProgram(absl::Substitute(R"(
@T.prim_func
def main(A: T.Buffer(($1), "float32"), B: T.Buffer((24, 20), "float32"), Y: T.Buffer((18, 20), "float32")):
    for $2:
        with T.block("Y"):
            $3
            with T.init():
                Y[vi, vj] = T.float32(0)
            Y[vi, vj] = Y[vi, vj] + $0 * B[vk, vj]
)",
                                       a, shape_of_a, loops, kinds));
}

TEST(PairedSumsTest, LoopsMayComeInAnyOrder) {
  const Module module =
      SumsOf("A[vi, vk]", "18, 24", "k, i, j in T.grid(24, 18, 20)",
             R"(vk, vi, vj = T.axis.remap("RSS", [k, i, j]))");
  const auto made = PairedTilings(module, "Y");
  EXPECT_FALSE(made.empty());
  ExpectSameMeaning(module, made);
}

// Of A[k, i] and A[k + 1, i] no load gives both.
TEST(PairedSumsTest, StepsHaveToBeNeighbours) {
  const Module module =
      SumsOf("A[vk, vi]", "24, 18", "i, j, k in T.grid(18, 20, 24)",
             R"(vi, vj, vk = T.axis.remap("SSR", [i, j, k]))");
  EXPECT_TRUE(PairedTilings(module, "Y").empty());
}

}  // namespace
}  // namespace kiln
