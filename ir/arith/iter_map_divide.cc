// Splitting bindings into an outer and an inner part.
//
//   i * 64 + j * 8 + k, inner loops {k}:  (i * 8 + j) * 8 + k
#include <utility>

#include "kiln/ir/arith/int_set.h"
#include "kiln/ir/arith/interval.h"
#include "kiln/ir/arith/iter_map.h"
#include "kiln/ir/arith/iter_map_solver.h"
#include "kiln/ir/expr/visit.h"

namespace kiln {
namespace {

class Divider {
 public:
  Divider(const std::vector<LoopRange>& loops,
          const std::vector<Var>& inner_loops, const Expr& predicate)
      : inner_loops_(inner_loops),
        assumed_(loops, predicate),
        plain_(loops, nullptr) {}

  std::optional<SubspaceSplit> Divide(const Expr& binding) {
    if (!IsExactInt(binding.dtype())) return std::nullopt;
    dtype_ = binding.dtype();
    const Linear sum = plain_.context().LinearOf(binding);
    if (!plain_.IsQuasiAffine(sum)) return std::nullopt;
    Linear outer, inner;
    outer.constant = sum.constant;
    for (const Term& term : sum.terms) {
      const bool in = UsesInner(term.atom);
      if (in && UsesOuter(term.atom)) return std::nullopt;
      (in ? inner : outer).terms.push_back(term);
    }
    return Combine(std::move(outer), std::move(inner));
  }

 private:
  bool IsInner(const VarNode* var) const {
    for (const Var& loop : inner_loops_) {
      if (loop.get() == var) return true;
    }
    return false;
  }
  bool UsesInner(const Expr& e) const {
    return UsesVar(e, [this](const VarNode* var) { return IsInner(var); });
  }
  bool UsesOuter(const Expr& e) const {
    for (const Var& var : FreeVars(e)) {
      if (!IsInner(var.get()) && plain_.Varies(var)) return true;
    }
    return false;
  }

  std::optional<SubspaceSplit> Combine(Linear outer, Linear inner) {
    SubspaceSplit split;
    if (inner.terms.empty()) {
      split.inner = Int(0, dtype_);
      split.inner_extent = Int(1, dtype_);
    } else {
      const bool alone = outer.terms.empty();
      if (alone) std::swap(inner.constant, outer.constant);
      const Expr extent = plain_.ExtentOf(inner);
      if (!extent) return std::nullopt;
      split.inner_extent = Cast(dtype_, extent);
      if (!alone && !DivideBy(extent, &outer)) return std::nullopt;
    }
    const Expr outer_extent = assumed_.ExtentOf(outer);
    if (!outer_extent) return std::nullopt;
    split.outer_extent = Cast(dtype_, outer_extent);
    if (!split.inner) split.inner = ToExpr(&inner, dtype_);
    split.outer = ToExpr(&outer, dtype_);
    if (!split.inner || !split.outer) return std::nullopt;
    return split;
  }

  // outer / extent, where that is exact.
  bool DivideBy(const Expr& extent, Linear* outer) {
    Expr value = ToExpr(outer, dtype_);
    if (!value) return false;
    const Expr divisor = Cast(dtype_, extent);
    Context& context = plain_.context();
    const Linear rest = context.LinearOf(FloorMod(value, divisor));
    if (!rest.ok || !rest.is_constant() || rest.constant != 0) return false;
    *outer = context.LinearOf(FloorDiv(value, divisor));
    return outer->ok;
  }

  const std::vector<Var>& inner_loops_;
  IterMapSolver assumed_, plain_;
  DType dtype_;
};

}  // namespace

std::optional<std::vector<SubspaceSplit>> DivideSubspace(
    const std::vector<Expr>& bindings, const std::vector<LoopRange>& loops,
    const std::vector<Var>& inner_loops, const Expr& predicate) {
  Divider divider(loops, inner_loops, predicate);
  std::vector<SubspaceSplit> splits;
  splits.reserve(bindings.size());
  for (const Expr& binding : bindings) {
    std::optional<SubspaceSplit> split = divider.Divide(binding);
    if (!split) return std::nullopt;
    splits.push_back(*std::move(split));
  }
  return splits;
}

}  // namespace kiln
