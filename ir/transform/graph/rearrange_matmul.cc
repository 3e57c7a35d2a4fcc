// Each is a pattern and what stands for it; new values get bindings of their
// own ahead of the one that matched, and what only the old value needed goes:
//
//   w = R.add(A, B)          p = R.matmul(x, A)
//   y = R.matmul(x, w)       q = R.matmul(x, B)
//                            y = R.add(p, q)
#include "kiln/ir/transform/graph/rearrange_matmul.h"

#include <utility>
#include <vector>

#include "kiln/base/status_macros.h"
#include "kiln/ir/arith/analyzer.h"
#include "kiln/ir/info/info.h"
#include "kiln/ir/ops/infer.h"
#include "kiln/ir/pattern/pattern.h"
#include "kiln/ir/pattern/rewrite_call.h"
#include "kiln/ir/transform/graph/common_subexpressions.h"
#include "kiln/ir/transform/graph/dead_code.h"
#include "kiln/ir/transform/graph/functions.h"

namespace kiln {
namespace {

using graph::CallOp;

absl::StatusOr<Module> Rewritten(const Module& module, const Pattern& pattern,
                                 CallRule rule) {
  // Another name for a call matches as the call does.
  const auto of_call = [&](const graph::Expr& value, const Match& match,
                           graph::Emitter& emit) {
    return value.As<graph::CallNode>() ? rule(value, match, emit)
                                       : graph::Expr();
  };
  Module out = module;
  bool is_rewritten = false;
  for (graph::GraphFunction& f : out.graph_functions) {
    const graph::Expr e = RewriteCall(f, pattern, of_call);
    is_rewritten = is_rewritten || e.get() != f.get();
    f = graph::GraphFunction(e.As<graph::FunctionNode>());
  }
  if (!is_rewritten) return module;
  KILN_ASSIGN_OR_RETURN(Module inferred, InferModule(out));
  // What is new may be there already.
  KILN_ASSIGN_OR_RETURN(inferred, EliminateCommonSubexpressions(inferred));
  return WithoutUnusedBindings(std::move(inferred));
}

bool HaveOneShape(const graph::Expr& a, const graph::Expr& b) {
  const auto* left = TensorInfoOf(a);
  const auto* right = TensorInfoOf(b);
  if (!left || !right || !left->extents() || !right->extents()) return false;
  Analyzer analyzer;
  return left->extents()->size() >= 2 &&
         graph::SameInfo(graph::InfoOf(a), graph::InfoOf(b), analyzer);
}

const AttrMap& AttrsOf(const graph::Expr& call) {
  return call.As<graph::CallNode>()->attrs;
}

}  // namespace

absl::StatusOr<Module> ExpandMatmulOfSum(const Module& module) {
  const Pattern x = Wildcard(), a = Wildcard(), b = Wildcard();
  const Pattern sum = IsOp("add", {a, b});
  const Pattern transposed = IsOp("permute_dims", {sum});
  const auto rule = [&](const graph::Expr& value, const Match& match,
                        graph::Emitter& emit) {
    if (!HaveOneShape(match.at(a), match.at(b))) return graph::Expr();
    const auto product = [&](const graph::Expr& weight) -> graph::Expr {
      graph::Expr right = weight;
      if (match.Has(transposed)) {
        // The axes stand at the call that the variable is bound to.
        right = emit.Emit(CallOp("permute_dims", {weight}, {{"axes", Attr()}}));
      }
      return emit.Emit(CallOp("matmul", {match.at(x), right}, AttrsOf(value)));
    };
    const graph::Expr left = product(match.at(a));
    const graph::Expr right = product(match.at(b));
    return CallOp("add", {left, right});
  };
  return Rewritten(
      module, IsOp("matmul", {x, sum | transposed.HasAttr("axes", Attr())}),
      rule);
}

absl::StatusOr<Module> ReorderTakeAfterMatmul(const Module& module) {
  const Pattern x = Wildcard(), indices = Wildcard().HasRank(1);
  const Pattern table = Wildcard().HasRank(2);
  const Pattern taken = IsOp("take", {table, indices});
  const auto rule = [&](const graph::Expr& value, const Match& match,
                        graph::Emitter& emit) {
    const auto* left = TensorInfoOf(match.at(x));
    if (!left || left->rank < 2) return graph::Expr();
    const graph::Expr product = emit.Emit(
        CallOp("matmul", {match.at(x), match.at(table)}, AttrsOf(value)));
    return CallOp("take", {product, match.at(indices)},
                  {{"axis", Int(left->rank - 1)}, {"mode", Attr("fast")}});
  };
  const Pattern wanted =
      taken.HasAttr("axis", Int(1)).HasAttr("mode", Attr(std::string("fast")));
  return Rewritten(module, IsOp("matmul", {x, wanted}), rule);
}

namespace {

// The call that a variable is bound to, where it is one of the op.
const graph::CallNode* CallOf(const graph::Expr& e, const BoundValues& bound,
                              std::string_view op) {
  const auto found = bound.find(e.As<graph::VarNode>());
  const auto* call =
      found == bound.end() ? nullptr : found->second.As<graph::CallNode>();
  return call && call->IsOp(op) ? call : nullptr;
}

// The axis before all of `rank` are permuted: from back to front by default;
// -1 where it is not known.
int64_t AxisBefore(const AttrMap& attrs, int64_t axis, int rank) {
  const auto found = attrs.find("axes");
  const AttrList* list = found == attrs.end() ? nullptr : found->second.list();
  if (!list || static_cast<size_t>(axis) >= list->size()) {
    return rank - 1 - axis;
  }
  const Expr* e = (*list)[axis].expr();
  const int64_t* value = e ? AsInt(*e) : nullptr;
  return value ? (*value + rank) % rank : -1;
}

// Whether both permute tensors of `rank` in the same way, however they say so.
bool PermuteAlike(const AttrMap& a, const AttrMap& b, int rank) {
  for (int axis = 0; axis < rank; ++axis) {
    const int64_t before = AxisBefore(a, axis, rank);
    if (before < 0 || before != AxisBefore(b, axis, rank)) return false;
  }
  return true;
}

}  // namespace

absl::StatusOr<Module> ReorderPermuteDimsAfterConcat(const Module& module) {
  BoundValues bound;
  for (const graph::GraphFunction& f : module.graph_functions) {
    bound.merge(BoundValuesOf(f));
  }
  const auto rule = [&](const graph::Expr& value, const Match&,
                        graph::Emitter& emit) {
    const auto& concat = *value.As<graph::CallNode>();
    const auto* parts = concat.args[0].As<graph::TupleNode>();
    const int64_t axis = IntAttr(concat.attrs, "axis", -1);
    if (!parts || parts->fields.size() < 2 || axis < 0) return graph::Expr();
    const auto* first = CallOf(parts->fields[0], bound, "permute_dims");
    std::vector<graph::Expr> inputs;
    for (const graph::Expr& part : parts->fields) {
      const auto* call = CallOf(part, bound, "permute_dims");
      if (!first || !call) return graph::Expr();
      inputs.push_back(call->args[0]);
      const auto* input = TensorInfoOf(inputs.back());
      const bool permutes_alike =
          input && PermuteAlike(call->attrs, first->attrs, input->rank);
      if (!permutes_alike) return graph::Expr();
    }
    const auto* input = TensorInfoOf(inputs[0]);
    if (input->rank <= axis) return graph::Expr();
    const int64_t before = AxisBefore(first->attrs, axis, input->rank);
    if (before < 0) return graph::Expr();
    const graph::Expr joined =
        emit.Emit(CallOp("concat", {graph::TupleOf(std::move(inputs))},
                         {{"axis", Int(before)}}));
    return CallOp("permute_dims", {joined}, first->attrs);
  };
  return Rewritten(module, IsOp("concat", {Wildcard()}), rule);
}

absl::StatusOr<Module> ComposePermuteDims(const Module& module) {
  BoundValues bound;
  for (const graph::GraphFunction& f : module.graph_functions) {
    bound.merge(BoundValuesOf(f));
  }
  const auto rule = [&](const graph::Expr& value, const Match&,
                        graph::Emitter&) {
    const auto& second = *value.As<graph::CallNode>();
    const auto* first = CallOf(second.args[0], bound, "permute_dims");
    const auto* input = first ? TensorInfoOf(first->args[0]) : nullptr;
    if (!input || input->rank < 1) return graph::Expr();
    AttrList axes;
    bool moves = false;
    for (int axis = 0; axis < input->rank; ++axis) {
      const int64_t middle = AxisBefore(second.attrs, axis, input->rank);
      const int64_t before =
          middle < 0 ? -1 : AxisBefore(first->attrs, middle, input->rank);
      if (before < 0) return graph::Expr();
      moves |= before != axis;
      axes.emplace_back(Int(before));
    }
    if (!moves) return first->args[0];
    return CallOp("permute_dims", {first->args[0]}, {{"axes", Attr(axes)}});
  };
  return Rewritten(module, IsOp("permute_dims", {Wildcard()}), rule);
}

}  // namespace kiln
