// An abstract run of the function: each buffer has one interval for all whole
// numbers that it ever holds. A load is a variable within the interval of its
// buffer, so that the analyzer proves bounds with it as with a loop variable.
// Of
//
//   O[i] = E[idx[i]]        E has 10 elements
//
// the access to E is safe if the caller's interval of idx is [0, 9], and counts
// as unsafe if it is [-8, 7]. Stores widen the interval of their buffer, and
// the walk is repeated until no interval grows. One that still grows after a
// few passes, as that of count[0] = count[0] + 1, becomes unbounded, so the
// walks end.
//
// The interval of a buffer holds for the whole run, whatever the order of
// stores and loads. A condition on a load, though, holds only for loads of the
// same element up to the next store to its buffer:
//
//   if n[0] < 10:
//       n[0] = idx[i]      from here on, n[0] is another variable
//       O[i] = E[n[0]]
#include "kiln/codegen/guard/access_trial.h"

#include <algorithm>

#include "kiln/ir/expr/same.h"
#include "kiln/ir/tensor/visit.h"

namespace kiln {
namespace {

// What a buffer holds whose bounds still grow after so many passes may be
// anything.
constexpr int kMaxPasses = 4;

bool IsUnbounded(ConstBound b) {
  return b.min == ConstBound::kNegInf || b.max == ConstBound::kPosInf;
}

// A scalar number that Take gives as an int64.
bool IsWhole(DType dtype) {
  return dtype.is_integral() && !dtype.is_bool() && dtype.lanes() == 1;
}

// What a value of the type may be; unbounded for 64 bits.
ConstBound BoundOf(DType dtype) {
  if (dtype.is_bool()) return {0, 1};
  if (!IsWhole(dtype) || dtype.bits() > 32) return {};
  const int64_t high = (int64_t{1} << (dtype.bits() - !dtype.is_uint())) - 1;
  return {dtype.is_uint() ? 0 : -high - 1, high};
}

bool Contains(ConstBound outer, ConstBound inner) {
  return inner.min >= outer.min && inner.max <= outer.max;
}

Expr Wide(const Expr& e) { return Cast(DType::Index(), e); }

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
    const DType dtype = loop->var.dtype();
    ForgetStored(loop->body);
    analyzer_.Bind(loop->var, Range{Cast(dtype, Take(loop->min)),
                                    Cast(dtype, Take(loop->extent))});
    Walk(loop->body);
    return analyzer_.Unbind(loop->var);
  }
  if (const auto* let = s.As<LetStmtNode>()) {
    const Expr value = Take(let->value);
    if (value.dtype() == let->var.dtype()) {
      analyzer_.Bind(let->var, value);
    } else if (IsWhole(let->var.dtype())) {
      BindTo(let->var, analyzer_.Bound(value));
    }
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
  const DType dtype = store.value.dtype();
  Join(store.buffer,
       IsWhole(dtype) ? analyzer_.Bound(Wide(value)) : BoundOf(dtype));
  Forget(store.buffer);
}

void AccessTrial::Forget(const Buffer& buffer) {
  const auto shares = [&](const Value& value) {
    return value.buffer == buffer ||
           (buffer->data && value.buffer->data == buffer->data);
  };
  values_.erase(std::remove_if(values_.begin(), values_.end(), shares),
                values_.end());
}

// An iteration finds what the one before it stored.
void AccessTrial::ForgetStored(const Stmt& body) {
  if (values_.empty()) return;
  Visit(body, [this](const Stmt& s) {
    if (const auto* store = s.As<StoreNode>()) Forget(store->buffer);
    return true;
  });
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

void AccessTrial::BindTo(const Var& var, ConstBound bound) {
  if (IsUnbounded(bound)) return;
  analyzer_.Bind(var, Range{Int(bound.min, var.dtype()),
                            Int(bound.max - bound.min + 1, var.dtype())});
}

Expr AccessTrial::Unknown(DType dtype) {
  if (!IsWhole(dtype)) return Var("unknown", dtype);
  const Var var("unknown");
  BindTo(var, BoundOf(dtype));
  return var;
}

Expr AccessTrial::Fit(const Expr& value, DType dtype) {
  const bool fits =
      dtype.bits() > 32 || Contains(BoundOf(dtype), analyzer_.Bound(value));
  return fits ? value : Unknown(dtype);
}

Expr AccessTrial::TakeUnknown(const Expr& e) {
  ForEachOperand(e, [this](const Expr& x) { Take(x); });
  return Unknown(e.dtype());
}

Expr AccessTrial::TakeCast(const Expr& e) {
  const Expr& value = e.As<CastNode>()->value;
  if (!IsWhole(e.dtype())) return TakeUnknown(e);
  const auto* load = value.As<LoadNode>();
  if (load && load->dtype.is_float()) return TakeLoad(*load, e.dtype());
  if (!IsWhole(value.dtype())) return TakeUnknown(e);
  return Fit(Wide(Take(value)), e.dtype());
}

Expr AccessTrial::TakeBinary(const Expr& e) {
  const auto& both = *e.As<BinaryNode>();
  if (e.kind() == ExprKind::kAnd || e.kind() == ExprKind::kOr) {
    const Expr first = Take(both.a);
    const bool is_and = e.kind() == ExprKind::kAnd;
    return Binary(e.kind(), first, TakeIf(is_and ? first : Not(first), both.b));
  }
  if (!IsWhole(both.a.dtype())) return TakeUnknown(e);
  const Expr a = Wide(Take(both.a));
  const Expr value = Binary(e.kind(), a, Wide(Take(both.b)));
  return value.dtype().is_bool() ? value : Fit(value, e.dtype());
}

Expr AccessTrial::Take(const Expr& e) {
  if (!e->has_loads) return e;
  if (const auto* load = e.As<LoadNode>()) return TakeLoad(*load, e.dtype());
  if (e.As<CallNode>()) return TakeCall(e);
  if (e.As<CastNode>()) return TakeCast(e);
  if (e.As<BinaryNode>()) return TakeBinary(e);
  if (const auto* let = e.As<LetNode>()) {
    return Take(Substitute(let->body, let->var, let->value));
  }
  if (const auto* negation = e.As<NotNode>()) return Not(Take(negation->value));
  const auto* select = e.As<SelectNode>();
  if (!select || !IsWhole(e.dtype())) return TakeUnknown(e);
  const Expr condition = Take(select->condition);
  const Expr yes = Wide(Take(select->true_value));
  return Select(condition, yes, Wide(Take(select->false_value)));
}

Expr AccessTrial::TakeIf(const Expr& condition, const Expr& e) {
  const auto known = analyzer_.Assume(condition);
  return Take(e);
}

Expr AccessTrial::TakeCall(const Expr& e) {
  const auto& call = *e.As<CallNode>();
  if (call.op == Intrinsic::kAddressOf) return e;
  if (const LoadNode* element = PrefetchedElement(call)) {
    for (const Expr& index : element->indices) Take(index);
    return e;
  }
  if (call.op == Intrinsic::kLikely) return Take(call.args[0]);
  if (call.op != Intrinsic::kIfThenElse) return TakeUnknown(e);
  const Expr condition = Take(call.args[0]);
  const Expr yes = TakeIf(condition, call.args[1]);
  const Expr no = TakeIf(Not(condition), call.args[2]);
  if (!IsWhole(e.dtype())) return Unknown(e.dtype());
  return Call(DType::Index(), call.op, {condition, Wide(yes), Wide(no)});
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
  for (const Value& value : values_) {
    if (SameExpr(value.load, key)) return value.var;
  }
  const Var var("value", IsWhole(dtype) ? DType::Index() : dtype);
  values_.push_back({key, load.buffer, var});
  if (!IsWhole(dtype)) return var;
  const auto found = contents_.find(load.buffer.get());
  const ConstBound type = BoundOf(dtype);
  BindTo(var, found != contents_.end() && Contains(type, found->second)
                  ? found->second
                  : type);
  return var;
}

}  // namespace kiln
