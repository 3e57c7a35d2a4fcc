#include "kiln/schedule/analysis/path.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "kiln/base/status_matchers.h"
#include "kiln/ir/text/printer/printer.h"
#include "kiln/schedule/testing/program.h"

namespace kiln {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kProgram[] = R"(
@T.prim_func
def main(A: T.Buffer((8, 4), "float32"), D: T.Buffer((8, 4), "float32")):
    B = T.alloc_buffer((8, 4))
    for i, j in T.grid(8, 4):
        with T.block("X"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, vj]
    for i in range(8):
        with T.block("outer"):
            vi = T.axis.spatial(8, i)
            for j in range(4):
                with T.block("Y"):
                    vj = T.axis.spatial(4, j)
                    D[vi, vj] = B[vi, vj]
    for i in range(0):
        with T.block("X"):
            D[0, 0] = T.float32(1)
)";

std::vector<std::string> NamesBelow(const Stmt& s, bool deep) {
  std::vector<std::string> names;
  const auto add = [&](const BlockRealizeNode& realize) {
    names.push_back(realize.block->name);
  };
  deep ? ForEachBlockDeep(s, add) : ForEachBlock(s, add);
  return names;
}

TEST(PathTest, LeadsFromTheRootToABlock) {
  const Function f = ParseProgram(kProgram);
  const std::optional<Path> path = FindBlock(f, BlockNamed(f, "Y"));
  ASSERT_TRUE(path.has_value());
  EXPECT_EQ((*path)[0], f.body);
  EXPECT_EQ(path->realize()->block->name, "Y");
  EXPECT_EQ(path->loop(), nullptr);
  EXPECT_EQ(path->scope()->block->name, "outer");
  EXPECT_EQ((*path)[path->ScopeIndex()].As<BlockRealizeNode>(), path->scope());
  ASSERT_EQ(LoopsAbove(*path).size(), 1u);
  EXPECT_EQ(LoopsAbove(*path)[0]->var.name(), "j");
  EXPECT_EQ(path->Prefix(1).scope(), nullptr);
  EXPECT_EQ(path->Prefix(1).ScopeIndex(), -1);
}

TEST(PathTest, LeadsToALoopThatIsNotAboveItself) {
  const Function f = ParseProgram(kProgram);
  const std::vector<LoopId> loops = LoopsOf(f, "X");
  const std::optional<Path> path = FindLoop(f, loops[1]);
  ASSERT_TRUE(path.has_value());
  EXPECT_EQ(path->loop()->var.name(), "j");
  EXPECT_THAT(LoopIdsAbove(*path), ElementsAre(loops[0]));
  EXPECT_EQ(FindStmt(f, path->back())->size(), path->size());
  EXPECT_FALSE(FindLoop(f, 12345).has_value());
  EXPECT_FALSE(FindBlock(f, loops[0]).has_value());
}

TEST(PathTest, RefusesInTheNameOfThePrimitive) {
  const Function f = ParseProgram(kProgram);
  EXPECT_THAT(
      RequireBlock(f, 12345, "split"),
      StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("split: ")));
  EXPECT_THAT(
      RequireLoop(f, 12345, "fuse"),
      StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("fuse: ")));
  const std::vector<BlockId> both = BlocksNamed(f, "X");
  ASSERT_EQ(both.size(), 2u);
  KILN_EXPECT_OK(RequireBlockThatRuns(f, both[0], "p").status());
  KILN_EXPECT_OK(RequireBlock(f, both[1], "p").status());
  EXPECT_FALSE(RequireBlockThatRuns(f, both[1], "p").ok());
}

TEST(PathTest, BlocksAreVisitedInOrder) {
  const Function f = ParseProgram(kProgram);
  const Stmt& body = f.body.As<BlockRealizeNode>()->block->body;
  EXPECT_THAT(NamesBelow(body, false), ElementsAre("X", "outer", "X"));
  EXPECT_THAT(NamesBelow(body, true), ElementsAre("X", "outer", "Y", "X"));
  EXPECT_THAT(NamesBelow(f.body, true),
              ElementsAre("root", "X", "outer", "Y", "X"));
}

TEST(PathTest, RemovalTakesTheLoopsThatHaveNoBodyThen) {
  const Function f = ParseProgram(kProgram);
  const std::optional<Path> path = FindBlock(f, BlocksNamed(f, "X")[0]);
  const std::optional<Removal> removal = RemoveAt(*path);
  ASSERT_TRUE(removal.has_value());
  const Function g = ReplaceAt(f, removal->path, removal->replacement);
  EXPECT_THAT(PrintFunction(g),
              AllOf(Not(HasSubstr("T.grid(8, 4)")), HasSubstr("\"Y\"")));
  EXPECT_THAT(BlocksNamed(g, "X"), ElementsAre(BlocksNamed(f, "X")[1]));
  // The scope of Y would be empty.
  EXPECT_FALSE(RemoveAt(*FindBlock(f, BlockNamed(f, "Y"))).has_value());
}

TEST(PathTest, ReplacingKeepsWhatStandsBeside) {
  const Function f = ParseProgram(kProgram);
  const std::optional<Path> path = FindBlock(f, BlockNamed(f, "Y"));
  const Function g = ReplaceAt(f, *path, MakeEvaluate(Int(7)));
  EXPECT_EQ(BlocksNamed(g, "Y").size(), 0u);
  EXPECT_EQ(FindBlock(g, BlocksNamed(f, "X")[0])->back(),
            FindBlock(f, BlocksNamed(f, "X")[0])->back());
}

TEST(PathTest, ArgumentsAndAllocationsAreToldApart) {
  const Function f = ParseProgram(kProgram);
  const BlockNode& x = *RealizeNamed(f, "X").block;
  EXPECT_TRUE(IsArgument(f, x.reads[0].buffer));
  EXPECT_FALSE(IsAllocated(f, x.reads[0].buffer));
  EXPECT_FALSE(IsArgument(f, x.writes[0].buffer));
  EXPECT_TRUE(IsAllocated(f, x.writes[0].buffer));
}

}  // namespace
}  // namespace kiln
