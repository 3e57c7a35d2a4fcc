// Calls of new functions tell their layouts: those of inputs are what
// layout_transform brought them to; those of results are the inverse of what
// brings them back. Where that is cut by `remove_pad`, indices wrap at the
// extents before the cut:
//
//   d = R.layout_transform(c, lambda i: (i,))       16 elements
//   y = R.call_tir(cls.remove_pad, (d,), ...)       14; lambda i: (i % 16,)
#include "kiln/tests/conformance/op_implementations.h"

#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/arith/iter_map.h"
#include "kiln/ir/expr/visit.h"
#include "kiln/ir/graph/visit.h"
#include "kiln/ir/info/info.h"
#include "kiln/ir/ops/infer.h"
#include "kiln/ir/pattern/pattern.h"
#include "kiln/ir/transform/graph/alter_op_impl.h"

namespace kiln {
namespace {

const std::vector<Expr>* ExtentsOf(const graph::Expr& e) {
  const graph::StructInfo info = graph::InfoOf(e);
  const auto* tensor = info.As<graph::TensorInfo>();
  return tensor ? tensor->extents() : nullptr;
}

std::optional<LayoutMap> MapOf(const graph::CallNode& call) {
  const auto attr = call.attrs.find("index_map");
  const AttrMap* map = attr == call.attrs.end() ? nullptr : attr->second.map();
  if (!map || !map->count("inputs") || !map->count("outputs")) return {};
  LayoutMap layout;
  for (const Attr& input : *map->at("inputs").list()) {
    layout.inputs.emplace_back(input.expr()->As<VarNode>());
  }
  for (const Attr& output : *map->at("outputs").list()) {
    layout.outputs.push_back(*output.expr());
  }
  return layout;
}

class Reader {
 public:
  Reader(const Module& before, const Module& after)
      : before_(before), after_(after) {}

  OpImplementations Run() {
    for (const graph::GraphFunction& f : after_.graph_functions) {
      values_ = BoundValuesOf(f);
      for (const auto& [var, value] : values_) {
        const auto* call = value.As<graph::CallNode>();
        if (call && call->IsOp("call_tir")) Read(graph::Var(var), *call);
      }
    }
    return std::move(found_);
  }

 private:
  void Read(const graph::Var& var, const graph::CallNode& call) {
    const auto* callee = call.args[0].As<graph::GlobalVarNode>();
    const Function* f = callee ? after_.Find(callee->name) : nullptr;
    const auto* inputs = call.args[1].As<graph::TupleNode>();
    if (!f || !inputs || before_.Find(f->name)) return;
    const auto op = f->attrs.find("operator_name");
    if (op == f->attrs.end() || !op->second.string()) return;
    OpImplementation made{*f, {}};
    for (const graph::Expr& input : inputs->fields) {
      const auto* transform = TransformAt(input);
      made.layouts.push_back(transform ? MapOf(*transform) : std::nullopt);
    }
    for (size_t i = 0; i < call.infos.size(); ++i) {
      made.layouts.push_back(ResultLayout(var, call, i));
    }
    found_[*op->second.string()] = std::move(made);
  }

  const graph::CallNode* TransformAt(const graph::Expr& e) const {
    const auto value = values_.find(e.As<graph::VarNode>());
    const auto* call =
        value == values_.end() ? nullptr : value->second.As<graph::CallNode>();
    return call && call->IsOp("layout_transform") ? call : nullptr;
  }

  // The variable that field `i` of the result has.
  graph::Expr FieldOf(const graph::Var& var, const graph::CallNode& call,
                      size_t i) const {
    if (call.infos.size() == 1) return var;
    for (const auto& [field, value] : values_) {
      const auto* item = value.As<graph::TupleItemNode>();
      const bool is_it = item && item->tuple.get() == var.get() &&
                         item->index == static_cast<int>(i);
      if (is_it) return graph::Var(field);
    }
    return {};
  }

  std::optional<LayoutMap> ResultLayout(const graph::Var& var,
                                        const graph::CallNode& call,
                                        size_t i) const {
    const graph::Expr field = FieldOf(var, call, i);
    for (const auto& [restored, value] : values_) {
      const auto* transform = TransformAt(graph::Var(restored));
      if (!transform || transform->args[0].get() != field.get()) continue;
      return InverseOf(*transform, graph::Var(restored));
    }
    return std::nullopt;
  }

  std::optional<LayoutMap> InverseOf(const graph::CallNode& transform,
                                     const graph::Var& restored) const {
    const std::optional<LayoutMap> map = MapOf(transform);
    const auto* extents = ExtentsOf(transform.args[0]);
    const auto* rounded = ExtentsOf(restored);
    if (!map || !extents || !rounded) return std::nullopt;
    std::vector<LoopRange> loops;
    for (size_t d = 0; d < extents->size(); ++d) {
      loops.push_back({map->inputs[d], {Int(0), (*extents)[d]}});
    }
    LayoutMap inverse;
    std::vector<Expr> points;
    for (const Expr& extent : *rounded) {
      inverse.inputs.emplace_back("i");
      const Expr point = inverse.inputs.back();
      points.push_back(IsCut(restored) ? FloorMod(point, extent) : point);
    }
    const auto outputs = InvertIterMap(map->outputs, loops, points);
    if (!outputs) return std::nullopt;
    inverse.outputs = *outputs;
    return inverse;
  }

  bool IsCut(const graph::Var& var) const {
    for (const auto& [cut, value] : values_) {
      const auto* call = value.As<graph::CallNode>();
      if (!call || !call->IsOp("call_tir")) continue;
      const auto* callee = call->args[0].As<graph::GlobalVarNode>();
      const auto* args = call->args[1].As<graph::TupleNode>();
      const bool cuts = callee && absl::StartsWith(callee->name, "remove_pad");
      if (cuts && args && args->fields[0].get() == var.get()) return true;
    }
    return false;
  }

  const Module& before_;
  const Module& after_;
  BoundValues values_;
  OpImplementations found_;
};

}  // namespace

absl::StatusOr<Module> AlterOpImplAsIn(const Module& before,
                                       const Module& after) {
  KILN_ASSIGN_OR_RETURN(const Module inferred, InferModule(before));
  KILN_ASSIGN_OR_RETURN(const Module wanted, InferModule(after));
  return AlterOpImplementations(inferred, Reader(inferred, wanted).Run());
}

}  // namespace kiln
