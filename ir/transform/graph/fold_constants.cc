// One walk over the bindings: what a call gives becomes a constant before the
// next one is looked at, so that chains fold link by link. The call is
// interpreted in a module of its own, as the body of a function without
// parameters:
//
//   lv = R.sqrt(R.const([4.0]))     def fold(): v = R.sqrt(...); return v
//   y = R.add(x, lv)                y = R.add(x, R.const([2.0]))
//
// Several tensors stay a tuple of constants under its name; its fields fold
// into what uses them.
#include "kiln/ir/transform/graph/fold_constants.h"

#include <algorithm>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "kiln/base/blob.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/graph/constant.h"
#include "kiln/ir/graph/rewrite.h"
#include "kiln/ir/graph_interp/graph_interp.h"
#include "kiln/ir/info/info.h"
#include "kiln/ir/ops/infer.h"
#include "kiln/ir/transform/graph/dead_code.h"
#include "kiln/ir/transform/graph/functions.h"

namespace kiln {
namespace {

using graph::Binding;
using graph::Expr;

bool AreNumbers(const std::vector<graph::Scalar>& values) {
  return std::all_of(values.begin(), values.end(),
                     [](const graph::Scalar& value) { return AsInt(value); });
}

// Whether the value is known ahead, and needs no computation.
bool IsKnown(const Expr& e) {
  if (const auto* constant = e.As<graph::ConstantNode>()) {
    return constant->is_known();
  }
  if (const auto* number = e.As<graph::PrimNode>()) {
    return AsInt(number->value) || number->value.As<FloatImmNode>();
  }
  if (const auto* shape = e.As<graph::ShapeNode>()) {
    return AreNumbers(shape->values);
  }
  if (const auto* tuple = e.As<graph::TupleNode>()) {
    return std::all_of(tuple->fields.begin(), tuple->fields.end(), IsKnown);
  }
  return e.As<graph::StringNode>() || e.As<graph::DataTypeNode>() ||
         e.As<graph::GlobalVarNode>();
}

bool HoldsTensor(const Expr& e) {
  const auto* tuple = e.As<graph::TupleNode>();
  if (!tuple) return e.As<graph::ConstantNode>();
  return std::any_of(tuple->fields.begin(), tuple->fields.end(), HoldsTensor);
}

// The elements of a value of this kind; -1 where it is nothing that a constant
// can be, or more than `most`. A tensor without elements stays a call, since a
// list of none does not say its shape.
int64_t CountOf(const graph::StructInfo& info, int64_t most) {
  int64_t count = 0;
  if (const auto* tuple = info.As<graph::TupleInfo>()) {
    for (const graph::StructInfo& field : tuple->fields) {
      const int64_t one = CountOf(field, most);
      if (one < 0 || one > most - count) return -1;
      count += one;
    }
    return count;
  }
  const auto* shape = info.As<graph::ShapeInfo>();
  if (shape) return shape->values && AreNumbers(*shape->values) ? 0 : -1;
  const auto* tensor = info.As<graph::TensorInfo>();
  const auto* extents = tensor ? tensor->extents() : nullptr;
  if (!extents || !AreNumbers(*extents) || !tensor->device.empty()) return -1;
  count = 1;
  for (const graph::Scalar& extent : *extents) {
    const int64_t n = *AsInt(extent);
    if (n < 0 || __builtin_mul_overflow(count, n, &count)) return -1;
  }
  return count == 0 || count > most ? -1 : count;
}

// The value as a leaf; null where it is none.
Expr LeafOf(const graph::Value& value) {
  if (const auto* held = std::get_if<graph::TensorValue>(&value)) {
    const Tensor& tensor = **held;
    absl::StatusOr<Blob> data =
        Blob::Copy({reinterpret_cast<const char*>(tensor.bytes.data()),
                    tensor.bytes.size()});
    if (!data.ok()) return {};
    return Expr(
        new graph::ConstantNode(tensor.dtype, tensor.shape, *std::move(data)));
  }
  if (const auto* extents = std::get_if<graph::Extents>(&value)) {
    std::vector<graph::Scalar> values;
    for (const int64_t extent : *extents) values.push_back(Int(extent));
    return graph::ShapeOf(std::move(values));
  }
  const auto* tuple =
      std::get_if<std::shared_ptr<const graph::TupleValue>>(&value);
  if (!tuple) return {};
  std::vector<Expr> fields;
  for (const graph::Value& field : (*tuple)->fields) {
    fields.push_back(LeafOf(field));
    if (!fields.back()) return {};
  }
  return graph::TupleOf(std::move(fields));
}

class Folder {
 public:
  Folder(const Module& module, const FoldOptions& options)
      : options_(options), module_(module) {
    module_.graph_functions.clear();
  }

  graph::GraphFunction Fold(const graph::GraphFunction& f) {
    const Expr e = graph::RewriteBindings(
        f, [&](const Binding& binding, graph::Emitter& emit) {
          return FoldBinding(binding, emit);
        });
    return graph::GraphFunction(e.As<graph::FunctionNode>());
  }

 private:
  bool FoldBinding(const Binding& binding, graph::Emitter& emit) {
    const Expr value = Known(binding);
    if (!value) return false;
    if (value.As<graph::TupleNode>()) {
      tuples_.emplace(binding.var.get(), value);
      if (value.get() == binding.value.get()) return false;
      emit.Emit(binding.var, value);
      return true;
    }
    emit.Replace(binding.var, value);
    return true;
  }

  // Null where it is not known ahead.
  Expr Known(const Binding& binding) {
    const Expr value = WithFields(binding.value);
    if (const auto* item = value.As<graph::TupleItemNode>()) {
      const auto* tuple = item->tuple.As<graph::TupleNode>();
      const auto index = static_cast<size_t>(item->index);
      const bool is_there = tuple && index < tuple->fields.size();
      return is_there && IsKnown(tuple->fields[index]) ? tuple->fields[index]
                                                       : Expr();
    }
    if (!value.As<graph::CallNode>()) {
      const bool is_leaf =
          value.As<graph::ConstantNode>() || value.As<graph::TupleNode>();
      return is_leaf && IsKnown(value) ? value : Expr();
    }
    return Computed(value, binding.var->info);
  }

  // Tuples that are known stand in for their names.
  Expr WithFields(const Expr& value) const {
    return graph::MapOperands(value, [&](const Expr& operand) {
      const auto found = tuples_.find(operand.As<graph::VarNode>());
      return found == tuples_.end() ? operand : found->second;
    });
  }

  bool MayFold(const graph::CallNode& call,
               const graph::StructInfo& info) const {
    const bool is_known =
        std::all_of(call.args.begin(), call.args.end(),
                    [](const Expr& arg) { return IsKnown(arg); });
    if (!call.callee.As<graph::OpNode>() || !is_known) return false;
    const bool is_made =
        std::none_of(call.args.begin(), call.args.end(), HoldsTensor);
    return CountOf(info, is_made ? options_.max_made : options_.max_elements) >=
           0;
  }

  Expr Computed(const Expr& value, const graph::StructInfo& info) {
    if (!MayFold(*value.As<graph::CallNode>(), info)) return {};
    if (!IsPure(value, module_)) return {};
    const graph::Var var("v");
    graph::FunctionFields fields;
    fields.name = "fold";
    fields.body = graph::Seq({{false, {{var, value}}}}, var);
    module_.graph_functions.assign(1, graph::GraphFunction(std::move(fields)));
    graph::GraphInterpOptions run;
    run.tensor.max_steps = options_.max_steps;
    const absl::StatusOr<graph::Value> result =
        graph::InterpretGraph(module_, "fold", {}, run);
    return result.ok() ? LeafOf(*result) : Expr();
  }

  const FoldOptions options_;
  Module module_;  // its tensor functions, and what is interpreted
  std::unordered_map<const graph::VarNode*, Expr> tuples_;
};

}  // namespace

absl::StatusOr<Module> FoldConstants(const Module& module,
                                     const FoldOptions& options) {
  Folder folder(module, options);
  Module out = module;
  for (graph::GraphFunction& f : out.graph_functions) {
    f = WithoutUnusedBindings(folder.Fold(f), module);
  }
  return InferModule(out);
}

}  // namespace kiln
