// Rewriting what depends on loop variables when loops change shape.
#ifndef KILN_SCHEDULE_ANALYSIS_REBIND_H_
#define KILN_SCHEDULE_ANALYSIS_REBIND_H_

#include <vector>

#include "kiln/ir/arith/iter_map.h"
#include "kiln/ir/expr/visit.h"
#include "kiln/ir/tensor/stmt.h"

namespace kiln {

struct Rebinding {
  VarMap values;  // old loop variables in terms of new ones
  // The same in their simplest form, for bindings that are an old variable and
  // nothing else; may be empty.
  VarMap simple;
  Expr predicate;  // holds where the old iteration exists; null: everywhere
  // The loops outside the rewritten statement, up to the enclosing block, and
  // the new ones within them.
  std::vector<const ForNode*> outside;
  std::vector<LoopRange> loops;
  // Keep variables of loops of extent 1 in bindings instead of their value.
  bool preserve_unit_iters = true;
};

// `stmt` with old loop variables replaced. Bindings of blocks come back in
// their simplest form; the predicate joins those of the outermost blocks.
Stmt Rebind(const Stmt& stmt, const Rebinding& rebinding);

// Whether every leaf below `stmt` is in a block, so that it can be predicated.
bool AllInBlocks(const Stmt& stmt);

}  // namespace kiln

#endif  // KILN_SCHEDULE_ANALYSIS_REBIND_H_
