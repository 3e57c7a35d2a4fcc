// A sum is taken apart term by term, with the factor that stands before it:
//
//   2 * (8*i + (16*j + k) // 16)      factor 2: 8*i, then the division
//     16*i, then 2*j + 2*(k // 16)    what 16 divides leaves the division
//
// and put together again, terms of outer variables first.
#include "kiln/ir/arith/index_normalizer.h"

#include <algorithm>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "kiln/ir/arith/interval.h"
#include "kiln/ir/expr/same.h"
#include "kiln/ir/expr/visit.h"
#include "kiln/ir/type/dtype.h"

namespace kiln {
namespace {

bool IsIndex(const Expr& e) { return e.dtype() == DType::Index(); }

bool IsLinearKind(ExprKind kind) {
  return kind == ExprKind::kAdd || kind == ExprKind::kSub ||
         kind == ExprKind::kMul || kind == ExprKind::kFloorDiv ||
         kind == ExprKind::kFloorMod;
}

// The product of two factors; clears `linear->ok` where it overflows.
int64_t Product(int64_t a, int64_t b, Linear* linear) {
  int64_t product = 0;
  linear->ok &= !__builtin_mul_overflow(a, b, &product);
  return product;
}

}  // namespace

void IndexNormalizer::Bind(const VarNode* var, Expr value) {
  if (value) {
    // What was in normal form as long as the variable stayed may not be now.
    if (depth_.count(var)) normal_.clear();
    bindings_[var] = std::move(value);
  } else {
    bindings_.erase(var);
  }
}

int IndexNormalizer::DepthOf(const Expr& atom) {
  int depth = 0;
  Visit(atom, [&](const Expr& e) {
    if (const auto* var = e.As<VarNode>()) {
      auto found = depth_.find(var);
      if (found != depth_.end()) depth = std::max(depth, found->second);
    }
    return true;
  });
  return depth;
}

void IndexNormalizer::AccumulateProduct(const Expr& e, int64_t factor,
                                        Linear* out) {
  const auto* node = e.As<BinaryNode>();
  if (const int64_t* scale = AsInt(node->b)) {
    return Accumulate(node->a, Product(factor, *scale, out), out);
  }
  Linear a = Linearize(node->a), b = Linearize(node->b);
  if (a.is_constant()) std::swap(a, b);
  if (b.is_constant()) {
    return out->Add(a, Product(factor, b.constant, out));
  }
  Expr x = Build(std::move(a)), y = Build(std::move(b));
  const bool same = x == node->a && y == node->b;
  out->Add(same ? e : Mul(std::move(x), std::move(y)), factor);
}

// x // c with x = c*q + r: q + r // c; x % c = r % c.
void IndexNormalizer::AccumulateDivision(const Expr& e, int64_t factor,
                                         Linear* out) {
  if (normal_.count(e.get())) return out->Add(e, factor);
  const auto* node = e.As<BinaryNode>();
  Linear x = Linearize(node->a);
  const Expr divisor_expr = Run(node->b);
  const int64_t* divisor = AsInt(divisor_expr);
  // A sum that is made of loaded numbers may wrap before it is divided.
  if (!divisor || *divisor <= 0 || node->a->has_loads) {
    return out->Add(Binary(e.kind(), Build(std::move(x)), divisor_expr),
                    factor);
  }
  Linear quotient, remainder;
  for (const Term& term : x.terms) {
    const bool divides = term.coefficient % *divisor == 0;
    if (divides) {
      quotient.terms.push_back({term.atom, term.coefficient / *divisor});
    } else {
      remainder.terms.push_back(term);
    }
  }
  quotient.constant = FloorQuotient(x.constant, *divisor);
  remainder.constant = FloorRemainder(x.constant, *divisor);
  if (e.kind() == ExprKind::kFloorDiv) out->Add(quotient, factor);
  if (remainder.is_constant()) {
    if (e.kind() == ExprKind::kFloorMod) {
      out->AddConstant(remainder.constant, factor);
    }
    return;
  }
  Expr numerator = Build(std::move(remainder));
  if (SameExpr(numerator, node->a)) numerator = node->a;
  const bool same = numerator == node->a && divisor_expr == node->b;
  if (same) normal_.emplace(e.get(), e);
  out->Add(same ? e : Binary(e.kind(), numerator, divisor_expr), factor);
}

void IndexNormalizer::Accumulate(const Expr& e, int64_t factor, Linear* out) {
  if (const int64_t* value = AsInt(e)) return out->AddConstant(*value, factor);
  if (const auto* var = e.As<VarNode>()) {
    auto found = bindings_.find(var);
    if (found == bindings_.end()) return out->Add(e, factor);
    return out->Add(ToLinear(found->second), factor);
  }
  const auto* node = e.As<BinaryNode>();
  if (!node || !IsLinearKind(e.kind())) return out->Add(Run(e), factor);
  if (e.kind() == ExprKind::kMul) return AccumulateProduct(e, factor, out);
  if (e.kind() == ExprKind::kAdd || e.kind() == ExprKind::kSub) {
    Accumulate(node->a, factor, out);
    const int64_t sign = e.kind() == ExprKind::kAdd ? 1 : -1;
    return Accumulate(node->b, Product(factor, sign, out), out);
  }
  AccumulateDivision(e, factor, out);
}

Linear IndexNormalizer::Linearize(const Expr& e) {
  Linear linear;
  Accumulate(e, 1, &linear);
  if (linear.ok) return linear;
  Linear atom;
  atom.Add(MapOperands(e, [&](const Expr& x) { return Run(x); }), 1);
  return atom;
}

// An insertion sort: the lists are short and nearly sorted.
void IndexNormalizer::SortByDepth(Linear* linear) {
  auto& terms = linear->terms;
  absl::InlinedVector<int, 8> depths;
  for (const Term& term : terms) depths.push_back(DepthOf(term.atom));
  for (size_t i = 1; i < terms.size(); ++i) {
    for (size_t j = i; j > 0 && depths[j] < depths[j - 1]; --j) {
      std::swap(depths[j], depths[j - 1]);
      std::swap(terms[j], terms[j - 1]);
    }
  }
}

Expr IndexNormalizer::Build(Linear linear) {
  if (linear.terms.size() > 1 && !depth_.empty()) SortByDepth(&linear);
  Expr sum;
  for (const Term& term : linear.terms) {
    Expr product = term.coefficient == 1
                       ? term.atom
                       : Mul(term.atom, Int(term.coefficient));
    sum = sum ? Add(std::move(sum), std::move(product)) : std::move(product);
  }
  if (!sum) return Int(linear.constant);
  return linear.constant == 0 ? sum : Add(std::move(sum), Int(linear.constant));
}

Expr IndexNormalizer::RunBinary(const Expr& e) {
  const auto* node = e.As<BinaryNode>();
  if (node->a.dtype() == DType::Index() &&
      GetBinaryInfo(e.kind())->gives_bool) {
    Expr a = Run(node->a), b = Run(node->b);
    const bool wraps =
        e->has_loads && e.kind() != ExprKind::kEQ && e.kind() != ExprKind::kNE;
    const Linear difference = Difference(ToLinear(a), ToLinear(b));
    if (difference.is_constant() && !wraps) {
      return Binary(e.kind(), Int(difference.constant), Int(0));
    }
    return a == node->a && b == node->b ? e : Binary(e.kind(), a, b);
  }
  if (e.kind() != ExprKind::kAnd && e.kind() != ExprKind::kOr) {
    return MapOperands(e, [&](const Expr& x) { return Run(x); });
  }
  // The absorbing constant decides, the neutral one vanishes.
  const int64_t neutral = e.kind() == ExprKind::kAnd ? 1 : 0;
  Expr a = Run(node->a);
  if (IsConst(a, 1 - neutral) && a.dtype() == e.dtype()) return a;
  Expr b = Run(node->b);
  if (IsConst(a, neutral) || IsConst(b, 1 - neutral)) return b;
  if (IsConst(b, neutral)) return a;
  return a == node->a && b == node->b ? e : Binary(e.kind(), a, b);
}

Expr IndexNormalizer::RunChoice(const Expr& e) {
  const auto* select = e.As<SelectNode>();
  const auto* call = e.As<CallNode>();
  const Expr condition = Run(select ? select->condition : call->args[0]);
  if (const int64_t* known = AsInt(condition)) {
    if (select) return Run(*known ? select->true_value : select->false_value);
    return Run(call->args[*known ? 1 : 2]);
  }
  const Expr& old = select ? select->condition : call->args[0];
  return MapOperands(
      e, [&](const Expr& x) { return x == old ? condition : Run(x); });
}

Expr IndexNormalizer::Run(const Expr& e) {
  if (e.kind() == ExprKind::kVar) {
    auto found = bindings_.find(e.As<VarNode>());
    return found == bindings_.end() ? e : found->second;
  }
  if (IsBinary(e.kind())) {
    if (!IsIndex(e) || !IsLinearKind(e.kind())) return RunBinary(e);
    if (normal_.count(e.get())) return e;
    Expr built = Build(Linearize(e));
    if (!SameExpr(built, e)) return built;
    normal_.emplace(e.get(), e);
    return e;
  }
  const auto* call = e.As<CallNode>();
  if (e.kind() == ExprKind::kSelect ||
      (call && call->op == Intrinsic::kIfThenElse)) {
    return RunChoice(e);
  }
  return MapOperands(e, [&](const Expr& x) { return Run(x); });
}

Linear ToLinear(const Expr& e) { return IndexNormalizer().Linearize(e); }

}  // namespace kiln
