// Rewriting what a pattern matches.
#ifndef KILN_IR_PATTERN_REWRITE_CALL_H_
#define KILN_IR_PATTERN_REWRITE_CALL_H_

#include "kiln/ir/expr/visit.h"
#include "kiln/ir/graph/rewrite.h"
#include "kiln/ir/pattern/pattern.h"

namespace kiln {

// What stands for a value that matched; null to keep it. What it needs besides
// is emitted ahead of it.
using CallRule = FunctionRef<graph::Expr(
    const graph::Expr& value, const Match& match, graph::Emitter& emit)>;

// Every bound value of `e` that matches, in order of evaluation; earlier ones
// are seen as they have become. What the old value alone needed stays, unused.
// A match that names a variable of a dataflow block that has ended is none, as
// nothing can stand there that uses it.
graph::Expr RewriteCall(const graph::Expr& e, const Pattern& pattern,
                        CallRule rule);

}  // namespace kiln

#endif  // KILN_IR_PATTERN_REWRITE_CALL_H_
