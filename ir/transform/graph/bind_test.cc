#include "kiln/ir/transform/graph/bind.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kiln/base/status_matchers.h"
#include "kiln/ir/graph/constant.h"
#include "kiln/ir/text/printer/printer.h"
#include "kiln/ir/transform/graph/pass_testing.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;

constexpr char kText[] = R"(
@R.function
def main(x: R.Tensor(("n",), "float32"), w: R.Tensor(("n",), "float32")):
    n = T.int64()
    y: R.Tensor((n,), "float32") = R.add(x, w)
    return y
)";

TEST(BindTest, AConstantTellsDimensions) {
  KILN_ASSERT_OK_AND_ASSIGN(
      const graph::Expr w,
      graph::MakeConstant(DType::Float(32), {2}, {Float(1), Float(2)}));
  KILN_ASSERT_OK_AND_ASSIGN(const Module bound,
                            BindParams(ReadModule(kText), "main", {{"w", w}}));
  EXPECT_EQ(bound.graph_functions[0]->params.size(), 1u);
  EXPECT_THAT(PrintModule(bound), HasSubstr("x: R.Tensor((2,)"));
}

TEST(BindTest, ValuesThatDisagreeAboutADimensionAreRefused) {
  KILN_ASSERT_OK_AND_ASSIGN(
      const graph::Expr two,
      graph::MakeConstant(DType::Float(32), {2}, {Float(1), Float(2)}));
  KILN_ASSERT_OK_AND_ASSIGN(
      const graph::Expr one,
      graph::MakeConstant(DType::Float(32), {1}, {Float(1)}));
  EXPECT_THAT(
      BindParams(ReadModule(kText), "main", {{"x", one}, {"w", two}}),
      StatusIs(absl::StatusCode::kInvalidArgument,
               HasSubstr("parameter w is R.Tensor((n,), dtype=\"float32\"), "
                         "with the other values R.Tensor((1,), ")));
  // An extent that is told by a parameter behind.
  const Module twice = ReadModule(R"(
@R.function
def main(x: R.Tensor(("n * 2",), "float32"), w: R.Tensor(("n",), "float32")):
    n = T.int64()
    y: R.Tensor((n * 2,), "float32") = R.exp(x)
    return (y, w)
)");
  KILN_EXPECT_OK(BindParams(twice, "main", {{"x", two}, {"w", one}}));
  EXPECT_THAT(BindParams(twice, "main", {{"x", one}, {"w", one}}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("parameter x is")));
}

TEST(BindTest, DimensionsAreBoundByName) {
  KILN_ASSERT_OK_AND_ASSIGN(
      const Module bound,
      BindSymbolicVars(ReadModule(kText), "main", {{"n", 7}}));
  EXPECT_THAT(PrintModule(bound), HasSubstr("y: R.Tensor((7,)"));
}

TEST(BindTest, NamesThatAreNoneAreRefused) {
  EXPECT_THAT(BindSymbolicVars(ReadModule(kText), "main", {{"k", 7}}),
              StatusIs(absl::StatusCode::kNotFound,
                       HasSubstr("no dimension called k")));
  EXPECT_THAT(BindParams(ReadModule(kText), "other", {}),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("other")));
}

}  // namespace
}  // namespace kiln
