#include "kiln/schedule/analysis/instances.h"

#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "kiln/ir/text/reader/reader.h"
#include "kiln/schedule/analysis/path.h"

namespace kiln {
namespace {

// Whether `loops` with this binding run all of range(domain).
bool AllRun(const std::string& loops, const std::string& binding,
            const std::string& domain, const std::string& where = "") {
  const std::string text = absl::StrCat(
      "@T.prim_func\ndef main(A: T.Buffer((64,), \"float32\")):\n", loops,
      "                with T.block(\"B\"):\n"
      "                    v = T.axis.spatial(",
      domain, ", ", binding, ")\n",
      where.empty() ? "" : "                    T.where(" + where + ")\n",
      "                    A[v] = T.float32(1)\n");
  const Function f = *ParseFunction("test", text);
  const Path path = *FindBlock(f, BlocksNamed(f, "B").at(0));
  const Scope scope(*path.scope()->block);
  return !WhyNotAllRun(scope.blocks[0]);
}

std::string Loops(const std::string& outer, const std::string& inner) {
  return absl::StrCat("    for i in range(", outer, "):\n",
                      "            for j in range(", inner, "):\n");
}

TEST(InstancesTest, SplitLoopsRunAll) {
  EXPECT_TRUE(AllRun(Loops("4", "8"), "i * 8 + j", "32"));
  EXPECT_TRUE(AllRun(Loops("4", "8"), "i + j * 4", "32"));
  EXPECT_TRUE(AllRun(Loops("4", "8"), "i * 8 + j", "30", "i * 8 + j < 30"));
}

TEST(InstancesTest, OverlapRunsAll) {
  EXPECT_TRUE(AllRun(Loops("4", "8"), "i * 4 + j", "20"));
}

// Whether these loops run all of 8 x n.
bool AllRunSymbolic(const std::string& outer, const std::string& inner,
                    const std::string& row, const std::string& column) {
  const Function f = *ParseFunction(
      "test", absl::StrCat("@T.prim_func\ndef main(a: T.handle):\n"
                           "    n = T.int64()\n"
                           "    A = T.match_buffer(a, (8, n), \"float32\")\n",
                           Loops(outer, inner),
                           "                with T.block(\"B\"):\n"
                           "                    v = T.axis.spatial(8, ",
                           row,
                           ")\n"
                           "                    w = T.axis.spatial(n, ",
                           column,
                           ")\n"
                           "                    A[v, w] = T.float32(1)\n"));
  const Path path = *FindBlock(f, BlocksNamed(f, "B").at(0));
  const Scope scope(*path.scope()->block);
  return !WhyNotAllRun(scope.blocks[0]);
}

TEST(InstancesTest, FusedLoopsOfSymbolicExtentRunAll) {
  EXPECT_TRUE(AllRunSymbolic("8", "n", "i", "j"));
  EXPECT_TRUE(AllRunSymbolic("n * 8", "1", "i // n", "i % n"));
  EXPECT_TRUE(AllRunSymbolic("n * 4", "2", "i // n * 2 + j", "i % n"));
  EXPECT_FALSE(AllRunSymbolic("n * 7", "1", "i // n", "i % n"));
  EXPECT_FALSE(AllRunSymbolic("n * 4", "2", "i // n + j", "i % n"));
  EXPECT_FALSE(AllRunSymbolic("n * 4", "2", "i // n", "i % n"));
}

TEST(InstancesTest, GapsAndEndsAreMissed) {
  EXPECT_FALSE(AllRun(Loops("4", "8"), "i * 9 + j", "35"));
  EXPECT_FALSE(AllRun(Loops("4", "8"), "i * 8 + j", "33"));
  EXPECT_FALSE(AllRun(Loops("4", "1"), "i * 2", "7"));
  EXPECT_FALSE(AllRun(Loops("4", "1"), "i + 1", "5"));
}

TEST(InstancesTest, PredicatesLeaveInstancesOut) {
  EXPECT_FALSE(AllRun(Loops("4", "8"), "i * 8 + j", "32", "j != 2"));
  EXPECT_FALSE(AllRun(Loops("4", "8"), "i * 8 + j", "32", "j < 7"));
  EXPECT_FALSE(AllRun(Loops("4", "8"), "i * 8 + j", "32", "1 <= i * 8 + j"));
  EXPECT_TRUE(AllRun(Loops("4", "8"), "i * 8 + j - 2", "30",
                     "2 <= i * 8 + j and i * 8 + j < 32"));
}

// A triangle of which the hull is more.
TEST(InstancesTest, LoopsThatDependOnEachOtherAreNotCounted) {
  EXPECT_FALSE(AllRun(Loops("6", "1 - i"), "i + j", "3"));
  EXPECT_FALSE(AllRun(Loops("4", "8 - i * 2"), "i * 8 + j", "26"));
}

}  // namespace
}  // namespace kiln
