// A sum is read as a number in a mixed radix. In c * x + rest, where no two
// values of the rest are c or more apart, x is known once the sum is:
//
//   x = (sum - low) // c      rest = (sum - low) % c + low      low = min(rest)
//
// so that terms are taken off from the largest coefficient on. What becomes
// known helps the other sums: a known term is subtracted from each, and digits
// of one expression that follow each other are merged.
//
//   loops i < 6, j < 8, f = i*8 + j; known are p = f // 12 and q = f % 12
//     f // 12 and f % 12 meet at 12:       f = p*12 + q
//     f is a sum, 8 > j:                   i = f // 8, j = f % 8
//
// A symbolic coefficient dominates what is proved to be below it: n*x + y with
// 0 <= y < n. Products of two loop variables are not taken apart, and of
// several equations in the same variables none is eliminated against another.
#include "kiln/ir/arith/iter_map_solver.h"

#include <cstdlib>
#include <utility>

#include "kiln/ir/arith/int_set.h"
#include "kiln/ir/arith/interval.h"
#include "kiln/ir/expr/same.h"
#include "kiln/ir/expr/visit.h"

namespace kiln {
namespace {

constexpr int kMaxDepth = 32;

bool SameBound(const Expr& a, const Expr& b) {
  if (!a || !b) return !a && !b;
  return SameButForFactorOrder(a, b);
}

bool IsDivision(const Expr& e) {
  return e.kind() == ExprKind::kFloorDiv || e.kind() == ExprKind::kFloorMod;
}

}  // namespace

IterMapSolver::IterMapSolver(const std::vector<LoopRange>& loops,
                             const Expr& predicate)
    : loops_(loops) {
  for (const LoopRange& loop : loops) context_.BindRange(loop.var, loop.range);
  if (predicate && !AsInt(predicate)) context_.Assume(predicate, true);
}

bool IterMapSolver::Varies(const Expr& e) const {
  return UsesVar(e, [this](const VarNode* var) {
    for (const LoopRange& loop : loops_) {
      if (loop.var.get() == var) return true;
    }
    return false;
  });
}

bool IterMapSolver::IsQuasiAffine(const Linear& linear, int depth) const {
  if (!linear.ok || depth > kMaxDepth) return false;
  Items items;
  if (!ToItems(linear, &items)) return false;
  for (const Item& item : items) {
    if (item.atom.kind() == ExprKind::kVar) continue;
    if (!IsDivision(item.atom)) return false;
    const auto* division = item.atom.As<BinaryNode>();
    if (Varies(division->b)) return false;
    Linear inner;
    Decompose(division->a, 1, &inner);
    if (!IsQuasiAffine(inner, depth + 1)) return false;
  }
  return true;
}

// The terms that vary over the loops, each as its one factor that varies and
// the product of the others; false where two factors of a term vary.
bool IterMapSolver::ToItems(const Linear& linear, Items* items) const {
  for (const Term& term : linear.terms) {
    if (term.atom.kind() != ExprKind::kMul) {
      if (Varies(term.atom)) {
        items->push_back({term.atom, nullptr, term.coefficient});
      }
      continue;
    }
    Expr atom;
    Factors symbols;
    for (const Expr& factor : FactorsOf(term.atom)) {
      if (!Varies(factor)) {
        symbols.push_back(factor);
      } else if (std::exchange(atom, factor)) {
        return false;
      }
    }
    if (atom) items->push_back({atom, ProductOf(symbols), term.coefficient});
  }
  return true;
}

Expr IterMapSolver::ExtentOf(const Linear& linear) {
  const ConstBound bound = context_.BoundOf(linear);
  if (bound.min < 0) return nullptr;
  if (bound.max < ConstBound::kPosInf - 1) return Int(bound.max + 1);
  if (linear.terms[0].atom.dtype() != DType::Index()) return nullptr;
  Linear sorted = linear;
  const Expr e = ToExpr(&sorted, DType::Index());
  if (!e) return nullptr;
  Domains domains;
  for (const LoopRange& loop : loops_) domains[loop.var.get()] = loop.range;
  Analyzer analyzer;
  const IntSet set = EvalSet(e, domains, &analyzer);
  return set.max ? analyzer.Simplify(Add(set.max, Int(1))) : nullptr;
}

void IterMapSolver::Know(const Linear& linear, const Expr& value) {
  sums_.push_back({linear, value});
}

const IterMapSolver::Digits* IterMapSolver::FindKnown(const Expr& atom) const {
  for (const Digits& known : known_) {
    if (SameButForFactorOrder(known.x, atom)) return &known;
  }
  return nullptr;
}

bool IterMapSolver::IsKnown(const VarNode* var) const {
  return FindKnown(Var(var)) != nullptr;
}

Expr IterMapSolver::ValueOf(const VarNode* var) const {
  const Digits* known = FindKnown(Var(var));
  return known ? known->value : nullptr;
}

void IterMapSolver::Solve() {
  bool progress = true;
  for (int round = 0; progress && round < 64; ++round) {
    progress = false;
    for (size_t i = 0; i < sums_.size(); ++i) {
      Sum sum = sums_[i];  // taking apart may add sums
      if (!TakeApart(&sum)) continue;
      sums_[i] = std::move(sum);
      progress = true;
    }
  }
}

void IterMapSolver::RemoveKnown(Sum* sum) {
  for (size_t i = sum->linear.terms.size(); i-- > 0;) {
    const Term term = sum->linear.terms[i];
    const Digits* known = FindKnown(term.atom);
    if (!known && Varies(term.atom)) continue;
    if (sum->value) {
      const Expr& value = known ? known->value : term.atom;
      sum->value =
          Sub(sum->value, Mul(value, Int(term.coefficient, value.dtype())));
    }
    sum->linear.Remove(static_cast<int>(i));
  }
  if (sum->value && sum->linear.constant != 0) {
    sum->value = Sub(sum->value, Int(sum->linear.constant, sum->value.dtype()));
  }
  sum->linear.constant = 0;
}

// Whether the value of the sum tells the value of the item: no two values of
// the rest are as far apart as one step of the item.
bool IterMapSolver::Dominates(const Item& item, const Linear& rest) {
  if (rest.terms.empty()) return true;
  const ConstBound bound = context_.BoundOf(rest);
  if (!item.symbol) {
    if (!IsFinite(bound)) return false;
    const ConstBound span = Plus(bound, Point(-bound.min));
    return span.max < std::abs(item.coefficient);
  }
  if (bound.min < 0 || item.coefficient < 0) return false;
  Linear below = rest;
  Decompose(item.symbol, -item.coefficient, &below);
  return below.ok && context_.BoundOf(below).max < 0;
}

bool IterMapSolver::TakeHighest(Sum* sum, Items* items) {
  const size_t tries = (*items)[0].symbol ? items->size() : 1;
  for (size_t i = 0; i < items->size(); ++i) {
    if (i >= tries && !(*items)[i].symbol) continue;
    const Item item = (*items)[i];
    Linear rest = sum->linear;
    rest.Remove(static_cast<int>(i));
    if (!Dominates(item, rest)) continue;
    Expr value = sum->value;
    if (value) {
      const DType dtype = value.dtype();
      const ConstBound low = context_.BoundOf(rest);
      Expr step = Int(std::abs(item.coefficient), dtype);
      if (item.symbol) step = Mul(item.symbol, std::move(step));
      if (!rest.terms.empty()) {
        value = Sub(value, Int(low.min, dtype));
        sum->value = Add(FloorMod(value, step), Int(low.min, dtype));
      }
      value = FloorDiv(value, step);
      if (item.coefficient < 0) value = Mul(value, Int(-1, dtype));
      if (rest.terms.empty()) sum->value = Int(0, dtype);
    }
    sum->linear = std::move(rest);
    items->erase(items->begin() + i);
    Record(item.atom, value);
    return true;
  }
  return false;
}

// Takes terms from the highest on for as long as that is possible.
bool IterMapSolver::TakeApart(Sum* sum) {
  const size_t before = sum->linear.terms.size();
  RemoveKnown(sum);
  SortByMagnitude(&sum->linear);
  Items items;
  if (!ToItems(sum->linear, &items)) return false;
  for (size_t i = 1; i < items.size(); ++i) {  // symbols count as large
    for (size_t j = i; j > 0 && items[j].symbol && !items[j - 1].symbol; --j) {
      std::swap(items[j], items[j - 1]);
      std::swap(sum->linear.terms[j], sum->linear.terms[j - 1]);
    }
  }
  while (!items.empty() && TakeHighest(sum, &items)) {
  }
  return sum->linear.terms.size() != before;
}

void IterMapSolver::Record(const Expr& atom, const Expr& value) {
  if (FindKnown(atom)) return;
  known_.push_back({atom, nullptr, nullptr, value});
  if (!IsDivision(atom)) return;
  const auto* e = atom.As<BinaryNode>();
  if (Varies(e->b)) return;
  Digits digits{e->a, nullptr, nullptr, value};
  (e->kind == ExprKind::kFloorDiv ? digits.low : digits.high) = e->b;
  const auto* inner = e->a.As<BinaryNode>();
  if (digits.low && inner && inner->kind == ExprKind::kFloorMod &&
      !Varies(inner->b)) {
    Digits nested{inner->a, digits.low, inner->b, value};
    digits = nested;
  }
  Merge(std::move(digits));
}

// Whether the digits reach up to the largest value and down to the unit.
bool IterMapSolver::Covers(const Digits& digits) {
  if (digits.low) return false;
  if (!digits.high) return true;
  Linear x;
  Decompose(digits.x, 1, &x);
  if (!x.ok || context_.BoundOf(x).min < 0) return false;
  Decompose(digits.high, -1, &x);
  return x.ok && context_.BoundOf(x).max < 0;
}

void IterMapSolver::Merge(Digits digits) {
  for (size_t i = 0; i < digits_.size();) {
    const Digits& other = digits_[i];
    const bool above = digits.high && SameBound(other.low, digits.high);
    const bool below = other.high && SameBound(digits.low, other.high);
    if (!SameButForFactorOrder(other.x, digits.x) || (!above && !below)) {
      ++i;
      continue;
    }
    const Digits& high = above ? other : digits;
    const Digits& low = above ? digits : other;
    Digits merged{digits.x, low.low, high.high, nullptr};
    if (digits.value) {
      // (x % h // m) * (m / l) + (x % m // l)
      Expr factor = high.low;
      if (low.low) factor = FloorDiv(factor, low.low);
      merged.value = Add(Mul(high.value, factor), low.value);
    }
    digits_.erase(digits_.begin() + i);
    digits = std::move(merged);
    i = 0;
  }
  if (!Covers(digits)) {
    digits_.push_back(std::move(digits));
    return;
  }
  if (digits.x.kind() == ExprKind::kVar || IsDivision(digits.x)) {
    Record(digits.x, digits.value);
    return;
  }
  Linear x;
  Decompose(digits.x, 1, &x);
  if (x.ok) Know(x, digits.value);
}

}  // namespace kiln
