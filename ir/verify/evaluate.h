// Values of index expressions at one point, for counting by trying.
#ifndef KILN_IR_VERIFY_EVALUATE_H_
#define KILN_IR_VERIFY_EVALUATE_H_

#include <cstdint>
#include <optional>

#include "kiln/ir/expr/expr.h"
#include "kiln/ir/expr/var_table.h"

namespace kiln::verify_internal {

using Values = VarTable<std::optional<int64_t>>;

// The value of a scalar integer or bool; nullopt where it depends on a
// variable without a value, on data or on floats, or overflows.
std::optional<int64_t> Evaluate(const Expr& e, const Values& values);

}  // namespace kiln::verify_internal

#endif  // KILN_IR_VERIFY_EVALUATE_H_
