// Products of one tensor, as programs over a block: what becomes one product,
// what stays apart and why. All of them compute afterwards what they did:
//
//   Main(params, {"p = R.matmul(x, u)", "q = R.matmul(x, v)"}, "(p, q)")
#include "kiln/ir/transform/graph/combine_parallel_matmul.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kiln/ir/ops/infer.h"
#include "kiln/ir/text/printer/printer.h"
#include "kiln/ir/transform/graph/pass_testing.h"
#include "kiln/ir/transform/graph/same_results.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// The module after the pass, which computes what it did.
std::string Combined(const std::string& text, const TestExtents& extents = {},
                     const AcceptsMatmuls& accepts = nullptr) {
  const auto before = InferModule(ReadModule(text));
  if (!before.ok()) return std::string(before.status().message());
  const auto after = CombineParallelMatmul(*before, accepts);
  if (!after.ok()) return std::string(after.status().message());
  if (before->FindGraph("main")) {
    const absl::Status same = SameResults(*before, *after, 1, extents);
    EXPECT_TRUE(same.ok()) << same << PrintModule(*after);
  }
  return PrintModule(*after);
}

// A function over `params` whose only block binds `lines` and gives `out`.
std::string Main(const std::string& params,
                 const std::vector<std::string>& lines,
                 const std::string& out) {
  std::string text =
      "@R.function\ndef main(" + params + "):\n    with R.dataflow():\n";
  for (const std::string& line : lines) text += "        " + line + "\n";
  return text + "        out = " + out +
         "\n        R.output(out)\n    return out\n";
}

constexpr char kThree[] =
    "x: R.Tensor((2, 4), \"float32\"), u: R.Tensor((4, 3), \"float32\"), "
    "v: R.Tensor((4, 5), \"float32\"), b: R.Tensor((3,), \"float32\"), "
    "c: R.Tensor((5,), \"float32\")";

TEST(CombineParallelMatmulTest, ProductsOfOneTensorBecomeOne) {
  EXPECT_EQ(
      DifferenceAfter(
          {"combine_parallel_matmul"},
          Main(kThree, {"p = R.matmul(x, u)", "q = R.matmul(x, v)"}, "(p, q)"),
          Main(kThree,
               {"w = R.concat((u, v), axis=1)",
                "y = R.matmul(x, w, out_dtype=\"float32\")",
                "t = R.split(y, indices_or_sections=[3], axis=1)", "p = t[0]",
                "q = t[1]"},
               "(p, q)")),
      "");
}

TEST(CombineParallelMatmulTest, BiasesAndActivationsThatAllShareJoin) {
  const std::string text = Combined(
      Main(kThree,
           {"p = R.matmul(x, u)", "pb = R.add(p, b)", "pr = R.nn.silu(pb)",
            "q = R.matmul(x, v)", "qb = R.add(q, c)", "qr = R.nn.silu(qb)"},
           "(pr, qr)"));
  EXPECT_THAT(text, HasSubstr("R.concat((b, c), axis=0)"));
  EXPECT_THAT(text, HasSubstr("R.nn.silu(lv_3)"));
}

TEST(CombineParallelMatmulTest, AnActivationBehindASumOfSomeStays) {
  const std::string text = Combined(
      Main(kThree,
           {"p = R.matmul(x, u)", "pb = R.add(p, b)", "pr = R.nn.relu(pb)",
            "q = R.matmul(x, v)", "qr = R.nn.relu(q)"},
           "(pr, qr)"));
  EXPECT_THAT(text, HasSubstr("R.split"));
  EXPECT_THAT(text, HasSubstr("R.nn.relu(pb)"));
}

TEST(CombineParallelMatmulTest, ProductsOfOtherTypesStayApart) {
  EXPECT_THAT(Combined(Main("x: R.Tensor((2, 4), \"float16\"), "
                            "u: R.Tensor((4, 3), \"float16\"), "
                            "v: R.Tensor((4, 5), \"float16\")",
                            {"p = R.matmul(x, u, out_dtype=\"float32\")",
                             "q = R.matmul(x, v, out_dtype=\"float16\")"},
                            "(p, q)")),
              Not(HasSubstr("concat")));
}

TEST(CombineParallelMatmulTest, WeightsOfBatchesJoinByTheirColumns) {
  EXPECT_THAT(Combined(Main("x: R.Tensor((3, 2, 4), \"float32\"), "
                            "u: R.Tensor((3, 4, 2), \"float32\"), "
                            "v: R.Tensor((3, 4, 2), \"float32\"), "
                            "w: R.Tensor((4, 2), \"float32\")",
                            {"p = R.matmul(x, u)", "q = R.matmul(x, v)",
                             "r = R.matmul(x, w)"},
                            "(p, q, r)")),
              HasSubstr("R.concat((u, v), axis=2)"));
}

TEST(CombineParallelMatmulTest, OneCountOfColumnsMayBeUnknown) {
  const std::string text = R"(
@R.function
def main(x: R.Tensor((2, "k"), "float32"), u: R.Tensor(("k", "n"), "float32"), v: R.Tensor(("k", 5), "float32"), w: R.Tensor(("k", "m"), "float32")):
    with R.dataflow():
        p = R.matmul(x, u)
        q = R.matmul(x, v)
        out = (p, q)
        R.output(out)
    return out
)";
  EXPECT_THAT(Combined(text), HasSubstr("R.concat((v, u), axis=1)"));
  std::string two = text;
  two.replace(two.find("R.matmul(x, v)"), 14, "R.matmul(x, w)");
  EXPECT_THAT(Combined(two), Not(HasSubstr("concat")));
}

TEST(CombineParallelMatmulTest, AWeightOfTheFirstProductIsNotKnownInTime) {
  EXPECT_THAT(Combined(Main(
                  "x: R.Tensor((4, 4), \"float32\"), "
                  "u: R.Tensor((4, 4), \"float32\")",
                  {"p = R.matmul(x, u)", "w = R.exp(p)", "q = R.matmul(x, w)"},
                  "(p, q)")),
              Not(HasSubstr("concat")));
}

// The second weight is made behind the first product, of something else.
TEST(CombineParallelMatmulTest, AProductWaitsForTheOtherWeights) {
  const char* const kParams =
      "x: R.Tensor((4, 4), \"float32\"), u: R.Tensor((4, 3), \"float32\")";
  EXPECT_EQ(
      DifferenceAfter(
          {"combine_parallel_matmul"},
          Main(kParams,
               {"p = R.matmul(x, u)", "w = R.exp(u)", "q = R.matmul(x, w)"},
               "(p, q)"),
          Main(kParams,
               {"w = R.exp(u)", "c = R.concat((u, w), axis=1)",
                "y = R.matmul(x, c, out_dtype=\"float32\")",
                "t = R.split(y, indices_or_sections=[3], axis=1)", "p = t[0]",
                "q = t[1]"},
               "(p, q)")),
      "");
  EXPECT_THAT(Combined(Main(kParams,
                            {"p = R.matmul(x, u)", "r = R.exp(p)",
                             "w = R.exp(u)", "q = R.matmul(x, w)"},
                            "(p, q, r)")),
              Not(HasSubstr("concat")));
}

TEST(CombineParallelMatmulTest, WhatIsReadBetweenIsNotHidden) {
  // The sum is the last of its branch, since another one reads the product.
  EXPECT_THAT(
      Combined(Main(kThree,
                    {"p = R.matmul(x, u)", "pb = R.add(p, b)",
                     "q = R.matmul(x, v)", "qb = R.add(q, c)"},
                    "(p, pb, qb)")),
      HasSubstr("pb: R.Tensor((2, 3), dtype=\"float32\") = R.add(p, b)"));
}

TEST(CombineParallelMatmulTest, AProductIsNoWeightOrBiasBesideItself) {
  const std::string weight = Combined(
      Main("x: R.Tensor((4, 4), \"float32\"), u: R.Tensor((4, 4), \"float32\")",
           {"p = R.matmul(x, u)", "q = R.matmul(x, p)"}, "(p, q)"));
  EXPECT_THAT(weight, Not(HasSubstr("concat")));
  const std::string bias = Combined(
      Main("x: R.Tensor((4,), \"float32\"), u: R.Tensor((4, 4), \"float32\"), "
           "b: R.Tensor((4,), \"float32\")",
           {"p = R.matmul(x, u)", "s = R.add(p, b)", "q = R.matmul(x, u)",
            "t = R.add(q, s)"},
           "t"));
  EXPECT_THAT(bias, Not(HasSubstr("concat")));
}

TEST(CombineParallelMatmulTest, BlocksOfBranchesAndOfLocalFunctionsCount) {
  const std::string text = Combined(R"(
@R.function
def main(c: R.Tensor((), "bool"), x: R.Tensor((2, 4), "float32"), u: R.Tensor((4, 3), "float32")):
    @R.function
    def local(y: R.Tensor((2, 4), "float32")):
        with R.dataflow():
            p = R.matmul(y, u)
            q = R.matmul(y, u)
            s = R.add(p, q)
            R.output(s)
        return s
    if c:
        with R.dataflow():
            a = R.matmul(x, u)
            b = R.matmul(x, u)
            t = R.subtract(a, b)
            R.output(t)
        r = t
    else:
        r = local(x)
    return r
)");
  const size_t first = text.find("R.concat((u, u), axis=1)");
  ASSERT_NE(first, std::string::npos) << text;
  EXPECT_NE(text.find("R.concat((u, u), axis=1)", first + 1), std::string::npos)
      << text;
}

TEST(CombineParallelMatmulTest, BlocksDoNotMix) {
  EXPECT_THAT(Combined(R"(
@R.function
def main(x: R.Tensor((2, 4), "float32"), u: R.Tensor((4, 3), "float32")):
    with R.dataflow():
        p = R.matmul(x, u)
        R.output(p)
    with R.dataflow():
        q = R.matmul(x, u)
        out = (p, q)
        R.output(out)
    return out
)"),
              Not(HasSubstr("concat")));
}

TEST(CombineParallelMatmulTest, APrivateFunctionIsKeptThatNothingCalls) {
  EXPECT_THAT(Combined(R"(
@R.function(private=True)
def f(x: R.Tensor((2, 4), "float32"), u: R.Tensor((4, 3), "float32")):
    with R.dataflow():
        p = R.matmul(x, u)
        q = R.matmul(x, u)
        out = (p, q)
        R.output(out)
    return out
)"),
              HasSubstr("R.concat((u, u), axis=1)"));
}

TEST(CombineParallelMatmulTest, TheCallerMayRefuse) {
  const auto accepts = [](const ParallelMatmuls& matmuls) {
    return matmuls.weights.size() > 2 && matmuls.biases.empty();
  };
  const std::string params =
      "x: R.Tensor((2, 4), \"float32\"), y: R.Tensor((2, 4), \"float32\"), "
      "u: R.Tensor((4, 3), \"float32\")";
  const std::string text = Combined(
      Main(params,
           {"a = R.matmul(x, u)", "b = R.matmul(x, u)", "c = R.matmul(x, u)",
            "d = R.matmul(y, u)", "e = R.matmul(y, u)"},
           "(a, b, c, d, e)"),
      {}, accepts);
  EXPECT_THAT(text, HasSubstr("R.concat((u, u, u), axis=1)"));
  EXPECT_THAT(text, Not(HasSubstr("R.concat((u, u), axis=1)")));
}

}  // namespace
}  // namespace kiln
