#include "kiln/ir/transform/graph/passes.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kiln/base/status_matchers.h"
#include "kiln/ir/text/reader/reader.h"

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

}  // namespace
}  // namespace kiln
