#include "kiln/schedule/analysis/property.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kiln/schedule/analysis/cover.h"
#include "kiln/schedule/analysis/path.h"
#include "kiln/schedule/analysis/scope.h"
#include "kiln/schedule/testing/program.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;

// A one-dimensional copy from A to B through blocks that `body` gives.
Function Program(const std::string& body) {
  return ParseProgram(
      "@T.prim_func\n"
      "def main(A: T.Buffer((16,), \"float32\"), "
      "B: T.Buffer((16,), \"float32\"), C: T.Buffer((16,), \"float32\")):\n"
      "    S = T.alloc_buffer((16,))\n" +
      body);
}

std::string Loop(const std::string& name, const std::string& axis,
                 const std::string& store, const std::string& extent = "16") {
  return "    for i in range(" + extent + "):\n        with T.block(\"" + name +
         "\"):\n            vi = T.axis." + axis + "\n            " + store +
         "\n";
}

std::string WhyNotComplete(const std::string& body, int block = 0) {
  const Function f = Program(body);
  return WhyNotComplete(Scope(f.root()), block).value_or("");
}

TEST(Complete, AsksForSpatialIteratorsOneWriterAndNoReadOfTheOutput) {
  EXPECT_EQ(WhyNotComplete(Loop("B", "spatial(16, i)", "B[vi] = A[vi]")), "");
  EXPECT_THAT(WhyNotComplete(Loop("B", "opaque(16, i)", "B[vi] = A[vi]")),
              HasSubstr("`vi` is not spatial"));
  EXPECT_THAT(WhyNotComplete(Loop("B", "reduce(16, i)", "B[vi] = A[vi]")),
              HasSubstr("`vi` is not spatial"));
  EXPECT_THAT(
      WhyNotComplete(Loop("B", "spatial(16, i)", "B[vi] = B[vi] + A[vi]")),
      HasSubstr("it reads `B`, which it writes"));
  EXPECT_THAT(WhyNotComplete(Loop("B", "spatial(16, i)", "B[vi] = A[vi]") +
                             Loop("B2", "spatial(16, i)", "B[vi] = A[vi]")),
              HasSubstr("block `B2` writes `B` too"));
}

TEST(Reduction, AsksForAnInitAndForAPlaceThatStands) {
  const auto why = [](const std::string& body) {
    const Function f = Program(body);
    return WhyNotReduction(Scope(f.root()), 0).value_or("");
  };
  const auto sum = [](const std::string& values, const std::string& at) {
    return "    for i, k in T.grid(4, 4):\n"
           "        with T.block(\"B\"):\n"
           "            vi = T.axis.spatial(16, " +
           values +
           ")\n"
           "            vk = T.axis.reduce(4, k)\n"
           "            with T.init():\n"
           "                B[vi] = T.float32(0)\n"
           "            B[" +
           at + "] = B[" + at + "] + A[vk]\n";
  };
  EXPECT_EQ(why(sum("i", "vi")), "");
  EXPECT_THAT(why(sum("i", "vk")), HasSubstr("a reduce iterator indexes `B`"));
  EXPECT_THAT(why(sum("i * i", "vi")), HasSubstr("not affine"));
  EXPECT_THAT(why(Loop("B", "spatial(16, i)", "B[vi] = A[vi]")),
              HasSubstr("no init"));
}

TEST(Init, ComesFirstOnlyWhereTheLoopsBeginAtItsValue) {
  const auto why = [](const std::string& value) {
    const Function f = Program(
        "    for i, k in T.grid(16, 4):\n"
        "        with T.block(\"B\"):\n"
        "            vi = T.axis.spatial(16, i)\n"
        "            vk = T.axis.reduce(8, " +
        value +
        ")\n"
        "            with T.init():\n"
        "                B[vi] = T.float32(0)\n"
        "            B[vi] = B[vi] + A[vk]\n");
    const auto path = FindBlock(f, BlockNamed(f, "B"));
    return WhyInitNotFirst(*path->realize(), LoopsAbove(*path)).has_value();
  };
  EXPECT_FALSE(why("k"));
  EXPECT_FALSE(why("k * 2"));
  EXPECT_TRUE(why("k + 1"));
  EXPECT_TRUE(why("3 - k"));
}

TEST(TrivialBinding, IsDifferentLoopVariables) {
  const auto trivial = [](const std::string& value) {
    const Function f =
        Program(Loop("B", "spatial(16, " + value + ")", "B[vi] = A[vi]"));
    return HasTrivialBinding(RealizeNamed(f, "B"));
  };
  EXPECT_TRUE(trivial("i"));
  EXPECT_FALSE(trivial("i + 0 * i + 1"));
  EXPECT_FALSE(trivial("3"));
}

std::string WhyNotCovered(const std::string& writer,
                          const std::string& reader) {
  const Function f = Program(writer + reader);
  const Scope scope(f.root());
  return WhyNotCovered(scope, static_cast<int>(scope.blocks.size()) - 1)
      .value_or("");
}

TEST(Cover, HolesInWhatIsWrittenCountAsNotWritten) {
  const std::string reader = Loop("C", "spatial(16, i)", "C[vi] = S[vi]");
  const auto writer = [](const std::string& extent, const std::string& value) {
    return Loop("S", "spatial(16, " + value + ")", "S[vi] = A[vi]", extent);
  };
  EXPECT_EQ(WhyNotCovered(writer("16", "i"), reader), "");
  EXPECT_EQ(WhyNotCovered(writer("16", "15 - i"), reader), "");
  EXPECT_THAT(WhyNotCovered(writer("15", "i"), reader), HasSubstr("`S`"));
  EXPECT_THAT(WhyNotCovered(writer("15", "i + 1"), reader), HasSubstr("`S`"));
  EXPECT_THAT(WhyNotCovered(writer("8", "i * 2"), reader), HasSubstr("`S`"));
}

TEST(Cover, SeveralWritersMayFillOneBuffer) {
  const std::string reader = Loop("C", "spatial(16, i)", "C[vi] = S[vi]");
  const std::string low = Loop("L", "spatial(8, i)", "S[vi] = A[vi]", "8");
  const std::string high = Loop("H", "spatial(8, i)", "S[vi + 8] = A[vi]", "8");
  const std::string higher =
      Loop("H", "spatial(7, i)", "S[vi + 9] = A[vi]", "7");
  EXPECT_EQ(WhyNotCovered(low + high, reader), "");
  EXPECT_THAT(WhyNotCovered(low + higher, reader), HasSubstr("`S`"));
  EXPECT_THAT(WhyNotCovered(low, reader), HasSubstr("`S`"));
}

// What is named outside of a buffer is guarded, or never used.
TEST(Cover, ElementsOutsideOfTheBufferAreNobodysToWrite) {
  const std::string writer = Loop("S", "spatial(16, i)", "S[vi] = A[vi]");
  const std::string part = Loop("S", "spatial(16, i)", "S[vi] = A[vi]", "12");
  const std::string reader = Loop(
      "C", "spatial(24, i)",
      "C[vi % 16] = T.if_then_else(vi >= 4, S[vi - 4], T.float32(0))", "20");
  EXPECT_EQ(WhyNotCovered(writer, reader), "");
  EXPECT_THAT(WhyNotCovered(part, reader), HasSubstr("`S`"));
  const Function f = Program(writer + reader);
  EXPECT_THAT(WhyNotAllCovered(Scope(f.root()), 1).value_or(""),
              HasSubstr("`S`"));
}

TEST(StagePipeline, RefusesToOverwriteWhatWasRead) {
  const Function f =
      Program(Loop("B", "spatial(16, i)", "B[vi] = A[vi]") +
              Loop("A", "spatial(16, i)", "A[vi] = T.float32(0)"));
  EXPECT_THAT(WhyNotStagePipeline(Scope(f.root())).value_or(""),
              HasSubstr("block `A` overwrites what block `B` reads"));
}

TEST(Scope, DependencesAreReadAfterWriteAndTheLike) {
  const Function f = Program(Loop("S", "spatial(16, i)", "S[vi] = A[vi]") +
                             Loop("B", "spatial(16, i)", "B[vi] = S[vi]") +
                             Loop("A", "spatial(16, i)", "A[vi] = S[vi]"));
  const Scope scope(f.root());
  const auto dependences = scope.Dependences();
  ASSERT_EQ(dependences.size(), 3u);
  EXPECT_EQ(dependences[0].kind, DependenceKind::kRaw);
  EXPECT_EQ(scope.Consumers(0), (std::vector<int>{1, 2}));
  EXPECT_EQ(scope.Producers(1), (std::vector<int>{0}));
  EXPECT_FALSE(scope.IsOutput(0));
  EXPECT_TRUE(scope.IsOutput(1));
  EXPECT_EQ(scope.IndexOf(BlockNamed(f, "A")), 2);
  EXPECT_EQ(scope.IndexOf(999), -1);
}

}  // namespace
}  // namespace kiln
