// The parts of a function of which a call runs one.
#ifndef KILN_CODEGEN_LOWER_GUARDS_ALTERNATIVES_H_
#define KILN_CODEGEN_LOWER_GUARDS_ALTERNATIVES_H_

#include "kiln/ir/expr/visit.h"
#include "kiln/ir/tensor/stmt.h"

namespace kiln::lower {

// Of the body of a function: an `if` with an `else` outside of all loops, as
// schedules for several sizes have (ir/transform/dispatch_by_size.h), is
// rebuilt of what `map` makes of each branch; what stands beside it is mapped
// as a whole. Any other body is. Limits on how much a pass copies then hold for
// each branch, so that one which is copied often leaves the others theirs.
Stmt MapAlternatives(const Stmt& body, FunctionRef<Stmt(const Stmt&)> map);

}  // namespace kiln::lower

#endif  // KILN_CODEGEN_LOWER_GUARDS_ALTERNATIVES_H_
