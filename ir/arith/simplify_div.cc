// Division by a positive constant c, rounding down. Multiples of c leave the
// division as they are. Of the terms that stay, those that cannot carry the
// others to the next multiple of a common divisor g go, and the division is by
// c / g:
//
//   (i * 8 + j + 3) // 8       i + (j + 3) // 8
//   (i * 4 + j) // 8           i // 2           where 0 <= j < 4, g = 4
//   x // 4 // 2                x // 8
//
// A remainder is treated alike; what the quotient loses there is kept: (i * 4 +
// j) % 8 is i % 2 * 4 + j.
#include <algorithm>
#include <utility>

#include "kiln/ir/arith/context.h"
#include "kiln/ir/arith/interval.h"

namespace kiln {

int64_t Context::TakeOutDivisor(Linear* x, int64_t c, Linear* removed) {
  auto& terms = x->terms;
  absl::InlinedVector<ConstBound, 6> tail(terms.size() + 1);
  SortByMagnitude(x);
  tail.back() = Point(x->constant);
  for (size_t i = terms.size(); i-- > 1;) {
    tail[i] = Plus(tail[i + 1],
                   Scale(BoundOfAtom(terms[i].atom), terms[i].coefficient));
  }
  int64_t g = c;
  for (size_t taken = 1; taken <= terms.size(); ++taken) {
    g = Gcd(g, terms[taken - 1].coefficient);
    if (g == 1) return 1;
    int64_t quotient;
    if (!SingleQuotient(tail[taken], g, &quotient)) continue;
    removed->AddConstant(x->constant);
    for (size_t i = taken; i < terms.size(); ++i) {
      removed->terms.push_back(terms[i]);
    }
    removed->AddConstant(quotient, -g);
    terms.resize(taken);
    for (Term& term : terms) term.coefficient /= g;
    x->constant = quotient;
    return g;
  }
  return 1;
}

namespace {

// x // l with constant l > 0, plus a constant: takes it apart.
const BinaryNode* AsQuotient(const Linear& x) {
  if (x.terms.size() != 1 || x.terms[0].coefficient != 1) return nullptr;
  const Expr& atom = x.terms[0].atom;
  if (atom.kind() != ExprKind::kFloorDiv) return nullptr;
  const auto* division = atom.As<BinaryNode>();
  const int64_t* l = AsInt(division->b);
  return l && *l > 0 ? division : nullptr;
}

}  // namespace

void Context::DivideConst(Linear x, int64_t c, DType dtype, int64_t scale,
                          Linear* out) {
  for (;;) {
    Visit visit(this);
    out->ok &= x.ok && visit.ok();
    if (!out->ok) return;
    if (c == 1) return out->Add(x, scale);
    const Linear whole = SplitMultiples(&x, c);
    out->Add(whole, scale);
    if (x.is_constant()) return;  // 0 <= x < c now
    if (!whole.is_constant() && Recombine(&x, dtype)) continue;
    int64_t quotient;
    if (SingleQuotient(BoundOf(x), c, &quotient)) {
      return out->AddConstant(quotient, scale);
    }
    Linear removed;
    const int64_t g = TakeOutDivisor(&x, c, &removed);
    if (g > 1) {
      c /= g;
      continue;
    }
    if (const BinaryNode* inner = AsQuotient(x)) {
      const int64_t l = *AsInt(inner->b), constant = x.constant;
      int64_t product;
      if (!__builtin_mul_overflow(l, c, &product)) {
        const Expr numerator = inner->a;
        x = Linear();
        Decompose(numerator, 1, &x);
        x.AddConstant(constant, l);
        c = product;
        continue;
      }
    }
    Expr numerator = ToExpr(&x, dtype);
    out->ok &= static_cast<bool>(numerator);
    if (!out->ok) return;
    return out->Add(FloorDiv(std::move(numerator), Int(c, dtype)), scale);
  }
}

void Context::ModuloConst(Linear x, int64_t c, DType dtype, int64_t scale,
                          Linear* out) {
  for (;;) {
    Visit visit(this);
    out->ok &= x.ok && visit.ok();
    if (!out->ok || c == 1) return;
    const Linear whole = SplitMultiples(&x, c);
    if (x.is_constant()) return out->AddConstant(x.constant, scale);
    if (!whole.is_constant() && Recombine(&x, dtype)) continue;
    int64_t quotient;
    if (SingleQuotient(BoundOf(x), c, &quotient)) {
      out->Add(x, scale);
      int64_t product;
      out->ok &= !__builtin_mul_overflow(quotient, c, &product) &&
                 product != ConstBound::kNegInf;
      if (out->ok) out->AddConstant(-product, scale);
      return;
    }
    Linear removed;
    const int64_t g = TakeOutDivisor(&x, c, &removed);
    if (g > 1) {
      out->Add(removed, scale);
      c /= g;
      out->ok &= !__builtin_mul_overflow(scale, g, &scale);
      continue;
    }
    if (ModuloOfDivision(&x, c, dtype, scale, out)) return;
    Expr value = ToExpr(&x, dtype);
    out->ok &= static_cast<bool>(value);
    if (!out->ok) return;
    return out->Add(FloorMod(std::move(value), Int(c, dtype)), scale);
  }
}

bool Context::ModuloOfDivision(Linear* x, int64_t c, DType dtype, int64_t scale,
                               Linear* out) {
  Linear inner;
  if (const BinaryNode* quotient = AsQuotient(*x)) {
    // (y // l + k) % c = ((y + k * l) % (l * c)) // l
    const int64_t l = *AsInt(quotient->b);
    int64_t product;
    if (__builtin_mul_overflow(l, c, &product)) return false;
    Decompose(quotient->a, 1, &inner);
    inner.AddConstant(x->constant, l);
    Linear remainder;
    ModuloConst(std::move(inner), product, dtype, 1, &remainder);
    DivideConst(std::move(remainder), l, dtype, scale, out);
    return true;
  }
  if (x->terms.size() != 1 || x->terms[0].coefficient != 1) return false;
  const Expr& atom = x->terms[0].atom;
  const auto* mod = atom.As<BinaryNode>();
  if (!mod || atom.kind() != ExprKind::kFloorMod) return false;
  const int64_t* period = AsInt(mod->b);
  if (!period || *period <= 0 || *period % c != 0) return false;
  Decompose(mod->a, 1, &inner);
  inner.AddConstant(x->constant);
  ModuloConst(std::move(inner), c, dtype, scale, out);
  return true;
}

}  // namespace kiln
