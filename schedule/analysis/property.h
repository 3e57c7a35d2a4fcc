// Properties that transformations ask of blocks, loops and scopes.
//
// Every `WhyNot...` gives the reason as a piece of a sentence, or nullopt when
// the property holds. Definitions follow the TensorIR paper.
#ifndef KILN_SCHEDULE_ANALYSIS_PROPERTY_H_
#define KILN_SCHEDULE_ANALYSIS_PROPERTY_H_

#include <optional>
#include <string>
#include <vector>

#include "kiln/ir/arith/iter_map.h"
#include "kiln/schedule/analysis/scope.h"

namespace kiln {

using Reason = std::optional<std::string>;

// Complete: all iterators are spatial, the block is the only one of the scope
// that writes what it writes, it reads none of that, and no two instances write
// the same element (separation.h).
Reason WhyNotComplete(const Scope& scope, int block);

// Reduction: has an init; iterators are spatial or reduce; bindings affine;
// the only writer; reduce iterators do not index what it writes, and instances
// that differ in spatial ones write different elements.
Reason WhyNotReduction(const Scope& scope, int block);

// Complete or a reduction. Over Scope(block, subtree) this is the property
// within a subtree ("local").
Reason WhyNotCompleteOrReduction(const Scope& scope, int block);

// Compact dataflow: every block under `subtree` is complete or a reduction
// within it.
Reason WhyNotCompactDataflow(const BlockNode& scope, const Stmt& subtree);

// Affine binding: the values are quasi-affine in the loops between the block
// and its scope, and independent of each other: loops split and fuse into
// them, none is used twice.
Reason WhyNotAffine(const ScopeBlock& block);
Reason WhyNotAffine(const BlockRealizeNode& realize,
                    const std::vector<const ForNode*>& loops);
// Why loops made of the block's domains would not stand elsewhere: the domain
// of an iterator is the range of one of `loops`, which names another.
Reason WhyDomainsNameLoops(const BlockNode& block,
                           const std::vector<const ForNode*>& loops);
// Whether the instance with the init runs first when `loops` run: where each
// of them begins, every reduce iterator has its least value. Asked of blocks
// with an init whose order changes.
Reason WhyInitNotFirst(const BlockRealizeNode& realize,
                       const std::vector<const ForNode*>& loops);
// Each value is one loop variable, all different.
bool HasTrivialBinding(const BlockRealizeNode& realize);

// The loops as ranges, for the analyses of ir/arith.
std::vector<LoopRange> Ranges(const std::vector<const ForNode*>& loops);

}  // namespace kiln

#endif  // KILN_SCHEDULE_ANALYSIS_PROPERTY_H_
