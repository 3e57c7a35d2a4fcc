#include "kiln/schedule/analysis/stores.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "kiln/schedule/primitive/cache.h"
#include "kiln/schedule/testing/program.h"

namespace kiln {
namespace {

// A block over 4 x 8 iterators with this body.
Function Program(const std::string& body) {
  return ParseProgram(R"(
@T.prim_func
def main(A: T.Buffer((4, 8), "int32"), M: T.Buffer((8,), "int32"), X: T.Buffer((4, 16), "int32")):
    for i, j in T.grid(4, 8):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
)" + body + "\n");
}

bool StoresAllOfX(const std::string& body) {
  const Function f = Program(body);
  const BlockNode& block = *RealizeNamed(f, "B").block;
  for (const BufferRegion& region : block.writes) {
    if (region.buffer->name == "X") return StoresAll(block, region);
  }
  ADD_FAILURE() << "X is not written";
  return false;
}

TEST(StoresTest, AStoreThatIsAlwaysReachedFillsItsPoint) {
  EXPECT_TRUE(StoresAllOfX("            X[vi, vj] = A[vi, vj]"));
  EXPECT_TRUE(StoresAllOfX("            X[vi, M[vj]] = A[vi, vj]"));
  EXPECT_TRUE(StoresAllOfX(R"(
            if A[vi, vj] < 0:
                X[vi, vj] = 1
            else:
                X[vi, vj] = 2)"));
}

TEST(StoresTest, AConditionMayKeepElementsAsTheyWere) {
  EXPECT_FALSE(StoresAllOfX(R"(
            if A[vi, vj] < 0:
                X[vi, vj] = 1)"));
  EXPECT_FALSE(StoresAllOfX(R"(
            if A[vi, vj] < 0:
                X[vi, vj] = 1
            else:
                X[vi, vj + 8] = 2)"));
}

TEST(StoresTest, PointsOneByOneFillARegion) {
  EXPECT_TRUE(StoresAllOfX(R"(
            X[vi, vj * 2] = A[vi, vj]
            X[vi, vj * 2 + 1] = 0)"));
  EXPECT_FALSE(StoresAllOfX(R"(
            T.writes(X[vi, vj:vj + 3])
            X[vi, vj] = A[vi, vj]
            X[vi, vj + 2] = 0)"));
  EXPECT_FALSE(StoresAllOfX(R"(
            T.writes(X[0:4, 0:16])
            X[vi, vj] = A[vi, vj])"));
}

TEST(StoresTest, LoopsAndBlocksInsideFillARegion) {
  EXPECT_TRUE(StoresAllOfX(R"(
            for k in range(2):
                X[vi, vj * 2 + k] = A[vi, vj])"));
  EXPECT_FALSE(StoresAllOfX(R"(
            for k in range(4):
                X[vi, vj + k * 2] = A[vi, vj])"));
  const std::string inner = R"(
            T.writes(X[vi, vj * 2:vj * 2 + 2])
            for k in range(2):
                with T.block("I"):
                    vk = T.axis.spatial(2, k)
                    )";
  EXPECT_TRUE(StoresAllOfX(inner + "X[vi, vj * 2 + vk] = A[vi, vj]"));
  EXPECT_FALSE(StoresAllOfX(inner + "X[vi, vj * 2] = A[vi, vj]"));
}

// What a cache would copy back is then not what the tensor held.
TEST(StoresTest, CacheWriteRefusesWhatIsWrittenInPart) {
  for (const char* body :
       {"            if A[vi, vj] < 0:\n                X[vi, vj] = 1",
        "            X[vi, M[vj]] = 1", "            X[vi, vj * 2 % 8] = 1"}) {
    const Function f = Program(body);
    EXPECT_FALSE(CacheWrite(f, BlockNamed(f, "B"), 0, "local", {}).ok())
        << body;
  }
}

}  // namespace
}  // namespace kiln
