// Conditions on linear forms. Internal to codegen/lower.
#ifndef KILN_CODEGEN_LOWER_GUARDS_CONDITION_H_
#define KILN_CODEGEN_LOWER_GUARDS_CONDITION_H_

#include <optional>

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

// Whether a condition may be evaluated where it was not before: it loads and
// calls nothing, and divides by constants only.
bool IsSafeAnywhere(const Expr& condition);

}  // namespace kiln::lower

#endif  // KILN_CODEGEN_LOWER_GUARDS_CONDITION_H_
