// Copies whose index has quotients and remainders, of elements of any size, on
// registers of any size: machine code copies what the interpreter copies.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/substitute.h"
#include "kiln/tests/end_to_end/every_target.h"

namespace kiln {
namespace {

constexpr char kProgram[] = R"(
@T.prim_func
def main(A: T.Buffer((3, 5000), "$0"), B: T.Buffer((3, $1), "$0")):
    for i, j in T.grid(3, $1):
        with T.block("B"):
            vi, v = T.axis.remap("SS", [i, j])
            B[vi, v] = A[vi, $2]
)";

// Of v in 0 .. 999.
constexpr const char* kIndices[] = {
    "v // 2",
    "v // 7",
    "v % 3",
    "v % 100",
    "(v + 7) % 100",
    "v // 7 % 7 * 7 + v % 7 + v // 49 * 49",
    "v % 2 * 1000 + v // 2",
    "v // 4 * 4 + 3 - v % 4",
    "v // 9 % 5 * 300 + v % 9",
    "999 - v",
    "v * 3 // 2",
    "v * 4 + 1",
};

using CopiesTest = EveryTargetTest;

TEST_P(CopiesTest, OfEveryType) {
  int turn = 0;
  for (const char* index : kIndices) {
    for (const int n : {16, 37, 200, 1000}) {
      for (const char* type : {"float32", "bfloat16", "int8", "float16",
                               "float64", "bool", "int64"}) {
        const bool is_turn = turn++ % 3 == 0;
        if (!is_turn && std::string(type) != "float32") continue;
        const std::string text = absl::Substitute(kProgram, type, n, index);
        const absl::Status same = CheckByDefault(text);
        EXPECT_TRUE(same.ok()) << text << same;
      }
    }
  }
}

constexpr char kTranspose[] = R"(
@T.prim_func
def main(A: T.Buffer((3, $1, $2), "$0"), B: T.Buffer((3, $2, $1), "$3")):
    for i, j, k in T.grid(3, $2, $1):
        with T.block("B"):
            vi, vj, vk = T.axis.remap("SSS", [i, j, k])
            B[vi, vj, vk] = T.Cast("$3", A[vi, vk, vj])
)";

// Squares are cut at either side, to any number of elements.
TEST_P(CopiesTest, TransposesOfAnySides) {
  int turn = 0;
  for (const int rows : {5, 16, 19, 31, 34}) {
    for (const int columns : {4, 7, 16, 21, 30, 47}) {
      const auto types = std::vector<std::pair<std::string, std::string>>{
          {"float32", "float32"}, {"bfloat16", "bfloat16"}, {"int8", "int8"},
          {"float64", "float64"}, {"float16", "float32"},   {"int64", "int32"}};
      const auto& [from, to] = types[turn++ % types.size()];
      const std::string text =
          absl::Substitute(kTranspose, from, rows, columns, to);
      const absl::Status same = CheckByDefault(text);
      EXPECT_TRUE(same.ok()) << text << same;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(OnEvery, CopiesTest, ::testing::ValuesIn(kX86Targets),
                         [](const auto& info) { return NameOfTarget(info); });

}  // namespace
}  // namespace kiln
