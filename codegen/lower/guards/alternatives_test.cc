#include "kiln/codegen/lower/guards/alternatives.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kiln/ir/tensor/visit.h"

namespace kiln::lower {
namespace {

using ::testing::ElementsAre;

Stmt Number(int64_t value) { return MakeEvaluate(Int(value)); }

// The numbers of each part that is mapped.
std::vector<std::string> Parts(const Stmt& body) {
  std::vector<std::string> parts;
  MapAlternatives(body, [&](const Stmt& part) {
    std::string& text = parts.emplace_back();
    VisitExprs(part, [&](const Expr& e) {
      if (const int64_t* value = AsInt(e)) text += std::to_string(*value);
      return true;
    });
    return part;
  });
  return parts;
}

TEST(AlternativesTest, EachBranchIsOnePart) {
  const Var n("n");
  const Stmt inner =
      MakeIf(LT(n, Int(9)), MakeSeq({Number(2), Number(3)}), Number(4));
  EXPECT_THAT(Parts(MakeIf(LT(n, Int(5)), Number(1), inner)),
              ElementsAre("1", "23", "4"));
}

TEST(AlternativesTest, WhatStandsBesideIsAPartOfItsOwn) {
  const Var n("n");
  const Stmt choice = MakeIf(LT(n, Int(5)), Number(3), Number(4));
  EXPECT_THAT(Parts(MakeSeq({Number(1), Number(2), choice, Number(5)})),
              ElementsAre("12", "3", "4", "5"));
}

TEST(AlternativesTest, OtherBodiesAreMappedWhole) {
  const Var n("n");
  EXPECT_THAT(Parts(MakeSeq({Number(1), Number(2)})), ElementsAre("12"));
  EXPECT_THAT(Parts(MakeIf(LT(n, Int(5)), Number(1))), ElementsAre("51"));
}

}  // namespace
}  // namespace kiln::lower
