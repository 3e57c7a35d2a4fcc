#include "kiln/codegen/lower/guards/guard_zero_updates.h"

#include <algorithm>
#include <vector>

#include "kiln/ir/arith/index_normalizer.h"
#include "kiln/ir/expr/conjuncts.h"
#include "kiln/ir/expr/same.h"
#include "kiln/ir/tensor/numerics.h"
#include "kiln/ir/tensor/visit.h"

namespace kiln {
namespace {

bool IsZeroConstant(const Expr& e) {
  const auto* real = e.As<FloatImmNode>();
  return IsZero(e) || (real && real->value == 0);
}

bool SamePlace(const StoreNode& store, const Expr& e) {
  const auto* load = e.As<LoadNode>();
  return load && load->buffer == store.buffer &&
         std::equal(load->indices.begin(), load->indices.end(),
                    store.indices.begin(), store.indices.end(), SameExpr);
}

class Skipper {
 public:
  // Whether products of floats may be left out.
  explicit Skipper(bool floats) : floats_(floats) {}
  Stmt Run(const Stmt& s);

 private:
  Stmt RunStore(const Stmt& s);
  bool MayMove(const Expr& condition) const;
  void Divide(const Expr& condition, Expr* moves, Expr* stays) const;
  Expr Strip(const Expr& factor);
  Expr StripChoice(const Expr& choice);

  const bool floats_;
  std::vector<const VarNode*> lanes_;  // variables of vectorized loops around
  Expr condition_;                     // taken out of the product at hand
};

bool Skipper::MayMove(const Expr& condition) const {
  bool may = true;
  Visit(condition, [&](const Expr& e) {
    const auto* call = e.As<CallNode>();
    may &= e.kind() != ExprKind::kLoad;
    may &= !call || GetIntrinsicInfo(call->op).purity == Purity::kPure;
    return may;
  });
  return may && !UsesVar(condition, [&](const VarNode* var) {
           return std::find(lanes_.begin(), lanes_.end(), var) != lanes_.end();
         });
}

void Skipper::Divide(const Expr& condition, Expr* moves, Expr* stays) const {
  for (const Expr& conjunct : ConjunctsOf(condition)) {
    Expr* out = MayMove(conjunct) ? moves : stays;
    *out = Conjunction(*out, conjunct);
  }
}

// A choice between something and zero, without the conditions that move.
Expr Skipper::StripChoice(const Expr& choice) {
  const auto* call = choice.As<CallNode>();
  if (!IsZeroConstant(call->args[2])) return choice;
  Expr moves, stays;
  Divide(call->args[0], &moves, &stays);
  if (!moves) return choice;
  condition_ = Conjunction(condition_, moves);
  if (!stays) return Strip(call->args[1]);
  return Call(call->dtype, call->op, {stays, call->args[1], call->args[2]});
}

Expr Skipper::Strip(const Expr& factor) {
  if (const auto* call = factor.As<CallNode>()) {
    return call->op == Intrinsic::kIfThenElse ? StripChoice(factor) : factor;
  }
  const ExprKind kind = factor.kind();
  if (kind != ExprKind::kMul && kind != ExprKind::kCast) return factor;
  return MapOperands(factor, [&](const Expr& x) { return Strip(x); });
}

Stmt Skipper::RunStore(const Stmt& s) {
  const auto* store = s.As<StoreNode>();
  const auto* sum = store->value.As<BinaryNode>();
  if (!sum || store->value.kind() != ExprKind::kAdd) return s;
  if (sum->dtype.is_float() && !floats_) return s;
  const bool first = SamePlace(*store, sum->a);
  if (!first && !SamePlace(*store, sum->b)) return s;
  condition_ = Expr();
  const Expr product = Strip(first ? sum->b : sum->a);
  if (!condition_) return s;
  Expr value = first ? Add(sum->a, product) : Add(product, sum->b);
  return MakeIf(condition_,
                MakeStore(store->buffer, std::move(value), store->indices));
}

Stmt Skipper::Run(const Stmt& s) {
  if (s.kind() == StmtKind::kStore) return RunStore(s);
  const auto* loop = s.As<ForNode>();
  const bool is_lanes = loop && loop->for_kind == ForKind::kVectorized;
  if (is_lanes) lanes_.push_back(loop->var.get());
  Stmt below = MapChildren(s, [&](const Stmt& child) { return Run(child); });
  if (is_lanes) lanes_.pop_back();
  return below;
}

}  // namespace

absl::StatusOr<Function> GuardZeroUpdates(Function f) {
  f.body = Skipper(!IsStrict(f)).Run(f.body);
  return f;
}

}  // namespace kiln
