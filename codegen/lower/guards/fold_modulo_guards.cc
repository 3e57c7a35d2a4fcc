// A linear congruence has one solution: if c has an inverse modulo m, then (c *
// y + rest) % m == r holds for y = (r - rest) * inverse modulo m and for no
// other one of m values in a row. A loop over exactly m values that does
// nothing elsewhere is that one iteration. With 3, the inverse of 2 modulo 5,
//
//   for y in range(5):
//     if (p + y * 2) % 5 == 3: C[p] = C[p] + A[p + y]
//
// is y = (3 - p) * 3 modulo 5, which coefficients between 0 and 4 make
//
//   for y in range((p * 2 + 4) % 5, (p * 2 + 4) % 5 + 1):
//     C[p] = C[p] + A[p + y]
//
// The condition has to guard everything that the body does: it may stand once
// around all, or in each branch.
#include "kiln/codegen/lower/guards/fold_modulo_guards.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "kiln/codegen/lower/guards/condition.h"
#include "kiln/codegen/lower/guards/fold_known_conditions.h"
#include "kiln/ir/arith/index_normalizer.h"
#include "kiln/ir/arith/interval.h"
#include "kiln/ir/expr/conjuncts.h"
#include "kiln/ir/expr/same.h"
#include "kiln/ir/tensor/marks.h"
#include "kiln/ir/tensor/visit.h"

namespace kiln {
namespace {

constexpr int64_t kMaxPhases = 64;

// The conjuncts without which a statement does nothing.
struct Needs {
  bool is_nothing = true;  // it does nothing anyway
  std::vector<Expr> conjuncts;

  bool Holds(const Expr& conjunct) const {
    return std::any_of(conjuncts.begin(), conjuncts.end(),
                       [&](const Expr& e) { return SameExpr(e, conjunct); });
  }
  void Drop(FunctionRef<bool(const Expr&)> is_dropped) {
    conjuncts.erase(
        std::remove_if(conjuncts.begin(), conjuncts.end(),
                       [&](const Expr& e) { return is_dropped(e); }),
        conjuncts.end());
  }
  // Of two statements, one after the other or one or the other.
  void Join(const Needs& other) {
    if (other.is_nothing) return;
    if (is_nothing) {
      *this = other;
    } else {
      Drop([&](const Expr& e) { return !other.Holds(e); });
    }
  }
};

Needs NeedsOf(const Stmt& s) {
  Needs needs;
  if (s.kind() == StmtKind::kStore || s.kind() == StmtKind::kEvaluate) {
    needs.is_nothing = lower::DoesNothing(s);
    return needs;
  }
  if (const auto* branch = s.As<IfNode>()) {
    needs = NeedsOf(branch->then_case);
    for (const Expr& e : ConjunctsOf(branch->condition)) {
      needs.conjuncts.push_back(e);
    }
    if (branch->else_case) needs.Join(NeedsOf(branch->else_case));
    return needs;
  }
  ForEachChild(s, [&](const Stmt& child) { needs.Join(NeedsOf(child)); });
  const auto* loop = s.As<ForNode>();
  const auto* let = s.As<LetStmtNode>();
  if (loop || let) {
    const Var& var = loop ? loop->var : let->var;
    needs.Drop([&](const Expr& e) { return UsesVar(e, var); });
  }
  return needs;
}

// The x with factor * x % m == 1; nullopt where there is none.
std::optional<int64_t> InverseOf(int64_t factor, int64_t m) {
  for (int64_t x = 1; x < m; ++x) {
    if (FloorRemainder(factor, m) * x % m == 1) return x;
  }
  return std::nullopt;
}

// The only value of `loop`'s variable, one of `m` from `min` on, for which the
// conjunct `sum % m == r` holds; null where it is none.
Expr OnlyValue(const Expr& conjunct, const ForNode& loop, int64_t min,
               int64_t m) {
  const auto* equal = conjunct.As<BinaryNode>();
  if (!equal || conjunct.kind() != ExprKind::kEQ ||
      !lower::IsSafeIn({}, conjunct)) {
    return nullptr;
  }
  const auto* division = equal->a.As<BinaryNode>();
  const int64_t* rest = AsInt(equal->b);
  if (!division || !rest || equal->a.kind() != ExprKind::kFloorMod) {
    return nullptr;
  }
  const int64_t* divisor = AsInt(division->b);
  if (!divisor || *divisor != m || *rest < 0 || *rest >= m) return nullptr;
  Linear form = ToLinear(division->a);
  const VarNode* var = loop.var.get();
  const auto inverse = InverseOf(form.Coefficient(var), m);
  if (!inverse || form.HidesVar([&](const VarNode* v) { return v == var; })) {
    return nullptr;
  }
  form.terms.erase(
      std::find_if(form.terms.begin(), form.terms.end(),
                   [&](const Term& t) { return t.atom == loop.var; }));
  // All that counts of a number is what it leaves when divided by m.
  for (Term& term : form.terms) {
    term.coefficient = FloorRemainder(term.coefficient, m) * (m - *inverse) % m;
  }
  form.constant = (*rest - FloorRemainder(form.constant, m)) * *inverse -
                  FloorRemainder(min, m);
  form.terms.erase(
      std::remove_if(form.terms.begin(), form.terms.end(),
                     [](const Term& t) { return t.coefficient == 0; }),
      form.terms.end());
  IndexNormalizer normalizer;
  return normalizer.Run(
      Add(FloorMod(normalizer.Build(std::move(form)), Int(m)), Int(min)));
}

// Null where no remainder limits the loop.
Stmt Trimmed(const ForNode& loop) {
  const int64_t* min = AsInt(loop.min);
  const int64_t* extent = AsInt(loop.extent);
  const bool may =
      loop.for_kind == ForKind::kSerial || loop.for_kind == ForKind::kUnrolled;
  if (!may || !min || !extent || *extent < 2 || *extent > kMaxPhases) {
    return nullptr;
  }
  for (const Expr& conjunct : NeedsOf(loop.body).conjuncts) {
    const Expr value = OnlyValue(conjunct, loop, *min, *extent);
    if (!value) continue;
    ForFields fields = loop.fields();
    fields.min = value;
    fields.extent = Int(1);
    fields.body = lower::FoldKnownConditions(loop.body, [&](const Expr& e) {
      return SameExpr(e, conjunct) ? Bool(true) : Expr();
    });
    return MakeFor(std::move(fields));
  }
  return nullptr;
}

// `count` grows by the loops that are trimmed.
Stmt Trim(const Stmt& s, int* count) {
  const auto* loop = s.As<ForNode>();
  const Stmt trimmed = loop ? Trimmed(*loop) : nullptr;
  *count += trimmed ? 1 : 0;
  return MapChildren(trimmed ? trimmed : s,
                     [&](const Stmt& child) { return Trim(child, count); });
}

}  // namespace

absl::StatusOr<Function> FoldModuloGuards(Function f) {
  int count = 0;
  f.body = Trim(f.body, &count);
  if (!IsMarked(f, kPhases)) return f;
  if (count > 0) {
    f.attrs.erase(kPhases);
  } else {
    IgnoreMark(&f, kPhases,
               "no loop runs through all remainders of a number and does "
               "nothing for all but one");
  }
  return f;
}

}  // namespace kiln
