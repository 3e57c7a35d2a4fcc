// Functions as text, and the pairs that may lie together: letters of what is
// read and what is written.
#include "kiln/ir/transform/graph/in_place.h"

#include <gtest/gtest.h>

#include <string>

#include "kiln/base/status_matchers.h"
#include "kiln/ir/text/reader/reader.h"

namespace kiln {
namespace {

// "RC" for R and C. Tensors of 8 x 16, but W of 16 x 16 and B of 1 x 16.
std::string Pairs(const std::string& body) {
  const auto f = ParseFunction("f.py", R"(
@T.prim_func
def main(A: T.Buffer((8, 16), "float32"), W: T.Buffer((16, 16), "float32"), B: T.Buffer((1, 16), "float32"), R: T.Buffer((8, 16), "float32"), C: T.Buffer((8, 16), "float32"), D: T.Buffer((8, 16), "float32")):
    S = T.alloc_buffer((8, 16))
    T_1 = T.alloc_buffer((8, 16))
)" + body);
  KILN_EXPECT_OK(f.status());
  std::string text;
  if (!f.ok()) return text;
  for (const InPlacePair& pair : FindInPlacePairs(*f)) {
    if (!text.empty()) text += " ";
    text += f->params[pair.read].buffer->name;
    text += f->params[pair.written].buffer->name;
  }
  return text;
}

// out[vi, vj] = value
std::string Each(const std::string& out, const std::string& value) {
  return R"(
    for i, j in T.grid(8, 16):
        with T.block(")" +
         out + R"("):
            vi, vj = T.axis.remap("SS", [i, j])
            )" +
         out + "[vi, vj] = " + value + "\n";
}

constexpr char kProduct[] = R"(
    for i, j, k in T.grid(8, 16, 16):
        with T.block("S"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                S[vi, vj] = T.float32(0)
            S[vi, vj] = S[vi, vj] + A[vi, vk] * W[vk, vj]
)";

TEST(FindInPlacePairsTest, WhatIsAddedToAProduct) {
  EXPECT_EQ(Pairs(kProduct + Each("C", "S[vi, vj] + R[vi, vj]")), "RC");
  EXPECT_EQ(Pairs(kProduct + Each("T_1", "S[vi, vj] + R[vi, vj] + B[0, vj]") +
                  Each("C", "T.max(T_1[vi, vj], T.float32(0))")),
            "RC");
  EXPECT_EQ(Pairs(Each("C", "A[vi, vj] * R[vi, vj]")), "AC RC");
}

TEST(FindInPlacePairsTest, NotWhatOtherElementsAreMadeOf) {
  EXPECT_EQ(Pairs(kProduct + Each("C", "S[vi, vj] + A[vi, vj]")), "");
  EXPECT_EQ(Pairs(Each("C", "R[vi, 15 - vj]")), "");
  EXPECT_EQ(Pairs(Each("C", "R[vi, vj] + R[vi, 0]")), "");
  EXPECT_EQ(Pairs(Each("C", "R[7 - vi, vj]")), "");
}

TEST(FindInPlacePairsTest, NotWhatTwoResultsAreMadeOf) {
  EXPECT_EQ(Pairs(Each("C", "R[vi, vj]") + Each("D", "R[vi, vj]")), "");
  EXPECT_EQ(Pairs(Each("S", "R[vi, vj]") + Each("C", "S[vi, vj]") +
                  Each("D", "S[vi, vj]")),
            "");
  EXPECT_EQ(Pairs(Each("C", "A[vi, vj]") + Each("D", "R[vi, vj]")), "AC RD");
}

TEST(FindInPlacePairsTest, NotResultsThatAreReadOrWrittenAgain) {
  EXPECT_EQ(Pairs(Each("C", "R[vi, vj]") + Each("D", "C[vi, vj]")), "");
  EXPECT_EQ(Pairs(Each("C", "T.float32(0)") + Each("C", "R[vi, vj]")), "");
  EXPECT_EQ(Pairs(Each("C", "R[vi, vj]") + Each("R", "T.float32(0)")), "");
  EXPECT_EQ(Pairs(Each("S", "R[vi, vj]") + Each("S", "S[vi, vj] + R[vi, vj]") +
                  Each("C", "S[vi, vj]")),
            "");
}

// Each element of C is written 16 times, and read in between.
TEST(FindInPlacePairsTest, NotInstancesThatMeet) {
  EXPECT_EQ(Pairs(R"(
    for i, j, k in T.grid(8, 16, 16):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSS", [i, j, k])
            C[vi, vj] = R[vi, vj]
)"),
            "");
}

TEST(FindInPlacePairsTest, OrdersOfRowsAndSingleAxesAreNoMatter) {
  EXPECT_EQ(Pairs(R"(
    for j, i, n in T.grid(16, 8, 1):
        with T.block("C"):
            vj, vi, vn = T.axis.remap("SSS", [j, i, n])
            C[vi, vj] = R[vi, vj] + B[vn, vj]
)"),
            "RC");
}

TEST(MarkInPlaceTest, TheAttributeIsReadBack) {
  KILN_ASSERT_OK_AND_ASSIGN(Module module, ParseModule("m.py", R"(
@T.prim_func
def main(A: T.Buffer((8,), "float32"), C: T.Buffer((8,), "float32")):
    for i in range(8):
        with T.block("C"):
            vi = T.axis.spatial(8, i)
            C[vi] = A[vi]
)"));
  module = MarkInPlace(std::move(module));
  KILN_ASSERT_OK_AND_ASSIGN(const auto pairs,
                            InPlacePairs(module.functions[0]));
  EXPECT_EQ(pairs, (std::vector<InPlacePair>{{0, 1}}));
}

}  // namespace
}  // namespace kiln
