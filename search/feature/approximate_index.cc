#include "kiln/search/feature/approximate_index.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/algorithm/container.h"

namespace kiln {
namespace {

constexpr double kNearlyWhole = 1e-9;
constexpr double kUnlimited = std::numeric_limits<double>::infinity();

// The greatest common divisor of whole numbers.
double CommonStep(double a, double b) {
  while (b > 0) {
    const double rest = std::fmod(a, b);
    a = b;
    b = rest;
  }
  return a;
}

ApproximateTerm Scaled(ApproximateTerm term, double factor) {
  term.coefficient *= factor;
  term.reach *= std::abs(factor);
  term.step *= std::abs(factor);
  return term;
}

// a + scale * b
ApproximateIndex Sum(const ApproximateIndex& a, const ApproximateIndex& b,
                     double scale) {
  if (a.unknown || b.unknown) return ApproximateIndex::Unknown();
  ApproximateIndex sum;
  sum.constant = a.constant + scale * b.constant;
  if (scale > 0 || b.terms.empty()) {
    sum.most = a.most + scale * (b.terms.empty() ? b.constant : b.most);
  }
  auto x = a.terms.begin();
  auto y = b.terms.begin();
  while (x != a.terms.end() || y != b.terms.end()) {
    if (y == b.terms.end() || (x != a.terms.end() && x->loop < y->loop)) {
      sum.terms.push_back(*x++);
    } else if (x == a.terms.end() || y->loop < x->loop) {
      sum.terms.push_back(Scaled(*y++, scale));
    } else {
      const ApproximateTerm z = Scaled(*y++, scale);
      const double c = x->coefficient + z.coefficient;
      const double step = CommonStep(x->step, z.step);
      if (c != 0) sum.terms.push_back({x->loop, c, x->reach + z.reach, step});
      ++x;
    }
  }
  return sum;
}

ApproximateIndex Multiple(ApproximateIndex a, double factor) {
  if (factor == 0) return {};
  for (ApproximateTerm& term : a.terms) term = Scaled(term, factor);
  a.constant *= factor;
  a.most = factor > 0 ? a.most * factor : kUnlimited;
  return a;
}

bool IsMultiple(double value, double of) { return std::fmod(value, of) == 0; }

bool IsConstant(const ApproximateIndex& a) {
  return !a.unknown && a.terms.empty();
}

// One of two values: the one that varies more.
ApproximateIndex Either(const ApproximateIndex& a, const ApproximateIndex& b) {
  if (a.unknown) return b;
  return b.unknown || a.terms.size() >= b.terms.size() ? a : b;
}

// The largest sum of the terms: each loop at its end.
double Reach(const ApproximateTerms& terms) {
  double reach = 0;
  for (const ApproximateTerm& term : terms) reach += term.reach;
  return reach;
}

// Leaves out the terms that cannot carry into the others' common step with the
// divisor: (16 * i + j) // 128 is 16 * i // 128 for j below 16.
ApproximateIndex WithoutSmallTerms(const ApproximateIndex& a, double divisor) {
  for (const ApproximateTerm& smallest : a.terms) {
    ApproximateIndex large, small;
    double step = divisor;
    bool descends = false;
    for (const ApproximateTerm& term : a.terms) {
      const bool is_small =
          std::abs(term.coefficient) < std::abs(smallest.coefficient);
      (is_small ? small : large).terms.push_back(term);
      if (!is_small) step = CommonStep(step, term.step);
      descends |= is_small && term.coefficient < 0;
    }
    if (small.terms.empty() || descends) continue;
    large.constant = std::floor(a.constant / step) * step;
    const double low = a.constant - large.constant;
    if (Reach(small.terms) + low < step) return large;
  }
  return a;
}

// Quotients are whole numbers: f // 3 for f below 6 reaches 1.
void RoundDown(ApproximateIndex* index) {
  const double first = std::floor(index->constant + kNearlyWhole);
  const double reach = Reach(index->terms);
  const double whole =
      std::floor(index->constant + reach + kNearlyWhole) - first;
  index->constant = first;
  const auto longest = absl::c_max_element(
      index->terms, [](const ApproximateTerm& x, const ApproximateTerm& y) {
        return x.reach < y.reach;
      });
  if (longest == index->terms.end()) return;
  longest->reach = std::max(0.0, longest->reach + whole - reach);
}

// Multiples of the divisor come out; the rest only counts when it can carry.
ApproximateIndex Divide(const ApproximateIndex& a, double divisor) {
  if (a.constant >= 0 && a.most < divisor) return {};
  ApproximateIndex quotient, rest;
  for (const ApproximateTerm& term : a.terms) {
    ApproximateIndex& part = IsMultiple(term.step, divisor) ? quotient : rest;
    part.terms.push_back(term);
  }
  const double low = a.constant - std::floor(a.constant / divisor) * divisor;
  if (Reach(rest.terms) + low < divisor) {
    quotient.constant = a.constant - low;
    return Multiple(std::move(quotient), 1 / divisor);
  }
  quotient = Multiple(WithoutSmallTerms(a, divisor), 1 / divisor);
  for (ApproximateTerm& term : quotient.terms) {
    if (!IsMultiple(term.step, 1)) term.step = 1;
  }
  RoundDown(&quotient);
  return quotient;
}

// What is a multiple of the divisor makes no difference. Of the rest, loops of
// small steps fill the range of the remainder first; one that would pass it
// goes round in what is left, and those after it add nothing.
ApproximateIndex Remainder(const ApproximateIndex& a, double divisor) {
  if (a.constant >= 0 && a.most < divisor) return a;
  ApproximateIndex rest;
  rest.constant = a.constant - std::floor(a.constant / divisor) * divisor;
  for (const ApproximateTerm& term : a.terms) {
    if (!IsMultiple(term.step, divisor)) rest.terms.push_back(term);
  }
  std::sort(rest.terms.begin(), rest.terms.end(),
            [](const ApproximateTerm& x, const ApproximateTerm& y) {
              if (x.step != y.step) return x.step < y.step;
              const double p = std::abs(x.coefficient);
              const double q = std::abs(y.coefficient);
              return p != q ? p < q : x.loop < y.loop;
            });
  double room = divisor - 1;
  ApproximateTerms kept;
  for (ApproximateTerm term : rest.terms) {
    if (room <= 0) break;
    term.reach = std::min(term.reach, room);
    room -= term.reach;
    kept.push_back(term);
  }
  std::sort(kept.begin(), kept.end(),
            [](const ApproximateTerm& x, const ApproximateTerm& y) {
              return x.loop < y.loop;
            });
  rest.terms = std::move(kept);
  return rest;
}

}  // namespace

ApproximateIndex ApproximateIndex::Unknown() {
  ApproximateIndex a;
  a.unknown = true;
  return a;
}

ApproximateIndex ApproximateIndex::OfLoop(int loop, int64_t extent) {
  ApproximateIndex a;
  if (extent > 1)
    a.terms.push_back({loop, 1, static_cast<double>(extent - 1), 1});
  return a;
}

void ApproximateScope::Bind(const VarNode* var, ApproximateIndex value) {
  bindings_.push_back({var, std::move(value)});
}

void ApproximateScope::Shrink(size_t depth) {
  while (bindings_.size() > depth) bindings_.pop_back();
}

const ApproximateIndex* ApproximateScope::Find(const VarNode* var) const {
  for (size_t i = bindings_.size(); i-- > 0;) {
    if (bindings_[i].var == var) return &bindings_[i].value;
  }
  return nullptr;
}

ApproximateIndex ApproximateScope::EvaluateBinary(const BinaryNode& e) const {
  const ApproximateIndex a = Evaluate(e.a);
  const ApproximateIndex b = Evaluate(e.b);
  const ExprKind kind = e.kind;
  if (kind == ExprKind::kAdd) return Sum(a, b, 1);
  if (kind == ExprKind::kSub) return Sum(a, b, -1);
  if (kind == ExprKind::kMin || kind == ExprKind::kMax) return Either(a, b);
  if (kind == ExprKind::kMul) {
    if (IsConstant(b)) return Multiple(a, b.constant);
    return IsConstant(a) ? Multiple(b, a.constant)
                         : ApproximateIndex::Unknown();
  }
  if (a.unknown || !IsConstant(b) || b.constant <= 0)
    return ApproximateIndex::Unknown();
  if (kind == ExprKind::kFloorDiv || kind == ExprKind::kTruncDiv) {
    return Divide(a, b.constant);
  }
  if (kind == ExprKind::kFloorMod || kind == ExprKind::kTruncMod) {
    return Remainder(a, b.constant);
  }
  return ApproximateIndex::Unknown();
}

ApproximateIndex ApproximateScope::Evaluate(const Expr& e) const {
  if (const int64_t* value = AsInt(e)) {
    ApproximateIndex a;
    a.constant = static_cast<double>(*value);
    return a;
  }
  if (const VarNode* var = e.As<VarNode>()) {
    const ApproximateIndex* value = Find(var);
    return value ? *value : ApproximateIndex::Unknown();
  }
  if (const BinaryNode* binary = e.As<BinaryNode>()) {
    return EvaluateBinary(*binary);
  }
  if (const CastNode* cast = e.As<CastNode>()) return Evaluate(cast->value);
  if (const SelectNode* select = e.As<SelectNode>()) {
    return Either(Evaluate(select->true_value), Evaluate(select->false_value));
  }
  if (const RampNode* ramp = e.As<RampNode>()) return Evaluate(ramp->base);
  if (const BroadcastNode* all = e.As<BroadcastNode>()) {
    return Evaluate(all->value);
  }
  return ApproximateIndex::Unknown();
}

}  // namespace kiln
