// Conditions that go with a block to other loops.
#ifndef KILN_SCHEDULE_REWRITE_KEPT_CONDITION_H_
#define KILN_SCHEDULE_REWRITE_KEPT_CONDITION_H_

#include "kiln/ir/tensor/module.h"
#include "kiln/schedule/analysis/path.h"
#include "kiln/schedule/analysis/property.h"
#include "kiln/schedule/analysis/scope.h"

namespace kiln {

// The block's condition over its iterators instead of over loops:
//
//   for i, j:                                        vi * 4 + vj < 30
//     where(i * 4 + j < 30); vi, vj = i, j    ->
//
// Null where it uses a variable of a loop that is the value of no iterator.
Expr ConditionOfIters(const ScopeBlock& block);

// Why not all instances that the condition allows run, or null where they do.
Reason WhyNotAllRunButFor(const ScopeBlock& block);

// The function with that condition on the block at `path`, beside its own.
Function AddCondition(Function f, const Path& path, const Expr& condition);

}  // namespace kiln

#endif  // KILN_SCHEDULE_REWRITE_KEPT_CONDITION_H_
