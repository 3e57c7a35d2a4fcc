#include <gtest/gtest.h>

#include "kiln/ir/te/workloads.h"
#include "kiln/search/space/rule/rules.h"
#include "kiln/search/space/rule/testing.h"

namespace kiln {
namespace {

TEST(SplitReductionTest, ANormIsSummedUpInPartsAndVectors) {
  for (const char* shape : {"64,64", "33,100", "1,4096"}) {
    const Module module = *MakeWorkload(std::string("nrm:") + shape);
    const auto made = ApplyRule(SplitReduction, module, "C");
    ASSERT_EQ(made.size(), 1u) << shape;
    for (const Function& f : ExpectSameMeaning(module, made)) {
      EXPECT_EQ(CountLoops(f, ForKind::kParallel), 1);
      EXPECT_GE(CountLoops(f, ForKind::kVectorized), 3);
    }
  }
}

TEST(SplitReductionTest, AFewLongRowsAreSplitToo) {
  const Module module = ParseProgram(R"(
@T.prim_func
def main(A: T.Buffer((3, 5000), "float32"), C: T.Buffer((3,), "float32")):
    for i, k in T.grid(3, 5000):
        with T.block("C"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                C[vi] = T.float32(-1000)
            C[vi] = T.max(C[vi], A[vi, vk])
)");
  ExpectSameMeaning(module, ApplyRule(SplitReduction, module, "C"));
}

TEST(SplitReductionTest, ShortSumsAndProductsAreLeftAlone) {
  EXPECT_TRUE(
      ApplyRule(SplitReduction, *MakeWorkload("nrm:8,64"), "C").empty());
  EXPECT_TRUE(
      ApplyRule(SplitReduction, *MakeWorkload("gmm:2,4,4096"), "Z").empty());
  EXPECT_TRUE(ApplyRule(SplitReduction, *MakeWorkload("sfm:64,4096"),
                        "T_softmax_expsum")
                  .empty());
}

}  // namespace
}  // namespace kiln
