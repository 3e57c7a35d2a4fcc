#include "kiln/codegen/host/dim.h"

namespace kiln {
namespace {

std::optional<KernelDim::Op> OpOf(ExprKind kind) {
  if (kind == ExprKind::kAdd) return KernelDim::Op::kAdd;
  if (kind == ExprKind::kSub) return KernelDim::Op::kSub;
  if (kind == ExprKind::kMul) return KernelDim::Op::kMul;
  if (kind == ExprKind::kFloorDiv) return KernelDim::Op::kFloorDiv;
  if (kind == ExprKind::kFloorMod) return KernelDim::Op::kFloorMod;
  if (kind == ExprKind::kMin) return KernelDim::Op::kMin;
  if (kind == ExprKind::kMax) return KernelDim::Op::kMax;
  return std::nullopt;
}

// Whether a cast keeps every value that a size can have.
bool KeepsSizes(DType to, DType from) {
  return to.is_scalar() && to.is_integral() && from.is_integral() &&
         to.bits() >= 32 && to.bits() >= from.bits();
}

}  // namespace

std::optional<KernelDim> ToKernelDim(const Expr& e,
                                     const ScalarNumbers& scalars) {
  if (const int64_t* known = AsInt(e)) return KernelDim::Constant(*known);
  if (const auto* var = e.As<VarNode>()) {
    auto found = scalars.find(var);
    if (found == scalars.end()) return std::nullopt;
    return KernelDim::Symbolic(found->second);
  }
  if (const auto* cast = e.As<CastNode>()) {
    if (!KeepsSizes(e.dtype(), cast->value.dtype())) return std::nullopt;
    return ToKernelDim(cast->value, scalars);
  }
  const auto* binary = e.As<BinaryNode>();
  const auto op = binary ? OpOf(e.kind()) : std::nullopt;
  if (!op) return std::nullopt;
  const auto a = ToKernelDim(binary->a, scalars);
  const auto b = ToKernelDim(binary->b, scalars);
  if (!a || !b) return std::nullopt;
  const KernelDim dim = KernelDim::Compound(*op, *a, *b);
  if (!a->is_constant() || !b->is_constant()) return dim;
  const auto value = Evaluate(dim, absl::Span<const int64_t>());
  return value ? std::optional(KernelDim::Constant(*value)) : std::nullopt;
}

}  // namespace kiln
