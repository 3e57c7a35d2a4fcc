#include "kiln/ir/arith/analyzer.h"

#include <optional>
#include <utility>

#include "kiln/ir/arith/context.h"
#include "kiln/ir/expr/same.h"

namespace kiln {
namespace {

// How two constants of one exact type compare: -1, 0 or 1.
std::optional<int> ConstOrder(const Expr& a, const Expr& b) {
  const int64_t *x = AsInt(a), *y = AsInt(b);
  if (!x || !y || a.dtype() != b.dtype() || !IsExactInt(a.dtype())) {
    return std::nullopt;
  }
  return (*x > *y) - (*x < *y);
}

}  // namespace

struct Analyzer::Impl {
  Context context;
};

Analyzer::Analyzer() : impl_(std::make_unique<Impl>()) {}
Analyzer::~Analyzer() = default;
Analyzer::Analyzer(Analyzer&&) noexcept = default;
Analyzer& Analyzer::operator=(Analyzer&&) noexcept = default;

void Analyzer::Bind(const Var& var, const Range& range) {
  impl_->context.BindRange(var, range);
}

void Analyzer::Bind(const Var& var, const Expr& value) {
  impl_->context.BindValue(var, value);
}

void Analyzer::Unbind(const Var& var) { impl_->context.Unbind(var.get()); }

Analyzer::Assumption::Assumption(Analyzer* analyzer, size_t depth)
    : analyzer_(analyzer), depth_(depth) {}

Analyzer::Assumption::Assumption(Assumption&& other) noexcept
    : analyzer_(std::exchange(other.analyzer_, nullptr)),
      depth_(other.depth_) {}

Analyzer::Assumption::~Assumption() {
  if (analyzer_) analyzer_->impl_->context.UndoTo(depth_);
}

Analyzer::Assumption Analyzer::Assume(const Expr& condition) {
  const size_t depth = impl_->context.depth();
  impl_->context.Assume(condition, true);
  return Assumption(this, depth);
}

Expr Analyzer::Simplify(const Expr& e) { return impl_->context.Simplify(e); }

bool Analyzer::CanProve(const Expr& condition) {
  return impl_->context.Decide(condition).value_or(false);
}

bool Analyzer::CanProveEqual(const Expr& a, const Expr& b) {
  if (a == b) return true;
  if (const auto order = ConstOrder(a, b)) return *order == 0;
  if (!IsExactInt(a.dtype()) || a.dtype() != b.dtype()) {
    return SameButForFactorOrder(Simplify(a), Simplify(b));
  }
  if (SameButForFactorOrder(a, b)) return true;
  const ConstBound bound = impl_->context.BoundOfDifference(a, b);
  return bound.min == 0 && bound.max == 0;
}

bool Analyzer::CanProveLess(const Expr& a, const Expr& b) {
  if (const auto order = ConstOrder(a, b)) return *order < 0;
  if (!IsExactInt(a.dtype()) || a.dtype() != b.dtype()) return false;
  return impl_->context.BoundOfDifference(a, b).max < 0;
}

bool Analyzer::CanProveLessEqual(const Expr& a, const Expr& b) {
  if (const auto order = ConstOrder(a, b)) return *order <= 0;
  if (!IsExactInt(a.dtype()) || a.dtype() != b.dtype()) return false;
  if (SameButForFactorOrder(a, b)) return true;
  return impl_->context.BoundOfDifference(a, b).max <= 0;
}

ConstBound Analyzer::Bound(const Expr& e) { return impl_->context.BoundOf(e); }

Modular Analyzer::Modulus(const Expr& e) { return impl_->context.ModulusOf(e); }

}  // namespace kiln
