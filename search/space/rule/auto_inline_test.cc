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

TEST(AutoInlineTest, OutputsSumsAndExpensiveFunctionsStay) {
  EXPECT_TRUE(Inlined("cbr:6,6,2,4,3,1,1", "compute").empty());
  EXPECT_TRUE(Inlined("cbr:6,6,2,4,3,1,1", "Conv2dOutput").empty());
  EXPECT_TRUE(Inlined("sfm:8,16", "T_softmax_exp").empty());
}

}  // namespace
}  // namespace kiln
