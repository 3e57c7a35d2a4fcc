#include "kiln/codegen/lower/vector/lane_divisions.h"

#include <numeric>

#include "kiln/ir/expr/visit.h"
#include "kiln/ir/tensor/visit.h"

namespace kiln::lower {
namespace {

constexpr int64_t kLongestPeriod = 1 << 20;
constexpr int64_t kMaxIncrement = int64_t{1} << 40;

// The constant that all lanes have.
const int64_t* Constant(const Expr& e) {
  const auto* broadcast = e.As<BroadcastNode>();
  return AsInt(broadcast ? broadcast->value : e);
}

bool IsDivision(const Expr& e) {
  return e.kind() == ExprKind::kFloorDiv || e.kind() == ExprKind::kFloorMod;
}

std::optional<Turn> Checked(int64_t period, __int128 increment) {
  if (period > kLongestPeriod || increment > kMaxIncrement ||
      increment < -kMaxIncrement) {
    return std::nullopt;
  }
  return Turn{period, static_cast<int64_t>(increment)};
}

std::optional<Turn> Sum(const Turn& a, const Turn& b, int sign) {
  const int64_t period = std::lcm(a.period, b.period);
  return Checked(period,
                 __int128{a.increment} * (period / a.period) +
                     __int128{b.increment} * (period / b.period) * sign);
}

std::optional<Turn> Divided(const Turn& a, int64_t divisor, bool is_quotient) {
  const int64_t times = divisor / std::gcd(a.increment, divisor);
  if (times > kLongestPeriod) return std::nullopt;
  return Checked(a.period * times,
                 is_quotient ? __int128{a.increment} * times / divisor : 0);
}

std::optional<Turn> TurnOfBinary(const BinaryNode& node, const VarNode* var) {
  const std::optional<Turn> a = TurnOf(node.a, var), b = TurnOf(node.b, var);
  if (!a || !b) return std::nullopt;
  const int64_t* left = Constant(node.a);
  const int64_t* right = Constant(node.b);
  switch (node.kind) {
    case ExprKind::kAdd:
      return Sum(*a, *b, 1);
    case ExprKind::kSub:
      return Sum(*a, *b, -1);
    case ExprKind::kMul:
      if (right) return Checked(a->period, __int128{a->increment} * *right);
      if (left) return Checked(b->period, __int128{b->increment} * *left);
      return std::nullopt;
    case ExprKind::kFloorDiv:
    case ExprKind::kFloorMod:
      if (!right || *right <= 0) return std::nullopt;
      return Divided(*a, *right, node.kind == ExprKind::kFloorDiv);
    default:
      return std::nullopt;
  }
}

std::optional<int64_t> BinaryAt(const BinaryNode& node, int64_t a, int64_t b) {
  const Expr value = Binary(node.kind, Int(a), Int(b));
  const int64_t* constant = AsInt(value);
  return constant ? std::optional<int64_t>(*constant) : std::nullopt;
}

}  // namespace

std::optional<Turn> TurnOf(const Expr& index, const VarNode* var) {
  if (index.As<VarNode>() == var) return Turn{1, 1};
  if (!UsesVar(index, [&](const VarNode* v) { return v == var; })) {
    return Turn{1, 0};
  }
  if (const auto* ramp = index.As<RampNode>()) {
    const bool is_fixed = AsInt(ramp->stride) != nullptr;
    return is_fixed ? TurnOf(ramp->base, var) : std::nullopt;
  }
  if (const auto* broadcast = index.As<BroadcastNode>()) {
    return TurnOf(broadcast->value, var);
  }
  if (!IsBinary(index.kind())) return std::nullopt;
  return TurnOfBinary(*index.As<BinaryNode>(), var);
}

int64_t LaneDivisor(const Expr& e) {
  if (!IsDivision(e) || e.dtype().is_scalar()) return 0;
  const int64_t* divisor = Constant(e.As<BinaryNode>()->b);
  return divisor && *divisor > 0 ? *divisor : 0;
}

int64_t LanePeriod(const Stmt& s, const VarNode* var) {
  int64_t period = 1;
  VisitExprs(s, [&](const Expr& e) {
    if (LaneDivisor(e) == 0) return true;
    const std::optional<Turn> turn = TurnOf(e, var);
    if (turn && period <= kLongestPeriod) {
      period = std::lcm(period, turn->period);
    }
    return true;
  });
  return period;
}

std::optional<int64_t> ValueAt(const Expr& index, int lane, const VarNode* var,
                               int64_t value) {
  if (const int64_t* constant = AsInt(index)) return *constant;
  if (const auto* v = index.As<VarNode>()) {
    return v == var ? std::optional<int64_t>(value) : std::nullopt;
  }
  if (const auto* broadcast = index.As<BroadcastNode>()) {
    return ValueAt(broadcast->value, 0, var, value);
  }
  if (const auto* ramp = index.As<RampNode>()) {
    const auto base = ValueAt(ramp->base, 0, var, value);
    const int64_t* stride = AsInt(ramp->stride);
    int64_t step = 0, sum = 0;
    const bool fits = base && stride &&
                      !__builtin_mul_overflow(*stride, lane, &step) &&
                      !__builtin_add_overflow(*base, step, &sum);
    return fits ? std::optional<int64_t>(sum) : std::nullopt;
  }
  if (!IsBinary(index.kind())) return std::nullopt;
  const auto* node = index.As<BinaryNode>();
  const auto a = ValueAt(node->a, lane, var, value);
  const auto b = a ? ValueAt(node->b, lane, var, value) : std::nullopt;
  return b ? BinaryAt(*node, *a, *b) : std::nullopt;
}

}  // namespace kiln::lower
