// What calls of ops give that move elements or depend on them: a row states
// parameters, a call and the struct info of its result.
//
//   x of ("n", 4)    R.flatten(x)    R.Tensor((n * 4,), dtype="float32")
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kiln/base/status_matchers.h"
#include "kiln/ir/graph/expr.h"
#include "kiln/ir/ops/infer.h"
#include "kiln/ir/tensor/module.h"
#include "kiln/ir/text/printer/printer.h"
#include "kiln/ir/text/reader/reader.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;

absl::StatusOr<std::string> Inferred(const std::string& params,
                                     const std::string& call) {
  KILN_ASSIGN_OR_RETURN(
      const Module module,
      ParseModule("g.py", "@R.function\ndef main(" + params + "):\n    y = R." +
                              call + "\n    return y\n"));
  KILN_ASSIGN_OR_RETURN(const Module inferred, InferModule(module));
  const auto* body = inferred.FindGraph("main")->body.As<graph::SeqNode>();
  return PrintStructInfo(body->blocks.back().bindings.back().var->info);
}

struct Row {
  const char* params;
  const char* call;
  const char* expected;
};

void Check(const Row& row) {
  EXPECT_THAT(Inferred(row.params, row.call), IsOkAndHolds(row.expected))
      << row.call << " of " << row.params;
}

const char kSymbolic[] = "x: R.Tensor((\"n\", 4), \"float32\")";
const char kRanked[] = "x: R.Tensor(ndim=2, dtype=\"float32\")";
const char kUnranked[] = "x: R.Tensor(dtype=\"float32\")";

TEST(InferDataTest, ExtentsFollowFromExtents) {
  for (const Row& row : {
           Row{kSymbolic, "flatten(x)",
               R"(R.Tensor((n * 4,), dtype="float32"))"},
           {kSymbolic, "reshape(x, (2, -1))",
            R"(R.Tensor((2, n * 2), dtype="float32"))"},
           {kSymbolic, "concat((x, x), axis=0)",
            R"(R.Tensor((n + n, 4), dtype="float32"))"},
           {kSymbolic, "stack((x, x), axis=2)",
            R"(R.Tensor((n, 4, 2), dtype="float32"))"},
           {kSymbolic, "tile(x, repeats=[3, 1, 2])",
            R"(R.Tensor((3, n, 8), dtype="float32"))"},
           {kSymbolic, "repeat(x, repeats=3, axis=0)",
            R"(R.Tensor((n * 3, 4), dtype="float32"))"},
           {kSymbolic, "argmax(x, axis=1, keepdims=True)",
            R"(R.Tensor((n, 1), dtype="int64"))"},
           {kSymbolic, "cumsum(x, dtype=\"int32\")",
            R"(R.Tensor((n * 4,), dtype="int32"))"},
           {kSymbolic, "strided_slice(x, (1,), (1,), (4,), (2,))",
            R"(R.Tensor((n, 2), dtype="float32"))"},
           {kSymbolic, "size(x)", R"(R.Tensor((), dtype="int64"))"},
       }) {
    Check(row);
  }
}

TEST(InferDataTest, RanksFollowFromRanks) {
  for (const Row& row : {
           Row{kRanked, "flatten(x)", R"(R.Tensor(dtype="float32", ndim=1))"},
           {kRanked, "expand_dims(x, axis=[0, 1])",
            R"(R.Tensor(dtype="float32", ndim=4))"},
           {kRanked, "stack((x, x), axis=0)",
            R"(R.Tensor(dtype="float32", ndim=3))"},
           {kRanked, "squeeze(x)", R"(R.Tensor(dtype="float32"))"},
           {kRanked, "squeeze(x, axis=[0])",
            R"(R.Tensor(dtype="float32", ndim=1))"},
           {kRanked, "argmin(x)", R"(R.Tensor((), dtype="int64"))"},
           {kRanked,
            "one_hot(R.astype(x, \"int32\"), R.prim_value(1), "
            "R.prim_value(0), depth=3)",
            R"(R.Tensor(dtype="int64", ndim=3))"},
           {kUnranked, "argmin(x, axis=3)", R"(R.Tensor(dtype="int64"))"},
           {kUnranked, "nn.batch_flatten(x)",
            R"(R.Tensor(dtype="float32", ndim=2))"},
           {"s: R.Shape(ndim=-1), x: R.Tensor(s, dtype=\"float32\")",
            "permute_dims(x)", R"(R.Tensor(dtype="float32"))"},
           {kUnranked, "tile(x, repeats=[2])", R"(R.Tensor(dtype="float32"))"},
           {kUnranked, "nonzero(x)", R"(R.Tensor(dtype="int64", ndim=2))"},
       }) {
    Check(row);
  }
}

TEST(InferDataTest, ShapesThatAreVariablesStayVariables) {
  const char* params =
      "x: R.Tensor((1, \"n\"), \"float32\"), s: R.Shape(ndim=3)";
  for (const Row& row : {
           Row{params, "broadcast_to(x, s)", R"(R.Tensor(s, dtype="float32"))"},
           {params, "zeros(s, \"int8\")", R"(R.Tensor(s, dtype="int8"))"},
           {params, "reshape(x, s)", R"(R.Tensor(s, dtype="float32"))"},
           {params, "shape_to_tensor(s)", R"(R.Tensor((3,), dtype="int64"))"},
       }) {
    Check(row);
  }
}

TEST(InferDataTest, AxesAreThoseOfAKnownRank) {
  EXPECT_THAT(std::string(Inferred("x: R.Tensor(dtype=\"float32\")",
                                   "permute_dims(x, axes=[1, 0])")
                              .status()
                              .message()),
              HasSubstr("R.match_cast tells it"));
}

TEST(InferDataTest, ResultsSpeakOfWhatCallersKnow) {
  KILN_ASSERT_OK_AND_ASSIGN(
      const Module module,
      ParseModule("g.py",
                  "@R.function\ndef main(n: T.int64, s: R.Shape(ndim=1)):\n"
                  "    x = R.zeros((n, 2), \"int8\")\n"
                  "    y = R.zeros(s, \"int8\")\n    return (x, y)\n"));
  KILN_ASSERT_OK_AND_ASSIGN(const Module inferred, InferModule(module));
  EXPECT_EQ(PrintStructInfo(inferred.FindGraph("main")->result),
            R"(R.Tuple(R.Tensor(dtype="int8", ndim=2), )"
            R"(R.Tensor(dtype="int8", ndim=1)))");
}

TEST(InferDataTest, IllTypedCallsAreRefused) {
  const char* params =
      "x: R.Tensor((3, 4), \"float32\"), i: R.Tensor((2,), \"int64\"), s: "
      "R.Shape([3, 4])";
  for (const char* call : {"take(x, x, axis=0)",
                           "take(x, i, axis=2)",
                           "gather_elements(x, i)",
                           "scatter_elements(x, i, x)",
                           "broadcast_to(x, (4, 3))",
                           "collapse_sum_to(x, (3, 3))",
                           "concat((x, i), axis=0)",
                           "concat(s)",
                           "split(x, indices_or_sections=2, axis=2)",
                           "flip(x, axis=-3)",
                           "reverse_sequence(x, i)",
                           "layout_transform(x, index_map=T.index_map("
                           "lambda a: (a,)))",
                           "zeros(x, \"int8\")",
                           "tensor_to_shape(x)",
                           "sort(s)",
                           "cumsum(x, axis=5)",
                           "median(x, axis=[0, 0])",
                           "dynamic_strided_slice(x, i, i, x)",
                           "bucketize(x, x)",
                           "index_put(x, (i, i, i), x)",
                           "hamming_window(0, True, 0.5, 0.5)"}) {
    EXPECT_FALSE(Inferred(params, call).ok()) << call;
  }
}

}  // namespace
}  // namespace kiln
