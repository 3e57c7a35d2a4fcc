// What compute_inline and reverse_compute_inline share.
#ifndef KILN_SCHEDULE_REWRITE_INLINING_H_
#define KILN_SCHEDULE_REWRITE_INLINING_H_

#include <optional>
#include <vector>

#include "kiln/ir/arith/analyzer.h"
#include "kiln/ir/expr/visit.h"
#include "kiln/ir/tensor/stmt.h"
#include "kiln/schedule/analysis/property.h"
#include "kiln/schedule/analysis/scope.h"

namespace kiln {

// Why the accesses of `buffer` in and below `s` cannot be rewritten one by one
// (addresses, views, vectors of indices); nullopt when each is a load or store
// of one element.
Reason WhyNotPlainAccess(const Stmt& s, const Buffer& buffer);

// Values of the iterators of `block` at which `indices` (over the iterators)
// are `values`: the inverse of the map. Iterators of extent 1 have one value.
// nullopt where the map has no inverse that could be found. Where `values` are
// not in its image, what comes back means nothing.
std::optional<VarMap> SolveIters(const BlockNode& block,
                                 const std::vector<Expr>& indices,
                                 const std::vector<Expr>& values);

// Binds the iterators of `block` that have more than one value.
void BindIters(const BlockNode& block, Analyzer* analyzer);

// Adds `region` to a list with one region for each buffer.
void AddRegion(std::vector<BufferRegion>* regions, const BufferRegion& region,
               Analyzer* analyzer);

// `region`, in which the variables of `domains` run, as a box without them.
BufferRegion Hull(const BufferRegion& region,
                  const std::vector<LoopRange>& domains, Analyzer* analyzer);

// Whether anything is read by what stands directly in `s`.
bool HasLoads(const Stmt& s);

// Replaces the loads of one buffer, outermost loads last.
Expr ReplaceLoads(const Expr& e, const Buffer& buffer,
                  FunctionRef<Expr(const LoadNode&)> replace);

// The one store that is the body of `block`; nullptr when it is anything else,
// or when the block has an init, buffers or views of its own.
const StoreNode* OnlyStore(const BlockNode& block);

// Why what `producer` computes is not the same any more where one of
// `consumers` runs: its inputs change, or it uses loops that they lack.
Reason WhyNotMovable(const Scope& scope, int producer,
                     const std::vector<int>& consumers);

}  // namespace kiln

#endif  // KILN_SCHEDULE_REWRITE_INLINING_H_
