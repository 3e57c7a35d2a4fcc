// The parts of a reduction: the nest that initializes, the block that adds up.
#ifndef KILN_SCHEDULE_REWRITE_INIT_NEST_H_
#define KILN_SCHEDULE_REWRITE_INIT_NEST_H_

#include <vector>

#include "kiln/ir/expr/visit.h"
#include "kiln/ir/tensor/module.h"

namespace kiln {

// Whether `loop` moves an iterator of the type.
bool MovesIterator(const ForNode& loop, const BlockRealizeNode& realize,
                   IterType type);

// The parts of a conjunction that mention none of `dropped`.
Expr KeepConjuncts(const Expr& predicate,
                   FunctionRef<bool(const VarNode*)> dropped);

// The init of a block as a block of its own, NAME_init, under copies of those
// of `loops` (outermost first) that move its spatial iterators. New loops and
// the block, `*init_id`, get ids from `f`.
Stmt MakeInitNest(const BlockRealizeNode& realize,
                  const std::vector<const ForNode*>& loops, Function* f,
                  BlockId* init_id);

// The block without its init; it reads what it adds to.
BlockFields UpdateFields(const BlockNode& block);

}  // namespace kiln

#endif  // KILN_SCHEDULE_REWRITE_INIT_NEST_H_
