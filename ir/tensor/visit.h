// The one way to walk and to rebuild statements.
#ifndef KILN_IR_TENSOR_VISIT_H_
#define KILN_IR_TENSOR_VISIT_H_

#include <vector>

#include "kiln/ir/expr/visit.h"
#include "kiln/ir/tensor/stmt.h"

namespace kiln {

// Calls `child(s)` on each direct sub-statement; for a block realization these
// are the block's init (if any) and body.
void ForEachChild(const Stmt& s, FunctionRef<void(const Stmt&)> child);
// Calls `use(e)` on each expression that stands directly in `s`: bounds,
// values, predicates, indices; for a block also iterator domains, regions and
// shapes of what it allocates.
void ForEachExpr(const Stmt& s, FunctionRef<void(const Expr&)> use);

// Rebuilds `s` from mapped sub-statements; the same node where none changed.
Stmt MapChildren(const Stmt& s, FunctionRef<Stmt(const Stmt&)> map);
// Rebuilds `s` from mapped direct expressions; the same node likewise.
Stmt MapExprs(const Stmt& s, FunctionRef<Expr(const Expr&)> map);

// Walks `s` and all statements below it, parents first, in program order.
// `visit` says whether to go below.
void Visit(const Stmt& s, FunctionRef<bool(const Stmt&)> visit);
// Walks every expression in and below `s`, parents first.
void VisitExprs(const Stmt& s, FunctionRef<bool(const Expr&)> visit);

// Rebuilds `s`, parents first: `rewrite` gives the replacement of a statement,
// or null to go on below it.
Stmt Rewrite(const Stmt& s, FunctionRef<Stmt(const Stmt&)> rewrite);
// Rebuilds every expression in and below `s` with Rewrite(e, rewrite).
Stmt RewriteExprs(const Stmt& s, FunctionRef<Expr(const Expr&)> rewrite);

// Replaces variables by expressions throughout.
Stmt Substitute(const Stmt& s, const VarMap& map);

using BufferMap = std::unordered_map<const BufferNode*, Buffer>;
// Replaces buffers in loads, stores, regions, allocations and matches.
Stmt ReplaceBuffers(const Stmt& s, const BufferMap& map);
Expr ReplaceBuffers(const Expr& e, const BufferMap& map);

// Maps the bounds of ranges and regions.
Range MapRange(const Range& range, FunctionRef<Expr(const Expr&)> map);
BufferRegion MapRegion(const BufferRegion& region,
                       FunctionRef<Expr(const Expr&)> map);

}  // namespace kiln

#endif  // KILN_IR_TENSOR_VISIT_H_
