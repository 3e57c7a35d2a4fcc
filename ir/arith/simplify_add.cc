// Sums and products: collecting the normal form.
#include <utility>

#include "kiln/ir/arith/context.h"
#include "kiln/ir/arith/interval.h"

namespace kiln {
namespace {

constexpr size_t kMaxSummands = 512;
constexpr size_t kMaxExpanded = 8;

bool IsSum(const Expr& e) {
  return e.kind() == ExprKind::kAdd || e.kind() == ExprKind::kSub;
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

Expr Context::SimplifySum(const Expr& e) {
  Linear linear = LinearOf(e);
  if (Spells(e, &linear)) return e;
  Expr result = ToExpr(&linear, e.dtype());
  if (!result) return SimplifyOperands(e);
  return SameText(result, e) ? e : result;
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
  const Linear divisor = LinearOf(division->b);
  const bool constant = divisor.ok && divisor.is_constant();
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
