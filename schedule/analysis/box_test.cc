#include "kiln/schedule/analysis/box.h"

#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_replace.h"
#include "kiln/ir/text/printer/printer.h"
#include "kiln/schedule/testing/program.h"

namespace kiln {
namespace {

// The block W under loops i of 4, j of 6, k of 5, which writes A at INDEX where
// COND holds.
Function Program(const std::string& index, const std::string& cond = "True") {
  return ParseProgram(absl::StrReplaceAll(R"(
@T.prim_func
def main(A: T.Buffer((64, 64), "int32")):
    for i, j, k in T.grid(4, 6, 5):
        with T.block("W"):
            vi, vj, vk = T.axis.remap("SSS", [i, j, k])
            T.where(COND)
            A[INDEX] = 1
)",
                                          {{"INDEX", index}, {"COND", cond}}));
}

class Box {
 public:
  explicit Box(Function f)
      : f_(std::move(f)), scope_(*f_.body.As<BlockRealizeNode>()->block) {}

  const ScopeBlock& block() const { return scope_.blocks[0]; }
  const BufferRegion& written() const { return block().block().writes[0]; }
  std::vector<IntSet> Touched(size_t depth) {
    return TouchedBox(block(), written(), depth, &analyzer_);
  }
  bool Fills(size_t depth) {
    return FillsBox(block(), written(), depth, Touched(depth), &analyzer_);
  }
  bool FillsByCount(size_t depth) {
    return FillsBoxByCount(block(), InLoopVariables(block(), written()), depth,
                           Touched(depth), &analyzer_);
  }
  bool HasBounds(size_t depth, int dim, const std::string& min,
                 const std::string& max) {
    const IntSet set = Touched(depth)[dim];
    return set.min && set.max &&
           PrintExpr(analyzer_.Simplify(set.min)) == min &&
           PrintExpr(analyzer_.Simplify(set.max)) == max;
  }
  Analyzer* analyzer() { return &analyzer_; }

 private:
  Function f_;
  Scope scope_;
  Analyzer analyzer_;
};

TEST(BoxTest, TheHullGrowsWithTheLoopsThatRun) {
  Box box(Program("vi * 5 + vk, vj"));
  EXPECT_TRUE(box.HasBounds(0, 0, "0", "19"));
  EXPECT_TRUE(box.HasBounds(0, 1, "0", "5"));
  EXPECT_TRUE(box.HasBounds(1, 0, "i * 5", "i * 5 + 4"));
  EXPECT_TRUE(box.HasBounds(2, 1, "j", "j"));
  EXPECT_EQ(LoopsFrom(box.block(), 1).size(), 2u);
}

TEST(BoxTest, ABoxIsFilledWhereNoPointIsMissed) {
  EXPECT_TRUE(Box(Program("vi * 5 + vk, vj")).Fills(0));
  EXPECT_TRUE(Box(Program("vi * 5 + vk, vj")).Fills(2));
  EXPECT_TRUE(Box(Program("vi * 3 + vk, vj")).Fills(0));  // overlaps
  EXPECT_FALSE(Box(Program("vi * 6 + vk, vj")).Fills(0));
  EXPECT_FALSE(Box(Program("vj * 2, vk")).Fills(0));
  EXPECT_FALSE(Box(Program("vj, vj")).Fills(0));  // a diagonal
}

TEST(BoxTest, APredicateIsJudgedByTheLoopsThatItCuts) {
  EXPECT_TRUE(Box(Program("vi * 5 + vk, vj")).FillsByCount(0));
  EXPECT_FALSE(Box(Program("vi, vj", "(i + j) % 2 == 0")).FillsByCount(0));
}

TEST(BoxTest, LoopsMoveRegionsThatNameThem) {
  Box box(Program("vi, vj"));
  const std::vector<Range> region = InLoopVariables(box.block(), box.written());
  EXPECT_TRUE(MovesAny(*box.block().loops[0], region));
  EXPECT_TRUE(MovesAny(*box.block().loops[1], region));
  EXPECT_FALSE(MovesAny(*box.block().loops[2], region));
  EXPECT_TRUE(IsDenseBox(box.block().loops, region));
}

TEST(BoxTest, BoxesContainSmallerOnes) {
  Box wide(Program("vi * 5 + vk, vj"));
  const std::vector<IntSet> all = wide.Touched(0), row = wide.Touched(1);
  Box narrow(Program("vk, vj"));
  EXPECT_TRUE(Contains(all, narrow.Touched(0), wide.analyzer()));
  EXPECT_FALSE(Contains(narrow.Touched(0), all, wide.analyzer()));
  EXPECT_TRUE(Contains(all, all, wide.analyzer()));
}

TEST(BoxTest, QuotientsOfWhatLoopsRunThroughGo) {
  Box box(Program("(vi * 6 + vj) // 6, (vi * 6 + vj) % 6"));
  const std::vector<Range> region = InLoopVariables(box.block(), box.written());
  const std::optional<std::vector<Range>> plain =
      WithoutQuotients(region, box.block().loops);
  ASSERT_TRUE(plain.has_value());
  EXPECT_EQ(PrintExpr((*plain)[0].min), "i");
  EXPECT_EQ(PrintExpr((*plain)[1].min), "j");
  Box none(Program("vi, vj"));
  EXPECT_FALSE(WithoutQuotients(InLoopVariables(none.block(), none.written()),
                                none.block().loops)
                   .has_value());
}

}  // namespace
}  // namespace kiln
