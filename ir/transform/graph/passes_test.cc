#include "kiln/ir/transform/graph/passes.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kiln/base/status_matchers.h"
#include "kiln/ir/text/reader/reader.h"
#include "kiln/ir/transform/graph/rules/rule.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;

constexpr char kText[] =
    "@R.function\ndef main(x: R.Tensor((2,), \"float32\")):\n"
    "    y = R.exp(x)\n    return y\n";

TEST(PassesTest, RunInTheirOrderByName) {
  KILN_ASSERT_OK_AND_ASSIGN(const Module m, ParseModule("g.py", kText));
  KILN_ASSERT_OK_AND_ASSIGN(const Module inferred,
                            RunGraphPasses(m, {"infer"}));
  EXPECT_TRUE(inferred.functions.empty());
  EXPECT_TRUE(inferred.graph_functions[0]->result);
  KILN_ASSERT_OK_AND_ASSIGN(const Module legal,
                            RunGraphPasses(m, {"legalize", "infer"}));
  EXPECT_EQ(legal.functions.size(), 1u);
}

TEST(PassesTest, ANameThatIsNoneIsRefusedWithThoseThatAre) {
  EXPECT_THAT(
      RunGraphPasses(Module(), {"fuse"}),
      StatusIs(absl::StatusCode::kInvalidArgument,
               HasSubstr("no pass is called fuse; passes are infer, ")));
}

TEST(PassesTest, RulesAreAppliedWhereTheyAreNamed) {
  KILN_ASSERT_OK_AND_ASSIGN(const Module m, ParseModule("g.py", kText));
  GraphPassOptions options;
  KILN_ASSERT_OK_AND_ASSIGN(
      options.rules, ReadRules("r.py",
                               "@R.function\ndef pattern(x: R.Tensor):\n"
                               "    return R.exp(x)\n"
                               "@R.function\ndef replacement(x: R.Tensor):\n"
                               "    return R.sin(x)\n"));
  KILN_ASSERT_OK_AND_ASSIGN(const Module after,
                            RunGraphPasses(m, {"rewrite_by_rules"}, options));
  const auto& seq = *after.graph_functions[0]->body.As<graph::SeqNode>();
  const graph::Binding& binding = seq.blocks[0].bindings[0];
  EXPECT_TRUE(binding.value.As<graph::CallNode>()->IsOp("sin"));
  EXPECT_THAT(RunGraphPasses(m, {"rewrite_by_rules"}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("--rules FILE.py")));
}

}  // namespace
}  // namespace kiln
