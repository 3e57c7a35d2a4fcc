#include "kiln/schedule/analysis/loops_run.h"

#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "kiln/schedule/analysis/path.h"
#include "kiln/schedule/testing/program.h"

namespace kiln {
namespace {

// The loops i, j and k around a block, with extents as given; n is an argument.
class Nest {
 public:
  Nest(const std::string& i, const std::string& j, const std::string& k)
      : function_(ParseProgram(absl::StrCat(R"(
@T.prim_func
def main(a: T.handle):
    n = T.int32()
    A = T.match_buffer(a, (n,))
    for i in range()",
                                            i, R"():
        for j in range()",
                                            j, R"():
            for k in range()",
                                            k, R"():
                with T.block("A"):
                    v = T.axis.spatial(n, i + j + k)
                    A[v] = T.float32(1)
)"))),
        path_(*FindBlock(function_, BlockNamed(function_, "A"))),
        loops_(LoopsAbove(path_)) {}

  // Of the loops at these depths.
  bool MayNotRun(const std::vector<size_t>& depths) const {
    std::vector<const ForNode*> inner;
    for (size_t depth : depths) inner.push_back(loops_[depth]);
    return kiln::MayNotRun(loops_, inner);
  }

  const std::vector<const ForNode*>& loops() const { return loops_; }

 private:
  Function function_;
  Path path_;
  std::vector<const ForNode*> loops_;
};

TEST(MayNotRunTest, ConstantExtentsAreAtLeastOne) {
  EXPECT_FALSE(Nest("4", "8", "2").MayNotRun({0, 1, 2}));
  EXPECT_FALSE(Nest("4", "8", "i").MayNotRun({0, 1}));
  EXPECT_FALSE(Nest("4", "8", "i").MayNotRun({}));
}

TEST(MayNotRunTest, AnExtentThatALoopAroundDecidesMayBeZero) {
  EXPECT_TRUE(Nest("4", "8", "i").MayNotRun({2}));
  EXPECT_TRUE(Nest("4", "i", "2").MayNotRun({1, 2}));
  EXPECT_TRUE(Nest("4", "8", "j - i").MayNotRun({2}));
  EXPECT_TRUE(Nest("n", "8", "n - i - 1").MayNotRun({2}));
}

TEST(MayNotRunTest, AnExtentThatIsProvenPositiveRuns) {
  EXPECT_FALSE(Nest("4", "8", "i + 1").MayNotRun({2}));
  EXPECT_FALSE(Nest("4", "8", "4 - i").MayNotRun({2}));
  EXPECT_FALSE(Nest("n", "8", "n - i").MayNotRun({2}));
}

TEST(MayNotRunTest, OnlyTheLoopsAskedAboutCount) {
  EXPECT_FALSE(Nest("4", "i", "2").MayNotRun({2}));
  EXPECT_FALSE(Nest("4", "i", "j + 1").MayNotRun({2}));
}

// An extent that is the same in all iterations is no question of one.
TEST(MayNotRunTest, AnExtentFromOutsideIsTheSameInAllIterations) {
  EXPECT_FALSE(Nest("n", "8", "n").MayNotRun({0, 1, 2}));
  EXPECT_FALSE(Nest("4", "n - 3", "2").MayNotRun({1}));
}

Expr Positive(const Expr& e) { return LT(Int(0), e); }

TEST(LoopsRunTest, ExtentsFromOutsideArePositiveWhileItLives) {
  const Nest nest("4", "n - 3", "2");
  const Expr extent = nest.loops()[1]->extent;
  Analyzer analyzer;
  {
    const LoopsRun run(nest.loops(), &analyzer);
    EXPECT_TRUE(analyzer.CanProve(Positive(extent)));
  }
  EXPECT_FALSE(analyzer.CanProve(Positive(extent)));
}

TEST(LoopsRunTest, AllThatItAssumedIsForgotten) {
  const Nest nest("n", "n - 3", "n - 5");
  Analyzer analyzer;
  {
    const LoopsRun run(nest.loops(), &analyzer);
    for (const ForNode* loop : nest.loops()) {
      EXPECT_TRUE(analyzer.CanProve(Positive(loop->extent)));
    }
  }
  for (const ForNode* loop : nest.loops()) {
    EXPECT_FALSE(analyzer.CanProve(Positive(loop->extent)));
  }
}

TEST(LoopsRunTest, FusedRoundedUpQuotientsThatRunAreOfSomething) {
  const Nest nest("(n + 11) // 12 * 12", "4", "2");
  const Expr extent = nest.loops()[0]->extent;
  const auto* sum =
      extent.As<BinaryNode>()->a.As<BinaryNode>()->a.As<BinaryNode>();
  Analyzer analyzer;
  EXPECT_FALSE(analyzer.CanProve(Positive(sum->a)));
  const LoopsRun run(nest.loops(), &analyzer);
  EXPECT_TRUE(analyzer.CanProve(Positive(sum->a)));
}

TEST(LoopsRunTest, RoundedUpQuotientsThatRunAreOfSomething) {
  const Nest nest("(n + 15) // 16", "4", "2");
  const Expr extent = nest.loops()[0]->extent;
  const Expr n = Sub(extent.As<BinaryNode>()->a, Int(15));
  Analyzer analyzer;
  EXPECT_FALSE(analyzer.CanProve(Positive(n)));
  const LoopsRun run(nest.loops(), &analyzer);
  EXPECT_TRUE(analyzer.CanProve(Positive(n)));
}

TEST(LoopsRunTest, SaysNothingOfExtentsThatVaryFromIterationToIteration) {
  const Nest nest("4", "n - i", "2");
  Analyzer analyzer;
  const LoopsRun run(nest.loops(), &analyzer);
  EXPECT_FALSE(analyzer.CanProve(Positive(nest.loops()[1]->extent)));
}

}  // namespace
}  // namespace kiln
