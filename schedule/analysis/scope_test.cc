#include "kiln/schedule/analysis/scope.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <tuple>
#include <vector>

#include "kiln/schedule/testing/program.h"

namespace kiln {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

// X makes B, Y reads it into D, Z overwrites B, which is read into the output.
constexpr char kProgram[] = R"(
@T.prim_func
def main(A: T.Buffer((8,), "float32"), D: T.Buffer((8,), "float32")):
    B = T.alloc_buffer((8,))
    for i in range(8):
        with T.block("X"):
            vi = T.axis.spatial(8, i)
            B[vi] = A[vi]
    for i in range(8):
        for j in range(1):
            with T.block("Y"):
                vi = T.axis.spatial(8, i)
                D[vi] = B[vi]
        with T.block("Z"):
            vi = T.axis.spatial(8, i)
            B[vi] = A[vi] + T.float32(1)
)";

const BlockNode& RootOf(const Function& f) {
  return *f.body.As<BlockRealizeNode>()->block;
}

std::vector<std::string> Names(const Scope& scope,
                               const std::vector<int>& indices) {
  std::vector<std::string> names;
  for (int i : indices) names.push_back(scope.blocks[i].block().name);
  return names;
}

TEST(ScopeTest, HoldsItsBlocksInOrderWithTheirLoops) {
  const Function f = ParseProgram(kProgram);
  const Scope scope(RootOf(f));
  EXPECT_TRUE(scope.only_loops_and_blocks);
  EXPECT_THAT(Names(scope, {0, 1, 2}), ElementsAre("X", "Y", "Z"));
  EXPECT_EQ(scope.blocks.size(), 3u);
  EXPECT_EQ(scope.blocks[1].loops.size(), 2u);
  EXPECT_EQ(scope.blocks[2].loops.size(), 1u);
  EXPECT_EQ(scope.blocks[1].loops[0], scope.blocks[2].loops[0]);
  EXPECT_EQ(scope.IndexOf(BlockNamed(f, "Z")), 2);
  EXPECT_EQ(scope.IndexOf(BlockNamed(f, "root")), -1);
}

TEST(ScopeTest, DependencesTellReadsAndWritesApart) {
  const Function f = ParseProgram(kProgram);
  const Scope scope(RootOf(f));
  std::vector<std::tuple<int, int, DependenceKind>> found;
  for (const Dependence& d : scope.Dependences()) {
    found.emplace_back(d.source, d.target, d.kind);
  }
  EXPECT_THAT(found,
              UnorderedElementsAre(std::tuple(0, 1, DependenceKind::kRaw),
                                   std::tuple(0, 2, DependenceKind::kWaw),
                                   std::tuple(1, 2, DependenceKind::kWar)));
}

TEST(ScopeTest, NeighboursAreNamedOnceEach) {
  const Function f = ParseProgram(kProgram);
  const Scope scope(RootOf(f));
  EXPECT_THAT(Names(scope, scope.Producers(1)), ElementsAre("X"));
  EXPECT_THAT(Names(scope, scope.Consumers(0)), ElementsAre("Y", "Z"));
  EXPECT_THAT(scope.Producers(0), IsEmpty());
  const Buffer b = scope.blocks[0].block().writes[0].buffer;
  EXPECT_THAT(Names(scope, scope.Writers(b)), ElementsAre("X", "Z"));
  EXPECT_THAT(Names(scope, scope.Readers(b)), ElementsAre("Y"));
}

TEST(ScopeTest, OutputsAreWhatTheScopeDoesNotAllocate) {
  const Function f = ParseProgram(kProgram);
  const Scope scope(RootOf(f));
  EXPECT_FALSE(scope.IsOutput(0));
  EXPECT_TRUE(scope.IsOutput(1));
  EXPECT_FALSE(scope.IsOutput(2));
}

TEST(ScopeTest, ASubtreeHasItsOwnBlocksOnly) {
  const Function f = ParseProgram(kProgram);
  const Scope whole(RootOf(f));
  const SeqNode* seq = RootOf(f).body.As<SeqNode>();
  ASSERT_NE(seq, nullptr);
  const Scope part(RootOf(f), seq->stmts[1]);
  ASSERT_EQ(part.blocks.size(), 2u);
  EXPECT_EQ(part.blocks[0].block().name, "Y");
  EXPECT_EQ(part.IndexOf(BlockNamed(f, "X")), -1);
  EXPECT_EQ(part.Dependences().size(), 1u);
}

TEST(ScopeTest, OtherStatementsAreTold) {
  const Function f = ParseProgram(R"(
@T.prim_func
def main(A: T.Buffer((8,), "float32")):
    with T.block("root"):
        A[0] = T.float32(1)
        with T.block("X"):
            A[1] = T.float32(2)
)");
  EXPECT_FALSE(Scope(RootOf(f)).only_loops_and_blocks);
}

}  // namespace
}  // namespace kiln
