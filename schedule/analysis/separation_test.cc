#include "kiln/schedule/analysis/separation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "kiln/schedule/testing/program.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;

// A block over 4 x 8 iterators with this body.
Function Program(const std::string& body, const std::string& types = "SS") {
  return ParseProgram(R"(
@T.prim_func
def main(A: T.Buffer((4, 8), "int32"), S: T.Buffer((8,), "int32"), X: T.Buffer((64, 64), "int32")):
    for i, j in T.grid(4, 8):
        with T.block("B"):
            vi, vj = T.axis.remap(")" +
                      types + R"(", [i, j])
            )" + body +
                      "\n");
}

// The iterators that separate, such as "vi vj".
std::string Separating(const std::string& body) {
  const Function f = Program(body);
  const BlockNode& block = *RealizeNamed(f, "B").block;
  std::string names;
  for (size_t i = 0; i < block.iters.size(); ++i) {
    if (SeparatesInstances(block, i)) names += block.iters[i].var.name() + " ";
  }
  return names;
}

TEST(SeparationTest, AnIndexOfItsOwnSeparates) {
  EXPECT_EQ(Separating("X[vi, vj] = A[vi, vj]"), "vi vj ");
  EXPECT_EQ(Separating("X[63 - vj, vi * 3 + 1] = A[vi, vj]"), "vi vj ");
  EXPECT_EQ(Separating("X[vi, 0] = A[vi, vj]"), "vi ");
}

TEST(SeparationTest, DataMayPointAnywhere) {
  EXPECT_EQ(Separating("X[vi, S[vj]] = A[vi, vj]"), "vi ");
  EXPECT_EQ(Separating("X[vi, vj + S[vj]] = A[vi, vj]"), "vi ");
  EXPECT_EQ(Separating("X[S[vi], S[vj]] = A[vi, vj]"), "");
}

TEST(SeparationTest, IndicesTogetherSeparateWhereTheyAreInjective) {
  EXPECT_EQ(Separating("X[0, vi * 8 + vj] = A[vi, vj]"), "vi vj ");
  EXPECT_EQ(Separating("X[(vi * 8 + vj) // 4, (vi * 8 + vj) % 4] = A[vi, vj]"),
            "vi vj ");
  EXPECT_EQ(Separating("X[0, vi * 7 + vj] = A[vi, vj]"), "");
  EXPECT_EQ(Separating("X[0, vi + vj] = A[vi, vj]"), "");
  EXPECT_EQ(Separating("X[vi, vj // 2] = A[vi, vj]"), "vi ");
  EXPECT_EQ(Separating("X[vi, vj % 4] = A[vi, vj]"), "vi ");
}

TEST(SeparationTest, ReadingWhatOthersWriteDoesNotSeparate) {
  EXPECT_EQ(Separating("X[vi, vj] = X[vi, vj] + A[vi, vj]"), "vi vj ");
  EXPECT_EQ(Separating("X[vi, vj + 1] = X[vi, vj]"), "vi ");
  EXPECT_EQ(Separating("X[vi + 1, vj] = X[vi, vj]"), "vj ");
  EXPECT_EQ(Separating("X[vi, vj] = X[vi, 7 - vj]"), "vi ");
  EXPECT_EQ(Separating("X[vi, vj] = X[S[vi], vj]"), "vj ");
}

TEST(SeparationTest, SeveralStoresOfOneInstance) {
  const std::string body = "X[vi, vj * 2] = 1\n            ";
  EXPECT_EQ(Separating(body + "X[vi, vj * 2 + 1] = 2"), "vi vj ");
  EXPECT_EQ(Separating(body + "X[vi, vj * 2 + 2] = 2"), "vi ");
  EXPECT_EQ(Separating(body + "X[vi, vj] = 2"), "vi ");
}

TEST(SeparationTest, TheAuthorMaySayThatWritesAreDisjoint) {
  const std::string body = "X[vi, S[vj]] = A[vi, vj]";
  const Function f = Program(body);
  EXPECT_THAT(*WhyInstancesMeet(*RealizeNamed(f, "B").block),
              HasSubstr("differ in `vj`"));
  const Function marked =
      Program("T.block_attr({\"disjoint_writes\": True})\n            " + body);
  EXPECT_FALSE(WhyInstancesMeet(*RealizeNamed(marked, "B").block));
}

TEST(SeparationTest, SumsAndMaximaCombineInAnyOrder) {
  const auto combines = [](const std::string& body) {
    const Function f = Program(body, "RR");
    return CombinesInAnyOrder(*RealizeNamed(f, "B").block);
  };
  EXPECT_TRUE(combines("X[0, 0] = X[0, 0] + A[vi, vj]"));
  EXPECT_TRUE(combines("X[S[vi], 0] = T.max(A[vi, vj], X[S[vi], 0])"));
  EXPECT_TRUE(combines("X[0, 0] = X[0, 0] - A[vi, vj]"));
  EXPECT_FALSE(combines("X[0, 0] = A[vi, vj] - X[0, 0]"));
  EXPECT_FALSE(combines("X[0, 0] = X[0, 0] * 2 + A[vi, vj]"));
  EXPECT_FALSE(combines("X[0, 0] = X[0, 0] + X[0, 1]"));
  EXPECT_FALSE(combines("X[0, 0] = A[vi, vj]"));
  EXPECT_FALSE(
      combines("X[0, 0] = X[0, 0] + 1\n            X[0, 0] = X[0, 0] * 2"));
}

}  // namespace
}  // namespace kiln
