// Statements in which parts of expressions are known. Internal to
// codegen/lower.
#ifndef KILN_CODEGEN_LOWER_GUARDS_FOLD_KNOWN_CONDITIONS_H_
#define KILN_CODEGEN_LOWER_GUARDS_FOLD_KNOWN_CONDITIONS_H_

#include "kiln/ir/expr/visit.h"
#include "kiln/ir/tensor/stmt.h"

namespace kiln::lower {

// What an expression is replaced by; null: by nothing.
using Replace = FunctionRef<Expr(const Expr&)>;

// `s` after replacement: branches are taken where conditions become constants.
Stmt FoldKnownConditions(const Stmt& s, Replace replace);

// What is left where no branch is taken, with loops around it or without.
bool DoesNothing(const Stmt& s);

}  // namespace kiln::lower

#endif  // KILN_CODEGEN_LOWER_GUARDS_FOLD_KNOWN_CONDITIONS_H_
