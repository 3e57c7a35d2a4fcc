#include "kiln/schedule/primitive/annotate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kiln/base/status_matchers.h"
#include "kiln/ir/tensor/canonical.h"
#include "kiln/schedule/testing/program.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;

constexpr auto kRefused = absl::StatusCode::kFailedPrecondition;

constexpr char kFill[] = R"(
@T.prim_func
def main(A: T.Buffer((4,), "float32")):
    for i in range(4):
        with T.block("A"):
            vi = T.axis.spatial(4, i)
            A[vi] = T.float32(3)
)";

TEST(Annotate, AddsToLoopsAndTakesAway) {
  const Function f = ParseProgram(kFill);
  const LoopId i = LoopsOf(f, "A")[0];
  KILN_ASSERT_OK_AND_ASSIGN(const Function g,
                            AnnotateLoop(f, i, "unroll", Attr(Int(16))));
  EXPECT_EQ(*AsInt(*LoopById(g, i).annotations.at("unroll").expr()), 16);
  EXPECT_TRUE(LoopById(f, i).annotations.empty());
  KILN_ASSERT_OK_AND_ASSIGN(const Function h, UnannotateLoop(g, i, "unroll"));
  EXPECT_TRUE(StructurallyEqual(h, f));
}

TEST(Annotate, AddsToBlocksAndTakesAway) {
  const Function f = ParseProgram(kFill);
  const BlockId a = BlockNamed(f, "A");
  const Attr value(AttrList{Attr(Int(1)), Attr(std::string("x")), Attr()});
  KILN_ASSERT_OK_AND_ASSIGN(const Function g, AnnotateBlock(f, a, "k", value));
  EXPECT_EQ(RealizeNamed(g, "A").block->annotations.at("k").list()->size(), 3u);
  KILN_ASSERT_OK_AND_ASSIGN(const Function h, UnannotateBlock(g, a, "k"));
  EXPECT_TRUE(StructurallyEqual(h, f));
  KILN_EXPECT_OK(AnnotateBlock(f, f.root().id, "k", value));
}

TEST(Annotate, RefusesAnotherValueAndTakesTheSameAgain) {
  const Function f = ParseProgram(kFill);
  const LoopId i = LoopsOf(f, "A")[0];
  const std::vector<Attr> values = {Attr(),
                                    Attr(Int(1)),
                                    Attr(std::string("1")),
                                    Attr(AttrList{Attr(Int(1))}),
                                    Attr(AttrList{Attr(Int(1)), Attr(Int(2))}),
                                    Attr(AttrMap{{"a", Attr(Int(1))}}),
                                    Attr(AttrMap{{"a", Attr(Int(2))}}),
                                    Attr(AttrMap{{"b", Attr(Int(1))}})};
  for (const Attr& first : values) {
    KILN_ASSERT_OK_AND_ASSIGN(const Function g, AnnotateLoop(f, i, "k", first));
    for (const Attr& second : values) {
      const auto again = AnnotateLoop(g, i, "k", second);
      if (&first == &second) {
        KILN_EXPECT_OK(again);
      } else {
        EXPECT_THAT(again, StatusIs(kRefused, HasSubstr("another value")));
      }
    }
  }
}

TEST(Annotate, RefusesWhatIsNotThere) {
  const Function f = ParseProgram(kFill);
  const Attr one(Int(1));
  EXPECT_THAT(AnnotateLoop(f, 999, "k", one),
              StatusIs(kRefused, HasSubstr("no loop 999")));
  EXPECT_THAT(AnnotateBlock(f, 999, "k", one),
              StatusIs(kRefused, HasSubstr("no block 999")));
  EXPECT_THAT(UnannotateLoop(f, LoopsOf(f, "A")[0], "k"),
              StatusIs(kRefused, HasSubstr("has no annotation `k`")));
  EXPECT_THAT(UnannotateBlock(f, BlockNamed(f, "A"), "k"),
              StatusIs(kRefused, HasSubstr("has no annotation `k`")));
}

}  // namespace
}  // namespace kiln
