// Products of narrow numbers of which one instruction adds up several.
#ifndef KILN_IR_EXPR_DOT_PRODUCT_H_
#define KILN_IR_EXPR_DOT_PRODUCT_H_

#include <cstdint>
#include <optional>

#include "kiln/base/machine.h"
#include "kiln/ir/expr/expr.h"

namespace kiln {

// int32(a) * int32(b), of integers of at most 16 bits with a sign or 8 without,
// or float32(a) * float32(b) of bfloat16; they may be vectors.
struct NarrowProduct {
  Expr a, b;
  bool is_float() const { return a.dtype().is_float(); }
  // How many such products of neighbours an instruction may add up: 4 of 8
  // bits, where one factor has a sign and the other has none, or else 2, as of
  // 16 bits.
  int AddedUp() const;
};
std::optional<NarrowProduct> NarrowProductOf(const Expr& e);

// Whether one instruction of those adds up `steps` products like `product`.
bool IsDotProduct(const NarrowProduct& product, int64_t steps,
                  const DotInstructions& instructions);

}  // namespace kiln

#endif  // KILN_IR_EXPR_DOT_PRODUCT_H_
