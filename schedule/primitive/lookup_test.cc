#include "kiln/schedule/primitive/lookup.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kiln/base/status_matchers.h"
#include "kiln/schedule/testing/program.h"

namespace kiln {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr auto kRefused = absl::StatusCode::kFailedPrecondition;

// B feeds C and D; D comes in two blocks of one name.
constexpr char kDiamond[] = R"(
@T.prim_func
def main(A: T.Buffer((4, 4), "float32"), C: T.Buffer((4, 4), "float32"), D: T.Buffer((8,), "float32")):
    B = T.alloc_buffer((4, 4))
    for i, j in T.grid(4, 4):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, vj]
    for i in range(4):
        with T.block("outer"):
            vi = T.axis.spatial(4, i)
            for j in range(4):
                with T.block("C"):
                    vj = T.axis.spatial(4, j)
                    C[vi, vj] = B[vi, vj]
    for i in range(4):
        with T.block("D"):
            vi = T.axis.spatial(4, i)
            D[vi] = B[vi, 0]
        with T.block("D"):
            vi = T.axis.spatial(4, i)
            D[vi + 4] = B[vi, 1]
)";

std::vector<std::string> Names(const Function& f,
                               const std::vector<BlockId>& ids) {
  std::vector<std::string> names;
  for (BlockId id : ids) {
    for (const char* name : {"B", "outer", "C", "D", "root"}) {
      const auto found = GetBlock(f, name);
      if (found.ok() ? *found == id : std::string(name) == "D") {
        names.push_back(name);
        break;
      }
    }
  }
  return names;
}

TEST(Lookup, FindsABlockByNameAtAnyDepth) {
  const Function f = ParseProgram(kDiamond);
  for (const char* name : {"B", "outer", "C", "root"}) {
    KILN_ASSERT_OK_AND_ASSIGN(const BlockId id, GetBlock(f, name));
    EXPECT_EQ(id, BlockNamed(f, name));
  }
}

TEST(Lookup, RefusesUnknownAndAmbiguousNames) {
  const Function f = ParseProgram(kDiamond);
  EXPECT_THAT(GetBlock(f, "b"),
              StatusIs(kRefused, HasSubstr("no block of `main` is called `b`; "
                                           "there are root, B, outer, C, D")));
  EXPECT_THAT(GetBlock(f, "D"),
              StatusIs(kRefused, HasSubstr("2 blocks of `main`")));
}

TEST(Lookup, LoopsEndAtTheEnclosingBlock) {
  const Function f = ParseProgram(kDiamond);
  KILN_ASSERT_OK_AND_ASSIGN(const auto b, GetLoops(f, BlockNamed(f, "B")));
  EXPECT_EQ(b.size(), 2u);
  KILN_ASSERT_OK_AND_ASSIGN(const auto c, GetLoops(f, BlockNamed(f, "C")));
  EXPECT_EQ(c.size(), 1u);
  KILN_ASSERT_OK_AND_ASSIGN(const auto root, GetLoops(f, f.root().id));
  EXPECT_THAT(root, IsEmpty());
  EXPECT_THAT(GetLoops(f, 999), StatusIs(kRefused, HasSubstr("no block 999")));
}

TEST(Lookup, ChildrenAreThoseThatStandDirectlyBelow) {
  const Function f = ParseProgram(kDiamond);
  KILN_ASSERT_OK_AND_ASSIGN(const auto of_root,
                            GetChildBlocksOfBlock(f, f.root().id));
  EXPECT_THAT(Names(f, of_root), ElementsAre("B", "outer", "D", "D"));
  KILN_ASSERT_OK_AND_ASSIGN(const auto of_outer,
                            GetChildBlocksOfBlock(f, BlockNamed(f, "outer")));
  EXPECT_THAT(Names(f, of_outer), ElementsAre("C"));
  KILN_ASSERT_OK_AND_ASSIGN(const auto of_loop,
                            GetChildBlocksOfLoop(f, LoopsOf(f, "D")[0]));
  EXPECT_THAT(Names(f, of_loop), ElementsAre("D", "D"));
  EXPECT_FALSE(GetChildBlocksOfBlock(f, 999).ok());
  EXPECT_FALSE(GetChildBlocksOfLoop(f, 999).ok());
}

TEST(Lookup, ProducersAndConsumersStayInTheScope) {
  const Function f = ParseProgram(kDiamond);
  KILN_ASSERT_OK_AND_ASSIGN(const auto consumers,
                            GetConsumers(f, BlockNamed(f, "B")));
  EXPECT_THAT(Names(f, consumers), ElementsAre("outer", "D", "D"));
  KILN_ASSERT_OK_AND_ASSIGN(const auto producers,
                            GetProducers(f, BlockNamed(f, "outer")));
  EXPECT_THAT(Names(f, producers), ElementsAre("B"));
  KILN_ASSERT_OK_AND_ASSIGN(const auto inner,
                            GetProducers(f, BlockNamed(f, "C")));
  EXPECT_THAT(inner, IsEmpty());
  KILN_ASSERT_OK_AND_ASSIGN(const auto root, GetProducers(f, f.root().id));
  EXPECT_THAT(root, IsEmpty());
  EXPECT_FALSE(GetProducers(f, 999).ok());
  EXPECT_FALSE(GetConsumers(f, 999).ok());
}

TEST(Lookup, ProducersComeInTheOrderOfTheReads) {
  const Function f = ParseProgram(R"(
@T.prim_func
def main(A: T.Buffer((4,), "int32"), C: T.Buffer((4,), "int32")):
    B0 = T.alloc_buffer((4,), "int32")
    B1 = T.alloc_buffer((4,), "int32")
    for i in range(4):
        with T.block("B0"):
            vi = T.axis.spatial(4, i)
            B0[vi] = A[vi]
    for i in range(4):
        with T.block("B1"):
            vi = T.axis.spatial(4, i)
            B1[vi] = A[vi]
    for i in range(4):
        with T.block("C"):
            vi = T.axis.spatial(4, i)
            T.reads(B1[vi], B0[vi])
            T.writes(C[vi])
            C[vi] = B1[vi] + B0[vi]
)");
  KILN_ASSERT_OK_AND_ASSIGN(const auto producers,
                            GetProducers(f, BlockNamed(f, "C")));
  EXPECT_THAT(producers, ElementsAre(BlockNamed(f, "B1"), BlockNamed(f, "B0")));
}

TEST(Lookup, OutputBlocksWriteWhatTheScopeDoesNotAllocate) {
  const Function f = ParseProgram(kDiamond);
  KILN_ASSERT_OK_AND_ASSIGN(const auto outputs,
                            GetOutputBlocks(f, f.root().id));
  EXPECT_THAT(Names(f, outputs), ElementsAre("outer", "D", "D"));
  EXPECT_FALSE(GetOutputBlocks(f, 999).ok());
}

}  // namespace
}  // namespace kiln
