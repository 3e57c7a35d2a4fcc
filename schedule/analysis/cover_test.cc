// Whether what a block reads was written before, of a writer and a reader each
// in a nest of its own:
//
//   S[i * 8 + j] = 1.0    i, j in grid(8, 8)    all of S
//   S[i * 4 + j] = 1.0    i, j in grid(8, 4)    its first 32 elements
#include "kiln/schedule/analysis/cover.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "kiln/schedule/testing/program.h"

namespace kiln {
namespace {

// A writer of S and a reader of it, each a nest with its block; n is symbolic.
Function Program(const std::string& writer, const std::string& reader) {
  return ParseProgram(absl::StrCat(R"(
@T.prim_func
def main(a: T.handle, M: T.Buffer((64,), "int32"), c: T.handle):
    n = T.int64()
    A = T.match_buffer(a, (n,), "float32")
    C = T.match_buffer(c, (n,), "float32")
    S = T.alloc_buffer((64,))
    D = T.alloc_buffer((n,))
    P = T.alloc_buffer(((n + 15) // 16, 16)))",
                                   writer, reader, "\n"));
}

// Of the second block.
bool IsCovered(const std::string& writer, const std::string& reader) {
  const Function f = Program(writer, reader);
  return !WhyNotCovered(Scope(f.root()), 1);
}

std::string Nest(const std::string& name, const std::string& loops,
                 const std::string& where, const std::string& axis,
                 const std::string& store) {
  return absl::StrCat(
      "\n    for i, j in T.grid(", loops, "):\n        with T.block(\"", name,
      "\"):\n            v = T.axis.spatial(", axis, ")\n",
      where.empty() ? "" : "            T.where(" + where + ")\n",
      "            ", store);
}

std::string Writer(const std::string& loops, const std::string& axis,
                   const std::string& where = "",
                   const std::string& store = "S[v] = 1.0") {
  return Nest("W", loops, where, axis, store);
}

std::string Reader(const std::string& read, const std::string& loops = "8, 8",
                   const std::string& axis = "64, i * 8 + j",
                   const std::string& where = "") {
  return Nest("R", loops, where, axis, "C[v] = " + read);
}

TEST(CoverTest, TheReaderFindsAllThatItReads) {
  EXPECT_TRUE(IsCovered(Writer("8, 8", "64, i * 8 + j"), Reader("S[v]")));
  EXPECT_TRUE(IsCovered(Writer("8, 8", "64, j * 8 + i"), Reader("S[63 - v]")));
  EXPECT_TRUE(IsCovered(Writer("8, 8", "64, i * 8 + j"),
                        Reader("S[v // 2] + S[v % 7]")));
  EXPECT_TRUE(IsCovered(Writer("8, 4", "64, i * 4 + j"),
                        Reader("S[v]", "4, 8", "32, i * 8 + j")));
}

TEST(CoverTest, AnElementWhoseIndexIsLoadedMayBeAny) {
  const std::string reader =
      Nest("R", "8, 8", "", "64, i * 8 + j",
           "T.reads(S[M[v]], M[v])\n            T.writes(C[v])\n"
           "            C[v] = S[M[v]]");
  EXPECT_TRUE(IsCovered(Writer("8, 8", "64, i * 8 + j"), reader));
  EXPECT_FALSE(IsCovered(Writer("8, 4", "64, i * 4 + j"), reader));
}

TEST(CoverTest, HolesAreNotWritten) {
  EXPECT_FALSE(IsCovered(Writer("8, 4", "64, i * 8 + j"), Reader("S[v]")));
  EXPECT_FALSE(
      IsCovered(Writer("8, 4", "64, (i * 4 + j) * 2"), Reader("S[v]")));
  EXPECT_FALSE(IsCovered(Writer("8, 8", "64, i * 8 + j // 2"), Reader("S[v]")));
  EXPECT_FALSE(IsCovered(Writer("8, 8", "64, i * 8 + j", "", "S[M[v]] = 1.0"),
                         Reader("S[v]")));
  EXPECT_FALSE(IsCovered(Writer("8, 8", "64, i * 8 + j", "",
                                "if v != 5:\n                S[v] = 1.0"),
                         Reader("S[v]")));
}

TEST(CoverTest, APredicateOfTheWriterLeavesElementsOut) {
  const std::string axis = "64, i * 8 + j";
  EXPECT_FALSE(
      IsCovered(Writer("8, 8", axis, "i * 8 + j < 60"), Reader("S[v]")));
  EXPECT_TRUE(IsCovered(Writer("8, 8", axis, "i * 8 + j < 60"),
                        Reader("S[v]", "10, 6", "60, i * 6 + j")));
  EXPECT_TRUE(IsCovered(Writer("8, 8", axis, "i * 8 + j < 60"),
                        Reader("S[v]", "8, 8", axis, "i * 8 + j < 60")));
  EXPECT_FALSE(IsCovered(Writer("8, 8", axis, "i * 8 + j < 60"),
                         Reader("S[v]", "8, 8", axis, "i * 8 + j < 61")));
}

// Lanes of a sum over 20, 60 or 2 elements, 8 at a time: in the first step of
// it each lane has one, if there are that many.
TEST(CoverTest, EachLaneOfASumIsWrittenInItsFirstStep) {
  const auto nest = [](const std::string& loops, const std::string& where) {
    return absl::StrCat("\n    for i, j in T.grid(", loops, R"():
        with T.block("W"):
            v = T.axis.spatial(64, j)
            k = T.axis.reduce(64, i * 8 + j)
            T.where()",
                        where, R"()
            with T.init():
                S[v] = 0.0
            S[v] = S[v] + M[k])");
  };
  const std::string reader = Reader("S[v]", "2, 4", "8, i * 4 + j");
  EXPECT_TRUE(IsCovered(nest("3, 8", "i * 8 + j < 20"), reader));
  EXPECT_TRUE(IsCovered(nest("8, 8", "i * 8 + j < 60"), reader));
  EXPECT_FALSE(IsCovered(nest("1, 8", "i * 8 + j < 2"), reader));
  EXPECT_FALSE(IsCovered(nest("3, 8", "i * 8 + j >= 4"), reader));
  EXPECT_FALSE(IsCovered(nest("3, 8", "i * 8 + j < 20 and i > 0"), reader));
  EXPECT_FALSE(IsCovered(nest("3, 7", "i * 8 + j < 20"), reader));
}

// Tiles of 40 of 60 elements, read in vectors of 64: neither the end of the
// tile nor that of all elements is the nearer one for both tiles.
TEST(CoverTest, TwoConditionsOfTheReaderCutTheTileTogether) {
  const auto nest = [](const std::string& name, int loop,
                       const std::string& where, const std::string& store) {
    return absl::StrCat("\n        for j in range(", loop,
                        "):\n            with T.block(\"", name,
                        "\"):\n                v = T.axis.spatial(64, b * 40 "
                        "+ j)\n                T.where(",
                        where, ")\n                ", store);
  };
  const auto is_covered = [&](const std::string& where) {
    return IsCovered("\n    for b in range(2):" +
                         nest("W", 40, "b * 40 + j < 60", "S[v] = 1.0"),
                     nest("R", 64, where, "C[v] = S[v]"));
  };
  EXPECT_TRUE(is_covered("b * 40 + j < 60 and j < 40"));
  EXPECT_FALSE(is_covered("b * 40 + j < 60 and j < 41"));
  EXPECT_FALSE(is_covered("b * 40 + j < 61 and j < 40"));
}

constexpr char kPadded[] = "P[v // 16, v % 16] = 1.0";
constexpr char kLength[] = "(n + 15) // 16 * 16";

// Blocks of 64 of a length that is rounded up to a multiple of 16.
TEST(CoverTest, RowsOfAPaddedLengthAreFilled) {
  const auto nest = [](const std::string& name, const std::string& tiles,
                       const std::string& end, const std::string& store) {
    return absl::StrCat(R"(
    for b in range((n + 63) // 64):
        for t, j in T.grid()",
                        tiles, R"(, 16):
            with T.block(")",
                        name, R"("):
                v = T.axis.spatial((n + 15) // 16 * 16, b * 64 + t * 16 + j)
                T.where((b * 4 + t) * 16 + j < )",
                        end, R"()
                )",
                        store);
  };
  const std::string read = "C[v] = P[v // 16, v % 16]";
  EXPECT_TRUE(IsCovered(nest("W", "4", kLength, kPadded),
                        nest("R", "4", kLength, read)));
  EXPECT_FALSE(IsCovered(nest("W", "3", kLength, kPadded),
                         nest("R", "4", kLength, read)));
  EXPECT_FALSE(
      IsCovered(nest("W", "4", "n", kPadded), nest("R", "4", kLength, read)));
  EXPECT_FALSE(IsCovered(nest("W", "4", "(n + 15) // 16 * 16 - 8", kPadded),
                         nest("R", "4", kLength, read)));
}

}  // namespace
}  // namespace kiln
