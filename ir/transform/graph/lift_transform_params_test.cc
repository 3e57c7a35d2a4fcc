// What is lifted, as text, of one function and of several; and that a function
// applied to what its weights become gives what it gave, by the interpreter:
//
//   first(x, w) = first(x, transform_params((w,))...)
#include "kiln/ir/transform/graph/lift_transform_params.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kiln/base/status_matchers.h"
#include "kiln/ir/graph_interp/graph_interp.h"
#include "kiln/ir/graph_interp/value.h"
#include "kiln/ir/interp/tensor.h"
#include "kiln/ir/ops/infer.h"
#include "kiln/ir/transform/graph/pass_testing.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;

TEST(LiftTransformParamsTest, WhatNeedsWeightsOnlyIsLifted) {
  EXPECT_EQ(DifferenceAfter({"lift_transform_params"}, R"(
@R.function
def main(x: R.Tensor((2, 3), "float32"), w: R.Tensor((4, 3), "float32"),
         b: R.Tensor((4,), "float32"), u: R.Tensor((4,), "float32")):
    R.func_attr({"num_input": 1})
    with R.dataflow():
        t = R.permute_dims(w)
        s = R.multiply(t, t)
        y = R.matmul(x, s)
        z = R.add(y, b)
        R.output(z)
    return z
)",
                            R"(
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 3), "float32"), b: R.Tensor((4,), "float32"),
             s: R.Tensor((3, 4), "float32")):
        R.func_attr({"num_input": 1})
        with R.dataflow():
            y = R.matmul(x, s)
            z = R.add(y, b)
            R.output(z)
        return z

    @R.function
    def main_transform_params(
            model_params: R.Tuple(R.Tensor((4, 3), "float32"),
                R.Tensor((4,), "float32"), R.Tensor((4,), "float32"))):
        R.func_attr({"num_input": 0})
        with R.dataflow():
            w = model_params[0]
            t = R.permute_dims(w)
            s = R.multiply(t, t)
            b = model_params[1]
            out = (b, s)
            R.output(out)
        return out
)"),
            "");
}

TEST(LiftTransformParamsTest, TuplesAreWhatTheyHold) {
  EXPECT_EQ(DifferenceAfter({"lift_transform_params"}, R"(
@R.function
def main(x: R.Tensor((2,), "float32"), w: R.Tensor((2,), "float32")):
    R.func_attr({"num_input": 1})
    with R.dataflow():
        e = R.exp(w)
        a = (w, e)
        b = (a, x)
        c = b[0]
        d = c[1]
        f = a[1]
        m = R.builtin.stop_lift_params(f)
        n = R.exp(m)
        y = R.add(d, n)
        R.output(y)
    return y
)",
                            R"(
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2,), "float32"),
             a: R.Tuple(R.Tensor((2,), "float32"), R.Tensor((2,), "float32")),
             f: R.Tensor((2,), "float32")):
        R.func_attr({"num_input": 1})
        with R.dataflow():
            b = (a, x)
            c = b[0]
            d = c[1]
            n = R.exp(f)
            y = R.add(d, n)
            R.output(y)
        return y

    @R.function
    def main_transform_params(
            model_params: R.Tuple(R.Tensor((2,), "float32"))):
        R.func_attr({"num_input": 0})
        with R.dataflow():
            w = model_params[0]
            e = R.exp(w)
            w1 = model_params[0]
            a = (w1, e)
            f = e
            out = (a, f)
            R.output(out)
        return out
)"),
            "");
}

TEST(LiftTransformParamsTest, DimensionsThatOnlyWeightsToldAreHandedOver) {
  EXPECT_EQ(DifferenceAfter({"lift_transform_params"}, R"(
@R.function
def main(x: R.Tensor(ndim=1, dtype="float32"),
         w: R.Tensor(("n", 3), "float32")):
    R.func_attr({"num_input": 1})
    n = T.int64()
    with R.dataflow():
        t = R.reshape(w, R.shape([n * 3]))
        o = R.ones(R.shape([n]), "float32")
        y = R.add(x, t)
        z = R.zeros(R.shape([n, n]), "float32")
        g = (y, z)
        R.output(g)
    return g
)",
                            R"(
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(ndim=1, dtype="float32"),
             t: R.Tensor(("n * 3",), "float32"),
             z: R.Tensor(("n", "n"), "float32")):
        R.func_attr({"num_input": 1})
        n = T.int64()
        with R.dataflow():
            y = R.add(x, t)
            g = (y, z)
            R.output(g)
        return g

    @R.function
    def main_transform_params(
            model_params: R.Tuple(R.Tensor(("n", 3), "float32"))):
        R.func_attr({"num_input": 0})
        n = T.int64()
        with R.dataflow():
            w = model_params[0]
            t = R.reshape(w, R.shape([n * 3]))
            z = R.zeros(R.shape([n, n]), "float32")
            out = (t, z)
            R.output(out)
        return out
)"),
            "");
}

TEST(LiftTransformParamsTest, AShapeTellsDimensionsThatNothingElseDoes) {
  EXPECT_EQ(DifferenceAfter({"lift_transform_params"}, R"(
@R.function
def main(x: R.Tensor(ndim=1, dtype="float32"),
         w: R.Tensor(("n", 3), "float32")):
    R.func_attr({"num_input": 1})
    n = T.int64()
    with R.dataflow():
        t = R.sum(w)
        y = R.add(x, t)
        R.output(y)
    return (y, R.shape([n]))
)",
                            R"(
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(ndim=1, dtype="float32"), dims: R.Shape(["n"]),
             t: R.Tensor((), "float32")):
        R.func_attr({"num_input": 1})
        n = T.int64()
        with R.dataflow():
            y = R.add(x, t)
            R.output(y)
        return (y, R.shape([n]))

    @R.function
    def main_transform_params(
            model_params: R.Tuple(R.Tensor(("n", 3), "float32"))):
        R.func_attr({"num_input": 0})
        n = T.int64()
        with R.dataflow():
            w = model_params[0]
            t = R.sum(w)
            out = (R.shape([n]), t)
            R.output(out)
        return out
)"),
            "");
}

constexpr char kTwo[] = R"(
@I.ir_module
class Module:
    @R.function
    def first(x: R.Tensor((2, 2), "float32"), w: R.Tensor((2, 2), "float32")):
        R.func_attr({"num_input": 1})
        with R.dataflow():
            e = R.exp(w)
            t = R.permute_dims(w)
            y = R.matmul(x, t)
            z = R.add(y, e)
            R.output(z)
        return z

    @R.function
    def second(x: R.Tensor((2, 2), "float32"), w: R.Tensor((2, 2), "float32")):
        R.func_attr({"num_input": 1})
        with R.dataflow():
            t = R.permute_dims(w)
            z = R.add(x, t)
            R.output(z)
        return z
)";

TEST(LiftTransformParamsTest, OneForAllDoesWhatAllDo) {
  EXPECT_EQ(DifferenceAfter({"lift_shared_transform_params"}, kTwo, R"(
@I.ir_module
class Module:
    @R.function
    def first(x: R.Tensor((2, 2), "float32"), w: R.Tensor((2, 2), "float32"),
              t: R.Tensor((2, 2), "float32")):
        R.func_attr({"num_input": 1})
        with R.dataflow():
            e = R.exp(w)
            y = R.matmul(x, t)
            z = R.add(y, e)
            R.output(z)
        return z

    @R.function
    def second(x: R.Tensor((2, 2), "float32"), w: R.Tensor((2, 2), "float32"),
               t: R.Tensor((2, 2), "float32")):
        R.func_attr({"num_input": 1})
        with R.dataflow():
            z = R.add(x, t)
            R.output(z)
        return z

    @R.function
    def transform_params(
            model_params: R.Tuple(R.Tensor((2, 2), "float32"))):
        R.func_attr({"num_input": 0})
        with R.dataflow():
            w = model_params[0]
            t = R.permute_dims(w)
            w1 = model_params[0]
            out = (w1, t)
            R.output(out)
        return out
)"),
            "");
}

TEST(LiftTransformParamsTest, NothingIsLiftedWhereNothingCanBe) {
  const std::string text = R"(
@I.ir_module
class Module:
    @R.function
    def other(x: R.Tensor((2,), "float32")):
        with R.dataflow():
            y = R.exp(x)
            R.output(y)
        return y
)";
  EXPECT_EQ(DifferenceAfter({"lift_transform_params"}, text, text), "");
}

TEST(LiftTransformParamsTest, WrongCountsAreRefused) {
  KILN_ASSERT_OK_AND_ASSIGN(const Module module, InferModule(ReadModule(R"(
@R.function
def main(x: R.Tensor((2,), "float32")):
    R.func_attr({"num_input": 2})
    return x
)")));
  EXPECT_THAT(LiftTransformParams(module, LiftInto::kOneEach),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("num_input is 2, of 1 parameters")));
}

graph::Value Filled(double start) {
  Tensor tensor(DType::Float(32), {2, 2});
  for (int i = 0; i < 4; ++i) tensor.Set(i, start + i);
  return graph::TensorOf(std::move(tensor));
}

TEST(LiftTransformParamsTest, TheMeaningIsTheSame) {
  KILN_ASSERT_OK_AND_ASSIGN(const Module module, InferModule(ReadModule(kTwo)));
  const graph::Value x = Filled(1), w = Filled(0.5);
  KILN_ASSERT_OK_AND_ASSIGN(const graph::Value wanted,
                            graph::InterpretGraph(module, "first", {x, w}));
  for (const LiftInto into : {LiftInto::kOneEach, LiftInto::kOneForAll}) {
    KILN_ASSERT_OK_AND_ASSIGN(const Module lifted,
                              LiftTransformParams(module, into));
    const bool is_shared = into == LiftInto::kOneForAll;
    KILN_ASSERT_OK_AND_ASSIGN(
        const graph::Value prepared,
        graph::InterpretGraph(
            lifted, is_shared ? "transform_params" : "first_transform_params",
            {graph::TupleOfValues({w})}));
    std::vector<graph::Value> args = {x};
    const auto& fields =
        std::get<std::shared_ptr<const graph::TupleValue>>(prepared)->fields;
    args.insert(args.end(), fields.begin(), fields.end());
    KILN_ASSERT_OK_AND_ASSIGN(const graph::Value found,
                              graph::InterpretGraph(lifted, "first", args));
    EXPECT_EQ(std::get<graph::TensorValue>(found)->bytes,
              std::get<graph::TensorValue>(wanted)->bytes);
  }
}

}  // namespace
}  // namespace kiln
