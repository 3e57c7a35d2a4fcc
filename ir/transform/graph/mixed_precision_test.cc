// What is cast where, as text; and that results stay close, by the interpreter.
// Products of x and w are (2, 2), so that casts are what there is to see:
//
//   h = R.astype(x, "float16")
#include "kiln/ir/transform/graph/mixed_precision.h"

#include <cmath>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kiln/base/status_matchers.h"
#include "kiln/ir/graph_interp/graph_interp.h"
#include "kiln/ir/graph_interp/value.h"
#include "kiln/ir/interp/tensor.h"
#include "kiln/ir/ops/infer.h"
#include "kiln/ir/text/printer/printer.h"
#include "kiln/ir/transform/graph/pass_testing.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kText[] = R"(
@R.function
def main(x: R.Tensor((2, 2), "float32"), w: R.Tensor((2, 2), "float32")):
    with R.dataflow():
        p = R.matmul(x, w)
        r = R.nn.relu(p)
        c = R.clip(r, 0.0, 2.0)
        s = R.nn.softmax(c)
        q = R.matmul(s, w)
        t = R.split(q, 2, axis=1)
        a = t[0]
        R.output(a, q)
    y = R.exp(q)
    return (a, y)
)";

TEST(MixedPrecisionTest, ProductsAndWhatFollows) {
  EXPECT_EQ(DifferenceAfter({"mixed_precision"}, kText, R"(
@R.function
def main(x: R.Tensor((2, 2), "float32"), w: R.Tensor((2, 2), "float32")):
    with R.dataflow():
        hx = R.astype(x, "float16")
        hw = R.astype(w, "float16")
        sum = R.matmul(hx, hw, out_dtype="float32")
        p = R.astype(sum, "float16")
        r = R.nn.relu(p)
        c = R.clip(r, R.prim_value(T.float16(0.0)), R.prim_value(T.float16(2.0)))
        f = R.astype(c, "float32")
        s = R.nn.softmax(f)
        hs = R.astype(s, "float16")
        q = R.matmul(hs, hw, out_dtype="float32")
        t = R.split(q, 2, axis=1)
        a = t[0]
        R.output(a, q)
    y = R.exp(q)
    return (a, y)
)"),
            "");
}

TEST(MixedPrecisionTest, TuplesOfEitherAreGivenOutAsTheyWere) {
  EXPECT_EQ(DifferenceAfter({"mixed_precision"}, R"(
@R.function
def main(x: R.Tensor((2, 2), "float32"), w: R.Tensor((2, 2), "float32")):
    with R.dataflow():
        p = R.matmul(x, w)
        t = (p, x)
        u = t
        b = R.add(p, R.const(1.0, "float32"))
        c = R.add(p, R.const(1e6, "float32"))
        R.output(u, b, c)
    return (u, b, c)
)",
                            R"(
@R.function
def main(x: R.Tensor((2, 2), "float32"), w: R.Tensor((2, 2), "float32")):
    with R.dataflow():
        hw = R.astype(w, "float16")
        hx = R.astype(x, "float16")
        sum = R.matmul(hx, hw, out_dtype="float32")
        p = R.astype(sum, "float16")
        t = (p, x)
        p1 = t[0]
        f = R.astype(p1, "float32")
        x1 = t[1]
        u = (f, x1)
        one = R.astype(R.const(1.0, "float32"), "float16")
        s = R.add(p, one)
        b = R.astype(s, "float32")
        f1 = R.astype(p, "float32")
        c = R.add(f1, R.const(1e6, "float32"))
        R.output(u, b, c)
    return (u, b, c)
)"),
            "");
}

absl::StatusOr<Module> Mixed(const MixedPrecisionOptions& options) {
  const absl::StatusOr<Module> module = InferModule(ReadModule(kText));
  if (!module.ok()) return module.status();
  return ToMixedPrecision(*module, options);
}

TEST(MixedPrecisionTest, ParametersOfFloat16AreNotCast) {
  KILN_ASSERT_OK_AND_ASSIGN(const Module mixed, Mixed({.sums = DType::Float(16),
                                                       .half_params = {"w"}}));
  const std::string text = PrintModule(mixed);
  EXPECT_THAT(text, HasSubstr("w: R.Tensor((2, 2), dtype=\"float16\")"));
  EXPECT_THAT(text, Not(HasSubstr("R.astype(w")));
  EXPECT_THAT(text, Not(HasSubstr("out_dtype=\"float32\"")));
  EXPECT_THAT(Mixed({.sums = DType::Float(64)}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("not in float64")));
}

TEST(MixedPrecisionTest, OutsideOfDataflowBlocksAParameterIsWhole) {
  KILN_ASSERT_OK_AND_ASSIGN(const Module module, InferModule(ReadModule(R"(
@R.function
def main(w: R.Tensor((2, 2), "float32")):
    y = R.exp(w)
    return y
)")));
  KILN_ASSERT_OK_AND_ASSIGN(const Module mixed,
                            ToMixedPrecision(module, {.half_params = {"w"}}));
  EXPECT_THAT(PrintModule(mixed), HasSubstr("R.astype(w, dtype=\"float32\")"));
}

graph::Value Filled(double start, DType dtype) {
  Tensor tensor(dtype, {2, 2});
  for (int i = 0; i < 4; ++i) tensor.Set(i, start + 0.25 * i);
  return graph::TensorOf(std::move(tensor));
}

std::vector<double> NumbersOf(const graph::Value& value) {
  std::vector<double> numbers;
  for (const graph::Value& field :
       std::get<std::shared_ptr<const graph::TupleValue>>(value)->fields) {
    const Tensor& tensor = *std::get<graph::TensorValue>(field);
    for (int64_t i = 0; i < tensor.size(); ++i) {
      numbers.push_back(tensor.GetReal(i));
    }
  }
  return numbers;
}

TEST(MixedPrecisionTest, ResultsStayClose) {
  KILN_ASSERT_OK_AND_ASSIGN(const Module module,
                            InferModule(ReadModule(kText)));
  const graph::Value x = Filled(0.3, DType::Float(32));
  const graph::Value w = Filled(-0.4, DType::Float(32));
  KILN_ASSERT_OK_AND_ASSIGN(const graph::Value wanted,
                            graph::InterpretGraph(module, "main", {x, w}));
  for (const MixedPrecisionOptions& options :
       {MixedPrecisionOptions{.sums = DType::Float(16)},
        MixedPrecisionOptions{.sums = DType::Float(32)},
        MixedPrecisionOptions{.half = DType::BFloat16()}}) {
    KILN_ASSERT_OK_AND_ASSIGN(const Module mixed, Mixed(options));
    KILN_ASSERT_OK_AND_ASSIGN(const graph::Value found,
                              graph::InterpretGraph(mixed, "main", {x, w}));
    const std::vector<double> a = NumbersOf(wanted), b = NumbersOf(found);
    ASSERT_EQ(a.size(), b.size());
    for (size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], 1e-2);
  }
}

TEST(MixedPrecisionTest, ProductsOfBFloat16) {
  EXPECT_EQ(DifferenceAfter({"mixed_precision_bfloat16"}, R"(
@R.function
def main(x: R.Tensor((2, 2), "float32")):
    with R.dataflow():
        p = R.matmul(x, x)
        r = R.clip(p, -1.0, 100000.0)
        R.output(r)
    return r
)",
                            R"(
@R.function
def main(x: R.Tensor((2, 2), "float32")):
    with R.dataflow():
        hx = R.astype(x, "bfloat16")
        sum = R.matmul(hx, hx, out_dtype="float32")
        p = R.astype(sum, "bfloat16")
        lv = R.clip(p, R.prim_value(T.bfloat16(-1.0)), R.prim_value(T.bfloat16(100000.0)))
        r = R.astype(lv, "float32")
        R.output(r)
    return r
)"),
            "");
}

TEST(MixedPrecisionTest, OtherTypesAreRefused) {
  EXPECT_THAT(Mixed({.half = DType::Float(64)}).status().message(),
              HasSubstr("float16 or bfloat16, not of float64"));
  EXPECT_THAT(Mixed({.half = DType::BFloat16(), .sums = DType::Float(16)})
                  .status()
                  .message(),
              HasSubstr("float32 or bfloat16, not in float16"));
}

TEST(MixedPrecisionTest, BlocksOfBranchesAreMixed) {
  EXPECT_EQ(DifferenceAfter({"mixed_precision"}, R"(
@R.function
def main(x: R.Tensor((2, 2), "float32"), c: R.Tensor((), "bool")):
    if c:
        with R.dataflow():
            a = R.matmul(x, x)
            R.output(a)
        y = a
    else:
        y = R.matmul(x, x)
    return y
)",
                            R"(
@R.function
def main(x: R.Tensor((2, 2), "float32"), c: R.Tensor((), "bool")):
    if c:
        with R.dataflow():
            h = R.astype(x, "float16")
            h1 = R.astype(x, "float16")
            a = R.matmul(h, h1, out_dtype="float32")
            R.output(a)
        y = a
    else:
        y = R.matmul(x, x)
    return y
)"),
            "");
}

}  // namespace
}  // namespace kiln
