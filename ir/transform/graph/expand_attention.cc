#include "kiln/ir/transform/graph/expand_attention.h"

#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "kiln/base/status_macros.h"
#include "kiln/ir/arith/analyzer.h"
#include "kiln/ir/graph/constant.h"
#include "kiln/ir/graph/rewrite.h"
#include "kiln/ir/info/info.h"
#include "kiln/ir/ops/infer.h"
#include "kiln/ir/transform/graph/functions.h"

namespace kiln {
namespace {

using graph::CallOp;
using Shape = std::vector<Expr>;

// (batch, sequence, heads, size), if that is known.
const Shape* ShapeOf(const graph::Expr& e) {
  const auto* tensor = TensorInfoOf(e);
  const Shape* shape = tensor ? tensor->extents() : nullptr;
  return shape && shape->size() == 4 ? shape : nullptr;
}

bool IsNone(const graph::CallNode& call, const std::string& name) {
  const auto found = call.attrs.find(name);
  return found == call.attrs.end() ||
         std::holds_alternative<std::monostate>(found->second.value);
}

// What scores are multiplied by; nullopt where it is no number.
std::optional<double> ScaleOf(const graph::CallNode& call, const Shape& q) {
  if (!IsNone(call, "scale")) {
    const Expr* scale = call.attrs.at("scale").expr();
    const auto* value = scale ? scale->As<FloatImmNode>() : nullptr;
    return value ? std::optional(value->value) : std::nullopt;
  }
  const int64_t* size = AsInt(q[3]);
  if (!size || *size < 1) return std::nullopt;
  return 1 / std::sqrt(static_cast<double>(*size));
}

bool IsToExpand(const graph::CallNode& call) {
  if (!call.IsOp("nn.attention") && !call.IsOp("nn.attention_bias")) {
    return false;
  }
  const Shape *q = ShapeOf(call.args[0]), *k = ShapeOf(call.args[1]);
  if (!q || !k || !IsNone(call, "causal_mask") ||
      !IsNone(call, "window_size") || !ScaleOf(call, *q)) {
    return false;
  }
  const DType dtype = TensorInfoOf(call.args[0])->dtype;
  if (dtype != DType::Float(32) && dtype != DType::Float(64)) return false;
  Analyzer analyzer;
  return !AsInt((*k)[1]) && !analyzer.CanProveEqual((*q)[1], (*k)[1]) &&
         analyzer.CanProveEqual((*q)[2], (*k)[2]);
}

graph::Expr Permuted(const graph::Expr& x, std::initializer_list<int> axes,
                     graph::Emitter& emit) {
  AttrList list;
  for (const int axis : axes) list.emplace_back(Int(axis));
  return emit.Emit(CallOp("permute_dims", {x}, {{"axes", Attr(list)}}));
}

graph::Expr Product(const graph::Expr& a, const graph::Expr& b,
                    graph::Emitter& emit) {
  return emit.Emit(CallOp("matmul", {a, b}, {{"out_dtype", Attr()}}));
}

graph::Expr Expanded(const graph::CallNode& call, graph::Emitter& emit) {
  const DType dtype = TensorInfoOf(call.args[0])->dtype;
  const double scale = *ScaleOf(call, *ShapeOf(call.args[0]));
  const graph::Expr q = Permuted(call.args[0], {0, 2, 1, 3}, emit);
  const graph::Expr k = Permuted(call.args[1], {0, 2, 3, 1}, emit);
  graph::Expr scores = Product(q, k, emit);
  scores = emit.Emit(CallOp(
      "multiply",
      {scores, *graph::MakeConstant(dtype, {}, {Constant(scale, dtype)})}));
  if (call.args.size() > 3) {
    scores = emit.Emit(CallOp("add", {scores, call.args[3]}));
  }
  const graph::Expr shares =
      emit.Emit(CallOp("nn.softmax", {scores}, {{"axis", Attr(Int(-1))}}));
  const graph::Expr v = Permuted(call.args[2], {0, 2, 1, 3}, emit);
  const graph::Expr sum = Product(shares, v, emit);
  return CallOp("permute_dims", {sum},
                {{"axes", Attr(AttrList{Int(0), Int(2), Int(1), Int(3)})}});
}

}  // namespace

absl::StatusOr<Module> ExpandAttention(const Module& module) {
  Module out = module;
  bool is_expanded = false;
  for (graph::GraphFunction& f : out.graph_functions) {
    const graph::Expr e = graph::RewriteBindings(
        f, [&](const graph::Binding& binding, graph::Emitter& emit) {
          const auto* call = binding.value.As<graph::CallNode>();
          if (!call || !IsToExpand(*call)) return false;
          emit.Emit(binding.var, Expanded(*call, emit));
          return true;
        });
    is_expanded = is_expanded || e.get() != f.get();
    f = graph::GraphFunction(e.As<graph::FunctionNode>());
  }
  return is_expanded ? InferModule(out) : module;
}

}  // namespace kiln
