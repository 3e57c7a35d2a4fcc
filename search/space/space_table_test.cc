#include "kiln/search/space/space_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kiln/base/status_matchers.h"
#include "kiln/ir/text/python/source.h"
#include "kiln/ir/text/reader/reader.h"
#include "kiln/search/space/knob_names.h"
#include "kiln/search/space/script_space.h"

namespace kiln {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr char kProgram[] = R"(
@T.prim_func
def main(A: T.Buffer((32, 48), "float32"), B: T.Buffer((32, 48), "float32")):
    for i, j in T.grid(32, 48):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, vj] * T.float32(2)
)";

constexpr char kTemplate[] = R"(
def _cut(sch, loop):
    cut = sch.sample_perfect_tile(loop, n=2, max_innermost_factor=16)
    return sch.split(loop, cut)

def template(sch):
    i, j = sch.get_loops(sch.get_block("B"))
    tile_i = sch.sample_perfect_tile(i, n=2, max_innermost_factor=8)
    i0, i1 = sch.split(i, tile_i)
    j0, j1 = _cut(sch, j)
    k0, k1 = sch.split(i0, [None, sch.sample_categorical([1, 2], [0.5, 0.5])])
)";

TEST(SpaceTableTest, ShowsEachKnobByItsNameAndTheSize) {
  KILN_ASSERT_OK_AND_ASSIGN(auto space,
                            MakeScriptSpace(*ParseModule("b.py", kProgram), 0,
                                            python::Source("t.py", kTemplate)));
  const std::string table = SpaceTable(*space);
  EXPECT_THAT(table, HasSubstr("space: 1 schedule, 64 points\n"));
  EXPECT_THAT(table, HasSubstr("0 tile_i      4 choices  32 as 2 factors, the "
                               "last at most 8\n"));
  EXPECT_THAT(table, HasSubstr("1 cut         8 choices  48 as 2 factors"));
  EXPECT_THAT(table, HasSubstr("2 k0,k1       2 choices  one of 1, 2\n"));
}

TEST(SpaceTableTest, ATupleIsOneKnob) {
  KILN_ASSERT_OK_AND_ASSIGN(auto space,
                            MakeScriptSpace(*ParseModule("b.py", kProgram), 0,
                                            python::Source("t.py", R"(
def template(sch):
    i, j = sch.get_loops(sch.get_block("B"))
    a, b = sch.sample_tuple([[2, 16], [4, 8]], [0.5, 0.5])
    sch.split(i, [None, a])
    sch.split(j, [None, b])
)")));
  const std::string table = SpaceTable(*space);
  EXPECT_THAT(table, HasSubstr("space: 1 schedule, 2 points\n"));
  EXPECT_THAT(table, HasSubstr("2 choices  one of (2, 16), (4, 8)\n"));
}

TEST(SpaceTableTest, SaysWhereTheSizeIsAnEstimate) {
  KILN_ASSERT_OK_AND_ASSIGN(auto space,
                            MakeScriptSpace(*ParseModule("b.py", kProgram), 0,
                                            python::Source("t.py", R"(
def template(sch):
    i, j = sch.get_loops(sch.get_block("B"))
    a = sch.sample_perfect_tile(i, n=2, max_innermost_factor=32)
    i0, i1 = sch.split(i, a)
    b = sch.sample_perfect_tile(i1, n=2, max_innermost_factor=32)
)")));
  EXPECT_THAT(SpaceTable(*space), HasSubstr("about 36 points"));
}

TEST(KnobNamesTest, FollowTheTextAndRefuseNothing) {
  const auto names = [](const char* text, const char* function) {
    return KnobNames(python::Source("t.py", text), function);
  };
  EXPECT_THAT(names(kTemplate, ""), ElementsAre("tile_i", "cut", "k0,k1"));
  EXPECT_THAT(names("x = sch.sample_categorical([1], [1])\n", ""),
              ElementsAre("x"));
  EXPECT_THAT(names("def f(:", ""), ElementsAre());
  EXPECT_THAT(
      names("def _f(sch):\n    _f(sch)\ndef g(sch):\n    _f(sch)\n", "g"),
      ElementsAre());
}

}  // namespace
}  // namespace kiln
