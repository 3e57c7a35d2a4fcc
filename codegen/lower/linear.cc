#include "kiln/codegen/lower/linear.h"

#include <algorithm>

namespace kiln::lower {
namespace {

bool IsIndex(const Expr& e) { return e.dtype() == DType::Index(); }

bool IsLinearKind(ExprKind kind) {
  return kind == ExprKind::kAdd || kind == ExprKind::kSub ||
         kind == ExprKind::kMul || kind == ExprKind::kFloorDiv ||
         kind == ExprKind::kFloorMod;
}

// Adds `factor * value`, wrapping: a program whose indices overflow has no
// meaning, and the readers refuse those whose extents do.
int64_t MulAdd(int64_t sum, int64_t factor, int64_t value) {
  return static_cast<int64_t>(static_cast<uint64_t>(sum) +
                              static_cast<uint64_t>(factor) *
                                  static_cast<uint64_t>(value));
}

bool SameOperands(const std::vector<Expr>& a, const std::vector<Expr>& b) {
  return a.size() == b.size() &&
         std::equal(a.begin(), a.end(), b.begin(), SameStructure);
}

bool SameChoice(const Expr& a, const Expr& b) {
  const auto* x = a.As<SelectNode>();
  const auto* y = b.As<SelectNode>();
  return SameStructure(x->condition, y->condition) &&
         SameStructure(x->true_value, y->true_value) &&
         SameStructure(x->false_value, y->false_value);
}

void DropZeros(LinearForm* form) {
  auto is_zero = [](const LinearTerm& t) { return t.coefficient == 0; };
  form->terms.erase(
      std::remove_if(form->terms.begin(), form->terms.end(), is_zero),
      form->terms.end());
}

}  // namespace

int64_t LinearForm::Coefficient(const VarNode* var) const {
  for (const LinearTerm& term : terms) {
    if (term.atom.get() == var) return term.coefficient;
  }
  return 0;
}

bool LinearForm::HidesVar(FunctionRef<bool(const VarNode*)> is_wanted) const {
  return std::any_of(terms.begin(), terms.end(), [&](const LinearTerm& term) {
    return !term.atom.As<VarNode>() && UsesVar(term.atom, is_wanted);
  });
}

bool SameStructure(const Expr& a, const Expr& b) {
  if (a == b) return true;
  if (!a || !b || a.kind() != b.kind() || a.dtype() != b.dtype() ||
      a.kind() == ExprKind::kVar) {
    return false;
  }
  if (const auto* x = a.As<BinaryNode>()) {
    const auto* y = b.As<BinaryNode>();
    return SameStructure(x->a, y->a) && SameStructure(x->b, y->b);
  }
  if (const int64_t* x = AsInt(a)) return *x == *AsInt(b);
  if (const auto* x = a.As<CastNode>()) {
    return SameStructure(x->value, b.As<CastNode>()->value);
  }
  if (const auto* x = a.As<NotNode>()) {
    return SameStructure(x->value, b.As<NotNode>()->value);
  }
  if (a.As<SelectNode>()) return SameChoice(a, b);
  if (const auto* x = a.As<LoadNode>()) {
    const auto* y = b.As<LoadNode>();
    return x->buffer == y->buffer && SameOperands(x->indices, y->indices);
  }
  if (const auto* x = a.As<CallNode>()) {
    const auto* y = b.As<CallNode>();
    return x->op == y->op && GetIntrinsicInfo(x->op).purity == Purity::kPure &&
           SameOperands(x->args, y->args);
  }
  return false;
}

void Normalizer::Bind(const VarNode* var, Expr value) {
  if (value) {
    // What was in normal form as long as the variable stayed may not be now.
    if (depth_.count(var)) normal_.clear();
    bindings_[var] = std::move(value);
  } else {
    bindings_.erase(var);
  }
}

int Normalizer::DepthOf(const Expr& atom) {
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

void Normalizer::AddAtom(const Expr& atom, int64_t factor, LinearForm* form) {
  for (LinearTerm& term : form->terms) {
    if (SameStructure(term.atom, atom)) {
      term.coefficient = MulAdd(term.coefficient, factor, 1);
      return;
    }
  }
  form->terms.push_back({atom, factor});
}

void Normalizer::AccumulateProduct(const Expr& e, int64_t factor,
                                   LinearForm* form) {
  const auto* node = e.As<BinaryNode>();
  if (const int64_t* scale = AsInt(node->b)) {
    return Accumulate(node->a, MulAdd(0, factor, *scale), form);
  }
  LinearForm a = Linearize(node->a), b = Linearize(node->b);
  if (a.IsConstant()) std::swap(a, b);
  if (!b.IsConstant()) {
    Expr x = Build(std::move(a)), y = Build(std::move(b));
    const bool same = x == node->a && y == node->b;
    AddAtom(same ? e : Mul(std::move(x), std::move(y)), factor, form);
    return;
  }
  const int64_t scale = MulAdd(0, factor, b.constant);
  form->constant = MulAdd(form->constant, scale, a.constant);
  for (const LinearTerm& term : a.terms) {
    AddAtom(term.atom, MulAdd(0, scale, term.coefficient), form);
  }
}

// x // c with x = c*q + r: q + r // c; x % c = r % c.
void Normalizer::AccumulateDivision(const Expr& e, int64_t factor,
                                    LinearForm* form) {
  if (normal_.count(e.get())) return AddAtom(e, factor, form);
  const auto* node = e.As<BinaryNode>();
  LinearForm x = Linearize(node->a);
  const Expr divisor_expr = Run(node->b);
  const int64_t* divisor = AsInt(divisor_expr);
  // What is loaded may wrap before it is divided.
  if (!divisor || *divisor <= 0 || node->a->has_loads) {
    AddAtom(Binary(e.kind(), Build(std::move(x)), divisor_expr), factor, form);
    return;
  }
  LinearForm rest, quotient;
  for (const LinearTerm& term : x.terms) {
    const bool divides = term.coefficient % *divisor == 0;
    (divides ? quotient : rest).terms.push_back(term);
  }
  FoldInt(ExprKind::kFloorMod, x.constant, *divisor, &rest.constant);
  if (e.kind() == ExprKind::kFloorDiv) {
    for (const LinearTerm& term : quotient.terms) {
      AddAtom(term.atom, factor * (term.coefficient / *divisor), form);
    }
    const int64_t whole = (x.constant - rest.constant) / *divisor;
    form->constant = MulAdd(form->constant, factor, whole);
  }
  if (rest.IsConstant()) {
    if (e.kind() == ExprKind::kFloorMod) {
      form->constant = MulAdd(form->constant, factor, rest.constant);
    }
    return;
  }
  Expr numerator = Build(std::move(rest));
  if (SameStructure(numerator, node->a)) numerator = node->a;
  const bool same = numerator == node->a && divisor_expr == node->b;
  if (same) normal_.emplace(e.get(), e);
  AddAtom(same ? e : Binary(e.kind(), numerator, divisor_expr), factor, form);
}

void Normalizer::Accumulate(const Expr& e, int64_t factor, LinearForm* form) {
  if (const int64_t* value = AsInt(e)) {
    form->constant = MulAdd(form->constant, factor, *value);
    return;
  }
  if (const auto* var = e.As<VarNode>()) {
    auto found = bindings_.find(var);
    if (found == bindings_.end()) return AddAtom(e, factor, form);
    const LinearForm value = ToLinear(found->second);
    for (const LinearTerm& term : value.terms) {
      AddAtom(term.atom, MulAdd(0, factor, term.coefficient), form);
    }
    form->constant = MulAdd(form->constant, factor, value.constant);
    return;
  }
  const auto* node = e.As<BinaryNode>();
  if (!node || !IsLinearKind(e.kind())) return AddAtom(Run(e), factor, form);
  if (e.kind() == ExprKind::kMul) return AccumulateProduct(e, factor, form);
  if (e.kind() == ExprKind::kAdd || e.kind() == ExprKind::kSub) {
    Accumulate(node->a, factor, form);
    Accumulate(node->b, e.kind() == ExprKind::kAdd ? factor : -factor, form);
    return;
  }
  AccumulateDivision(e, factor, form);
}

LinearForm Normalizer::Linearize(const Expr& e) {
  LinearForm form;
  form.terms.reserve(8);
  Accumulate(e, 1, &form);
  DropZeros(&form);
  return form;
}

// An insertion sort: the lists are short and nearly sorted.
void Normalizer::SortByDepth(std::vector<LinearTerm>* terms) {
  std::vector<int> depths;
  for (const LinearTerm& term : *terms) depths.push_back(DepthOf(term.atom));
  for (size_t i = 1; i < terms->size(); ++i) {
    for (size_t j = i; j > 0 && depths[j] < depths[j - 1]; --j) {
      std::swap(depths[j], depths[j - 1]);
      std::swap((*terms)[j], (*terms)[j - 1]);
    }
  }
}

Expr Normalizer::Build(LinearForm form) {
  if (form.terms.size() > 1 && !depth_.empty()) SortByDepth(&form.terms);
  Expr sum;
  for (const LinearTerm& term : form.terms) {
    Expr product = term.coefficient == 1
                       ? term.atom
                       : Mul(term.atom, Int(term.coefficient));
    sum = sum ? Add(std::move(sum), std::move(product)) : std::move(product);
  }
  if (!sum) return Int(form.constant);
  return form.constant == 0 ? sum : Add(std::move(sum), Int(form.constant));
}

Expr Normalizer::RunBinary(const Expr& e) {
  const auto* node = e.As<BinaryNode>();
  if (node->a.dtype() == DType::Index() &&
      GetBinaryInfo(e.kind())->gives_bool) {
    Expr a = Run(node->a), b = Run(node->b);
    const bool wraps =
        e->has_loads && e.kind() != ExprKind::kEQ && e.kind() != ExprKind::kNE;
    LinearForm difference = Difference(ToLinear(a), ToLinear(b));
    if (difference.IsConstant() && !wraps) {
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

Expr Normalizer::RunChoice(const Expr& e) {
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

Expr Normalizer::Run(const Expr& e) {
  if (e.kind() == ExprKind::kVar) {
    auto found = bindings_.find(e.As<VarNode>());
    return found == bindings_.end() ? e : found->second;
  }
  if (IsBinary(e.kind())) {
    if (!IsIndex(e) || !IsLinearKind(e.kind())) return RunBinary(e);
    if (normal_.count(e.get())) return e;
    Expr built = Build(Linearize(e));
    if (!SameStructure(built, e)) return built;
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

LinearForm ToLinear(const Expr& e) { return Normalizer().Linearize(e); }

LinearForm Difference(const LinearForm& a, const LinearForm& b) {
  LinearForm out = a;
  out.constant = MulAdd(out.constant, -1, b.constant);
  for (const LinearTerm& term : b.terms) {
    bool found = false;
    for (LinearTerm& mine : out.terms) {
      if (!SameStructure(mine.atom, term.atom)) continue;
      mine.coefficient = MulAdd(mine.coefficient, -1, term.coefficient);
      found = true;
      break;
    }
    if (!found) out.terms.push_back({term.atom, -term.coefficient});
  }
  DropZeros(&out);
  return out;
}

}  // namespace kiln::lower
