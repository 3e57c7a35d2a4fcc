// Integer arithmetic is exact here, so that sums and products by constants may
// be spread out and collected in any order. Rather than rewriting trees by
// rules, Linearize(e, scale, out) adds scale * e to a list of terms; on its way
// down the scale takes up signs and constant factors, and no tree is built in
// between:
//
//   (i + 3)*8 - i*2      8 [i] + 24, then -2 [i]:    i*6 + 24
//   k + (j*8 + i*64)     1 [k], 8 [j], 64 [i]:       i*64 + j*8 + k
//
// Divisions hand the linear form of their operand to simplify_div.cc (or, by a
// symbol, to simplify_symbolic.cc), and the finished list goes through
// recombine.cc. Products of sums are multiplied out up to kMaxExpanded terms; a
// larger one becomes one atom. Where a number overflows, the expression keeps
// its form and only its operands are simplified.
#include <algorithm>
#include <utility>

#include "kiln/ir/arith/context.h"
#include "kiln/ir/arith/interval.h"
#include "kiln/ir/expr/same.h"

namespace kiln {
namespace {

constexpr size_t kMaxSummands = 512;
constexpr size_t kMaxExpanded = 8;

bool IsSum(const Expr& e) {
  return e.kind() == ExprKind::kAdd || e.kind() == ExprKind::kSub;
}

// v * c with c > 1, or v alone (c = 1); nullptr for anything else.
const VarNode* AsMultiple(const Expr& e, int64_t* coefficient) {
  *coefficient = 1;
  if (const auto* var = e.As<VarNode>()) return var;
  const auto* product = e.As<BinaryNode>();
  const int64_t* factor =
      e.kind() == ExprKind::kMul ? AsInt(product->b) : nullptr;
  if (!factor || *factor < 2) return nullptr;
  *coefficient = *factor;
  return product->a.As<VarNode>();
}

// (a + 1) * (b + 2) is a * b + a * 2 + b + 2.
Linear Expand(const Linear& a, const Linear& b) {
  Linear product;
  for (const Term& x : a.terms) {
    for (const Term& y : b.terms) {
      int64_t coefficient;
      product.ok &=
          !__builtin_mul_overflow(x.coefficient, y.coefficient, &coefficient);
      if (!product.ok) return product;
      Factors factors = FactorsOf(x.atom);
      for (const Expr& factor : FactorsOf(y.atom)) factors.push_back(factor);
      product.Add(ProductOf(factors), coefficient);
    }
  }
  Linear a_terms = a, b_terms = b;
  a_terms.constant = b_terms.constant = 0;
  product.Add(a_terms, b.constant);
  product.Add(b_terms, a.constant);
  product.AddConstant(a.constant, b.constant);
  return product;
}

}  // namespace

// Whether `e` is a sum as ToExpr writes it, of positive multiples of different
// variables that have no known value (and a constant), or one digit of such a
// variable.
bool Context::IsSimpleSum(const Expr& e) {
  if (AsInt(e)) return false;
  if (IsSimpleDigit(e)) return true;
  absl::InlinedVector<const VarNode*, 8> vars;
  const Expr* rest = &e;
  int64_t least = 1;
  const auto* sum = rest->As<BinaryNode>();
  if (sum && IsSum(*rest) && AsInt(sum->b)) {
    if (*AsInt(sum->b) <= 0) return false;
    rest = &sum->a;
  }
  for (;; rest = &sum->a) {
    sum = rest->As<BinaryNode>();
    const bool is_last = rest->kind() != ExprKind::kAdd;
    int64_t coefficient;
    const VarNode* var = AsMultiple(is_last ? *rest : sum->b, &coefficient);
    if (!var || coefficient < least || !StandsForItself(var) ||
        std::find(vars.begin(), vars.end(), var) != vars.end()) {
      return false;
    }
    if (is_last) return true;
    vars.push_back(var);
    least = coefficient;
  }
}

// v // c or v % c, where v reaches beyond one period of c.
bool Context::IsSimpleDigit(const Expr& e) {
  if (e.kind() != ExprKind::kFloorDiv && e.kind() != ExprKind::kFloorMod) {
    return false;
  }
  const auto* division = e.As<BinaryNode>();
  const auto* var = division->a.As<VarNode>();
  const int64_t* divisor = AsInt(division->b);
  int64_t quotient;
  return var && divisor && *divisor > 1 && constraints_.empty() &&
         StandsForItself(var) &&
         !SingleQuotient(BoundOfAtom(division->a), *divisor, &quotient);
}

// Whether a variable stands for itself: no value is known.
bool Context::StandsForItself(const VarNode* var) {
  const VarInfo* info = FindVar(var);
  return !info || (!info->value && info->bound.min != info->bound.max);
}

Expr Context::SimplifySum(const Expr& e) {
  if (IsSimpleSum(e)) return e;
  Linear linear = LinearOf(e);
  if (Spells(e, &linear)) return e;
  Expr result = ToExpr(&linear, e.dtype());
  if (!result) return SimplifyOperands(e);
  return SameExpr(result, e) ? e : result;
}

Linear Context::LinearOf(const Expr& e) {
  Linear linear;
  Linearize(e, 1, &linear);
  Recombine(&linear, e.dtype());
  return linear;
}

void Context::Linearize(const Expr& e, int64_t scale, Linear* out) {
  if (const int64_t* value = AsInt(e)) return out->AddConstant(*value, scale);
  if (const auto* var = e.As<VarNode>()) {
    const VarInfo* info = FindVar(var);
    if (info && info->value) return Decompose(Expr(info->value), scale, out);
    if (info && info->bound.min == info->bound.max) {
      return out->AddConstant(info->bound.min, scale);
    }
    return out->Add(e, scale);
  }
  Visit visit(this);
  if (!visit.ok() || !IsExactInt(e.dtype())) return out->Add(e, scale);
  switch (e.kind()) {
    case ExprKind::kAdd:
    case ExprKind::kSub:
      return LinearizeSum(e, scale, out);
    case ExprKind::kMul:
      return LinearizeProduct(*e.As<BinaryNode>(), scale, out);
    case ExprKind::kFloorDiv:
    case ExprKind::kFloorMod:
    case ExprKind::kTruncDiv:
    case ExprKind::kTruncMod:
      return LinearizeDivision(e, scale, out);
    default:
      return Decompose(SimplifyNode(e), scale, out);
  }
}

// Walks down the left spine in a loop: sums may be long.
void Context::LinearizeSum(const Expr& e, int64_t scale, Linear* out) {
  absl::InlinedVector<std::pair<const Expr*, bool>, 8> right;  // negated?
  const Expr* left = &e;
  while (IsSum(*left) && right.size() < kMaxSummands) {
    const auto* sum = left->As<BinaryNode>();
    right.push_back({&sum->b, left->kind() == ExprKind::kSub});
    left = &sum->a;
  }
  if (IsSum(*left)) return out->Add(e, scale);
  Linearize(*left, scale, out);
  while (!right.empty() && out->ok) {
    const auto [operand, negated] = right.back();
    right.pop_back();
    Linearize(*operand, negated ? -scale : scale, out);
  }
}

void Context::LinearizeProduct(const BinaryNode& e, int64_t scale,
                               Linear* out) {
  const int64_t* factor = AsInt(e.b);
  const Expr& other = factor ? e.a : e.b;
  if (!factor) factor = AsInt(e.a);
  if (factor) {
    int64_t product;
    out->ok &= !__builtin_mul_overflow(scale, *factor, &product) &&
               product != ConstBound::kNegInf;
    if (out->ok) Linearize(other, product, out);
    return;
  }
  Multiply(LinearOf(e.a), LinearOf(e.b), e.dtype, scale, out);
}

void Context::Multiply(const Linear& a, const Linear& b, DType dtype,
                       int64_t scale, Linear* out) {
  out->ok &= a.ok && b.ok;
  if (!out->ok) return;
  Linear product;
  if (a.is_constant()) {
    product.Add(b, a.constant);
  } else if (b.is_constant()) {
    product.Add(a, b.constant);
  } else if (a.terms.size() * b.terms.size() > kMaxExpanded) {
    Linear left = a, right = b;
    Expr x = ToExpr(&left, dtype), y = ToExpr(&right, dtype);
    if (x && y) {
      product.Add(Mul(std::move(x), std::move(y)), 1);
    } else {
      product.ok = false;
    }
  } else {
    product = Expand(a, b);
  }
  out->Add(product, scale);
}

void Context::LinearizeDivision(const Expr& e, int64_t scale, Linear* out) {
  const auto* division = e.As<BinaryNode>();
  const bool truncates =
      e.kind() == ExprKind::kTruncDiv || e.kind() == ExprKind::kTruncMod;
  const bool quotient =
      e.kind() == ExprKind::kFloorDiv || e.kind() == ExprKind::kTruncDiv;
  if (MayWrap(division->a) || MayWrap(division->b)) {
    return out->Add(SimplifyOperands(e), scale);
  }
  const Linear divisor = LinearOf(division->b);
  const bool constant = divisor.ok && divisor.is_constant();
  // Never evaluated, as in a loop of no iterations: 0 as good as any value.
  if (constant && divisor.constant == 0 && !IsZero(division->b)) return;
  if (!constant || divisor.constant == 0 || truncates) {
    if (!truncates) return DivideSymbolic(*division, scale, out);
    const Expr simple = SimplifyOperands(e);
    division = simple.As<BinaryNode>();
    if (division && constant && divisor.constant > 0 &&
        BoundOf(division->a).min >= 0) {
      return Linearize(
          Binary(quotient ? ExprKind::kFloorDiv : ExprKind::kFloorMod,
                 division->a, Int(divisor.constant, e.dtype())),
          scale, out);
    }
    return Decompose(simple, scale, out);
  }
  Linear x = LinearOf(division->a);
  int64_t c = divisor.constant, sign = 1;
  if (c < 0) {  // x // -c = -x // c, x % -c = -(-x % c)
    Linear negated;
    negated.Add(x, -1);
    x = std::move(negated);
    c = -c;
    if (!quotient) sign = -1;
  }
  Linear result;
  if (quotient) {
    DivideConst(std::move(x), c, e.dtype(), 1, &result);
  } else {
    ModuloConst(std::move(x), c, e.dtype(), sign, &result);
  }
  if (result.ok) return out->Add(result, scale);
  Decompose(SimplifyOperands(e), scale, out);
}

}  // namespace kiln
