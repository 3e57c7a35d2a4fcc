#include "kiln/schedule/rewrite/read_box.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "kiln/base/status_matchers.h"
#include "kiln/schedule/primitive/cache.h"
#include "kiln/schedule/testing/equivalence.h"
#include "kiln/schedule/testing/program.h"

namespace kiln {
namespace {

// Blocks of `body`, with iterators vi < 12 and vj < 24, in a block that says
// to read all that they may.
Function Nested(const std::string& body) {
  return ParseProgram(absl::StrCat(R"(
@T.prim_func
def main(A: T.Buffer((12, 24), "float32"), C: T.Buffer((12, 24), "float32")):
    for i, j in T.grid(12, 24):
        with T.block("outer"):
            vi, vj = T.axis.remap("SS", [i, j])
            T.reads(A[vi, vj])
            T.writes(C[vi, vj])
)",
                                   body));
}

std::string Inner(const std::string& condition) {
  return absl::StrCat(R"(
            with T.block("inner"):
                T.where()",
                      condition, R"()
                T.reads(A[vi, vj])
                T.writes(C[vi, vj])
                C[vi, vj] = A[vi, vj] * T.float32(2)
)");
}

// "min:extent" of each dimension of what "outer" reads of the first parameter.
std::string BoxOf(const Function& f) {
  const Scope scope(f.root());
  std::string text;
  for (const Range& range :
       ReadBox(scope, {BlockNamed(f, "outer")},
               RealizeNamed(f, "outer").block->reads[0].buffer)) {
    absl::StrAppend(&text, text.empty() ? "" : " ", *AsInt(range.min), ":",
                    *AsInt(range.extent));
  }
  return text;
}

TEST(ReadBox, ConditionsOfInnerBlocksNarrowIt) {
  EXPECT_EQ(BoxOf(Nested(Inner("vi < 10 and vj < 20"))), "0:10 0:20");
  EXPECT_EQ(BoxOf(Nested(Inner("3 <= vi"))), "3:9 0:24");
}

TEST(ReadBox, BlocksBesideEachOtherAddTheirs) {
  EXPECT_EQ(BoxOf(Nested(Inner("vi < 8") + Inner("vj < 16"))), "0:12 0:24");
  EXPECT_EQ(BoxOf(Nested(Inner("vi < 8") + Inner("vi < 3 and vj < 16"))),
            "0:8 0:24");
}

TEST(ReadBox, AReadOutsideOfInnerBlocksCountsInFull) {
  EXPECT_EQ(
      BoxOf(Nested("            C[vi, vj] = A[vi, vj]\n" + Inner("vi < 8"))),
      "0:12 0:24");
}

TEST(ReadBox, IsAllOfTheTensorWhereABoundIsNoConstant) {
  EXPECT_EQ(BoxOf(ParseProgram(R"(
@T.prim_func
def main(A: T.Buffer((12,), "float32"), S: T.Buffer((4,), "int32"), C: T.Buffer((4,), "float32")):
    for i in range(4):
        with T.block("outer"):
            vi = T.axis.spatial(4, i)
            T.reads(A[S[vi]], S[vi])
            T.writes(C[vi])
            C[vi] = A[S[vi]]
)")),
            "0:12");
}

TEST(ReadBox, ACacheOfAParameterHoldsJustTheBox) {
  for (const char* condition : {"vi < 10 and vj < 20", "3 <= vi and 5 <= vj"}) {
    const Function f = Nested(Inner(condition));
    KILN_ASSERT_OK_AND_ASSIGN(
        const CacheResult g,
        CacheRead(f, BlockNamed(f, "outer"), 0, "local", {}));
    EXPECT_NE(g.function.root().alloc_buffers[0]->shape.size(), 0);
    EXPECT_LT(*AsInt(g.function.root().alloc_buffers[0]->shape[1]), 24);
    KILN_EXPECT_OK(CheckSameResults(f, g.function, 1));
  }
}

}  // namespace
}  // namespace kiln
