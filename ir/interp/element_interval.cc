#include "kiln/ir/interp/element_interval.h"

#include <algorithm>

#include "kiln/ir/arith/interval.h"

namespace kiln::interp_internal {
namespace {

ConstBound OfBinary(ExprKind kind, const ConstBound& a, const ConstBound& b) {
  if (kind == ExprKind::kAdd) return Plus(a, b);
  if (kind == ExprKind::kSub) return Plus(a, Scale(b, -1));
  if (kind == ExprKind::kMul) return Times(a, b);
  if (kind == ExprKind::kMin) {
    return {std::min(a.min, b.min), std::min(a.max, b.max)};
  }
  if (kind == ExprKind::kMax) {
    return {std::max(a.min, b.min), std::max(a.max, b.max)};
  }
  if (b.min != b.max || b.min <= 0) return {};
  if (kind == ExprKind::kFloorDiv) return FloorDivBy(a, b.min);
  if (kind == ExprKind::kFloorMod) return FloorModBy(a, b.min);
  return {};
}

}  // namespace

ConstBound BoundOf(const Expr& e, const VarTable<ConstBound>& vars) {
  if (e.dtype() != DType::Index()) return {};
  if (const int64_t* value = AsInt(e)) return Point(*value);
  if (const auto* var = e.As<VarNode>()) {
    const auto* known = vars.find(var);
    return known == vars.end() ? ConstBound{} : known->second;
  }
  if (const auto* binary = e.As<BinaryNode>()) {
    return OfBinary(binary->kind, BoundOf(binary->a, vars),
                    BoundOf(binary->b, vars));
  }
  return {};
}

}  // namespace kiln::interp_internal
