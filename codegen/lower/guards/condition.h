// Conditions on linear forms. Internal to codegen/lower.
#ifndef KILN_CODEGEN_LOWER_GUARDS_CONDITION_H_
#define KILN_CODEGEN_LOWER_GUARDS_CONDITION_H_

#include <optional>

#include "kiln/codegen/lower/guards/loop_values.h"
#include "kiln/ir/arith/index_normalizer.h"

namespace kiln::lower {

// What a condition says about a linear form.
enum class Test { kNonNegative, kZero };
struct Condition {
  Linear form;
  Test test;
};

// `e` as `form >= 0` or `form == 0`; nullopt for what is no comparison of
// indices by <, <=, >, >= or ==.
std::optional<Condition> AsCondition(const Expr& e);

// Whether an expression divides only by what is not 0 where `loops` run:
// constants and factors of their extents.
bool DividesByNoZero(const LoopStack& loops, const Expr& e);

// Whether a condition may be evaluated anywhere in the innermost of `loops`: it
// loads and calls nothing, and divides by no 0.
bool IsSafeIn(const LoopStack& loops, const Expr& condition);

}  // namespace kiln::lower

#endif  // KILN_CODEGEN_LOWER_GUARDS_CONDITION_H_
