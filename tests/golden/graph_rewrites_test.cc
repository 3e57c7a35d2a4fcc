// Rewrites of graph functions worked through in the literature, by code that
// uses Kiln as a library: two ops become one, layers become functions, ops
// become tensor functions by a table of the program's own, functions become
// kernels.
//
//   lv0 = R.multiply(x, y)                lv0 = R.multiply(x, y)
//   gv0 = R.add(lv0, y)                   gv0 = R.ewise_fma(x, y, y)
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"
#include "kiln/base/status_matchers.h"
#include "kiln/frontends/builder/builder.h"
#include "kiln/frontends/builder/functions.h"
#include "kiln/ir/graph/constant.h"
#include "kiln/ir/graph/expr.h"
#include "kiln/ir/graph/rewrite.h"
#include "kiln/ir/info/info.h"
#include "kiln/ir/ops/call_te.h"
#include "kiln/ir/ops/infer.h"
#include "kiln/ir/pattern/pattern.h"
#include "kiln/ir/pattern/rewrite_call.h"
#include "kiln/ir/te/te.h"
#include "kiln/ir/tensor/module.h"
#include "kiln/ir/text/printer/printer.h"
#include "kiln/ir/text/reader/reader.h"
#include "kiln/ir/transform/graph/dead_code.h"
#include "kiln/ir/transform/graph/passes.h"
#include "kiln/ir/transform/graph/same_results.h"
#include "kiln/tools/support/stated_difference.h"

namespace kiln {
namespace {

using graph::CallOp;

Module Read(const std::string& text) {
  absl::StatusOr<Module> module = ParseModule("m.py", text);
  KILN_EXPECT_OK(module);
  return module.ok() ? *std::move(module) : Module();
}

void ExpectShown(const absl::StatusOr<Module>& found,
                 const std::string& shown) {
  KILN_ASSERT_OK(found);
  EXPECT_EQ(StatedDifference(*found, Read(shown)).value_or(""), "");
}

graph::GraphFunction FunctionOf(const graph::Expr& e) {
  return graph::GraphFunction(e.As<graph::FunctionNode>());
}

constexpr char kMultiplyAdd[] = R"(
@tvm.script.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((3, 4), "float32"), y: R.Tensor((3, 4), "float32")):
        with R.dataflow():
            lv0 = relax.op.multiply(x, y)
            gv0 = relax.op.add(lv0, y)
            R.output(gv0)
        return gv0
)";

TEST(GraphRewrites, AFunctionIsParametersBlocksAndBindings) {
  KILN_ASSERT_OK_AND_ASSIGN(const Module module,
                            InferModule(Read(kMultiplyAdd)));
  const graph::FunctionNode& f = *module.FindGraph("main");
  ASSERT_EQ(f.params.size(), 2u);
  EXPECT_EQ(f.params[0]->name, "x");
  const auto* body = f.body.As<graph::SeqNode>();
  ASSERT_EQ(body->blocks.size(), 1u);
  EXPECT_TRUE(body->blocks[0].is_dataflow);
  const auto& bindings = body->blocks[0].bindings;
  ASSERT_EQ(bindings.size(), 2u);
  EXPECT_EQ(bindings[0].var->name, "lv0");
  EXPECT_TRUE(bindings[0].value.As<graph::CallNode>()->IsOp("multiply"));
  EXPECT_EQ(PrintStructInfo(bindings[1].var->info),
            "R.Tensor((3, 4), dtype=\"float32\")");
}

TEST(GraphRewrites, AProductAndASumBecomeOneOpAndTheProductIsDropped) {
  Module module = Read(kMultiplyAdd);
  const Pattern x = Wildcard(), y = Wildcard(), z = Wildcard();
  const Pattern sum = IsOp("add", {IsOp("multiply", {x, y}), z});
  graph::GraphFunction& f = module.graph_functions[0];
  f = FunctionOf(RewriteCall(
      f, sum, [&](const graph::Expr&, const Match& match, graph::Emitter&) {
        return CallOp("ewise_fma", {match.at(x), match.at(y), match.at(z)});
      }));
  const std::string head = R"(
@R.function
def main(x: R.Tensor((3, 4), dtype="float32"), y: R.Tensor((3, 4), dtype="float32")) -> R.Tensor((3, 4), dtype="float32"):
    with R.dataflow():
)";
  const std::string tail = R"(
        gv0: R.Tensor((3, 4), dtype="float32") = R.ewise_fma(x, y, y)
        R.output(gv0)
    return gv0
)";
  const std::string product =
      "        lv0: R.Tensor((3, 4), dtype=\"float32\") = R.multiply(x, y)\n";
  ExpectShown(module, absl::StrCat(head, product, tail));
  ExpectShown(WithoutUnusedBindings(module), absl::StrCat(head, tail));
}

// --- A model of ops, from code.

absl::StatusOr<graph::Expr> Weight(double first, std::vector<int64_t> shape) {
  std::vector<graph::Scalar> values;
  for (int64_t i = 0; i < graph::CountElements(shape); ++i) {
    values.push_back(Float(first + static_cast<double>(i % 5) / 8));
  }
  return graph::MakeConstant(DType::Float(32), std::move(shape), values);
}

absl::StatusOr<Module> TwoLayers() {
  KILN_ASSIGN_OR_RETURN(const graph::Expr w0, Weight(-0.25, {128, 784}));
  KILN_ASSIGN_OR_RETURN(const graph::Expr b0, Weight(1, {128}));
  KILN_ASSIGN_OR_RETURN(const graph::Expr w1, Weight(-0.125, {10, 128}));
  KILN_ASSIGN_OR_RETURN(const graph::Expr b1, Weight(3, {10}));
  const graph::Var x("x", graph::Tensor({Int(1), Int(784)}, DType::Float(32)));
  graph::BlockBuilder bb;
  const auto main = bb.BeginFunction("main", {x});
  auto dataflow = bb.BeginDataflow();
  const auto linear = [&](const graph::Var& in, const graph::Expr& w,
                          const graph::Expr& b) {
    const graph::Var product =
        bb.Emit(CallOp("matmul", {in, CallOp("permute_dims", {w})}));
    return bb.Emit(CallOp("add", {product, b}));
  };
  const graph::Var hidden = bb.Emit(CallOp("nn.relu", {linear(x, w0, b0)}));
  const graph::Var out = bb.EmitOutput(linear(hidden, w1, b1));
  dataflow.End();
  bb.EmitFuncOutput(out);
  return bb.Finish();
}

TEST(GraphRewrites, AModelOfOpsFromCode) {
  ExpectShown(TwoLayers(), R"(
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((1, 784), dtype="float32")) -> R.Tensor((1, 10), dtype="float32"):
        with R.dataflow():
            lv: R.Tensor((784, 128), dtype="float32") = R.permute_dims(metadata["relax.expr.Constant"][0], axes=None)
            lv1: R.Tensor((1, 128), dtype="float32") = R.matmul(x, lv, out_dtype="void")
            lv2: R.Tensor((1, 128), dtype="float32") = R.add(lv1, metadata["relax.expr.Constant"][1])
            lv3: R.Tensor((1, 128), dtype="float32") = R.nn.relu(lv2)
            lv4: R.Tensor((128, 10), dtype="float32") = R.permute_dims(metadata["relax.expr.Constant"][2], axes=None)
            lv5: R.Tensor((1, 10), dtype="float32") = R.matmul(lv3, lv4, out_dtype="void")
            lv6: R.Tensor((1, 10), dtype="float32") = R.add(lv5, metadata["relax.expr.Constant"][3])
            gv: R.Tensor((1, 10), dtype="float32") = lv6
            R.output(gv)
        return gv
)");
}

// --- Its layers become functions.

graph::Var ParameterLike(std::string name, const graph::Expr& e) {
  return graph::Var(std::move(name), graph::InfoOf(e));
}

// x @ w + b as a function that is to be one kernel.
absl::StatusOr<graph::GraphFunction> FusedLayer(const std::string& name,
                                                const graph::Expr& x,
                                                const graph::Expr& w,
                                                const graph::Expr& b) {
  const graph::Var in = ParameterLike("x", x), weight = ParameterLike("w", w),
                   bias = ParameterLike("b", b);
  graph::BlockBuilder bb;
  const auto fused = bb.BeginFunction(name, {in, weight, bias});
  auto dataflow = bb.BeginDataflow();
  const graph::Var product = bb.Emit(CallOp("matmul", {in, weight}));
  const graph::Var out = bb.EmitOutput(CallOp("add", {product, bias}));
  dataflow.End();
  bb.EmitFuncOutput(out);
  KILN_ASSIGN_OR_RETURN(const Module module, bb.Finish());
  return graph::WithAttr(module.graph_functions[0], "Primitive", Attr(Int(1)));
}

absl::StatusOr<Module> LayersAsFunctions(const Module& model) {
  graph::BlockBuilder bb(model);
  const Pattern x = Wildcard(), w = Wildcard(), b = Wildcard();
  const Pattern layer = IsOp("add", {IsOp("matmul", {x, w}), b});
  int count = 0;
  absl::Status status;
  for (const graph::GraphFunction& f : model.graph_functions) {
    const auto rule = [&](const graph::Expr&, const Match& match,
                          graph::Emitter&) {
      const absl::StatusOr<graph::GraphFunction> fused =
          FusedLayer(absl::StrCat("fused_matmul_add", count++), match.at(x),
                     match.at(w), match.at(b));
      status.Update(fused.status());
      if (!fused.ok()) return graph::Expr();
      const graph::Expr callee = bb.AddFunction(*fused);
      return graph::Expr(new graph::CallNode(
          callee, {match.at(x), match.at(w), match.at(b)}, {}, {}));
    };
    const graph::GraphFunction rewritten =
        FunctionOf(RewriteCall(f, layer, rule));
    KILN_RETURN_IF_ERROR(status);
    bb.UpdateFunction(f->name, WithoutUnusedBindings(rewritten, bb.module()));
  }
  return bb.Finish();
}

constexpr char kFused[] = R"(
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((1, 784), dtype="float32")) -> R.Tensor((1, 10), dtype="float32"):
        cls = Module
        with R.dataflow():
            lv = R.permute_dims(metadata["relax.expr.Constant"][0])
            lv2 = cls.fused_matmul_add0(x, lv, metadata["relax.expr.Constant"][1])
            lv3 = R.nn.relu(lv2)
            lv4 = R.permute_dims(metadata["relax.expr.Constant"][2])
            lv6 = cls.fused_matmul_add1(lv3, lv4, metadata["relax.expr.Constant"][3])
            gv = lv6
            R.output(gv)
        return gv

    @R.function
    def fused_matmul_add0(x: R.Tensor((1, 784), dtype="float32"), w: R.Tensor((784, 128), dtype="float32"), b: R.Tensor((128,), dtype="float32")) -> R.Tensor((1, 128), dtype="float32"):
        R.func_attr({"Primitive": 1})
        with R.dataflow():
            lv0 = R.matmul(x, w)
            gv = R.add(lv0, b)
            R.output(gv)
        return gv

    @R.function
    def fused_matmul_add1(x: R.Tensor((1, 128), dtype="float32"), w: R.Tensor((128, 10), dtype="float32"), b: R.Tensor((10,), dtype="float32")) -> R.Tensor((1, 10), dtype="float32"):
        R.func_attr({"Primitive": 1})
        with R.dataflow():
            lv0 = R.matmul(x, w)
            gv = R.add(lv0, b)
            R.output(gv)
        return gv
)";

// --- Ops become tensor functions, by formulas of the program's own.

using Tensors = std::vector<te::Tensor>;

te::Tensor Product(const Tensors& in) {
  const te::IterVar k = te::ReduceAxis(Int(0), in[0].shape()[1], "k");
  return te::Compute(
      {in[0].shape()[0], in[1].shape()[1]},
      [&](const auto& i) {
        return te::Sum(in[0](i[0], k) * in[1](k, i[1]), {k});
      },
      "T_matmul_NN");
}

te::Tensor PlusRow(const Tensors& in) {
  return te::Compute(
      in[0].shape(), [&](const auto& i) { return in[0](i) + in[1](i[1]); },
      "T_add");
}

te::Tensor Relu(const Tensors& in) {
  return te::Compute(
      in[0].shape(),
      [&](const auto& i) { return Max(in[0](i), Constant(0, in[0].dtype())); },
      "compute");
}

te::Tensor Transposed(const Tensors& in) {
  return te::Compute(
      {in[0].shape()[1], in[0].shape()[0]},
      [&](const auto& i) { return in[0](i[1], i[0]); }, "T_transpose");
}

struct OpFormula {
  const char* name;
  te::Tensor (*formula)(const Tensors& in);
};
const std::map<std::string, OpFormula> kFormulas = {
    {"matmul", {"matmul", Product}},
    {"add", {"add", PlusRow}},
    {"nn.relu", {"relu", Relu}},
    {"permute_dims", {"transpose", Transposed}}};

absl::StatusOr<graph::Expr> Lowered(const graph::CallNode& call,
                                    const OpFormula& op, Module& module) {
  Tensors inputs;
  for (const graph::Expr& arg : call.args) {
    KILN_ASSIGN_OR_RETURN(
        inputs.emplace_back(te::Placeholder({}, DType::Float(32), "")),
        PlaceholderFor(graph::InfoOf(arg), absl::StrCat("x", inputs.size())));
  }
  return CallTensors(op.name, call.args, inputs, {op.formula(inputs)}, module);
}

absl::StatusOr<Module> OpsAsTensorFunctions(Module module) {
  absl::Status status;
  for (size_t i = 0; i < module.graph_functions.size(); ++i) {
    const graph::Expr rewritten = graph::RewriteBindings(
        module.graph_functions[i],
        [&](const graph::Binding& binding, graph::Emitter& emit) {
          const auto* call = binding.value.As<graph::CallNode>();
          const auto* op = call ? call->callee.As<graph::OpNode>() : nullptr;
          const auto known = op ? kFormulas.find(op->name) : kFormulas.end();
          if (known == kFormulas.end()) return false;
          const absl::StatusOr<graph::Expr> lowered =
              Lowered(*call, known->second, module);
          status.Update(lowered.status());
          if (!lowered.ok()) return false;
          emit.Emit(binding.var, *lowered);
          return true;
        });
    KILN_RETURN_IF_ERROR(status);
    module.graph_functions[i] = FunctionOf(rewritten);
  }
  return InferModule(module);
}

std::vector<std::string> NamesOf(const Module& module) {
  std::vector<std::string> names;
  for (const Function& f : module.functions) names.push_back(f.name);
  return names;
}

constexpr char kKernel[] = R"(
@T.prim_func(private=True)
def fused_matmul_add1(x: T.Buffer((1, 128), "float32"), w: T.Buffer((128, 10), "float32"), b: T.Buffer((10,), "float32"), y: T.Buffer((1, 10), "float32")):
    T.func_attr({"tir.noalias": True})
    product = T.alloc_buffer((1, 10))
    for i0, i1, k in T.grid(1, 10, 128):
        with T.block("T_matmul_NN"):
            v_i0, v_i1, v_k = T.axis.remap("SSR", [i0, i1, k])
            with T.init():
                product[v_i0, v_i1] = T.float32(0)
            product[v_i0, v_i1] = product[v_i0, v_i1] + x[v_i0, v_k] * w[v_k, v_i1]
    for i0, i1 in T.grid(1, 10):
        with T.block("T_add"):
            v_i0, v_i1 = T.axis.remap("SS", [i0, i1])
            y[v_i0, v_i1] = product[v_i0, v_i1] + b[v_i1]
)";

Module Only(const Module& module, const std::string& tensor_function) {
  Module one;
  one.functions = {*module.Find(tensor_function)};
  return one;
}

TEST(GraphRewrites, LayersBecomeFunctionsThenTensorFunctionsThenKernels) {
  const absl::StatusOr<Module> model = TwoLayers();
  KILN_ASSERT_OK(model);
  const absl::StatusOr<Module> fused = LayersAsFunctions(*model);
  ExpectShown(fused, kFused);
  const absl::StatusOr<Module> lowered = OpsAsTensorFunctions(*fused);
  KILN_ASSERT_OK(lowered);
  EXPECT_THAT(NamesOf(*lowered), testing::UnorderedElementsAre(
                                     "matmul", "add", "relu", "transpose",
                                     "transpose1", "matmul1", "add1"));
  EXPECT_EQ(lowered->graph_functions.size(), 3u);
  const absl::StatusOr<Module> kernels = RunGraphPasses(*lowered, {"fuse_tir"});
  KILN_ASSERT_OK(kernels);
  EXPECT_THAT(NamesOf(*kernels), testing::UnorderedElementsAre(
                                     "fused_matmul_add0", "fused_matmul_add1",
                                     "relu", "transpose", "transpose1"));
  ExpectShown(Only(*kernels, "fused_matmul_add1"), kKernel);
  for (const Module& step : {*fused, *lowered, *kernels}) {
    KILN_EXPECT_OK(SameResults(*model, step, /*seed=*/7));
  }
  EXPECT_THAT(PrintGraphFunction(*kernels->graph_functions[0]),
              testing::AllOf(
                  testing::HasSubstr("R.call_tir(cls.fused_matmul_add0, (x,"),
                  testing::HasSubstr("R.call_tir(cls.fused_matmul_add1, (")));
}

}  // namespace
}  // namespace kiln
