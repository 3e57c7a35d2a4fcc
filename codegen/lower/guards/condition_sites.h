// Where conditions stand in a loop nest. Internal to codegen/lower.
#ifndef KILN_CODEGEN_LOWER_GUARDS_CONDITION_SITES_H_
#define KILN_CODEGEN_LOWER_GUARDS_CONDITION_SITES_H_

#include <unordered_set>
#include <vector>

#include "kiln/codegen/lower/guards/loop_values.h"
#include "kiln/ir/tensor/stmt.h"

namespace kiln::lower {

// A conjunct of an `if` statement or of an if_then_else. The same node may
// stand at several sites.
struct Site {
  Expr conjunct;
  LoopStack loops;  // around it, from the outermost of the function
};

struct ConditionSites {
  std::vector<Site> sites;
  std::unordered_set<const VarNode*> lets;  // bound between
};

// Those in `body`, which stands in the loops `outer`.
ConditionSites FindConditionSites(const Stmt& body, const LoopStack& outer);

}  // namespace kiln::lower

#endif  // KILN_CODEGEN_LOWER_GUARDS_CONDITION_SITES_H_
