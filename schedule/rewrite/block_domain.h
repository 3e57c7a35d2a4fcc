// Which iterations of a block produce or consume a box of a buffer.
#ifndef KILN_SCHEDULE_REWRITE_BLOCK_DOMAIN_H_
#define KILN_SCHEDULE_REWRITE_BLOCK_DOMAIN_H_

#include <vector>

#include "kiln/ir/arith/int_set.h"
#include "kiln/ir/expr/visit.h"
#include "kiln/ir/tensor/stmt.h"

namespace kiln {

// For each iterator of a block the values to run through; unbounded where
// nothing is asked of it.
using IterDomains = std::vector<IntSet>;

// Narrows `domains` to the iterations of `block` whose `touched` region (in
// terms of the block's iterators) meets the box `required`. Dimensions that
// are affine in iterators, or a quotient of one, narrow; others ask for all.
// The result may hold iterations that are not needed, never too few.
void NarrowDomains(const BlockNode& block, const BufferRegion& touched,
                   const std::vector<IntSet>& required, IterDomains* domains,
                   Analyzer* analyzer);

// Whether the domains are the same expressions.
bool SameDomains(const IterDomains& a, const IterDomains& b);

// Loops over the domains of `block`, innermost last, and its realization with
// a predicate for iterations outside of the iterators' own domains: false where
// all are.
//   new loops: ax0, ax1, ...; those of extent 1 only with `unit_loops`.
// `new_id` gives the ids of the loops.
Stmt LoopsOver(const Block& block, const IterDomains& domains, bool unit_loops,
               Analyzer* analyzer, FunctionRef<LoopId()> new_id);

}  // namespace kiln

#endif  // KILN_SCHEDULE_REWRITE_BLOCK_DOMAIN_H_
