// Fusion by patterns, and what becomes of the composite functions that it
// leaves. Each test states a program, fuses relu(conv) under the name "lib.cr"
// or the like, and states what comes out:
//
//   lv = R.add(x, y); gv = R.nn.relu(lv)    gv = cls.fused_relax_add_...(x, y)
#include "kiln/ir/transform/graph/fuse_ops_by_pattern.h"

#include "absl/status/statusor.h"
#include "gtest/gtest.h"
#include "kiln/base/status_matchers.h"
#include "kiln/ir/compare/compare.h"
#include "kiln/ir/ops/infer.h"
#include "kiln/ir/transform/graph/merge_composite_functions.h"
#include "kiln/ir/transform/graph/pass_testing.h"

namespace kiln {
namespace {

// Where `found` and what `wanted` states differ, both inferred.
std::string Difference(const absl::StatusOr<Module>& found,
                       const std::string& wanted) {
  if (!found.ok()) return std::string(found.status().message());
  const absl::StatusOr<Module> left = InferModule(*found);
  const absl::StatusOr<Module> right = InferModule(ReadModule(wanted));
  if (!left.ok()) return std::string(left.status().message());
  if (!right.ok()) return std::string(right.status().message());
  return FirstDifference(*right, *left).value_or("");
}

absl::StatusOr<Module> Fused(const std::string& text,
                             const std::vector<FusionPattern>& patterns,
                             const PatternFusionOptions& options = {}) {
  const absl::StatusOr<Module> module = InferModule(ReadModule(text));
  if (!module.ok()) return module;
  return FuseOpsByPattern(*module, patterns, options);
}

FusionPattern AddRelu() {
  const Pattern x = Wildcard(), y = Wildcard();
  return {"lib.add_relu", IsOp("nn.relu", {IsOp("add", {x, y})}), nullptr};
}

constexpr char kTwice[] = R"(
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((4,), "float32"), y: R.Tensor((4,), "float32")):
        with R.dataflow():
            a = R.add(x, y)
            b = R.nn.relu(a)
            c = R.add(b, R.const(1, "float32"))
            d = c
            gv = R.nn.relu(d)
            R.output(gv)
        return gv
)";

TEST(FuseOpsByPatternTest, MatchesBecomeCompositeFunctions) {
  EXPECT_EQ(Difference(Fused(kTwice, {AddRelu()}), R"(
@I.ir_module
class Module:
    @R.function(private=True)
    def fused_relax_add_relax_nn_relu(x: R.Tensor((4,), "float32"), y: R.Tensor((4,), "float32")):
        R.func_attr({"Composite": "lib.add_relu", "Primitive": True})
        with R.dataflow():
            a = R.add(x, y)
            gv = R.nn.relu(a)
            R.output(gv)
        return gv

    @R.function(private=True)
    def fused_relax_add_relax_nn_relu1(b: R.Tensor((4,), "float32")):
        R.func_attr({"Composite": "lib.add_relu", "Primitive": True})
        with R.dataflow():
            c = R.add(b, R.const(1, "float32"))
            d = c
            gv = R.nn.relu(d)
            R.output(gv)
        return gv

    @R.function
    def main(x: R.Tensor((4,), "float32"), y: R.Tensor((4,), "float32")):
        cls = Module
        with R.dataflow():
            b = cls.fused_relax_add_relax_nn_relu(x, y)
            gv = cls.fused_relax_add_relax_nn_relu1(b)
            R.output(gv)
        return gv
)"),
            "");
}

TEST(FuseOpsByPatternTest, ConstantsAreHandedOverWhereAskedFor) {
  PatternFusionOptions options;
  options.keeps_constants = false;
  EXPECT_EQ(Difference(Fused(R"(
@R.function
def main(x: R.Tensor((4,), "float32")):
    with R.dataflow():
        gv = R.add(x, R.const(1, "float32"))
        R.output(gv)
    return gv
)",
                             {{"lib.add", IsOp("add", {}), nullptr}}, options),
                       R"(
@I.ir_module
class Module:
    @R.function(private=True)
    def fused_relax_add(x: R.Tensor((4,), "float32"), c: R.Tensor((), "float32")):
        R.func_attr({"Composite": "lib.add", "Primitive": True})
        with R.dataflow():
            gv = R.add(x, c)
            R.output(gv)
        return gv

    @R.function
    def main(x: R.Tensor((4,), "float32")):
        cls = Module
        with R.dataflow():
            gv = cls.fused_relax_add(x, R.const(1, "float32"))
            R.output(gv)
        return gv
)"),
            "");
}

TEST(FuseOpsByPatternTest, WhatIsNeededElsewhereOrNotWantedStays) {
  constexpr char kText[] = R"(
@R.function
def main(x: R.Tensor((4,), "float32")):
    with R.dataflow():
        a = R.add(x, x)
        b = R.nn.relu(a)
        gv = R.multiply(a, b)
        R.output(gv)
    return gv
)";
  EXPECT_EQ(Difference(Fused(kText, {AddRelu()}), kText), "");
  FusionPattern picky = AddRelu();
  picky.accepts = [](const Match&) { return false; };
  EXPECT_EQ(Difference(Fused(kTwice, {picky}), kTwice), "");
}

TEST(FuseOpsByPatternTest, TheLargestOfNestedMatchesIsTaken) {
  const Pattern add = IsOp("add", {});
  const absl::StatusOr<Module> fused =
      Fused(kTwice, {{"lib.either", IsOp("nn.relu", {add}) | add, nullptr}});
  KILN_ASSERT_OK(fused);
  EXPECT_NE(fused->FindGraph("fused_relax_add_relax_nn_relu"), nullptr);
  EXPECT_EQ(fused->FindGraph("fused_relax_add"), nullptr);
}

TEST(FuseOpsByPatternTest, CodeGeneratorsGetFunctionsAroundThem) {
  PatternFusionOptions options;
  options.annotates_codegen = true;
  EXPECT_EQ(Difference(Fused(R"(
@R.function
def main(x: R.Tensor(("n",), "float32"), y: R.Tensor(("n",), "float32")):
    with R.dataflow():
        a = R.add(x, y)
        gv = R.nn.relu(a)
        R.output(gv)
    return gv
)",
                             {AddRelu()}, options),
                       R"(
@I.ir_module
class Module:
    @R.function
    def fused_relax_add_relax_nn_relu_lib(x: R.Tensor(("n",), "float32"), y: R.Tensor(("n",), "float32")):
        R.func_attr({"Codegen": "lib"})
        @R.function
        def local_func(x_1: R.Tensor(("m",), "float32"), y_1: R.Tensor(("m",), "float32")):
            R.func_attr({"Composite": "lib.add_relu"})
            with R.dataflow():
                a = R.add(x_1, y_1)
                gv = R.nn.relu(a)
                R.output(gv)
            return gv
        output = local_func(x, y)
        return output

    @R.function
    def main(x: R.Tensor(("n",), "float32"), y: R.Tensor(("n",), "float32")):
        cls = Module
        with R.dataflow():
            gv = cls.fused_relax_add_relax_nn_relu_lib(x, y)
            R.output(gv)
        return gv
)"),
            "");
}

// add, exp and multiply are one library's, tanh another's.
TEST(MergeCompositeFunctionsTest, GroupsDoNotNeedEachOtherInTurn) {
  const absl::StatusOr<Module> fused =
      Fused(R"(
@R.function
def main(x: R.Tensor((4,), "float32")):
    with R.dataflow():
        a = R.add(x, x)
        b = R.tanh(a)
        c = R.exp(a)
        gv = R.multiply(b, c)
        R.output(gv)
    return gv
)",
            {{"one.mul", IsOp("multiply", {}), nullptr},
             {"one.add", IsOp("add", {}), nullptr},
             {"one.exp", IsOp("exp", {}), nullptr},
             {"two.tanh", IsOp("tanh", {}), nullptr}});
  KILN_ASSERT_OK(fused);
  const absl::StatusOr<Module> inferred = InferModule(*fused);
  KILN_ASSERT_OK(inferred);
  EXPECT_EQ(Difference(MergeCompositeFunctions(*inferred), R"(
@I.ir_module
class Module:
    @R.function
    def fused_relax_add_relax_exp_one(x: R.Tensor((4,), "float32")):
        R.func_attr({"Codegen": "one"})
        @R.function
        def local_func(x_1: R.Tensor((4,), "float32")):
            R.func_attr({"Composite": "one.add"})
            with R.dataflow():
                gv = R.add(x_1, x_1)
                R.output(gv)
            return gv
        a = local_func(x)
        @R.function
        def local_func(a_1: R.Tensor((4,), "float32")):
            R.func_attr({"Composite": "one.exp"})
            with R.dataflow():
                gv = R.exp(a_1)
                R.output(gv)
            return gv
        c = local_func(a)
        return (a, c)

    @R.function
    def fused_relax_tanh1_two(a: R.Tensor((4,), "float32")):
        R.func_attr({"Codegen": "two"})
        @R.function
        def local_func(a_1: R.Tensor((4,), "float32")):
            R.func_attr({"Composite": "two.tanh"})
            with R.dataflow():
                gv = R.tanh(a_1)
                R.output(gv)
            return gv
        b = local_func(a)
        return b

    @R.function
    def fused_relax_multiply1_one(b: R.Tensor((4,), "float32"), c: R.Tensor((4,), "float32")):
        R.func_attr({"Codegen": "one"})
        @R.function
        def local_func(b_1: R.Tensor((4,), "float32"), c_1: R.Tensor((4,), "float32")):
            R.func_attr({"Composite": "one.mul"})
            with R.dataflow():
                gv = R.multiply(b_1, c_1)
                R.output(gv)
            return gv
        d = local_func(b, c)
        return d

    @R.function
    def main(x: R.Tensor((4,), "float32")):
        cls = Module
        with R.dataflow():
            t = cls.fused_relax_add_relax_exp_one(x)
            a = t[0]
            c = t[1]
            b = cls.fused_relax_tanh1_two(a)
            gv = cls.fused_relax_multiply1_one(b, c)
            R.output(gv)
        return gv
)"),
            "");
}

}  // namespace
}  // namespace kiln
