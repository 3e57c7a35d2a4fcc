#include "kiln/ir/transform/graph/round_late.h"

#include <algorithm>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "kiln/ir/graph/rewrite.h"
#include "kiln/ir/info/info.h"
#include "kiln/ir/transform/graph/functions.h"

namespace kiln {
namespace {

using graph::CallNode;
using GraphExpr = graph::Expr;

const DType kFull = DType::Float(32);

bool IsHalf(DType dtype) {
  return dtype == DType::Float(16) || dtype == DType::BFloat16();
}

// Of one element of each operand, and without steps, at which a rounding less
// would show.
bool IsSmooth(const CallNode& call) {
  static const auto* const ops = new std::set<std::string>{
      "abs",     "add",          "clip",         "cos",      "divide",
      "erf",     "maximum",      "minimum",      "multiply", "negative",
      "nn.gelu", "nn.gelu_tanh", "nn.leakyrelu", "nn.relu",  "nn.relu6",
      "nn.silu", "sigmoid",      "sin",          "subtract", "tanh"};
  const auto* op = call.callee.As<graph::OpNode>();
  return op && ops->count(op->name) > 0;
}

const graph::TensorInfo* TensorOf(const GraphExpr& e) {
  return graph::InfoOf(e).As<graph::TensorInfo>();
}

// The walk over one function.
class Rounder {
 public:
  explicit Rounder(const graph::FunctionNode& f) : uses_(CountUses(f.body)) {}

  bool Rewrite(const graph::Binding& binding, graph::Emitter& emit) {
    const auto* call = binding.value.As<CallNode>();
    const auto* info = binding.var->info.As<graph::TensorInfo>();
    if (!call || !info || !emit.is_dataflow()) return false;
    if (call->IsOp("astype")) return Cast(binding, *call, info->dtype, emit);
    const bool is_rounded = IsHalf(info->dtype) && IsSmooth(*call) &&
                            std::any_of(call->args.begin(), call->args.end(),
                                        [&](const GraphExpr& arg) {
                                          return Unrounded(arg) != nullptr;
                                        });
    if (!is_rounded) return false;
    std::vector<GraphExpr> args;
    for (const GraphExpr& arg : call->args) args.push_back(Full(arg, emit));
    const graph::Var unrounded = emit.Emit(
        GraphExpr(new CallNode(call->callee, args, call->attrs, call->infos)));
    emit.Emit(binding.var, CastTo(unrounded, info->dtype));
    NoteRounding(binding.var, unrounded);
    return true;
  }

 private:
  // A rounding, or one that is taken back.
  bool Cast(const graph::Binding& binding, const CallNode& call, DType to,
            graph::Emitter& emit) {
    const GraphExpr& from = call.args[0];
    const auto* info = TensorOf(from);
    if (IsHalf(to) && info && info->dtype == kFull) {
      NoteRounding(binding.var, from);
      return false;
    }
    const GraphExpr* unrounded = to == kFull ? Unrounded(from) : nullptr;
    if (!unrounded || !binding.var->is_dataflow) return false;
    emit.Replace(binding.var, *unrounded);
    return true;
  }

  void NoteRounding(const graph::Var& var, const GraphExpr& unrounded) {
    if (var->is_dataflow && uses_[var.get()] == 1) {
      unrounded_.emplace(var.get(), unrounded);
    }
  }

  // What `arg`, which nobody else reads, is the rounding of; nullptr for
  // others.
  const GraphExpr* Unrounded(const GraphExpr& arg) const {
    const auto found = unrounded_.find(arg.As<graph::VarNode>());
    return found == unrounded_.end() ? nullptr : &found->second;
  }

  GraphExpr Full(const GraphExpr& arg, graph::Emitter& emit) const {
    if (const GraphExpr* unrounded = Unrounded(arg)) return *unrounded;
    const auto* number = arg.As<graph::PrimNode>();
    const auto* value = number ? number->value.As<FloatImmNode>() : nullptr;
    if (value && IsHalf(number->value.dtype())) {
      return graph::Number(Float(value->value, kFull));
    }
    const auto* info = TensorOf(arg);
    const bool is_half = info && IsHalf(info->dtype);
    return is_half ? GraphExpr(emit.Emit(CastTo(arg, kFull))) : arg;
  }

  UseCounts uses_;
  std::unordered_map<const graph::VarNode*, GraphExpr> unrounded_;
};

}  // namespace

absl::StatusOr<Module> RoundLate(const Module& module) {
  Module out = module;
  for (graph::GraphFunction& f : out.graph_functions) {
    Rounder rounder(*f);
    const GraphExpr e = graph::RewriteBindings(
        f, [&](const graph::Binding& binding, graph::Emitter& emit) {
          return rounder.Rewrite(binding, emit);
        });
    f = graph::GraphFunction(e.As<graph::FunctionNode>());
  }
  return out;
}

}  // namespace kiln
