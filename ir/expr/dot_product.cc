#include "kiln/ir/expr/dot_product.h"

namespace kiln {
namespace {

// The number that is made one of 32 bits, or null.
Expr NarrowOperand(const Expr& e) {
  const auto* cast = e.As<CastNode>();
  if (!cast) return nullptr;
  const DType wide = e.dtype().Element(), narrow = cast->value.dtype();
  const bool fits =
      (wide == DType::Int(32) && narrow.is_int() && narrow.bits() <= 16) ||
      (wide == DType::Int(32) && narrow.is_uint() && narrow.bits() == 8) ||
      (wide == DType::Float(32) && narrow.code() == TypeCode::kBFloat);
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

bool IsDotProduct(const NarrowProduct& product, int64_t steps,
                  const DotInstructions& instructions) {
  if (product.is_float()) return steps == 2 && instructions.bf16;
  return (steps == 2 && instructions.integers >= 2) ||
         (steps == 4 && instructions.integers >= 4 && product.AddedUp() == 4);
}

}  // namespace kiln
