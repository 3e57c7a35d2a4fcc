// The value of an expression in all lanes at once follows from its parts. A
// part that no lane changes stays a scalar, which consumers broadcast; an index
// that is affine in the lane is a ramp; everything else is computed lane by
// lane from vectors. With 8 lanes v from 0,
//
//   A[i*8 + v] * B[i]     →   A[i*8:i*8 + 8] * broadcast(B[i], 8)
//   A[v // 2]             →   A[ramp(0, 1, 8) // broadcast(2, 8)], a gather
//   if_then_else(v < 3, x, y)
//                         →   select(ramp(0, 1, 8) < broadcast(3, 8), x, y)
//   if_then_else(v < 3, A[v], y)
//                         →   if_then_else(ramp(0, 1, 8) < broadcast(3, 8),
//                                          A[0:8], y), a masked load
//   if_then_else(v < 3, A[v*5], y)
//                         →   none, unless each lane loads A[v*5] anyway
//
// A select computes both sides in all lanes, so what a lane must not evaluate,
// as a load that may be out of bounds or a division by a variable, has no such
// form. Of elements near to each other only some lanes may be loaded, and of a
// few rows, where a machine has masks for bytes.
#include "kiln/codegen/lower/vector/vector_expr.h"

#include "kiln/base/check.h"
#include "kiln/codegen/lower/vector/near_lanes.h"

namespace kiln::lower {
namespace {

// Intrinsics that work on each lane.
bool IsLanewise(Intrinsic op) {
  if (op == Intrinsic::kCallPureExtern || op == Intrinsic::kTypeAnnotation ||
      op == Intrinsic::kCallLlvmPureIntrin || op == Intrinsic::kLaneSums) {
    return false;
  }
  return GetIntrinsicInfo(op).purity == Purity::kPure;
}

}  // namespace

// Whether to evaluate `e` where the program does not may end it.
bool LaneMapper::MayTrap(const Expr& e) const {
  bool found = false;
  Visit(e, [&](const Expr& x) {
    const auto* call = x.As<CallNode>();
    const auto* load = x.As<LoadNode>();
    const bool divides =
        x.dtype().is_integral() &&
        (x.kind() == ExprKind::kFloorDiv || x.kind() == ExprKind::kFloorMod ||
         x.kind() == ExprKind::kTruncDiv || x.kind() == ExprKind::kTruncMod);
    found |= load && !sure_loads_.Holds(*load);
    found |= divides && !AsInt(x.As<BinaryNode>()->b);
    found |= call && GetIntrinsicInfo(call->op).purity != Purity::kPure;
    return !found;
  });
  return found;
}

bool LaneMapper::DependsOnLane(const Expr& e) const {
  bool depends = false;
  Visit(e, [&](const Expr& x) {
    if (const auto* var = x.As<VarNode>()) {
      depends |= var == lane_.get() || wide_vars_.count(var);
    }
    if (const auto* load = x.As<LoadNode>()) {
      depends |= wide_buffers_.count(load->buffer.get()) > 0;
    }
    return !depends;
  });
  return depends;
}

Var LaneMapper::Widen(const Var& var) {
  Var wide(var.name(), var->dtype.WithLanes(lanes_));
  wide_vars_[var.get()] = wide;
  return wide;
}

Expr LaneMapper::Wide(const Expr& e) const {
  return e.dtype().is_scalar() ? Broadcast(e, lanes_) : e;
}

// A ramp when `e` is affine in the lane, else null.
Expr LaneMapper::MapLinear(const Expr& e) {
  Linear form = ToLinear(e);
  auto differs = [&](const VarNode* var) {
    return var == lane_.get() || wide_vars_.count(var);
  };
  Linear base;
  base.constant = form.constant;
  int64_t stride = 0;
  for (const Term& term : form.terms) {
    if (term.atom == lane_) {
      stride = term.coefficient;
    } else if (UsesVar(term.atom, differs) || DependsOnLane(term.atom)) {
      return nullptr;
    } else {
      base.terms.push_back(term);
    }
  }
  IndexNormalizer normalizer;
  if (stride == 0) return normalizer.Build(std::move(base));
  Expr start = normalizer.Build(std::move(base));
  if (!IsZero(min_)) start = Add(start, Mul(min_, Int(stride)));
  return Ramp(normalizer.Run(start), Int(stride), lanes_);
}

Expr LaneMapper::MapBinary(const Expr& e) {
  const auto* node = e.As<BinaryNode>();
  const bool is_lazy = e.kind() == ExprKind::kAnd || e.kind() == ExprKind::kOr;
  if (is_lazy && MayTrap(node->b)) return nullptr;
  Expr a = Map(node->a), b = Map(node->b);
  return a && b ? Binary(e.kind(), a, b) : nullptr;
}

// Whether only some lanes of it may be loaded.
bool LaneMapper::IsMaskableLoad(const Expr& e) const {
  const auto* load = e.As<LoadNode>();
  if (!load || e.dtype().bits() < least_masked_bits_) return false;
  return least_masked_bits_ < kLeastMaskedBits ? IsMaskable(load->indices[0])
                                               : IsNearRamp(load->indices[0]);
}

Expr LaneMapper::MapChoice(const Expr& condition, const Expr& yes,
                           const Expr& no, bool is_lazy) {
  Expr c = Map(condition), t = Map(yes), f = Map(no);
  if (!c || !t || !f) return nullptr;
  if (!c.dtype().is_scalar()) {
    if (!is_lazy || !(MayTrap(yes) || MayTrap(no))) {
      return Select(c, Wide(t), Wide(f));
    }
    if (MayTrap(no) || !IsMaskableLoad(t)) return nullptr;
    return Call(t.dtype(), Intrinsic::kIfThenElse, {c, t, Wide(f)});
  }
  if (!t.dtype().is_scalar() || !f.dtype().is_scalar()) {
    t = Wide(t), f = Wide(f);
  }
  if (!is_lazy) return Select(c, t, f);
  return Call(t.dtype(), Intrinsic::kIfThenElse, {c, t, f});
}

Expr LaneMapper::MapCall(const Expr& e) {
  const auto* call = e.As<CallNode>();
  if (call->op == Intrinsic::kIfThenElse) {
    return MapChoice(call->args[0], call->args[1], call->args[2], true);
  }
  if (!IsLanewise(call->op)) return nullptr;
  std::vector<Expr> args;
  for (const Expr& arg : call->args) {
    Expr mapped = Map(arg);
    if (!mapped) return nullptr;
    args.push_back(Wide(mapped));
  }
  return Call(call->dtype.WithLanes(lanes_), call->op, std::move(args));
}

Expr LaneMapper::MapLet(const Expr& e) {
  const auto* let = e.As<LetNode>();
  Expr value = Map(let->value);
  if (!value) return nullptr;
  const bool differs = !value.dtype().is_scalar();
  const Var var = differs ? Widen(let->var) : let->var;
  Expr body = Map(let->body);
  if (differs) Forget(let->var);
  return body ? Let(var, value, body) : nullptr;
}

std::pair<Buffer, Expr> LaneMapper::MapAccess(const Buffer& buffer,
                                              const Expr& index) {
  Expr mapped = Map(index);
  auto found = wide_buffers_.find(buffer.get());
  if (found == wide_buffers_.end() || !mapped) return {buffer, mapped};
  if (mapped.dtype().is_scalar()) {
    const Expr base = IndexNormalizer().Run(Mul(mapped, Int(lanes_)));
    return {found->second, Ramp(base, Int(1), lanes_)};
  }
  const Expr lanes = Ramp(Int(0), Int(1), lanes_);
  return {found->second, Add(Mul(mapped, Int(lanes_)), lanes)};
}

Expr LaneMapper::Map(const Expr& e) {
  if (!DependsOnLane(e)) return e;
  if (!e.dtype().is_scalar()) return nullptr;
  if (e.dtype() == DType::Index()) {
    if (Expr linear = MapLinear(e)) return linear;
  }
  if (IsBinary(e.kind())) return MapBinary(e);
  if (const auto* var = e.As<VarNode>()) {
    auto wide = wide_vars_.find(var);
    if (wide != wide_vars_.end()) return wide->second;
    return Ramp(Cast(var->dtype, min_), Int(1, var->dtype), lanes_);
  }
  if (const auto* node = e.As<SelectNode>()) {
    return MapChoice(node->condition, node->true_value, node->false_value,
                     false);
  }
  if (const auto* load = e.As<LoadNode>()) {
    auto [buffer, index] = MapAccess(load->buffer, load->indices[0]);
    if (!index || !buffer->dtype.is_scalar()) return nullptr;
    return Load(buffer, {index});
  }
  if (e.As<CallNode>()) return MapCall(e);
  if (e.As<LetNode>()) return MapLet(e);
  const auto* cast = e.As<CastNode>();
  const auto* negation = e.As<NotNode>();
  Expr value = cast       ? Map(cast->value)
               : negation ? Map(negation->value)
                          : Expr();
  if (!value) return nullptr;
  return cast ? Cast(e.dtype().WithLanes(lanes_), value) : Not(value);
}

}  // namespace kiln::lower
