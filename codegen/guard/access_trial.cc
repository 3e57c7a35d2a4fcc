#include "kiln/codegen/guard/access_trial.h"

#include <algorithm>

#include "kiln/ir/tensor/canonical.h"
#include "kiln/ir/tensor/visit.h"

namespace kiln {
namespace {

// What a buffer holds whose bounds still grow after so many passes may be
// anything.
constexpr int kMaxPasses = 4;

bool IsUnbounded(ConstBound b) {
  return b.min == ConstBound::kNegInf || b.max == ConstBound::kPosInf;
}

}  // namespace

int AccessTrial::CountUnsafe(const ContentBounds& inputs) {
  contents_ = inputs;
  widens_ = false;
  changed_ = true;
  for (int pass = 0; changed_; ++pass) {
    widens_ = pass >= kMaxPasses;
    Pass();
  }
  return unsafe_;
}

void AccessTrial::Pass() {
  analyzer_ = Analyzer();
  values_.clear();
  changed_ = false;
  unsafe_ = 0;
  for (const auto& [var, value] : scalars_) {
    analyzer_.Bind(var, Int(value, var.dtype()));
  }
  Walk(function_.body);
}

void AccessTrial::Walk(const Stmt& s) {
  if (const auto* loop = s.As<ForNode>()) {
    analyzer_.Bind(loop->var, Range{Take(loop->min), Take(loop->extent)});
    Walk(loop->body);
    return analyzer_.Unbind(loop->var);
  }
  if (const auto* let = s.As<LetStmtNode>()) {
    const Expr value = Take(let->value);
    if (value.dtype().is_integral()) analyzer_.Bind(let->var, value);
    Walk(let->body);
    return analyzer_.Unbind(let->var);
  }
  if (const auto* node = s.As<IfNode>()) return WalkIf(*node);
  if (const auto* store = s.As<StoreNode>()) return Store(*store);
  if (const auto* evaluate = s.As<EvaluateNode>()) Take(evaluate->value);
  ForEachChild(s, [this](const Stmt& child) { Walk(child); });
}

void AccessTrial::WalkIf(const IfNode& node) {
  const Expr condition = Take(node.condition);
  {
    const auto known = analyzer_.Assume(condition);
    Walk(node.then_case);
  }
  if (!node.else_case) return;
  const auto known = analyzer_.Assume(Not(condition));
  Walk(node.else_case);
}

void AccessTrial::Store(const StoreNode& store) {
  const Expr value = Take(store.value);
  std::vector<Expr> indices;
  for (const Expr& index : store.indices) indices.push_back(Take(index));
  Check(store.buffer, indices);
  const bool counts = value.dtype().is_integral() && value.dtype().lanes() == 1;
  Join(store.buffer, counts ? analyzer_.Bound(value) : ConstBound{});
}

void AccessTrial::Join(const Buffer& buffer, ConstBound bound) {
  const auto [found, is_new] = contents_.emplace(buffer.get(), bound);
  ConstBound& known = found->second;
  const ConstBound joined = {std::min(known.min, bound.min),
                             std::max(known.max, bound.max)};
  const bool grows = joined.min != known.min || joined.max != known.max;
  changed_ |= is_new || grows;
  known = grows && widens_ ? ConstBound{} : joined;
}

Expr AccessTrial::Take(const Expr& e) {
  if (!e->has_loads) return e;
  if (const auto* load = e.As<LoadNode>()) return TakeLoad(*load, e.dtype());
  if (e.As<CallNode>()) return TakeCall(e);
  if (const auto* cast = e.As<CastNode>()) {
    const auto* load = cast->value.As<LoadNode>();
    const bool whole =
        e.dtype().is_integral() && load && load->dtype.is_float();
    if (whole) return TakeLoad(*load, e.dtype());
  }
  if (const auto* let = e.As<LetNode>()) {
    return Take(Substitute(let->body, let->var, let->value));
  }
  if (e.kind() == ExprKind::kAnd || e.kind() == ExprKind::kOr) {
    const auto& both = *e.As<BinaryNode>();
    const Expr first = Take(both.a);
    const bool is_and = e.kind() == ExprKind::kAnd;
    return Binary(e.kind(), first, TakeIf(is_and ? first : Not(first), both.b));
  }
  return MapOperands(e, [this](const Expr& x) { return Take(x); });
}

Expr AccessTrial::TakeIf(const Expr& condition, const Expr& e) {
  const auto known = analyzer_.Assume(condition);
  return Take(e);
}

Expr AccessTrial::TakeCall(const Expr& e) {
  const auto& call = *e.As<CallNode>();
  if (call.op == Intrinsic::kAddressOf) return e;
  if (call.op != Intrinsic::kIfThenElse) {
    return MapOperands(e, [this](const Expr& x) { return Take(x); });
  }
  const Expr condition = Take(call.args[0]);
  const Expr yes = TakeIf(condition, call.args[1]);
  const Expr no = TakeIf(Not(condition), call.args[2]);
  return Call(e.dtype(), call.op, {condition, yes, no});
}

Expr AccessTrial::TakeLoad(const LoadNode& load, DType dtype) {
  std::vector<Expr> indices;
  for (const Expr& index : load.indices) indices.push_back(Take(index));
  Check(load.buffer, indices);
  return ValueOf(load, indices, dtype);
}

void AccessTrial::Check(const Buffer& buffer,
                        const std::vector<Expr>& indices) {
  for (size_t d = 0; d < indices.size(); ++d) {
    if (indices[d].dtype().lanes() > 1) continue;
    const bool safe = analyzer_.CanProveLessEqual(Int(0), indices[d]) &&
                      analyzer_.CanProveLess(indices[d], buffer->shape[d]);
    unsafe_ += !safe;
  }
}

Expr AccessTrial::ValueOf(const LoadNode& load,
                          const std::vector<Expr>& indices, DType dtype) {
  const Expr key = Cast(dtype, Load(load.buffer, indices));
  for (const auto& [known, var] : values_) {
    if (SameExpr(known, key)) return var;
  }
  const Var var("value", dtype);
  values_.emplace_back(key, var);
  const auto found = contents_.find(load.buffer.get());
  if (found == contents_.end() || IsUnbounded(found->second) ||
      !dtype.is_integral() || dtype.lanes() > 1) {
    return var;
  }
  const ConstBound bound = found->second;
  analyzer_.Bind(
      var, Range{Int(bound.min, dtype), Int(bound.max - bound.min + 1, dtype)});
  return var;
}

}  // namespace kiln
