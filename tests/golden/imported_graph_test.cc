// A graph of another framework, node by node, brought in by a table of what its
// calls and modules mean: the literature's walk-through of such an importer,
// and the modules that it leads to.
//
//   {"placeholder", "x"}, {"get_attr", "weight"},
//   {"call_function", "matmul", {"x", "weight"}}, ...
//
//   lv = R.call_tir(cls.te_matmul, (x, metadata[...][0]), out_sinfo=...)
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "kiln/base/status_matchers.h"
#include "kiln/frontends/builder/builder.h"
#include "kiln/ir/graph/constant.h"
#include "kiln/ir/graph/expr.h"
#include "kiln/ir/te/te.h"
#include "kiln/ir/tensor/module.h"
#include "kiln/ir/text/reader/reader.h"
#include "kiln/tools/support/stated_difference.h"

namespace kiln {
namespace {

using graph::BlockBuilder;

const DType kF32 = DType::Float(32);

struct Node {
  std::string op;      // placeholder, get_attr, call_function, call_module or
                       // output
  std::string target;  // what is called, the module or the attribute
  std::vector<std::string> args = {};
  std::string name = {};  // the target's where none is given
};

struct TracedGraph {
  std::vector<Node> nodes;
  std::map<std::string, graph::Expr> attributes;  // "linear0.weight"
  std::map<std::string, std::string> kinds;       // of modules, by their names
};

using Values = std::map<std::string, graph::Expr>;  // of nodes
using Converter =
    std::function<graph::Var(BlockBuilder& bb, const TracedGraph& traced,
                             const Node& node, const Values& values)>;
using Converters = std::map<std::string, Converter>;

absl::StatusOr<Module> Imported(const TracedGraph& traced,
                                std::vector<std::vector<int64_t>> shapes,
                                const Converters& functions,
                                const Converters& modules) {
  Values values;
  std::vector<graph::Var> params;
  graph::Var out;
  BlockBuilder bb;
  const auto main = bb.BeginFunction("main");
  auto dataflow = bb.BeginDataflow();
  for (const Node& node : traced.nodes) {
    const std::string& name = node.name.empty() ? node.target : node.name;
    if (node.op == "placeholder") {
      std::vector<Expr> extents;
      for (int64_t extent : shapes.at(params.size())) {
        extents.push_back(Int(extent));
      }
      params.emplace_back(name, graph::Tensor(std::move(extents), kF32));
      values[name] = params.back();
    } else if (node.op == "get_attr") {
      values[name] = traced.attributes.at(node.target);
    } else if (node.op == "call_function") {
      values[name] = functions.at(node.target)(bb, traced, node, values);
    } else if (node.op == "call_module") {
      const std::string& kind = traced.kinds.at(node.target);
      values[name] = modules.at(kind)(bb, traced, node, values);
    } else if (node.op == "output") {
      out = bb.EmitOutput(values.at(node.args[0]));
    } else {
      return absl::UnimplementedError(absl::StrCat("nodes ", node.op));
    }
  }
  dataflow.End();
  bb.EmitFuncOutput(out, params);
  return bb.Finish();
}

te::Tensor Matmul(const te::Tensor& a, const te::Tensor& b) {
  const te::IterVar k = te::ReduceAxis(Int(0), a.shape()[1], "k");
  return te::Compute(
      {a.shape()[0], b.shape()[1]},
      [&](const auto& i) { return te::Sum(a(i[0], k) * b(k, i[1]), {k}); },
      "matmul");
}

te::Tensor Relu(const te::Tensor& a) {
  return te::Compute(
      a.shape(),
      [&](const auto& i) { return Max(a(i), Constant(0, a.dtype())); }, "relu");
}

// a @ b.T, for weights in whatever layout.
graph::TeOutputs Dense(const te::Tensor& a, const te::Tensor& b) {
  const te::IterVar k = te::ReduceAxis(Int(0), a.shape()[1], "k");
  return graph::TeOutputs(
      te::Compute(
          {a.shape()[0], b.shape()[0]},
          [&](const auto& i) { return te::Sum(a(i[0], k) * b(i[1], k), {k}); },
          "T_matmul_NT"),
      {b});
}

te::Tensor PlusRow(const te::Tensor& a, const te::Tensor& b) {
  return te::Compute(
      a.shape(), [&](const auto& i) { return a(i) + b(i[1]); }, "T_add");
}

graph::Var ConvertMatmul(BlockBuilder& bb, const TracedGraph&, const Node& node,
                         const Values& values) {
  return bb.EmitTe("te_matmul", Matmul, values.at(node.args[0]),
                   values.at(node.args[1]));
}

graph::Var ConvertRelu(BlockBuilder& bb, const TracedGraph&, const Node& node,
                       const Values& values) {
  return bb.EmitTe("te_relu", Relu, values.at(node.args[0]));
}

graph::Var ConvertLinear(BlockBuilder& bb, const TracedGraph& traced,
                         const Node& node, const Values& values) {
  const graph::Expr& w = traced.attributes.at(node.target + ".weight");
  const graph::Var y = bb.EmitTe("dense", Dense, values.at(node.args[0]), w);
  const auto b = traced.attributes.find(node.target + ".bias");
  return b == traced.attributes.end() ? y
                                      : bb.EmitTe("add", PlusRow, y, b->second);
}

// `first` in every element.
graph::Expr Filled(double first, std::vector<int64_t> shape) {
  const std::vector<graph::Scalar> values(graph::CountElements(shape),
                                          Float(first));
  absl::StatusOr<graph::Expr> made =
      graph::MakeConstant(kF32, std::move(shape), values);
  KILN_EXPECT_OK(made);
  return made.ok() ? *made : graph::Expr();
}

void ExpectShown(const absl::StatusOr<Module>& found,
                 const std::string& shown) {
  KILN_ASSERT_OK(found);
  KILN_ASSERT_OK_AND_ASSIGN(const Module read, ParseModule("m.py", shown));
  EXPECT_EQ(StatedDifference(*found, read).value_or(""), "");
}

TEST(ImportedGraphTest, FunctionsOverAnAttribute) {
  TracedGraph traced;
  traced.nodes = {{"placeholder", "x"},
                  {"get_attr", "weight"},
                  {"call_function", "matmul", {"x", "weight"}},
                  {"call_function", "relu", {"matmul"}},
                  {"output", "output", {"relu"}}};
  traced.attributes = {{"weight", Filled(0.5, {128, 128})}};
  ExpectShown(Imported(traced, {{1, 128}},
                       {{"matmul", ConvertMatmul}, {"relu", ConvertRelu}}, {}),
              R"(
@I.ir_module
class Module:
    @T.prim_func(private=True)
    def te_matmul(x: T.Buffer((T.int64(1), T.int64(128)), "float32"), B: T.Buffer((T.int64(128), T.int64(128)), "float32"), matmul: T.Buffer((T.int64(1), T.int64(128)), "float32")):
        T.func_attr({"tir.noalias": T.bool(True)})
        # with T.block("root"):
        for i, j, k in T.grid(T.int64(1), T.int64(128), T.int64(128)):
            with T.block("matmul"):
                v_i, v_j, v_k = T.axis.remap("SSR", [i, j, k])
                T.reads(x[v_i, v_k], B[v_k, v_j])
                T.writes(matmul[v_i, v_j])
                with T.init():
                    matmul[v_i, v_j] = T.float32(0.0)
                matmul[v_i, v_j] = matmul[v_i, v_j] + x[v_i, v_k] * B[v_k, v_j]

    @T.prim_func(private=True)
    def te_relu(lv: T.Buffer((T.int64(1), T.int64(128)), "float32"), relu: T.Buffer((T.int64(1), T.int64(128)), "float32")):
        T.func_attr({"tir.noalias": T.bool(True)})
        # with T.block("root"):
        for i, j in T.grid(T.int64(1), T.int64(128)):
            with T.block("relu"):
                v_i, v_j = T.axis.remap("SS", [i, j])
                T.reads(lv[v_i, v_j])
                T.writes(relu[v_i, v_j])
                relu[v_i, v_j] = T.max(lv[v_i, v_j], T.float32(0.0))

    @R.function
    def main(x: R.Tensor((1, 128), dtype="float32")) -> R.Tensor((1, 128), dtype="float32"):
        cls = Module
        with R.dataflow():
            lv = R.call_tir(cls.te_matmul, (x, metadata["relax.expr.Constant"][0]), out_sinfo=R.Tensor((1, 128), dtype="float32"))
            lv1 = R.call_tir(cls.te_relu, (lv,), out_sinfo=R.Tensor((1, 128), dtype="float32"))
            gv: R.Tensor((1, 128), dtype="float32") = lv1
            R.output(gv)
        return gv
)");
}

// A dense layer and what is added to it, as TVM names them.
std::string DenseText(const std::string& suffix, int64_t n, int64_t k) {
  return absl::StrCat(
      R"(
    @T.prim_func(private=True)
    def add)",
      suffix, "(lv: T.Buffer((T.int64(1), T.int64(", n,
      R"()), "float32"), B: T.Buffer((T.int64()", n,
      R"(),), "float32"), T_add: T.Buffer((T.int64(1), T.int64()", n,
      R"()), "float32")):
        T.func_attr({"tir.noalias": T.bool(True)})
        for ax0, ax1 in T.grid(T.int64(1), T.int64()",
      n, R"()):
            with T.block("T_add"):
                v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
                T.reads(lv[v_ax0, v_ax1], B[v_ax1])
                T.writes(T_add[v_ax0, v_ax1])
                T_add[v_ax0, v_ax1] = lv[v_ax0, v_ax1] + B[v_ax1]

    @T.prim_func(private=True)
    def dense)",
      suffix, "(x: T.Buffer((T.int64(1), T.int64(", k,
      R"()), "float32"), B: T.Buffer((T.int64()", n, "), T.int64(", k,
      R"()), "float32"), T_matmul_NT: T.Buffer((T.int64(1), T.int64()", n,
      R"()), "float32")):
        T.func_attr({"layout_free_buffers": [1], "tir.noalias": T.bool(True)})
        for i0, i1, k in T.grid(T.int64(1), T.int64()",
      n, "), T.int64(", k, R"()):
            with T.block("T_matmul_NT"):
                v_i0, v_i1, v_k = T.axis.remap("SSR", [i0, i1, k])
                T.reads(x[v_i0, v_k], B[v_i1, v_k])
                T.writes(T_matmul_NT[v_i0, v_i1])
                with T.init():
                    T_matmul_NT[v_i0, v_i1] = T.float32(0.0)
                T_matmul_NT[v_i0, v_i1] = T_matmul_NT[v_i0, v_i1] + x[v_i0, v_k] * B[v_i1, v_k]
)");
}

constexpr char kLayersMain[] = R"(
    @T.prim_func(private=True)
    def te_relu(lv1: T.Buffer((T.int64(1), T.int64(128)), "float32"), relu: T.Buffer((T.int64(1), T.int64(128)), "float32")):
        T.func_attr({"tir.noalias": T.bool(True)})
        for i, j in T.grid(T.int64(1), T.int64(128)):
            with T.block("relu"):
                v_i, v_j = T.axis.remap("SS", [i, j])
                T.reads(lv1[v_i, v_j])
                T.writes(relu[v_i, v_j])
                relu[v_i, v_j] = T.max(lv1[v_i, v_j], T.float32(0.0))

    @R.function
    def main(x: R.Tensor((1, 784), dtype="float32")) -> R.Tensor((1, 10), dtype="float32"):
        cls = Module
        with R.dataflow():
            lv = R.call_tir(cls.dense, (x, metadata["relax.expr.Constant"][0]), out_sinfo=R.Tensor((1, 128), dtype="float32"))
            lv1 = R.call_tir(cls.add, (lv, metadata["relax.expr.Constant"][1]), out_sinfo=R.Tensor((1, 128), dtype="float32"))
            lv2 = R.call_tir(cls.te_relu, (lv1,), out_sinfo=R.Tensor((1, 128), dtype="float32"))
            lv3 = R.call_tir(cls.dense1, (lv2, metadata["relax.expr.Constant"][2]), out_sinfo=R.Tensor((1, 10), dtype="float32"))
            lv4 = R.call_tir(cls.add1, (lv3, metadata["relax.expr.Constant"][3]), out_sinfo=R.Tensor((1, 10), dtype="float32"))
            gv: R.Tensor((1, 10), dtype="float32") = lv4
            R.output(gv)
        return gv
)";

TracedGraph TwoLayers() {
  TracedGraph traced;
  traced.nodes = {{"placeholder", "x"},
                  {"call_module", "linear0", {"x"}},
                  {"call_module", "relu", {"linear0"}},
                  {"call_module", "linear1", {"relu"}},
                  {"output", "output", {"linear1"}}};
  traced.kinds = {
      {"linear0", "Linear"}, {"relu", "ReLU"}, {"linear1", "Linear"}};
  traced.attributes = {{"linear0.weight", Filled(1, {128, 784})},
                       {"linear0.bias", Filled(2, {128})},
                       {"linear1.weight", Filled(3, {10, 128})},
                       {"linear1.bias", Filled(4, {10})}};
  return traced;
}

TEST(ImportedGraphTest, LayersWithWeights) {
  const Converters modules = {{"Linear", ConvertLinear}, {"ReLU", ConvertRelu}};
  const std::string shown =
      absl::StrCat("@I.ir_module\nclass Module:", DenseText("", 128, 784),
                   DenseText("1", 10, 128), kLayersMain);
  ExpectShown(Imported(TwoLayers(), {{1, 784}}, {}, modules), shown);
  TracedGraph other = TwoLayers();
  other.attributes.erase("linear1.bias");
  const absl::StatusOr<Module> unbiased =
      Imported(other, {{1, 784}}, {}, modules);
  KILN_ASSERT_OK(unbiased);
  EXPECT_EQ(unbiased->functions.size(), 4u);
}

// As where an importer hands on the value of its last node, which is one of the
// dataflow block, in place of what the block outputs.
TEST(ImportedGraphTest, WhatADataflowBlockDoesNotOutputIsNoResult) {
  const graph::Var x("x", graph::Tensor({Int(1), Int(4)}, kF32));
  BlockBuilder bb;
  const auto main = bb.BeginFunction("main");
  auto dataflow = bb.BeginDataflow();
  const graph::Var y = bb.EmitTe("te_relu", Relu, x);
  bb.EmitOutput(y);
  dataflow.End();
  bb.EmitFuncOutput(y, {x});
  EXPECT_THAT(bb.Finish(), StatusIs(absl::StatusCode::kInvalidArgument,
                                    testing::HasSubstr("of a dataflow block")));
}

}  // namespace
}  // namespace kiln
