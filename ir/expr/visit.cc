// A rewrite returns the very node that it was given when no operand changed. So
// callers see by comparing pointers that nothing happened, and trees that
// differ in one place share all others:
//
//   A[i] + (j*8 + k) with i = 5      A[5] + (j*8 + k), the sum being shared
//
// Every node knows which variables occur in it, as one of 32 bits for each. A
// bit that is not set proves that the variable does not occur, and the walk
// stops there, at j*8 + k in the example; a set bit may stand for another
// variable and proves nothing. `has_loads` does the same for reads.
//
// A buffer is no operand: the shape of what a load reads is neither visited nor
// rewritten. A node that stands in a tree twice is visited twice.
#include "kiln/ir/expr/visit.h"

#include <algorithm>

#include "kiln/base/check.h"

namespace kiln {
namespace {

bool IsLeaf(const Expr& e) {
  const ExprKind kind = e.kind();
  return kind == ExprKind::kVar || kind == ExprKind::kIntImm ||
         kind == ExprKind::kFloatImm || kind == ExprKind::kStringImm;
}

// Maps `list`; true if an element changed.
bool MapList(const std::vector<Expr>& list, FunctionRef<Expr(const Expr&)> map,
             std::vector<Expr>* out) {
  bool changed = false;
  out->reserve(list.size());
  for (const Expr& e : list) {
    out->push_back(map(e));
    changed |= out->back() != e;
  }
  return changed;
}

Expr MapBinary(const Expr& e, FunctionRef<Expr(const Expr&)> map) {
  const auto* node = e.As<BinaryNode>();
  Expr a = map(node->a), b = map(node->b);
  if (a == node->a && b == node->b) return e;
  return Binary(e.kind(), std::move(a), std::move(b));
}

Expr MapSelect(const Expr& e, FunctionRef<Expr(const Expr&)> map) {
  const auto* node = e.As<SelectNode>();
  Expr c = map(node->condition);
  Expr t = map(node->true_value), f = map(node->false_value);
  if (c == node->condition && t == node->true_value && f == node->false_value) {
    return e;
  }
  return Select(std::move(c), std::move(t), std::move(f));
}

Expr MapLoad(const Expr& e, FunctionRef<Expr(const Expr&)> map) {
  const auto* node = e.As<LoadNode>();
  std::vector<Expr> indices;
  if (!MapList(node->indices, map, &indices)) return e;
  return Load(node->buffer, std::move(indices));
}

Expr MapCall(const Expr& e, FunctionRef<Expr(const Expr&)> map) {
  const auto* node = e.As<CallNode>();
  std::vector<Expr> args;
  if (!MapList(node->args, map, &args)) return e;
  return Call(node->dtype, node->op, std::move(args));
}

Expr MapLet(const Expr& e, FunctionRef<Expr(const Expr&)> map) {
  const auto* node = e.As<LetNode>();
  Expr value = map(node->value), body = map(node->body);
  if (value == node->value && body == node->body) return e;
  return Let(node->var, std::move(value), std::move(body));
}

Expr MapRamp(const Expr& e, FunctionRef<Expr(const Expr&)> map) {
  const auto* node = e.As<RampNode>();
  Expr base = map(node->base), stride = map(node->stride);
  if (base == node->base && stride == node->stride) return e;
  return Ramp(std::move(base), std::move(stride), node->lanes);
}

template <typename T, typename Make>
Expr MapUnary(const Expr& e, FunctionRef<Expr(const Expr&)> map, Make make) {
  const T* node = e.As<T>();
  Expr value = map(node->value);
  return value == node->value ? e : make(*node, std::move(value));
}

}  // namespace

void ForEachOperand(const Expr& e, FunctionRef<void(const Expr&)> child) {
  if (IsLeaf(e)) return;
  if (const auto* binary = e.As<BinaryNode>()) {
    child(binary->a);
    child(binary->b);
  } else if (const auto* cast = e.As<CastNode>()) {
    child(cast->value);
  } else if (const auto* negation = e.As<NotNode>()) {
    child(negation->value);
  } else if (const auto* select = e.As<SelectNode>()) {
    child(select->condition);
    child(select->true_value);
    child(select->false_value);
  } else if (const auto* load = e.As<LoadNode>()) {
    for (const Expr& index : load->indices) child(index);
  } else if (const auto* ramp = e.As<RampNode>()) {
    child(ramp->base);
    child(ramp->stride);
  } else if (const auto* broadcast = e.As<BroadcastNode>()) {
    child(broadcast->value);
  } else if (const auto* let = e.As<LetNode>()) {
    child(let->value);
    child(let->body);
  } else if (const auto* call = e.As<CallNode>()) {
    for (const Expr& arg : call->args) child(arg);
  }
}

Expr MapOperands(const Expr& e, FunctionRef<Expr(const Expr&)> map) {
  if (IsBinary(e.kind())) return MapBinary(e, map);
  switch (e.kind()) {
#define KILN_CASE(kind, ...) case ExprKind::k##kind:
    KILN_BINARY_KINDS(KILN_CASE)
#undef KILN_CASE
    case ExprKind::kIntImm:
    case ExprKind::kFloatImm:
    case ExprKind::kStringImm:
    case ExprKind::kVar:
      return e;
    case ExprKind::kCast:
      return MapUnary<CastNode>(e, map, [](const CastNode& node, Expr value) {
        return Cast(node.dtype, std::move(value));
      });
    case ExprKind::kNot:
      return MapUnary<NotNode>(e, map, [](const NotNode&, Expr value) {
        return Not(std::move(value));
      });
    case ExprKind::kBroadcast:
      return MapUnary<BroadcastNode>(
          e, map, [](const BroadcastNode& node, Expr value) {
            return Broadcast(std::move(value), node.lanes);
          });
    case ExprKind::kSelect:
      return MapSelect(e, map);
    case ExprKind::kLoad:
      return MapLoad(e, map);
    case ExprKind::kRamp:
      return MapRamp(e, map);
    case ExprKind::kLet:
      return MapLet(e, map);
    case ExprKind::kCall:
      return MapCall(e, map);
  }
  KILN_CHECK(false) << "unknown kind";
  return e;
}

void Visit(const Expr& e, FunctionRef<bool(const Expr&)> visit) {
  if (!visit(e)) return;
  ForEachOperand(e, [&](const Expr& operand) { Visit(operand, visit); });
}

Expr Rewrite(const Expr& e, FunctionRef<Expr(const Expr&)> rewrite) {
  if (Expr replacement = rewrite(e)) return replacement;
  return MapOperands(
      e, [&](const Expr& operand) { return Rewrite(operand, rewrite); });
}

namespace {

using VarValue = FunctionRef<const Expr*(const VarNode*)>;

// `e` with its variables replaced; null where nothing changes, so that no
// references are counted in vain. Operands that use none of the variables of
// `bits` are not visited.
Expr Replaced(const Expr& e, uint32_t bits, VarValue value_of) {
  if (!e.MayUse(bits)) return nullptr;
  if (const VarNode* var = e.As<VarNode>()) {
    const Expr* value = value_of(var);
    return value ? *value : nullptr;
  }
  if (const auto* node = e.As<BinaryNode>()) {
    Expr a = Replaced(node->a, bits, value_of);
    Expr b = Replaced(node->b, bits, value_of);
    if (!a && !b) return nullptr;
    return Binary(e.kind(), a ? std::move(a) : node->a,
                  b ? std::move(b) : node->b);
  }
  Expr mapped = MapOperands(e, [&](const Expr& operand) {
    Expr replaced = Replaced(operand, bits, value_of);
    return replaced ? replaced : operand;
  });
  return mapped == e ? nullptr : mapped;
}

}  // namespace

Expr Substitute(const Expr& e, const VarMap& map) {
  const auto value_of = [&](const VarNode* var) -> const Expr* {
    auto found = map.find(var);
    return found == map.end() ? nullptr : &found->second;
  };
  Expr replaced = Replaced(e, map.var_bits(), value_of);
  return replaced ? replaced : e;
}

Expr Substitute(const Expr& e, const Var& var, const Expr& value) {
  const auto value_of = [&](const VarNode* node) -> const Expr* {
    return node == var.get() ? &value : nullptr;
  };
  Expr replaced = Replaced(e, var->var_bits, value_of);
  return replaced ? replaced : e;
}

bool UsesVar(const Expr& e, FunctionRef<bool(const VarNode*)> is_wanted) {
  if (e->var_bits == 0) return false;
  if (const VarNode* var = e.As<VarNode>()) return is_wanted(var);
  if (const auto* node = e.As<BinaryNode>()) {
    return UsesVar(node->a, is_wanted) || UsesVar(node->b, is_wanted);
  }
  bool found = false;
  ForEachOperand(e, [&](const Expr& operand) {
    found = found || UsesVar(operand, is_wanted);
  });
  return found;
}

bool UsesVar(const Expr& e, const Var& var) {
  if (!e.MayUse(var->var_bits)) return false;
  if (e.kind() == ExprKind::kVar) return e == var;
  if (const auto* node = e.As<BinaryNode>()) {
    return UsesVar(node->a, var) || UsesVar(node->b, var);
  }
  bool found = false;
  ForEachOperand(
      e, [&](const Expr& operand) { found = found || UsesVar(operand, var); });
  return found;
}

bool LoadsFrom(const Expr& e, const Buffer& buffer) {
  if (!e->has_loads) return false;
  const auto* load = e.As<LoadNode>();
  if (load && load->buffer == buffer) return true;
  bool found = false;
  ForEachOperand(e, [&](const Expr& operand) {
    found = found || LoadsFrom(operand, buffer);
  });
  return found;
}

std::vector<Var> FreeVars(const Expr& e) {
  std::vector<Var> vars;
  Visit(e, [&](const Expr& node) {
    const VarNode* var = node.As<VarNode>();
    if (var && std::none_of(vars.begin(), vars.end(), [&](const Var& seen) {
          return seen.get() == var;
        })) {
      vars.push_back(Var(var));
    }
    return true;
  });
  return vars;
}

}  // namespace kiln
