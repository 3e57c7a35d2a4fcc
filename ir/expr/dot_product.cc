#include "kiln/ir/expr/dot_product.h"

namespace kiln {
namespace {

// The integer that is made one of 32 bits, or null.
Expr NarrowOperand(const Expr& e) {
  const auto* cast = e.As<CastNode>();
  if (!cast || e.dtype().Element() != DType::Int(32)) return nullptr;
  const DType narrow = cast->value.dtype().Element();
  const bool fits = (narrow.is_int() && narrow.bits() <= 16) ||
                    (narrow.is_uint() && narrow.bits() == 8);
  return fits ? cast->value : nullptr;
}

}  // namespace

int NarrowProduct::AddedUp() const {
  const bool are_bytes = a.dtype().bits() == 8 && b.dtype().bits() == 8;
  return are_bytes && a.dtype().is_uint() != b.dtype().is_uint() ? 4 : 2;
}

std::optional<NarrowProduct> NarrowProductOf(const Expr& e) {
  if (e.kind() != ExprKind::kMul) return std::nullopt;
  const auto* product = e.As<BinaryNode>();
  const Expr a = NarrowOperand(product->a), b = NarrowOperand(product->b);
  if (!a || !b) return std::nullopt;
  return NarrowProduct{a, b};
}

bool IsDotProduct(const NarrowProduct& product, int64_t steps, int dots) {
  return (steps == 2 && dots >= 2) ||
         (steps == 4 && dots >= 4 && product.AddedUp() == 4);
}

}  // namespace kiln
