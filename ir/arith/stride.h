// How far an index moves with a variable.
#ifndef KILN_IR_ARITH_STRIDE_H_
#define KILN_IR_ARITH_STRIDE_H_

#include <cstdint>
#include <optional>

#include "kiln/ir/expr/expr.h"

namespace kiln {

class Analyzer;

// By how much the integer `e` grows when `var` grows by 1, where that is the
// same everywhere: 3 for `i * 3 + j` and i, 0 for what does not use the
// variable, nullopt for `i // 4`. What the analyzer knows about other variables
// counts.
std::optional<int64_t> StrideOf(const Expr& e, const Var& var,
                                Analyzer* analyzer);

}  // namespace kiln

#endif  // KILN_IR_ARITH_STRIDE_H_
