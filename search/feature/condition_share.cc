#include "kiln/search/feature/condition_share.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "kiln/ir/expr/conjuncts.h"

namespace kiln {
namespace {

// Values that an expression may take, at most.
constexpr double kMostValues = 1 << 14;
constexpr int64_t kMostRemainders = 64;

// `a` holds where `value` is at least `least`, or exactly that.
struct Bound {
  ApproximateIndex value;
  double least = 0;
  bool exact = false;
};

// Of the values of an affine expression, the share that passes. Terms go up in
// steps of their own, all values alike.
class Distribution {
 public:
  explicit Distribution(const ApproximateIndex& value) : low_(value.constant) {
    for (const ApproximateTerm& term : value.terms) Add(term);
  }

  bool is_known() const { return is_known_; }

  double ShareFrom(double least, bool exact) const {
    double share = 0;
    for (size_t i = 0; i < shares_.size(); ++i) {
      const double value = low_ + static_cast<double>(i);
      if (exact ? value == least : value >= least) share += shares_[i];
    }
    return share;
  }

 private:
  void Add(const ApproximateTerm& term) {
    const double step = term.step;
    const double reach = std::floor(term.reach / step) * step;
    const double values = static_cast<double>(shares_.size()) + reach;
    is_known_ = is_known_ && values <= kMostValues;
    if (!is_known_) return;
    std::vector<double> sum(static_cast<size_t>(values), 0);
    const double part = 1 / (reach / step + 1);
    for (double at = 0; at <= reach; at += step) {
      for (size_t i = 0; i < shares_.size(); ++i) {
        sum[i + static_cast<size_t>(at)] += part * shares_[i];
      }
    }
    shares_ = std::move(sum);
    if (term.coefficient < 0) low_ -= reach;
  }

  double low_;
  std::vector<double> shares_ = {1};
  bool is_known_ = true;
};

Bound BoundOf(const ApproximateScope& scope, const Expr& larger,
              const Expr& smaller, double least, bool exact) {
  return {scope.Evaluate(Sub(larger, smaller)), least, exact};
}

// The bound that a conjunct is, if it is understood.
void Collect(const Expr& e, const ApproximateScope& scope,
             std::vector<Bound>* bounds) {
  const auto* binary = e.As<BinaryNode>();
  if (!binary) return;
  const Expr &a = binary->a, &b = binary->b;
  if (e.kind() == ExprKind::kLE) {
    bounds->push_back(BoundOf(scope, b, a, 0, false));
  } else if (e.kind() == ExprKind::kLT) {
    bounds->push_back(BoundOf(scope, b, a, 1, false));
  } else if (e.kind() == ExprKind::kGE) {
    bounds->push_back(BoundOf(scope, a, b, 0, false));
  } else if (e.kind() == ExprKind::kGT) {
    bounds->push_back(BoundOf(scope, a, b, 1, false));
  } else if (e.kind() == ExprKind::kEQ) {
    bounds->push_back(BoundOf(scope, a, b, 0, true));
  }
}

// Of the equation x % m == r, the share of the values of x for which it holds.
double ShareOfRemainder(const ApproximateIndex& x, int64_t m, int64_t r) {
  if (x.unknown || m < 1 || m > kMostRemainders) return 1;
  const auto size = static_cast<size_t>(m);
  const auto wrap = [&](double value) {
    return static_cast<size_t>(value - std::floor(value / m) * m) % size;
  };
  std::vector<double> shares(size, 0);
  shares[wrap(x.constant)] = 1;
  for (const ApproximateTerm& term : x.terms) {
    const double step = std::copysign(
        std::max(term.step, std::abs(term.coefficient)), term.coefficient);
    const double count = std::floor(term.reach / std::abs(step)) + 1;
    std::vector<double> sum(size, 0);
    // The remainders repeat after m steps.
    const double rounds = std::min(count, static_cast<double>(m));
    for (double at = 0; at < rounds; ++at) {
      for (size_t i = 0; i < size; ++i) {
        sum[wrap(static_cast<double>(i) + at * step)] += shares[i] / rounds;
      }
    }
    shares = std::move(sum);
  }
  return shares[wrap(static_cast<double>(r))];
}

// The same of a conjunct; nullopt for others.
std::optional<double> ShareOfEquation(const Expr& e,
                                      const ApproximateScope& scope) {
  const auto* equal = e.As<BinaryNode>();
  if (!equal || e.kind() != ExprKind::kEQ) return std::nullopt;
  const auto* mod = equal->a.As<BinaryNode>();
  const int64_t* remainder = AsInt(equal->b);
  if (!mod || equal->a.kind() != ExprKind::kFloorMod || !remainder) {
    return std::nullopt;
  }
  const int64_t* divisor = AsInt(mod->b);
  if (!divisor) return std::nullopt;
  return ShareOfRemainder(scope.Evaluate(mod->a), *divisor, *remainder);
}

// Whether a loop passes the same values again and again.
bool GoesRound(const ApproximateIndex& value,
               const std::vector<int64_t>& extents) {
  return std::any_of(
      value.terms.begin(), value.terms.end(), [&](const ApproximateTerm& term) {
        const double steps = static_cast<double>(extents[term.loop] - 1);
        return term.reach < std::abs(term.coefficient) * steps;
      });
}

bool SameLoops(const ApproximateIndex& a, const ApproximateIndex& b) {
  return std::equal(
      a.terms.begin(), a.terms.end(), b.terms.begin(), b.terms.end(),
      [](const auto& x, const auto& y) { return x.loop == y.loop; });
}

bool IsZeroConstant(const Expr& e) {
  const auto* real = e.As<FloatImmNode>();
  return IsZero(e) || (real && real->value == 0);
}

const CallNode* ChoiceIn(const Expr& factor) {
  if (const auto* call = factor.As<CallNode>()) {
    const bool is_choice = call->op == Intrinsic::kIfThenElse;
    return is_choice && IsZeroConstant(call->args[2]) ? call : nullptr;
  }
  if (const auto* cast = factor.As<CastNode>()) return ChoiceIn(cast->value);
  const auto* product = factor.As<BinaryNode>();
  if (!product || factor.kind() != ExprKind::kMul) return nullptr;
  const CallNode* first = ChoiceIn(product->a);
  return first ? first : ChoiceIn(product->b);
}

bool IsElementOf(const StoreNode& store, const Expr& e) {
  const auto* load = e.As<LoadNode>();
  return load && load->buffer == store.buffer;
}

}  // namespace

double ConditionShare(absl::Span<const Expr> conditions,
                      const ApproximateScope& scope,
                      const std::vector<int64_t>& extents, bool has_phases) {
  std::vector<Bound> bounds;
  double share = 1;
  for (const Expr& condition : conditions) {
    for (const Expr& e : ConjunctsOf(condition)) {
      const auto of_equation =
          has_phases ? ShareOfEquation(e, scope) : std::nullopt;
      share *= of_equation.value_or(1);
      if (!of_equation) Collect(e, scope, &bounds);
    }
  }
  bounds.erase(
      std::remove_if(bounds.begin(), bounds.end(),
                     [&](const Bound& bound) {
                       return bound.value.unknown ||
                              (bound.exact && GoesRound(bound.value, extents));
                     }),
      bounds.end());
  for (size_t i = 0; i < bounds.size(); ++i) {
    // Bounds on the same loops fail in different iterations.
    double fails = 0;
    bool counted = false;
    for (size_t j = 0; j < bounds.size(); ++j) {
      if (!SameLoops(bounds[i].value, bounds[j].value)) continue;
      counted = counted || j < i;
      if (counted) continue;
      const Distribution values(bounds[j].value);
      if (!values.is_known()) continue;
      fails += 1 - values.ShareFrom(bounds[j].least, bounds[j].exact);
    }
    if (!counted) share *= std::max(0.0, 1 - fails);
  }
  return share;
}

std::vector<const CallNode*> SkippedChoices(const StoreNode& store) {
  std::vector<const CallNode*> choices;
  const auto* sum = store.value.As<BinaryNode>();
  if (!sum || store.value.kind() != ExprKind::kAdd) return choices;
  const CallNode* choice = nullptr;
  if (IsElementOf(store, sum->a)) {
    choice = ChoiceIn(sum->b);
  } else if (IsElementOf(store, sum->b)) {
    choice = ChoiceIn(sum->a);
  }
  for (; choice; choice = ChoiceIn(choice->args[1])) choices.push_back(choice);
  return choices;
}

}  // namespace kiln
