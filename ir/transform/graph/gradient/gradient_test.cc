// What the adjoint function is, as text; of which target and by which
// variables; and what is refused. Whether rules are right is told by
// differences (rules_test.cc).
#include "kiln/ir/transform/graph/gradient/gradient.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kiln/base/status_matchers.h"
#include "kiln/ir/ops/infer.h"
#include "kiln/ir/text/printer/printer.h"
#include "kiln/ir/transform/graph/pass_testing.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

absl::StatusOr<Module> GradientOf(const std::string& text,
                                  const GradientOptions& options = {}) {
  const absl::StatusOr<Module> module = InferModule(ReadModule(text));
  if (!module.ok()) return module.status();
  return Gradient(*module, options);
}

TEST(GradientTest, AdjointsAddUp) {
  EXPECT_EQ(DifferenceAfter({"gradient"}, R"(
@R.function
def main(x: R.Tensor((2, 3), "float32"), y: R.Tensor((3,), "float32"),
         z: R.Tensor((3,), "float32")):
    with R.dataflow():
        a = R.multiply(x, x)
        b = R.add(a, y)
        loss = R.sum(b)
        R.output(loss)
    return loss
)",
                            R"(
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 3), "float32"), y: R.Tensor((3,), "float32"),
             z: R.Tensor((3,), "float32")):
        with R.dataflow():
            a = R.multiply(x, x)
            b = R.add(a, y)
            loss = R.sum(b)
            R.output(loss)
        return loss

    @R.function
    def main_adjoint(x: R.Tensor((2, 3), "float32"),
                     y: R.Tensor((3,), "float32"),
                     z: R.Tensor((3,), "float32")):
        with R.dataflow():
            a = R.multiply(x, x)
            b = R.add(a, y)
            loss = R.sum(b)
            d = R.ones(R.shape([]), dtype="float32")
            db = R.broadcast_to(d, R.shape([2, 3]))
            da = db
            dy = R.collapse_sum_to(db, R.shape([3]))
            dx = R.multiply(da, x)
            more = R.multiply(da, x)
            dx1 = R.add(dx, more)
            out = dx1
            out1 = dy
            zeros = R.zeros(R.shape([3]), dtype="float32")
            out2 = zeros
            R.output(loss, out, out1, out2)
        return (loss, (out, out1, out2))
)"),
            "");
}

constexpr char kTuples[] = R"(
@R.function
def main(x: R.Tensor((2,), "float32"), y: R.Tensor((2,), "float32")):
    with R.dataflow():
        t = (x, y)
        u = t
        a = u[1]
        b = R.exp(a)
        loss = R.sum(b)
        other = R.exp(x)
        R.output(loss, other)
    return (other, loss)
)";

TEST(GradientTest, OfAFieldOfTheResultByOneVariable) {
  GradientOptions options;
  options.target = 1;
  options.variables = {"a"};
  KILN_ASSERT_OK_AND_ASSIGN(const Module module, GradientOf(kTuples, options));
  const std::string text = PrintModule(module);
  EXPECT_THAT(text, HasSubstr("return ((other, loss), (a_adjoint_out,))"));
  EXPECT_THAT(text, Not(HasSubstr("x_adjoint")));
}

TEST(GradientTest, OnlyNumbersAreDifferentiated) {
  EXPECT_THAT(GradientOf(kTuples),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("a float tensor of no dimensions")));
  GradientOptions options;
  options.target = 2;
  EXPECT_THAT(
      GradientOf(kTuples, options),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("no field 2")));
  options = {.function = "other"};
  EXPECT_THAT(GradientOf(kTuples, options),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("called other")));
  options = {.variables = {{"w"}}, .target = 1};
  EXPECT_THAT(GradientOf(kTuples, options),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("called w")));
}

TEST(GradientTest, WhatStandsBetweenCheckpointsIsComputedAgain) {
  KILN_ASSERT_OK_AND_ASSIGN(const Module module, GradientOf(R"(
@R.function
def main(x: R.Tensor((2,), "float32")):
    with R.dataflow():
        s = R.grad.start_checkpoint(x)
        a = R.exp(s)
        b = R.exp(a)
        e = R.grad.end_checkpoint(b)
        loss = R.sum(e)
        R.output(loss)
    return loss
)"));
  Module adjoint;
  adjoint.graph_functions.push_back(module.graph_functions[1]);
  const std::string text = PrintModule(adjoint);
  EXPECT_THAT(text, HasSubstr("= R.exp(a_cp)"));
  EXPECT_THAT(text, Not(HasSubstr("checkpoint")));
}

TEST(GradientTest, AnOpWithoutGradientIsRefusedWhereItMatters) {
  const std::string text = R"(
@R.function
def main(x: R.Tensor((2,), "float32"), y: R.Tensor((2,), "float32")):
    with R.dataflow():
        a = R.median(y)
        b = R.multiply(x, a)
        loss = R.sum(b)
        R.output(loss)
    return loss
)";
  EXPECT_THAT(GradientOf(text), StatusIs(absl::StatusCode::kUnimplemented,
                                         HasSubstr("R.median(y")));
  GradientOptions options;
  options.variables = {"x"};
  KILN_EXPECT_OK(GradientOf(text, options));
}

constexpr char kOwn[] = R"(
@I.ir_module
class Module:
    @T.prim_func(private=True)
    def double(a: T.Buffer((2,), "float32"), b: T.Buffer((2,), "float32")):
        for i in range(2):
            with T.block("b"):
                vi = T.axis.spatial(2, i)
                b[vi] = a[vi] * T.float32(2)

    @T.prim_func(private=True)
    def double_grad(g: T.Buffer((2,), "float32"), a: T.Buffer((2,), "float32"),
                    d: T.Buffer((2,), "float32")):
        for i in range(2):
            with T.block("d"):
                vi = T.axis.spatial(2, i)
                d[vi] = g[vi] * T.float32(2)

    @R.function
    def main(x: R.Tensor((2,), "float32")):
        cls = Module
        with R.dataflow():
            a = R.call_tir_with_grad(cls.double, (x,),
                out_sinfo=R.Tensor((2,), "float32"),
                te_grad_name="double_grad")
            loss = R.sum(a)
            R.output(loss)
        return loss
)";

TEST(GradientTest, TensorFunctionsNameTheirGradients) {
  KILN_ASSERT_OK_AND_ASSIGN(Module module, GradientOf(kOwn));
  const std::string text = PrintModule(module);
  EXPECT_THAT(text, HasSubstr("R.call_tir(cls.double, (x,)"));
  EXPECT_THAT(text, HasSubstr("R.call_tir(cls.double_grad, (a_adjoint, x)"));
}

TEST(GradientTest, DimensionsMayBeSymbolic) {
  KILN_ASSERT_OK_AND_ASSIGN(const Module module, GradientOf(R"(
@R.function
def main(x: R.Tensor(("n", 3), "float32"), w: R.Tensor((3, "m"), "float32"),
         b: R.Tensor(("m",), "float32")):
    n = T.int64()
    m = T.int64()
    with R.dataflow():
        p = R.matmul(x, w)
        s = R.add(p, b)
        t = R.nn.softmax(s)
        loss = R.mean(t)
        R.output(loss)
    return loss
)"));
  const std::string text = PrintModule(module);
  EXPECT_THAT(text, HasSubstr("R.ones(R.shape([n, m]), dtype=\"float32\")"));
  EXPECT_THAT(text, HasSubstr("R.collapse_sum_to(s_adjoint, R.shape([m]))"));
}

TEST(GradientTest, BranchesAreRefused) {
  EXPECT_THAT(GradientOf(R"(
@R.function
def main(x: R.Tensor((), "float32"), c: R.Tensor((), "bool")):
    if c:
        y = R.exp(x)
    else:
        y = x
    return y
)"),
              StatusIs(absl::StatusCode::kUnimplemented,
                       HasSubstr("branches and local functions")));
}

TEST(GradientTest, EffectsAreRefused) {
  EXPECT_THAT(
      GradientOf(R"(
@R.function(pure=False)
def main(x: R.Tensor((2,), "float32")):
    a = R.call_packed("log", x, sinfo_args=R.Tensor((2,), "float32"))
    loss = R.sum(a)
    return loss
)"),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("has effects")));
}

}  // namespace
}  // namespace kiln
