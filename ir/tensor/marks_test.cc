#include "kiln/ir/tensor/marks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kiln {
namespace {

Block BlockWith(Annotations annotations) {
  BlockFields fields;
  fields.name = "C";
  fields.annotations = std::move(annotations);
  fields.body = MakeEvaluate(Int(0));
  return MakeBlock(std::move(fields));
}

TEST(MarksTest, ABlockIsMarkedByATrueValue) {
  EXPECT_TRUE(IsMarked(*BlockWith({{kPhases, Attr(Bool(true))}}), kPhases));
  EXPECT_TRUE(IsMarked(*BlockWith({{kPhases, Attr(Int(1))}}), kPhases));
  EXPECT_FALSE(IsMarked(*BlockWith({{kPhases, Attr(Bool(false))}}), kPhases));
  EXPECT_FALSE(
      IsMarked(*BlockWith({{kPhases, Attr(std::string("1"))}}), kPhases));
  EXPECT_FALSE(IsMarked(*BlockWith({{kPhases, Attr()}}), kPhases));
  EXPECT_FALSE(IsMarked(*BlockWith({{kLaneSums, Attr(Int(1))}}), kPhases));
  EXPECT_FALSE(IsMarked(*BlockWith({}), kPhases));
}

TEST(MarksTest, ALoopIsMarkedByATrueValue) {
  ForFields fields;
  fields.var = Var("i");
  fields.min = Int(0);
  fields.extent = Int(4);
  fields.body = MakeEvaluate(Int(0));
  EXPECT_FALSE(IsMarked(*MakeFor(fields).As<ForNode>(), kTileProduct));
  fields.annotations[kTileProduct] = Attr(Bool(true));
  EXPECT_TRUE(IsMarked(*MakeFor(fields).As<ForNode>(), kTileProduct));
}

TEST(MarksTest, FunctionsGetTheMarksThatReceiversLookForWithoutBlocks) {
  const Block block = BlockWith({{kPhases, Attr(Bool(true))},
                                 {kStrassenParts, Attr(Bool(true))},
                                 {"note", Attr(Bool(true))}});
  Function f;
  HandOnMarks(*block, &f);
  HandOnMarks(*block, &f);
  EXPECT_EQ(f.attrs.size(), 1u);
  ASSERT_TRUE(IsMarked(f, kPhases));
  EXPECT_EQ(f.attrs.at(kPhases).list()->size(), 2u);
  EXPECT_EQ(*f.attrs.at(kPhases).list()->at(0).string(), "C");
}

TEST(MarksTest, AReasonTakesThePlaceOfAMark) {
  Function f;
  HandOnMarks(*BlockWith({{kPhases, Attr(Bool(true))}}), &f);
  IgnoreMark(&f, kPhases, "no loop");
  EXPECT_FALSE(IsMarked(f, kPhases));
  EXPECT_EQ(*f.attrs.at(kPhases).string(), "ignored: no loop");
}

TEST(MarksTest, AnAttributeThatIsNoMarkGivesWay) {
  Function f;
  f.attrs[kPhases] = Attr(Bool(true));
  EXPECT_FALSE(IsMarked(f, kPhases));
  HandOnMarks(*BlockWith({{kPhases, Attr(Bool(true))}}), &f);
  EXPECT_TRUE(IsMarked(f, kPhases));
}

}  // namespace
}  // namespace kiln
