#include "kiln/ir/pattern/pattern.h"

#include "gtest/gtest.h"
#include "kiln/base/status_matchers.h"
#include "kiln/ir/pattern/rewrite_call.h"
#include "kiln/ir/tensor/module.h"
#include "kiln/ir/text/printer/printer.h"
#include "kiln/ir/text/reader/reader.h"

namespace kiln {
namespace {

constexpr char kText[] = R"(
@R.function
def main(x: R.Tensor((4,), "float32")):
    a = R.exp(x)
    b = R.add(a, a)
    return b
)";

TEST(PatternTest, AVariableMatchesAsWhatItIsBoundTo) {
  KILN_ASSERT_OK_AND_ASSIGN(const Module m, ParseModule("t.py", kText));
  const graph::FunctionNode& f = *m.graph_functions[0];
  const BoundValues bound = BoundValuesOf(f.body);
  const graph::Expr& result = f.body.As<graph::SeqNode>()->result;
  const Pattern x = Wildcard();
  const Pattern exp = IsOp("exp", {x});
  const auto match = IsOp("add", {exp, exp}).Match(result, bound);
  ASSERT_TRUE(match.has_value());
  EXPECT_EQ(match->at(x).get(), f.params[0].get());
  EXPECT_FALSE(IsOp("add", {x, exp}).Match(result, bound).has_value() &&
               IsOp("add", {IsNot(exp), x}).Match(result, bound).has_value());
  EXPECT_TRUE((IsConstant() | IsVar()).Match(result, bound).has_value());
  EXPECT_FALSE((IsConstant() & IsVar()).Match(result, bound).has_value());
  EXPECT_TRUE(x.HasShape({4})
                  .HasDType(DType::Float(32))
                  .HasRank(1)
                  .Match(f.params[0], bound)
                  .has_value());
  EXPECT_FALSE(IsVar().HasShape({5}).Match(f.params[0], bound).has_value());
}

TEST(PatternTest, ARuleReplacesWhatMatches) {
  KILN_ASSERT_OK_AND_ASSIGN(const Module m, ParseModule("t.py", kText));
  const Pattern x = Wildcard();
  const graph::Expr out = RewriteCall(
      m.graph_functions[0], IsOp("add", {IsOp("exp", {x}), Wildcard()}),
      [&](const graph::Expr&, const Match& match, graph::Emitter& emit) {
        return graph::CallOp("exp",
                             {emit.Emit(graph::CallOp("log", {match.at(x)}))});
      });
  const std::string text = PrintGraphFunction(*out.As<graph::FunctionNode>());
  EXPECT_NE(text.find("R.log(x)"), std::string::npos) << text;
  EXPECT_EQ(text.find("R.add"), std::string::npos) << text;
}

}  // namespace
}  // namespace kiln
