// Loops cut to the iterations that a condition on their variable leaves.
// Internal to codegen/lower.
#ifndef KILN_CODEGEN_LOWER_LOOP_LIMITS_H_
#define KILN_CODEGEN_LOWER_LOOP_LIMITS_H_

#include "kiln/ir/expr/visit.h"
#include "kiln/ir/tensor/stmt.h"

namespace kiln::lower {

// What a conjunct asks of a loop variable: to be at least or at most `value`.
struct Limit {
  bool is_lower;
  Expr value;
};

// `loop`, whose body is an `if` without else, with bounds that make those of
// the conjuncts true that limit its variable (`affine < affine` and the like,
// with the variable's factor 1 or -1, no loads) and that `takes` accepts. The
// extent is not negative. Null when there is none.
Stmt NarrowLoop(const ForNode& loop, FunctionRef<bool(const Limit&)> takes);

}  // namespace kiln::lower

#endif  // KILN_CODEGEN_LOWER_LOOP_LIMITS_H_
